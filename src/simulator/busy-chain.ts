import { type Block, BlockClock, EXTERNAL_BLOCK_MS, HOUR_MS, MINUTE_MS } from './block.js';
import { BridgeModule } from './bridge-module.js';
import { SimulatedChain } from './chain.js';
import { CrosschainModule } from './crosschain-module.js';
import { EXTERNAL_CHAINS } from './external-chains.js';
import { Arrivals, Random } from './random.js';
import { type Rules, createRules, type ScenarioName } from './scenarios.js';
import { BASE_STAKES, belongsTo } from './validators.js';

const FIRST_HEIGHT = 8_214_000;
const FIRST_EXTERNAL_HEIGHT = 21_380_000;

const ORCHESTRATOR_RUNS_PER_MINUTE = 2.5;
const BATCH_CREATOR_RUNS_PER_MINUTE = 1.5;
const RELAYER_RUNS_PER_MINUTE = 2;

const TARGET_BATCH_TIMEOUT_MS = 12 * HOUR_MS;
/**
 * Hub blocks within which a validator has to confirm. Shorter than on a main network, so that old sets are pruned
 * within hours.
 */
const SIGNED_WINDOW = 10_000;

const CCTX_HABITS = { revertShare: 0.08, signingSeconds: [15, 60] } as const;

/** A busy chain: its users, validators, orchestrators and relayers act in most blocks. */
export class BusyChain extends SimulatedChain {
  readonly blockTimeMs: number;
  readonly bridge: BridgeModule;
  readonly crosschain: CrosschainModule;
  latest: Block;
  scenario: ScenarioName = 'healthy';
  readonly #clock: BlockClock;
  readonly #transfers: Arrivals;
  readonly #deposits: Arrivals;
  readonly #batchCreatorRuns: Arrivals;
  readonly #relayerRuns: Arrivals;
  readonly #stakeChanges: Arrivals;
  readonly #cctxs: Arrivals;
  #pendingExternalBlocks = 0;
  #msSinceBlock = 0;

  constructor(seed: number, blockTimeMs: number, startMs: number) {
    super();
    this.blockTimeMs = blockTimeMs;
    this.#clock = new BlockClock({
      firstHeight: FIRST_HEIGHT + (seed % 1000),
      firstExternalHeight: FIRST_EXTERNAL_HEIGHT,
      startMs,
      blockTimeMs,
    });
    this.latest = this.#clock.at(startMs);
    const bridgeRandom = new Random(seed, 'bridge');
    const parameters = {
      signedWindow: SIGNED_WINDOW,
      signedClaimsWindow: SIGNED_WINDOW,
      targetBatchTimeoutMs: TARGET_BATCH_TIMEOUT_MS,
      averageBlockMs: blockTimeMs,
      averageExternalBlockMs: EXTERNAL_BLOCK_MS,
    };
    this.bridge = new BridgeModule(bridgeRandom, parameters, BASE_STAKES, this.latest, blockTimeMs);
    this.#transfers = new Arrivals(bridgeRandom);
    this.#deposits = new Arrivals(bridgeRandom);
    this.#batchCreatorRuns = new Arrivals(bridgeRandom);
    this.#relayerRuns = new Arrivals(bridgeRandom);
    this.#stakeChanges = new Arrivals(bridgeRandom);
    const crosschainRandom = new Random(seed, 'crosschain');
    this.#cctxs = new Arrivals(crosschainRandom);
    this.crosschain = new CrosschainModule(crosschainRandom, EXTERNAL_CHAINS, CCTX_HABITS, blockTimeMs, startMs);
  }

  protected get rules(): Rules {
    return createRules(this.scenario);
  }

  advance(blocks: number): void {
    const { rules } = this;
    for (let made = 0; made < blocks; made += 1) this.#step(rules);
  }

  advanceTime(ms: number): void {
    this.#msSinceBlock += ms;
    const blocks = Math.floor(this.#msSinceBlock / this.blockTimeMs);
    this.#msSinceBlock -= blocks * this.blockTimeMs;
    this.advance(blocks);
  }

  setScenario(scenario: ScenarioName): void {
    if (scenario === this.scenario) return;
    if (scenario === 'mainnet') throw new RangeError('only a chain that starts in the scenario mainnet can be in it');
    this.scenario = scenario;
    this.#pendingExternalBlocks = this.rules.extraExternalBlocks;
  }

  #step(rules: Rules): void {
    const extraExternalBlocks = this.#takeExtraExternalBlocks();
    this.#clock.skipExternalBlocks(extraExternalBlocks);
    this.latest = this.#clock.after(this.latest, 1);
    // The hub notices the jump of the external height only when it observes an event.
    if (extraExternalBlocks > 0) this.bridge.deposit(this.latest);
    this.#changeStakes(rules);
    this.#addTransfers(rules);
    this.#buildBatches(rules);
    for (let due = this.#due(this.#deposits, rules.depositsPerMinute); due > 0; due -= 1) {
      this.bridge.deposit(this.latest);
    }
    this.#relay(rules);
    this.bridge.oracle.confirmEvents(this.latest, rules.disputing.size > 0);
    this.#runOrchestrators(rules);
    this.bridge.signBlock(this.latest, ({ rank }) => !rules.absentRanks.has(rank));
    this.bridge.endBlock(this.latest);
    this.#addCctxs(rules);
    this.crosschain.step(this.latest, rules);
  }

  /** The jump of a scenario, once there is a batch that it can bring near its timeout. */
  #takeExtraExternalBlocks(): number {
    if (this.bridge.withdrawals.batches.every(({ executed }) => executed)) return 0;
    const blocks = this.#pendingExternalBlocks;
    this.#pendingExternalBlocks = 0;
    return blocks;
  }

  /** The number of arrivals since the previous block. */
  #due(arrivals: Arrivals, perMinute: number): number {
    return arrivals.due(perMinute * (this.blockTimeMs / MINUTE_MS));
  }

  #changeStakes(rules: Rules): void {
    const due = this.#due(this.#stakeChanges, rules.stakeChangesPerMinute);
    for (let change = 0; change < due; change += 1) this.bridge.valsets.changeStake(rules.stakeSpread);
    if (due > 0) this.bridge.valsets.createIfPowerChanged(this.height);
  }

  #addTransfers(rules: Rules): void {
    const { withdrawals } = this.bridge;
    const due = this.#due(this.#transfers, rules.transfersPerMinute);
    const room = rules.maxUnbatchedTransfers - withdrawals.unbatchedCount;
    for (let added = 0; added < Math.min(due, room); added += 1) withdrawals.addTransfer();
  }

  #buildBatches({ batchesPerRun, batchSize }: Rules): void {
    for (let due = this.#due(this.#batchCreatorRuns, BATCH_CREATOR_RUNS_PER_MINUTE); due > 0; due -= 1) {
      const timeout = this.bridge.batchTimeout(this.height);
      this.bridge.withdrawals.buildBatches(batchesPerRun, batchSize, this.height, timeout);
    }
  }

  /** Relayers submit validator sets and batches with a quorum to the contract, which emits an event for each. */
  #relay(rules: Rules): void {
    const { bridge, latest } = this;
    if (this.#due(this.#relayerRuns, RELAYER_RUNS_PER_MINUTE) === 0) return;
    const valset = rules.relaysValsets ? bridge.valsets.relay() : undefined;
    if (valset) bridge.emit({ kind: 'valset-update', valset }, latest);
    if (!rules.relaysBatches) return;
    for (const batch of bridge.withdrawals.batches) {
      const isTimedOut = batch.timeout <= latest.externalHeight;
      if (batch.executed || isTimedOut || !bridge.valsets.isQuorum(batch.confirms)) continue;
      batch.executed = true;
      bridge.emit({ kind: 'withdraw', batchNonce: batch.nonce, tokenContract: batch.token.contract }, latest);
    }
  }

  #runOrchestrators(rules: Rules): void {
    const { oracle, tokens, validators, valsets, withdrawals } = this.bridge;
    for (const validator of validators) {
      if (this.#due(validator.orchestratorRuns, ORCHESTRATOR_RUNS_PER_MINUTE) === 0) continue;
      oracle.vote(validator, rules, this.height);
      const signs = belongsTo(rules.valsetSigners, validator);
      const signsBusiestToken = belongsTo(rules.busiestTokenSigners, validator);
      if (signs) valsets.confirm(validator, rules.valsetSignChance);
      withdrawals.confirm(validator, (token) => (token === tokens[0] ? signsBusiestToken : signs));
    }
  }

  #addCctxs(rules: Rules): void {
    const due = this.#due(this.#cctxs, rules.cctxsPerMinute);
    const room = rules.maxPendingCctxs - this.crosschain.pendingCount;
    for (let added = 0; added < Math.min(due, room); added += 1) this.crosschain.addCctx(this.latest, rules);
  }
}
