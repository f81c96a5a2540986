import type { NodeStatus } from '../../src/simulator/chain.js';
import { MainnetChain } from '../../src/simulator/mainnet-chain.js';
import { warmUpMs, type Model } from '../../src/simulator/model.js';
import type { ModuleStateResponse, RateLimiterInput } from '../../src/simulator/responses.js';
import type { Month } from '../../src/simulator/mainnet-month.js';
import { START_SECONDS } from '../problems/recording.js';

const BLOCK_MS = 630;
const MINUTE_MS = 60_000;
/** Older documents are not needed. */
export const MAX_LAG_MINUTES = 200;

interface Served {
  readonly timeMs: number;
  readonly height: number;
  readonly node: NodeStatus;
  readonly state: ModuleStateResponse;
  readonly input: RateLimiterInput;
}

/** How the documents that a node serves differ from the newest ones. */
export interface Lag {
  readonly minutes: number;
  /** `behind`: its newest block is as old; `rolled back`: the blocks are new ones with old numbers; `in turn`: another node answers every second poll. */
  readonly kind: 'behind' | 'rolled back' | 'in turn';
}

/** A main network as a node serves it, which can be behind. */
export class ServedChain implements Model {
  readonly chain: MainnetChain;
  readonly blockTimeMs = BLOCK_MS;
  lag: Lag | undefined;
  /** Called whenever time has passed. */
  each: readonly (() => void)[] = [];
  readonly #keepsHistory: boolean;
  #steps = 0;
  #nowMs = START_SECONDS * 1000;
  #history: readonly Served[] = [];

  /** `keepsHistory`: a node will be behind. `month`: what happens at these times. */
  constructor(seed: number, keepsHistory: boolean, month?: Partial<Month>) {
    this.#keepsHistory = keepsHistory;
    const options = { scenario: 'mainnet', blockTimeMs: BLOCK_MS } as const;
    this.chain = new MainnetChain({
      seed,
      blockTimeMs: BLOCK_MS,
      startMs: this.#nowMs,
      warmUpMs: warmUpMs(options),
      month,
    });
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  get scenario() {
    return this.chain.scenario;
  }

  get bridge() {
    return this.chain.bridge;
  }

  get crosschain() {
    return this.chain.crosschain;
  }

  get isOutboundEnabled() {
    return this.chain.isOutboundEnabled;
  }

  get upgradePlan() {
    return this.chain.upgradePlan;
  }

  get counts() {
    return this.chain.counts;
  }

  get external() {
    return this.chain.external;
  }

  get height(): number {
    return this.#served?.height ?? this.chain.height;
  }

  get node(): NodeStatus {
    const { node } = this.chain;
    const served = this.#served;
    if (served === undefined) return node;
    if (this.lag?.kind !== 'behind') return { ...node, height: served.height };
    return { ...served.node, isSyncing: true };
  }

  advance(): never {
    throw new RangeError('the chain advances by time');
  }

  advanceTime(ms: number): void {
    this.chain.advanceTime(ms);
    this.#nowMs += ms;
    this.#steps += 1;
    for (const act of this.each) act();
    if (!this.#keepsHistory) return;
    const { chain } = this;
    const served = {
      timeMs: this.#nowMs,
      height: chain.height,
      node: chain.node,
      state: chain.moduleState(),
      input: chain.rateLimiterInput(),
    };
    const oldestMs = this.#nowMs - MAX_LAG_MINUTES * MINUTE_MS;
    this.#history = [...this.#history.filter(({ timeMs }) => timeMs >= oldestMs), served];
  }

  setScenario(): never {
    throw new RangeError('the faults change the rules');
  }

  moduleState(): ModuleStateResponse {
    return this.#served?.state ?? this.chain.moduleState();
  }

  rateLimiterInput(query: Parameters<Model['rateLimiterInput']>[0] = {}): RateLimiterInput {
    return this.#served?.input ?? this.chain.rateLimiterInput(query);
  }

  cctx(index: string) {
    return this.chain.cctx(index);
  }

  supplies(height?: number) {
    return this.chain.supplies(height);
  }

  /** What is served instead of the newest documents. */
  get #served(): Served | undefined {
    const { lag } = this;
    if (lag === undefined || (lag.kind === 'in turn' && this.#steps % 2 === 0)) return undefined;
    return this.#history.findLast(({ timeMs }) => timeMs <= this.#nowMs - lag.minutes * MINUTE_MS);
  }
}
