import { EXTERNAL_BLOCK_MS, type Block } from './block.js';
import type { BridgeModule, OrchestratorStatus } from './bridge-module.js';
import type { ChainNonces, CrosschainModule, RateLimiterQuery } from './crosschain-module.js';
import { LOOKAHEAD } from './external-chains.js';
import type { ContractState } from './external-contract.js';
import type { Cctx, ModuleStateResponse, RateLimiterInput, StakingValidator } from './responses.js';
import type { Rules, ScenarioName } from './scenarios.js';
import type { Token } from './tokens.js';

const MINUTE_MS = 60_000;

/** The newest block of a node, and whether the node is up to date. */
export interface NodeStatus {
  readonly height: number;
  readonly timeMs: number;
  readonly isSyncing: boolean;
}

/** What the hub says about its cross-chain module. */
export interface CrosschainStatus {
  readonly isOutboundEnabled: boolean;
  /** The public key of the signers. */
  readonly key: string;
  readonly nonces: readonly ChainNonces[];
  /** How far above the lowest missed nonce clients schedule, by chain id. */
  readonly lookaheads: Readonly<Record<string, number>>;
}

export interface ExternalBlock {
  readonly height: number;
  /** Unix seconds. */
  readonly seconds: number;
}

/** Module states whose supplies are known. A real node has those of all heights. */
const KEPT_SUPPLIES = 32;

/**
 * The simulated chain: a bridge module and a cross-chain module that advance under the rules of a scenario. It has no clock and no global
 * randomness: equal options and equal steps produce equal bytes.
 */
export abstract class Chain {
  abstract readonly blockTimeMs: number;
  abstract readonly scenario: ScenarioName;
  protected abstract readonly bridge: { readonly module: BridgeModule };
  protected abstract readonly crosschain: { readonly module: CrosschainModule };
  /** The newest block of the hub. */
  protected abstract readonly latest: Block;
  protected abstract readonly rules: Rules;
  #supplies: readonly (readonly [height: number, supplies: ReadonlyMap<string, bigint>])[] = [];

  abstract advance(blocks: number): void;
  /** Makes the blocks of this span of time, in which the hub may stand still. */
  abstract advanceTime(ms: number): void;
  /**
   * Takes effect with the next block. Existing transfers, batches and events remain. A chain that starts in `mainnet` keeps its habits in
   * every scenario; others cannot change to it.
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

  get tokens(): readonly Token[] {
    return this.bridge.module.tokens;
  }

  /** Those of the bridge and of the cross-chain module. */
  get books(): ReadonlyMap<string, bigint> {
    return new Map([...this.bridge.module.books.counts, ...this.crosschain.module.books.counts]);
  }

  /** The newest block of the external chain. */
  get external(): ExternalBlock {
    return externalBlock(this.latest.externalHeight, this.latest.timeMs);
  }

  moduleState(): ModuleStateResponse {
    if (this.#supplies.at(-1)?.[0] !== this.height) {
      this.#supplies = [...this.#supplies.slice(-KEPT_SUPPLIES), [this.height, this.bridge.module.supplies()]];
    }
    return { state: this.bridge.module.state() };
  }

  rateLimiterInput(query: RateLimiterQuery = {}): RateLimiterInput {
    return this.crosschain.module.input(this.latest, query);
  }

  /** A cctx, listed or not; `undefined` for an unknown index. */
  cctx(index: string): Cctx | undefined {
    return this.crosschain.module.cctx(index, this.latest);
  }

  /** The contract of the bridge after a block of the external chain; `undefined` for a block that is too old. */
  contractAt(externalHeight: number): ContractState | undefined {
    return this.bridge.module.contract.stateAt(externalHeight);
  }

  /** The supply of the bridged tokens by denom, now or at the height of a module state that was served; `undefined` for another height. */
  supplies(height?: number): ReadonlyMap<string, bigint> | undefined {
    if (height === undefined) return this.bridge.module.supplies();
    return this.#supplies.find(([served]) => served === height)?.[1];
  }

  /** The validators of the staking module, by descending stake. */
  stakingValidators(): readonly StakingValidator[] {
    return this.bridge.module.stakingValidators();
  }

  /** What the hub knows of an orchestrator; `undefined` for another account. */
  orchestrator(address: string): OrchestratorStatus | undefined {
    return this.bridge.module.orchestrator(address);
  }

  crosschainStatus(): CrosschainStatus {
    const { tssPubkey: key, nonces, chains } = this.crosschain.module;
    const lookaheads = Object.fromEntries(chains.map(({ id, lookahead = LOOKAHEAD }) => [id, lookahead]));
    return { isOutboundEnabled: this.rules.outboundEnabled, key, nonces, lookaheads };
  }
}

/** The newest block of the external chain at a time; its blocks are 12 s apart. */
export function externalBlock(height: number, timeMs: number): ExternalBlock {
  return { height, seconds: Math.floor(timeMs / EXTERNAL_BLOCK_MS) * (EXTERNAL_BLOCK_MS / 1000) };
}
