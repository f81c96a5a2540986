import { BlockProducer } from './block.js';
import { BridgeModel } from './bridge-model.js';
import { CrosschainModel, type RateLimiterQuery } from './crosschain-model.js';
import type { ModuleStateResponse, RateLimiterInput, StakingValidator } from './responses.js';
import { type Rules, type ScenarioName, scenarios } from './scenarios.js';
import type { Token } from './tokens.js';

/**
 * The simulated chain: a bridge module and a cross-chain module that advance block by block under the rules of a
 * scenario. It has no clock and no global randomness: equal options and equal steps produce equal bytes.
 */
export interface Model {
  readonly height: number;
  readonly scenario: ScenarioName;
  readonly tokens: readonly Token[];
  advance(blocks: number): void;
  /** Takes effect with the next block. Existing transfers, batches and events remain. */
  setScenario(scenario: ScenarioName): void;
  moduleState(): ModuleStateResponse;
  rateLimiterInput(query?: RateLimiterQuery): RateLimiterInput;
  /** The validators of the staking module, by descending stake. */
  stakingValidators(): readonly StakingValidator[];
}

export interface ModelOptions {
  readonly seed: number;
  readonly scenario: ScenarioName;
  /** Unix seconds of the first block that is served. */
  readonly startTime: number;
  readonly blockTimeMs: number;
}

/** Each half of the warm-up takes this long, within limits: the first in `healthy`, the second in the scenario. */
const WARM_UP_MS = 10 * 60_000;
const MIN_WARM_UP_BLOCKS = 150;
const MAX_WARM_UP_BLOCKS = 2000;

/** Creates a chain that already has traffic, so that the first poll finds every list filled. */
export function createModel({ seed, scenario, startTime, blockTimeMs }: ModelOptions): Model {
  requireInteger('seed', seed, 0);
  requireInteger('blockTimeMs', blockTimeMs, 1);
  const warmUp = warmUpMs(blockTimeMs);
  requireInteger('startTime', startTime, Math.ceil(warmUp / 1000));
  const chain = new SimulatedChain(seed, blockTimeMs, startTime * 1000 - warmUp);
  chain.advance(warmUpBlocks(blockTimeMs));
  chain.setScenario(scenario);
  chain.advance(warmUpBlocks(blockTimeMs));
  return chain;
}

/** Time on the chain that `createModel` simulates before the first block that is served. */
export function warmUpMs(blockTimeMs: number): number {
  return 2 * warmUpBlocks(blockTimeMs) * blockTimeMs;
}

function warmUpBlocks(blockTimeMs: number): number {
  return Math.round(Math.min(Math.max(WARM_UP_MS / blockTimeMs, MIN_WARM_UP_BLOCKS), MAX_WARM_UP_BLOCKS));
}

class SimulatedChain implements Model {
  readonly #blocks: BlockProducer;
  readonly #bridge: BridgeModel;
  readonly #crosschain: CrosschainModel;
  #scenario: ScenarioName = 'healthy';
  #pendingExternalBlocks = 0;

  constructor(seed: number, blockTimeMs: number, startMs: number) {
    this.#blocks = new BlockProducer(seed, blockTimeMs, startMs);
    this.#bridge = new BridgeModel(seed, blockTimeMs, this.#blocks.latest);
    this.#crosschain = new CrosschainModel(seed, blockTimeMs, this.#blocks.latest);
  }

  get height(): number {
    return this.#blocks.latest.height;
  }

  get tokens(): readonly Token[] {
    return this.#bridge.tokens;
  }

  get scenario(): ScenarioName {
    return this.#scenario;
  }

  advance(blocks: number): void {
    for (let made = 0; made < blocks; made += 1) this.#step(scenarios[this.#scenario].rules);
  }

  setScenario(scenario: ScenarioName): void {
    if (scenario === this.#scenario) return;
    this.#scenario = scenario;
    this.#pendingExternalBlocks = scenarios[scenario].rules.extraExternalBlocks;
  }

  moduleState(): ModuleStateResponse {
    return { state: this.#bridge.state() };
  }

  rateLimiterInput(query: RateLimiterQuery = {}): RateLimiterInput {
    return this.#crosschain.input(this.#blocks.latest, query);
  }

  stakingValidators(): readonly StakingValidator[] {
    return this.#bridge.stakingValidators();
  }

  #step(rules: Rules): void {
    const extraExternalBlocks = this.#takeExtraExternalBlocks();
    const block = this.#blocks.advance(extraExternalBlocks);
    // The hub notices the jump of the external height only when it observes an event.
    if (extraExternalBlocks > 0) this.#bridge.deposit(block);
    this.#bridge.step(block, rules);
    this.#crosschain.step(block, rules);
  }

  /** The jump of a scenario, once there is a batch that it can bring near its timeout. */
  #takeExtraExternalBlocks(): number {
    if (!this.#bridge.hasUnexecutedBatch) return 0;
    const blocks = this.#pendingExternalBlocks;
    this.#pendingExternalBlocks = 0;
    return blocks;
  }
}

function requireInteger(name: string, value: number, minimum: number): void {
  if (!Number.isSafeInteger(value) || value < minimum) {
    throw new RangeError(`${name} is ${value}; it must be an integer of at least ${minimum}`);
  }
}
