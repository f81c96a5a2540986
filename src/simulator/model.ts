import { BridgeModel } from './bridge-model.js';
import { EXTERNAL_BLOCK_MS } from './bridge-params.js';
import { CrosschainModel, type RateLimiterQuery } from './crosschain-model.js';
import type { ModuleStateResponse } from './module-state.js';
import type { Moment } from './moment.js';
import type { RateLimiterInput } from './rate-limiter-input.js';
import { type Rules, type ScenarioName, scenarios } from './scenarios.js';
import type { Token } from './tokens.js';

const MINUTE_MS = 60_000;
const FIRST_HEIGHT = 8_214_000;
const FIRST_EXTERNAL_HEIGHT = 21_380_000;
/** Lived through before step 0, so that the first poll meets a busy chain: healthy first, then in its scenario. */
const WARM_UP_MINUTES = 10;
const LEAST_WARM_UP_BLOCKS = 150;
const MOST_WARM_UP_BLOCKS = 2000;

export interface ModelOptions {
  readonly seed: number;
  readonly scenario: ScenarioName;
  /** Unix seconds of step 0. */
  readonly startTime: number;
  readonly blockTimeMs: number;
}

/** A chain that moves by blocks. It knows no clock: the same options and steps give the same bytes. */
export interface Model {
  readonly height: number;
  readonly scenario: ScenarioName;
  readonly tokens: readonly Token[];
  advance(blocks: number): void;
  /** From the next block on; what has happened so far stays. */
  setScenario(scenario: ScenarioName): void;
  moduleState(): ModuleStateResponse;
  rateLimiterInput(query?: RateLimiterQuery): RateLimiterInput;
}

export function createModel({ seed, scenario, startTime, blockTimeMs }: ModelOptions): Model {
  requireWholeNumber('seed', seed, 0);
  requireWholeNumber('blockTimeMs', blockTimeMs, 1);
  const warmUp = warmUpMs(blockTimeMs);
  requireWholeNumber('startTime', startTime, Math.ceil(warmUp / 1000));
  const chain = new SimulatedChain(seed, blockTimeMs, startTime * 1000 - warmUp);
  chain.advance(warmUpBlocks(blockTimeMs));
  chain.setScenario(scenario);
  chain.advance(warmUpBlocks(blockTimeMs));
  return chain;
}

/** How much time of the chain passes before step 0: half of it healthy, half in its scenario. */
export function warmUpMs(blockTimeMs: number): number {
  return 2 * warmUpBlocks(blockTimeMs) * blockTimeMs;
}

function warmUpBlocks(blockTimeMs: number): number {
  return clamp((WARM_UP_MINUTES * MINUTE_MS) / blockTimeMs, LEAST_WARM_UP_BLOCKS, MOST_WARM_UP_BLOCKS);
}

class SimulatedChain implements Model {
  readonly #blockTimeMs: number;
  readonly #bridge: BridgeModel;
  readonly #crosschain: CrosschainModel;
  #moment: Moment;
  /** Time on the external chain, which a leap puts ahead of the hub's. */
  #externalMs = 0;
  #scenario: ScenarioName = 'healthy';
  #pendingLeap = 0;

  constructor(seed: number, blockTimeMs: number, nowMs: number) {
    this.#blockTimeMs = blockTimeMs;
    this.#moment = {
      height: FIRST_HEIGHT + (seed % 1000),
      nowMs,
      elapsedMinutes: blockTimeMs / MINUTE_MS,
      externalHeight: FIRST_EXTERNAL_HEIGHT,
    };
    this.#bridge = new BridgeModel(seed, blockTimeMs, this.#moment);
    this.#crosschain = new CrosschainModel(seed, blockTimeMs, this.#moment);
  }

  get height(): number {
    return this.#moment.height;
  }

  get tokens(): readonly Token[] {
    return this.#bridge.tokens;
  }

  get scenario(): ScenarioName {
    return this.#scenario;
  }

  advance(blocks: number): void {
    for (let block = 0; block < blocks; block += 1) this.#step(scenarios[this.#scenario].rules);
  }

  setScenario(scenario: ScenarioName): void {
    if (scenario === this.#scenario) return;
    this.#scenario = scenario;
    this.#pendingLeap = scenarios[scenario].rules.externalLeap;
  }

  moduleState(): ModuleStateResponse {
    return { state: this.#bridge.state() };
  }

  rateLimiterInput(query: RateLimiterQuery = {}): RateLimiterInput {
    return this.#crosschain.input(this.#moment, query);
  }

  #step(rules: Rules): void {
    const leap = this.#takeLeap();
    this.#externalMs += this.#blockTimeMs + leap * EXTERNAL_BLOCK_MS;
    this.#moment = {
      ...this.#moment,
      height: this.#moment.height + 1,
      nowMs: this.#moment.nowMs + this.#blockTimeMs,
      externalHeight: FIRST_EXTERNAL_HEIGHT + Math.floor(this.#externalMs / EXTERNAL_BLOCK_MS),
    };
    // The hub learns of the leap by the next event alone.
    if (leap > 0) this.#bridge.deposit(this.#moment);
    this.#bridge.step(this.#moment, rules);
    this.#crosschain.step(this.#moment, rules);
  }

  /** Waits for a batch: without one the leap would bring nothing near its timeout. */
  #takeLeap(): number {
    if (!this.#bridge.hasUnexecutedBatch) return 0;
    const leap = this.#pendingLeap;
    this.#pendingLeap = 0;
    return leap;
  }
}

function clamp(value: number, lowest: number, highest: number): number {
  return Math.round(Math.min(Math.max(value, lowest), highest));
}

function requireWholeNumber(name: string, value: number, lowest: number): void {
  if (!Number.isSafeInteger(value) || value < lowest) {
    throw new RangeError(`${name} is ${value}; it must be a whole number of at least ${lowest}`);
  }
}
