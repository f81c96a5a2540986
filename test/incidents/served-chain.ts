import type { NodeStatus } from '../../src/simulator/chain.js';
import type { RateLimiterQuery } from '../../src/simulator/crosschain-module.js';
import { MainnetChain } from '../../src/simulator/mainnet-chain.js';
import type { Month } from '../../src/simulator/mainnet-month.js';
import { warmUpMs } from '../../src/simulator/model.js';
import type { ModuleStateResponse, RateLimiterInput } from '../../src/simulator/responses.js';
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

/** A main network with a node that can be behind: `height`, `node` and the documents are those of the node. */
export class ServedChain extends MainnetChain {
  lag: Lag | undefined;
  /** Called whenever time has passed. */
  each: readonly (() => void)[] = [];
  nowMs = START_SECONDS * 1000;
  readonly #keepsHistory: boolean;
  #steps = 0;
  #history: readonly Served[] = [];

  /** `keepsHistory`: a node will be behind. `month`: what happens at these times. */
  constructor(seed: number, keepsHistory: boolean, month?: Partial<Month>) {
    const options = { scenario: 'mainnet', blockTimeMs: BLOCK_MS } as const;
    super({ seed, blockTimeMs: BLOCK_MS, startMs: START_SECONDS * 1000, warmUpMs: warmUpMs(options), month });
    this.#keepsHistory = keepsHistory;
  }

  override get height(): number {
    return this.#served?.height ?? super.height;
  }

  override get node(): NodeStatus {
    const served = this.#served;
    if (served === undefined) return super.node;
    if (this.lag?.kind !== 'behind') return { ...super.node, height: served.height };
    return { ...served.node, isSyncing: true };
  }

  override advanceTime(ms: number): void {
    super.advanceTime(ms);
    this.nowMs += ms;
    this.#steps += 1;
    for (const act of this.each) act();
    if (!this.#keepsHistory) return;
    const served = {
      timeMs: this.nowMs,
      height: super.height,
      node: super.node,
      state: super.moduleState(),
      input: super.rateLimiterInput(),
    };
    const oldestMs = this.nowMs - MAX_LAG_MINUTES * MINUTE_MS;
    this.#history = [...this.#history.filter(({ timeMs }) => timeMs >= oldestMs), served];
  }

  override moduleState(): ModuleStateResponse {
    return this.#served?.state ?? super.moduleState();
  }

  override rateLimiterInput(query: RateLimiterQuery = {}): RateLimiterInput {
    return this.#served?.input ?? super.rateLimiterInput(query);
  }

  /** What is served instead of the newest documents. */
  get #served(): Served | undefined {
    const { lag } = this;
    if (lag === undefined || (lag.kind === 'in turn' && this.#steps % 2 === 0)) return undefined;
    return this.#history.findLast(({ timeMs }) => timeMs <= this.nowMs - lag.minutes * MINUTE_MS);
  }
}
