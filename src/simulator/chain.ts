import { EXTERNAL_BLOCK_MS, MINUTE_MS, type Block } from './block.js';
import type { BridgeModule } from './bridge-module.js';
import type { CrosschainModule, RateLimiterQuery } from './crosschain-module.js';
import type { Cctx, ModuleStateResponse, RateLimiterInput } from './responses.js';
import type { Rules, ScenarioName } from './scenarios.js';

/** The newest block of a node, and whether the node is up to date. */
export interface NodeStatus {
  readonly height: number;
  readonly timeMs: number;
  readonly isSyncing: boolean;
}

export interface UpgradePlan {
  readonly name: string;
  readonly height: number;
}

export interface ExternalBlock {
  readonly height: number;
  /** Unix seconds. */
  readonly seconds: number;
}

/** Number of module states whose supplies are kept. A real node has the supplies of all heights. */
const KEPT_SUPPLIES = 32;

/**
 * The simulated chain: a bridge module and a cross-chain module that advance under the rules of a scenario. It has no
 * clock and no global randomness: equal options and equal steps produce equal bytes.
 */
export abstract class SimulatedChain {
  abstract readonly blockTimeMs: number;
  abstract readonly scenario: ScenarioName;
  abstract readonly bridge: BridgeModule;
  abstract readonly crosschain: CrosschainModule;
  /** The newest block of the hub. */
  protected abstract readonly latest: Block;
  protected abstract readonly rules: Rules;
  #supplies: readonly (readonly [height: number, supplies: ReadonlyMap<string, bigint>])[] = [];

  abstract advance(blocks: number): void;
  /** Makes the blocks of this span of time, in which the hub may stand still. */
  abstract advanceTime(ms: number): void;
  /**
   * Takes effect with the next block. Existing transfers, batches and events remain. A chain that starts in `mainnet`
   * stays in it, and other chains cannot change to `mainnet`.
   */
  abstract setScenario(scenario: ScenarioName): void;

  get height(): number {
    return this.latest.height;
  }

  /** The newest block, as the node of the documents has it. A node that catches up has the times of old blocks. */
  get node(): NodeStatus {
    const { height, timeMs } = this.latest;
    const { nodeLagMinutes } = this.rules;
    return { height, timeMs: timeMs - nodeLagMinutes * MINUTE_MS, isSyncing: nodeLagMinutes > 0 };
  }

  get counts(): ReadonlyMap<string, bigint> {
    return this.bridge.withdrawals.counts;
  }

  /** The newest block of the external chain. */
  get external(): ExternalBlock {
    return externalBlock(this.latest.externalHeight, this.latest.timeMs);
  }

  moduleState(): ModuleStateResponse {
    const { height } = this.latest;
    if (this.#supplies.at(-1)?.[0] !== height) {
      this.#supplies = [...this.#supplies.slice(-KEPT_SUPPLIES), [height, this.bridge.supplies()]];
    }
    return { state: this.bridge.state() };
  }

  rateLimiterInput(query: RateLimiterQuery = {}): RateLimiterInput {
    return this.crosschain.input(this.latest, query);
  }

  /** A cctx, listed or not; `undefined` for an unknown index. */
  cctx(index: string): Cctx | undefined {
    return this.crosschain.cctx(index, this.latest);
  }

  /**
   * The supply of the bridged tokens by denom, now or at the height of a module state that was served; `undefined` for
   * another height.
   */
  supplies(height?: number): ReadonlyMap<string, bigint> | undefined {
    if (height === undefined) return this.bridge.supplies();
    return this.#supplies.find(([served]) => served === height)?.[1];
  }

  /** The planned upgrade of the hub, which stops before this height. */
  get upgradePlan(): UpgradePlan | undefined {
    return undefined;
  }

  /** Whether the hub sends transactions to other chains. */
  get isOutboundEnabled(): boolean {
    return this.rules.outboundEnabled;
  }
}

/** The newest block of the external chain at a time; its blocks are 12 s apart. */
export function externalBlock(height: number, timeMs: number): ExternalBlock {
  return { height, seconds: Math.floor(timeMs / EXTERNAL_BLOCK_MS) * (EXTERNAL_BLOCK_MS / 1000) };
}
