import { type Block, EXTERNAL_BLOCK_MS } from './block.js';
import { type ContractAction, Oracle } from './oracle.js';
import { Arrivals, createAccount, createExternalAddress, Random } from './random.js';
import type { Erc20ToDenom, ModuleState, OrchestratorAddress, Params, StakingValidator } from './responses.js';
import type { Rules } from './scenarios.js';
import { createErc20ToDenoms, createTokens, drawAmount, type Tokens } from './tokens.js';
import { belongsTo, createOrchestratorAddresses, createValidators, type Validator, Valsets } from './validators.js';
import { Withdrawals } from './withdrawals.js';

const ORCHESTRATOR_RUNS_PER_MINUTE = 2.5;
const BATCH_CREATOR_RUNS_PER_MINUTE = 1.5;
const RELAYER_RUNS_PER_MINUTE = 2;
const BLACKLIST_LENGTH = 80;

const TARGET_BATCH_TIMEOUT_MS = 12 * 60 * 60 * 1000;
/**
 * Hub blocks within which a validator has to confirm. Shorter than on a main network, so that old sets are pruned
 * within hours.
 */
const SIGNED_WINDOW = 10_000;
const SLASH_FRACTION = '0.001000000000000000';
const CONTRACT_START_HEIGHT = 12_705_133;

/** The bridge module of the hub, with its users, validators, orchestrators and relayers. */
export class BridgeModel {
  readonly tokens: Tokens;
  readonly #random: Random;
  readonly #blockTimeMs: number;
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
  readonly #batchCreatorRuns: Arrivals;
  readonly #relayerRuns: Arrivals;
  readonly #stakeChanges: Arrivals;

  constructor(seed: number, blockTimeMs: number, start: Block) {
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
    this.#batchCreatorRuns = new Arrivals(random);
    this.#relayerRuns = new Arrivals(random);
    this.#stakeChanges = new Arrivals(random);
  }

  get hasUnexecutedBatch(): boolean {
    return this.#withdrawals.batches.some(({ executed }) => !executed);
  }

  step(block: Block, rules: Rules): void {
    this.#changeStakes(block, rules);
    this.#addTransfers(block, rules);
    this.#buildBatches(block, rules);
    for (let due = this.#deposits.due(rules.depositsPerMinute * block.elapsedMinutes); due > 0; due -= 1) {
      this.deposit(block);
    }
    this.#relay(block, rules);
    this.#oracle.confirmEvents(block, rules.disputesEvent);
    this.#runOrchestrators(block, rules);
    for (const action of this.#oracle.observeEvents(block.height)) this.#apply(action);
    this.#withdrawals.cancelExpired(this.#oracle.lastObservedExternalHeight);
    this.#valsets.prune(block.height, SIGNED_WINDOW);
  }

  deposit(block: Block): void {
    const token = this.#random.pick(this.tokens);
    const deposit = {
      kind: 'deposit',
      tokenContract: token.contract,
      amount: String(drawAmount(this.#random, token)),
      sender: createExternalAddress(this.#random),
      receiver: createAccount(this.#random),
    } as const;
    this.#oracle.emit(deposit, block);
  }

  stakingValidators(): StakingValidator[] {
    const byStake = this.#validators.toSorted((left, right) => right.stake - left.stake);
    return byStake.map(({ operator, moniker, stake }) => ({
      operator_address: operator,
      status: 'BOND_STATUS_BONDED',
      tokens: `${Math.round(stake)}000000`,
      description: { moniker, website: '', details: '' },
    }));
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

  #changeStakes({ height, elapsedMinutes }: Block, rules: Rules): void {
    const due = this.#stakeChanges.due(rules.stakeChangesPerMinute * elapsedMinutes);
    for (let change = 0; change < due; change += 1) this.#valsets.changeStake(rules.stakeSpread);
    if (due > 0) this.#valsets.createIfPowerChanged(height);
  }

  #addTransfers({ elapsedMinutes }: Block, rules: Rules): void {
    const due = this.#transfers.due(rules.transfersPerMinute * elapsedMinutes);
    const room = rules.maxUnbatchedTransfers - this.#withdrawals.unbatchedCount;
    for (let added = 0; added < Math.min(due, room); added += 1) this.#withdrawals.addTransfer();
  }

  #buildBatches({ height, elapsedMinutes }: Block, rules: Rules): void {
    for (let due = this.#batchCreatorRuns.due(BATCH_CREATOR_RUNS_PER_MINUTE * elapsedMinutes); due > 0; due -= 1) {
      this.#withdrawals.buildBatches(rules.batchesPerRun, rules.batchSize, height, this.#batchTimeout(height));
    }
  }

  /** The external height that the hub estimates for now, plus the target timeout. */
  #batchTimeout(height: number): number {
    const sinceObservedMs = (height - this.#oracle.lastObservedAtHeight) * this.#blockTimeMs;
    const estimated = this.#oracle.lastObservedExternalHeight + Math.floor(sinceObservedMs / EXTERNAL_BLOCK_MS);
    return estimated + TARGET_BATCH_TIMEOUT_MS / EXTERNAL_BLOCK_MS;
  }

  /** Relayers submit validator sets and batches with a quorum to the contract, which emits an event for each. */
  #relay(block: Block, rules: Rules): void {
    if (this.#relayerRuns.due(RELAYER_RUNS_PER_MINUTE * block.elapsedMinutes) === 0) return;
    const valset = rules.relaysValsets ? this.#valsets.relay() : undefined;
    if (valset) this.#oracle.emit({ kind: 'valset-update', valset }, block);
    if (!rules.relaysBatches) return;
    for (const batch of this.#withdrawals.batches) {
      const isTimedOut = batch.timeout <= block.externalHeight;
      if (batch.executed || isTimedOut || !this.#valsets.isQuorum(batch.confirms)) continue;
      batch.executed = true;
      this.#oracle.emit({ kind: 'withdraw', batchNonce: batch.nonce, tokenContract: batch.token.contract }, block);
    }
  }

  #runOrchestrators({ height, elapsedMinutes }: Block, rules: Rules): void {
    const [busiestToken] = this.tokens;
    for (const validator of this.#validators) {
      if (validator.orchestratorRuns.due(ORCHESTRATOR_RUNS_PER_MINUTE * elapsedMinutes) === 0) continue;
      this.#oracle.vote(validator, rules, height);
      const signs = belongsTo(rules.valsetSigners, validator);
      const signsBusiestToken = belongsTo(rules.busiestTokenSigners, validator);
      if (signs) this.#valsets.confirm(validator, rules.valsetSignChance);
      this.#withdrawals.confirm(validator, (token) => (token === busiestToken ? signsBusiestToken : signs));
    }
  }

  #apply(action: ContractAction): void {
    switch (action.kind) {
      case 'deposit':
        return;
      case 'withdraw':
        return this.#withdrawals.observeExecution(action.batchNonce);
      case 'valset-update':
        return this.#valsets.observe(action.valset);
    }
  }
}

function createParams(random: Random, hubCoinContract: string, blockTimeMs: number): Params {
  return {
    bridge_id: 'hub-bridgeid',
    contract_source_hash: '',
    bridge_external_address: createExternalAddress(random),
    bridge_chain_id: '1',
    signed_valsets_window: String(SIGNED_WINDOW),
    signed_batches_window: String(SIGNED_WINDOW),
    signed_claims_window: String(SIGNED_WINDOW),
    target_batch_timeout: String(TARGET_BATCH_TIMEOUT_MS),
    average_block_time: String(blockTimeMs),
    average_external_block_time: String(EXTERNAL_BLOCK_MS),
    slash_fraction_valset: SLASH_FRACTION,
    slash_fraction_batch: SLASH_FRACTION,
    slash_fraction_claim: SLASH_FRACTION,
    slash_fraction_conflicting_claim: SLASH_FRACTION,
    unbond_slashing_valsets_window: String(SIGNED_WINDOW),
    slash_fraction_bad_eth_signature: SLASH_FRACTION,
    hub_coin_denom: 'hub',
    // Lower case here and mixed case in transfers, as in a hand-written genesis file.
    hub_coin_erc20_contract: hubCoinContract.toLowerCase(),
    claim_slashing_enabled: false,
    bridge_contract_start_height: String(CONTRACT_START_HEIGHT),
    valset_reward: { denom: 'hub', amount: '0' },
    admins: [createAccount(random), createAccount(random)],
  };
}
