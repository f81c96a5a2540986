import { createAccount, createExternalAddress } from './addresses.js';
import { createParams, EXTERNAL_BLOCK_MS, SIGNED_WINDOW, TARGET_BATCH_TIMEOUT_MS } from './bridge-params.js';
import type { ContractReport } from './claims.js';
import type { Erc20ToDenom, ModuleState, OrchestratorAddress, Params } from './module-state.js';
import type { Moment } from './moment.js';
import { Oracle } from './oracle.js';
import { Arrivals, Random } from './random.js';
import type { Rules } from './scenarios.js';
import { createErc20ToDenoms, createTokens, drawAmount, type Tokens } from './tokens.js';
import { belongsTo, createOrchestratorAddresses, createValidators, type Validator } from './validators.js';
import { Valsets } from './valsets.js';
import { Withdrawals } from './withdrawals.js';

const ORCHESTRATOR_RUNS_PER_MINUTE = 2.5;
const BATCH_RUNS_PER_MINUTE = 1.5;
const RELAYER_RUNS_PER_MINUTE = 2;
const BLACKLIST_LENGTH = 80;

/** The state of the bridge module and all who act on it. */
export class BridgeModel {
  readonly #random: Random;
  readonly #blockTimeMs: number;
  /** What moves over the bridge; whoever watches it has symbols and decimals from elsewhere. */
  readonly tokens: Tokens;
  readonly #validators: readonly Validator[];
  readonly #withdrawals: Withdrawals;
  readonly #valsets: Valsets;
  readonly #oracle: Oracle;
  readonly #params: Params;
  readonly #orchestratorAddresses: readonly OrchestratorAddress[];
  readonly #erc20ToDenoms: readonly Erc20ToDenom[];
  readonly #blacklist: readonly string[];
  readonly #transfers: Arrivals;
  readonly #deposits: Arrivals;
  readonly #batchRuns: Arrivals;
  readonly #relayerRuns: Arrivals;
  readonly #stakeChanges: Arrivals;

  constructor(seed: number, blockTimeMs: number, start: Moment) {
    const random = new Random(seed, 'bridge');
    this.#random = random;
    this.#blockTimeMs = blockTimeMs;
    this.tokens = createTokens(random);
    this.#validators = createValidators(random);
    this.#withdrawals = new Withdrawals(random, this.tokens);
    this.#valsets = new Valsets(random, this.#validators, start.height);
    this.#oracle = new Oracle(this.#validators, random.between(90_000, 99_000), start.height, start.externalHeight);
    const hubCoin = this.tokens.find(({ origin }) => origin === 'hub-coin') ?? this.tokens[0];
    this.#params = createParams(random, hubCoin.contract, blockTimeMs);
    this.#orchestratorAddresses = createOrchestratorAddresses(random, this.#validators);
    this.#erc20ToDenoms = createErc20ToDenoms(random, this.tokens);
    this.#blacklist = Array.from({ length: BLACKLIST_LENGTH }, () => createExternalAddress(random)).toSorted();
    this.#transfers = new Arrivals(random);
    this.#deposits = new Arrivals(random);
    this.#batchRuns = new Arrivals(random);
    this.#relayerRuns = new Arrivals(random);
    this.#stakeChanges = new Arrivals(random);
  }

  get hasUnexecutedBatch(): boolean {
    return this.#withdrawals.batches.some(({ executed }) => !executed);
  }

  step(moment: Moment, rules: Rules): void {
    this.#changeStakes(moment, rules);
    this.#queueTransfers(moment, rules);
    this.#buildBatches(moment, rules);
    for (let due = this.#deposits.due(rules.depositsPerMinute * moment.elapsedMinutes); due > 0; due -= 1) {
      this.deposit(moment);
    }
    this.#relay(moment, rules);
    this.#oracle.look(moment, rules.disputesEvent);
    this.#runOrchestrators(moment, rules);
    for (const { report } of this.#oracle.observe(moment.height)) this.#apply(report);
    this.#withdrawals.cancelExpired(this.#oracle.lastObservedExternalHeight);
    this.#valsets.prune(moment.height, SIGNED_WINDOW);
  }

  deposit(moment: Moment): void {
    const token = this.#random.pick(this.tokens);
    const report = {
      kind: 'deposit',
      tokenContract: token.contract,
      amount: String(drawAmount(this.#random, token)),
      sender: createExternalAddress(this.#random),
      receiver: createAccount(this.#random),
    } as const;
    this.#oracle.emit(report, moment);
  }

  state(): ModuleState {
    const valsets = this.#valsets.newestFirst;
    const batches = this.#withdrawals.batches.toReversed();
    return {
      params: this.#params,
      last_observed_nonce: String(this.#oracle.lastObservedNonce),
      valsets: valsets.map(({ wire }) => wire),
      valset_confirms: valsets.flatMap(({ confirms }) => Array.from(confirms.values())),
      batches: batches.map(({ wire }) => wire),
      batch_confirms: batches.flatMap(({ confirms }) => Array.from(confirms.values())),
      attestations: this.#oracle.attestations,
      orchestrator_addresses: this.#orchestratorAddresses,
      erc20_to_denoms: this.#erc20ToDenoms,
      unbatched_transfers: this.#withdrawals.unbatched,
      last_observed_external_height: String(this.#oracle.lastObservedExternalHeight),
      last_outgoing_batch_id: String(this.#withdrawals.lastBatchId),
      last_outgoing_pool_id: String(this.#withdrawals.lastPoolId),
      last_observed_valset: this.#valsets.observed,
      external_blacklist: this.#blacklist,
    };
  }

  #changeStakes({ height, elapsedMinutes }: Moment, rules: Rules): void {
    const due = this.#stakeChanges.due(rules.stakeChangesPerMinute * elapsedMinutes);
    for (let change = 0; change < due; change += 1) this.#valsets.changeStake(rules.stakeSpread);
    if (due > 0) this.#valsets.createIfMoved(height);
  }

  #queueTransfers({ elapsedMinutes }: Moment, rules: Rules): void {
    const due = this.#transfers.due(rules.transfersPerMinute * elapsedMinutes);
    const room = rules.transferLimit - this.#withdrawals.waiting;
    for (let sent = 0; sent < Math.min(due, room); sent += 1) this.#withdrawals.send();
  }

  #buildBatches({ height, elapsedMinutes }: Moment, rules: Rules): void {
    for (let due = this.#batchRuns.due(BATCH_RUNS_PER_MINUTE * elapsedMinutes); due > 0; due -= 1) {
      this.#withdrawals.buildBatches(rules.batchesPerRun, rules.batchSize, height, this.#batchTimeout(height));
    }
  }

  /** An external height: where the hub believes the external chain to be, and the target time after it. */
  #batchTimeout(height: number): number {
    const sinceObserved = (height - this.#oracle.observedAtHeight) * this.#blockTimeMs;
    const believed = this.#oracle.lastObservedExternalHeight + Math.floor(sinceObserved / EXTERNAL_BLOCK_MS);
    return believed + TARGET_BATCH_TIMEOUT_MS / EXTERNAL_BLOCK_MS;
  }

  /** Relayers carry what is signed to the contract, in order; what they did comes back as an event. */
  #relay(moment: Moment, rules: Rules): void {
    if (this.#relayerRuns.due(RELAYER_RUNS_PER_MINUTE * moment.elapsedMinutes) === 0) return;
    const valset = rules.relaysValsets ? this.#valsets.relay() : undefined;
    if (valset) this.#oracle.emit({ kind: 'valset-update', valset }, moment);
    if (!rules.relaysBatches) return;
    for (const batch of this.#withdrawals.batches) {
      const isDead = batch.timeout <= moment.externalHeight;
      if (batch.executed || isDead || !this.#valsets.isEnough(batch.confirms)) continue;
      batch.executed = true;
      this.#oracle.emit({ kind: 'withdraw', batchNonce: batch.nonce, tokenContract: batch.token.contract }, moment);
    }
  }

  #runOrchestrators({ height, elapsedMinutes }: Moment, rules: Rules): void {
    const [busiestToken] = this.tokens;
    for (const validator of this.#validators) {
      if (validator.runs.due(ORCHESTRATOR_RUNS_PER_MINUTE * elapsedMinutes) === 0) continue;
      this.#oracle.vote(validator, rules, height);
      const signs = belongsTo(rules.valsetSigners, validator);
      const signsBusiest = belongsTo(rules.busiestTokenSigners, validator);
      if (signs) this.#valsets.confirm(validator, rules.valsetSignChance);
      this.#withdrawals.confirm(validator, (token) => (token === busiestToken ? signsBusiest : signs));
    }
  }

  #apply(report: ContractReport): void {
    switch (report.kind) {
      case 'deposit':
        return;
      case 'withdraw':
        return this.#withdrawals.observeExecution(report.batchNonce);
      case 'valset-update':
        return this.#valsets.observe(report.valset);
    }
  }
}
