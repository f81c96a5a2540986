import { BlockProducer } from './block.js';
import { BridgeModel } from './bridge-model.js';
import type { OrchestratorStatus } from './bridge-module.js';
import { externalBlock, ServedSupplies, type ExternalBlock } from './external-block.js';
import type { ContractState } from './external-contract.js';
import { CrosschainModel } from './crosschain-model.js';
import type { RateLimiterQuery } from './crosschain-module.js';
import { type CrosschainStatus, crosschainStatus } from './crosschain-status.js';
import type { Cctx, ModuleStateResponse, RateLimiterInput, StakingValidator } from './responses.js';
import { MainnetChain } from './mainnet-chain.js';
import { type NodeStatus, nodeStatus } from './node-status.js';
import { type Rules, rulesOf, type ScenarioName } from './scenarios.js';
import type { Token } from './tokens.js';

/**
 * The simulated chain: a bridge module and a cross-chain module that advance block by block under the rules of a
 * scenario. It has no clock and no global randomness: equal options and equal steps produce equal bytes.
 */
export interface Model {
  readonly height: number;
  /** The newest block, as the node of the documents has it. */
  readonly node: NodeStatus;
  readonly scenario: ScenarioName;
  readonly tokens: readonly Token[];
  readonly blockTimeMs: number;
  /** Those of the bridge and of the cross-chain module. */
  readonly books: ReadonlyMap<string, bigint>;
  advance(blocks: number): void;
  /** Makes the blocks of this span of time, in which the hub may stand still. */
  advanceTime(ms: number): void;
  /**
   * Takes effect with the next block. Existing transfers, batches and events remain. A chain that starts in `mainnet` keeps its habits in
   * every scenario; others cannot change to it.
   */
  setScenario(scenario: ScenarioName): void;
  moduleState(): ModuleStateResponse;
  rateLimiterInput(query?: RateLimiterQuery): RateLimiterInput;
  /** A cctx, listed or not; `undefined` for an unknown index. */
  cctx(index: string): Cctx | undefined;
  /** The newest block of the external chain. */
  readonly external: ExternalBlock;
  /** The contract of the bridge after a block of the external chain; `undefined` for a block that is too old. */
  contractAt(externalHeight: number): ContractState | undefined;
  /** The supply of the bridged tokens by denom, now or at the height of a module state that was served; `undefined` for another height. */
  supplies(height?: number): ReadonlyMap<string, bigint> | undefined;
  /** The validators of the staking module, by descending stake. */
  stakingValidators(): readonly StakingValidator[];
  /** The switches, keys and nonces of the cross-chain module. */
  crosschainStatus(): CrosschainStatus;
  /** What the hub knows of an orchestrator; `undefined` for another account. */
  orchestrator(address: string): OrchestratorStatus | undefined;
}

export interface ModelOptions {
  readonly seed: number;
  readonly scenario: ScenarioName;
  /** Unix seconds of the first block that is served. */
  readonly startTime: number;
  /** By default that of the scenario. */
  readonly blockTimeMs?: number | undefined;
}

const DEFAULT_BLOCK_MS = 2000;
/** The hub of `mainnet` is faster than its parameters say. */
const MAINNET_BLOCK_MS = 630;

/** Each half of the warm-up takes this long, within limits: the first in `healthy`, the second in the scenario. */
const WARM_UP_MS = 10 * 60_000;
const MIN_WARM_UP_BLOCKS = 150;
const MAX_WARM_UP_BLOCKS = 2000;

/** The warm-up of `mainnet`: a batch reaches its timeout in it. */
const MAINNET_WARM_UP_MS = 24 * 3_600_000;

/** Creates a chain that already has traffic, so that the first poll finds every list filled. */
export function createModel(options: ModelOptions): Model {
  const { seed, scenario, startTime } = options;
  const blockTimeMs = blockTimeOf(options);
  const warmUp = warmUpMs(options);
  requireInteger('seed', seed, 0);
  requireInteger('blockTimeMs', blockTimeMs, 1);
  requireInteger('startTime', startTime, Math.ceil(warmUp / 1000));
  if (scenario === 'mainnet')
    return new MainnetChain({ seed, blockTimeMs, startMs: startTime * 1000, warmUpMs: warmUp });
  const chain = new SimulatedChain(seed, blockTimeMs, startTime * 1000 - warmUp);
  chain.advance(warmUpBlocks(blockTimeMs));
  chain.setScenario(scenario);
  chain.advance(warmUpBlocks(blockTimeMs));
  return chain;
}

/** Time on the chain that `createModel` simulates before the first block that is served. */
export function warmUpMs(options: Pick<ModelOptions, 'scenario' | 'blockTimeMs'>): number {
  const blockTimeMs = blockTimeOf(options);
  return options.scenario === 'mainnet' ? MAINNET_WARM_UP_MS : 2 * warmUpBlocks(blockTimeMs) * blockTimeMs;
}

/** The block time that is given, or that of the scenario. */
export function blockTimeOf({ scenario, blockTimeMs }: Pick<ModelOptions, 'scenario' | 'blockTimeMs'>): number {
  return blockTimeMs ?? (scenario === 'mainnet' ? MAINNET_BLOCK_MS : DEFAULT_BLOCK_MS);
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
  readonly #served = new ServedSupplies();
  readonly blockTimeMs: number;
  #msSinceBlock = 0;

  constructor(seed: number, blockTimeMs: number, startMs: number) {
    this.blockTimeMs = blockTimeMs;
    this.#blocks = new BlockProducer(seed, blockTimeMs, startMs);
    this.#bridge = new BridgeModel(seed, blockTimeMs, this.#blocks.latest);
    this.#crosschain = new CrosschainModel(seed, blockTimeMs, this.#blocks.latest);
  }

  get height(): number {
    return this.#blocks.latest.height;
  }

  get node(): NodeStatus {
    return nodeStatus(this.#blocks.latest, rulesOf(this.#scenario));
  }

  get books(): ReadonlyMap<string, bigint> {
    return new Map([...this.#bridge.module.books.counts, ...this.#crosschain.module.books.counts]);
  }

  get tokens(): readonly Token[] {
    return this.#bridge.module.tokens;
  }

  get scenario(): ScenarioName {
    return this.#scenario;
  }

  advance(blocks: number): void {
    const rules = rulesOf(this.#scenario);
    for (let made = 0; made < blocks; made += 1) this.#step(rules);
  }

  advanceTime(ms: number): void {
    this.#msSinceBlock += ms;
    const blocks = Math.floor(this.#msSinceBlock / this.blockTimeMs);
    this.#msSinceBlock -= blocks * this.blockTimeMs;
    this.advance(blocks);
  }

  setScenario(scenario: ScenarioName): void {
    if (scenario === this.#scenario) return;
    if (scenario === 'mainnet') throw new RangeError('only a chain that starts in the scenario mainnet can be in it');
    this.#scenario = scenario;
    this.#pendingExternalBlocks = rulesOf(scenario).extraExternalBlocks;
  }

  moduleState(): ModuleStateResponse {
    this.#served.keep(this.height, this.#bridge.module);
    return { state: this.#bridge.module.state() };
  }

  get external(): ExternalBlock {
    const { externalHeight, timeMs } = this.#blocks.latest;
    return externalBlock(externalHeight, timeMs);
  }

  contractAt(externalHeight: number): ContractState | undefined {
    return this.#bridge.module.contract.stateAt(externalHeight);
  }

  supplies(height?: number): ReadonlyMap<string, bigint> | undefined {
    return height === undefined ? this.#bridge.module.supplies() : this.#served.at(height);
  }

  rateLimiterInput(query: RateLimiterQuery = {}): RateLimiterInput {
    return this.#crosschain.module.input(this.#blocks.latest, query);
  }

  cctx(index: string): Cctx | undefined {
    return this.#crosschain.module.cctx(index, this.#blocks.latest);
  }

  stakingValidators(): readonly StakingValidator[] {
    return this.#bridge.module.stakingValidators();
  }

  crosschainStatus(): CrosschainStatus {
    return crosschainStatus(this.#crosschain.module, rulesOf(this.#scenario));
  }

  orchestrator(address: string): OrchestratorStatus | undefined {
    return this.#bridge.module.orchestrator(address);
  }

  #step(rules: Rules): void {
    const extraExternalBlocks = this.#takeExtraExternalBlocks();
    const block = this.#blocks.advance(extraExternalBlocks);
    // The hub notices the jump of the external height only when it observes an event.
    if (extraExternalBlocks > 0) this.#bridge.module.deposit(block);
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
