import { type Block, EXTERNAL_BLOCK_MS } from './block.js';
import { BridgeModule } from './bridge-module.js';
import { Arrivals, Random } from './random.js';
import type { Rules } from './scenarios.js';
import { BASE_STAKES, belongsTo } from './validators.js';

const ORCHESTRATOR_RUNS_PER_MINUTE = 2.5;
const BATCH_CREATOR_RUNS_PER_MINUTE = 1.5;
const RELAYER_RUNS_PER_MINUTE = 2;

const TARGET_BATCH_TIMEOUT_MS = 12 * 60 * 60 * 1000;
/**
 * Hub blocks within which a validator has to confirm. Shorter than on a main network, so that old sets are pruned
 * within hours.
 */
const SIGNED_WINDOW = 10_000;

/** A busy bridge: its users, validators, orchestrators and relayers act in most blocks. */
export class BridgeModel {
  readonly module: BridgeModule;
  readonly #transfers: Arrivals;
  readonly #deposits: Arrivals;
  readonly #batchCreatorRuns: Arrivals;
  readonly #relayerRuns: Arrivals;
  readonly #stakeChanges: Arrivals;

  constructor(seed: number, blockTimeMs: number, start: Block) {
    const random = new Random(seed, 'bridge');
    const parameters = {
      signedWindow: SIGNED_WINDOW,
      signedClaimsWindow: SIGNED_WINDOW,
      targetBatchTimeoutMs: TARGET_BATCH_TIMEOUT_MS,
      averageBlockMs: blockTimeMs,
      averageExternalBlockMs: EXTERNAL_BLOCK_MS,
    };
    this.module = new BridgeModule(random, parameters, BASE_STAKES, start);
    this.#transfers = new Arrivals(random);
    this.#deposits = new Arrivals(random);
    this.#batchCreatorRuns = new Arrivals(random);
    this.#relayerRuns = new Arrivals(random);
    this.#stakeChanges = new Arrivals(random);
  }

  get hasUnexecutedBatch(): boolean {
    return this.module.withdrawals.batches.some(({ executed }) => !executed);
  }

  step(block: Block, rules: Rules): void {
    this.#changeStakes(block, rules);
    this.#addTransfers(block, rules);
    this.#buildBatches(block, rules);
    for (let due = this.#deposits.due(rules.depositsPerMinute * block.elapsedMinutes); due > 0; due -= 1) {
      this.module.deposit(block);
    }
    this.#relay(block, rules);
    this.module.oracle.confirmEvents(block, rules.disputing.size > 0);
    this.#runOrchestrators(block, rules);
    this.module.endBlock(block);
  }

  #changeStakes({ height, elapsedMinutes }: Block, rules: Rules): void {
    const due = this.#stakeChanges.due(rules.stakeChangesPerMinute * elapsedMinutes);
    for (let change = 0; change < due; change += 1) this.module.valsets.changeStake(rules.stakeSpread);
    if (due > 0) this.module.valsets.createIfPowerChanged(height);
  }

  #addTransfers({ elapsedMinutes }: Block, rules: Rules): void {
    const due = this.#transfers.due(rules.transfersPerMinute * elapsedMinutes);
    const room = rules.maxUnbatchedTransfers - this.module.withdrawals.unbatchedCount;
    for (let added = 0; added < Math.min(due, room); added += 1) this.module.withdrawals.addTransfer();
  }

  #buildBatches({ height, elapsedMinutes }: Block, rules: Rules): void {
    for (let due = this.#batchCreatorRuns.due(BATCH_CREATOR_RUNS_PER_MINUTE * elapsedMinutes); due > 0; due -= 1) {
      this.module.withdrawals.buildBatches(
        rules.batchesPerRun,
        rules.batchSize,
        height,
        this.module.batchTimeout(height),
      );
    }
  }

  /** Relayers submit validator sets and batches with a quorum to the contract, which emits an event for each. */
  #relay(block: Block, rules: Rules): void {
    if (this.#relayerRuns.due(RELAYER_RUNS_PER_MINUTE * block.elapsedMinutes) === 0) return;
    const valset = rules.relaysValsets ? this.module.valsets.relay() : undefined;
    if (valset) this.module.emit({ kind: 'valset-update', valset }, block);
    if (!rules.relaysBatches) return;
    for (const batch of this.module.withdrawals.batches) {
      const isTimedOut = batch.timeout <= block.externalHeight;
      if (batch.executed || isTimedOut || !this.module.valsets.isQuorum(batch.confirms)) continue;
      batch.executed = true;
      this.module.emit({ kind: 'withdraw', batchNonce: batch.nonce, tokenContract: batch.token.contract }, block);
    }
  }

  #runOrchestrators({ height, elapsedMinutes }: Block, rules: Rules): void {
    const [busiestToken] = this.module.tokens;
    for (const validator of this.module.validators) {
      if (validator.orchestratorRuns.due(ORCHESTRATOR_RUNS_PER_MINUTE * elapsedMinutes) === 0) continue;
      this.module.oracle.vote(validator, rules, height);
      const signs = belongsTo(rules.valsetSigners, validator);
      const signsBusiestToken = belongsTo(rules.busiestTokenSigners, validator);
      if (signs) this.module.valsets.confirm(validator, rules.valsetSignChance);
      this.module.withdrawals.confirm(validator, (token) => (token === busiestToken ? signsBusiestToken : signs));
    }
  }
}
