import type { Block } from './block.js';
import { ExternalContract } from './external-contract.js';
import { type ContractAction, Oracle } from './oracle.js';
import { createAccount, createExternalAddress, type Random } from './random.js';
import type { Immutable } from './responses.js';
import { SignedBlocks } from './signed-blocks.js';
import { createErc20ToDenoms, createTokens, drawAmount, type Token, type Tokens } from './token-model.js';
import {
  deriveConsensus,
  createOrchestratorAddresses,
  createValidators,
  type Validator,
  Valsets,
} from './validators.js';
import { sumAmounts, Withdrawals } from './withdrawals.js';

const BLACKLIST_LENGTH = 80;
const SLASH_FRACTION = '0.001000000000000000';
const CONTRACT_START_HEIGHT = 12_705_133;

/** The last claim of an orchestrator, and its funds for further claims. */
export interface OrchestratorStatus {
  readonly lastEventNonce: number;
  readonly externalHeight: number;
  readonly balance: bigint;
}

/** The parameters of the module in which simulated chains differ. */
interface BridgeParameters {
  readonly signedWindow: number;
  readonly signedClaimsWindow: number;
  readonly targetBatchTimeoutMs: number;
  /** Block times as the hub assumes them. */
  readonly averageBlockMs: number;
  readonly averageExternalBlockMs: number;
}

/** The bridge module of the hub: its state, and how it changes that state. Users and validators are elsewhere. */
export class BridgeModule {
  readonly tokens: Tokens;
  readonly validators: readonly Validator[];
  readonly withdrawals: Withdrawals;
  readonly valsets: Valsets;
  readonly oracle: Oracle;
  readonly contract: ExternalContract;
  readonly signedBlocks: SignedBlocks;
  readonly #random: Random;
  readonly #parameters: BridgeParameters;
  readonly #orchestratorAddresses: ReturnType<typeof createOrchestratorAddresses>;
  readonly #erc20ToDenoms: ReturnType<typeof createErc20ToDenoms>;
  #params: Params;
  #blacklist: readonly string[];

  constructor(
    random: Random,
    parameters: BridgeParameters,
    baseStakes: readonly number[],
    start: Block,
    blockTimeMs: number,
  ) {
    this.#random = random;
    this.#parameters = parameters;
    this.tokens = createTokens(random);
    this.validators = createValidators(random, baseStakes);
    this.withdrawals = new Withdrawals(random, this.tokens);
    this.signedBlocks = new SignedBlocks(blockTimeMs);
    this.valsets = new Valsets(random, this.validators, start.height);
    this.oracle = new Oracle(this.validators, random.between(90_000, 99_000), start.height, start.externalHeight);
    const hubCoin = this.tokens.find(({ origin }) => origin === 'hub-coin') ?? this.tokens[0];
    this.#params = createParams(random, hubCoin.contract, parameters);
    this.#orchestratorAddresses = createOrchestratorAddresses(random, this.validators);
    this.#erc20ToDenoms = createErc20ToDenoms(random, this.tokens);
    const lastNonce = this.oracle.lastObservedNonce;
    const address = this.#params.bridge_external_address;
    this.contract = new ExternalContract(this.tokens, lastNonce, this.valsets.newestNonce, address);
    this.#blacklist = Array.from({ length: BLACKLIST_LENGTH }, () => createExternalAddress(random)).toSorted();
  }

  /** A user deposits a random amount in the contract. */
  deposit(at: Pick<Block, 'timeMs' | 'externalHeight'>): void {
    this.emit(this.drawDeposit(this.#random.pick(this.tokens)), at);
  }

  /** The contract executes an action and emits its event. */
  emit(action: ContractAction, at: Pick<Block, 'timeMs' | 'externalHeight'>): void {
    const batch =
      action.kind === 'withdraw'
        ? this.withdrawals.batches.find(({ nonce }) => nonce === action.batchNonce)
        : undefined;
    this.contract.apply(action, at.externalHeight, batch === undefined ? 0n : sumAmounts(batch.transfers));
    this.oracle.emit(action, at);
  }

  /** The supply of the bridged tokens on the hub, by denom. */
  supplies(): ReadonlyMap<string, bigint> {
    return this.contract.supplies(new Map(this.tokens.map((token) => [token, this.withdrawals.held(token)])));
  }

  drawDeposit(token: Token): ContractAction {
    return {
      kind: 'deposit',
      tokenContract: token.contract,
      amount: String(drawAmount(this.#random, token)),
      sender: createExternalAddress(this.#random),
      receiver: createAccount(this.#random),
    };
  }

  /** The validators sign a block. One that has missed too many is jailed, and in no later validator set. */
  signBlock({ height }: Block, signs: (validator: Validator) => boolean): void {
    for (const validator of this.validators) {
      if (!this.signedBlocks.sign(validator, signs(validator), height)) continue;
      validator.isJailed = true;
      this.valsets.create(height);
    }
  }

  /** The end of a block: counts votes, executes events, then cancels batches and removes old validator sets. */
  endBlock({ height }: Block): void {
    for (const action of this.oracle.observeEvents(height)) this.#apply(action);
    this.withdrawals.cancelExpired(this.oracle.lastObservedExternalHeight);
    this.valsets.prune(height, this.#parameters.signedWindow);
  }

  /** The external height that the hub estimates for now, plus the target timeout. */
  batchTimeout(height: number): number {
    const { averageBlockMs, averageExternalBlockMs, targetBatchTimeoutMs } = this.#parameters;
    const sinceObservedMs = (height - this.oracle.lastObservedAtHeight) * averageBlockMs;
    const estimated = this.oracle.lastObservedExternalHeight + Math.floor(sinceObservedMs / averageExternalBlockMs);
    return estimated + targetBatchTimeoutMs / averageExternalBlockMs;
  }

  changeParams(changes: Partial<Params>): void {
    this.#params = { ...this.#params, ...changes };
  }

  addToBlacklist(address: string): void {
    this.#blacklist = [...this.#blacklist, address].toSorted();
  }

  /**
   * By descending stake, with the fields of the staking module (cosmos.staking.v1beta1.Validator) that concern people.
   */
  stakingValidators() {
    const byStake = this.validators.toSorted((left, right) => right.stake - left.stake);
    return byStake.map((validator) => {
      const { operator, moniker, stake, isJailed } = validator;
      return {
        operator_address: operator,
        consensus_pubkey: { '@type': '/cosmos.crypto.ed25519.PubKey', key: deriveConsensus(validator).key },
        jailed: isJailed,
        status: isJailed ? 'BOND_STATUS_UNBONDING' : 'BOND_STATUS_BONDED',
        tokens: `${Math.round(stake)}000000`,
        description: { moniker, website: '', details: '' },
      };
    });
  }

  /**
   * The signing info of a consensus address (cosmos.slashing.v1beta1.ValidatorSigningInfo); `undefined` for another
   * address.
   */
  signingInfo(address: string) {
    const validator = this.validators.find((candidate) => deriveConsensus(candidate).address === address);
    return (
      validator && {
        address,
        start_height: String(this.signedBlocks.startHeight(validator)),
        index_offset: '0',
        jailed_until: '1970-01-01T00:00:00Z',
        tombstoned: false,
        missed_blocks_counter: String(this.signedBlocks.missed(validator)),
      }
    );
  }

  /** The status of an orchestrator; `undefined` for another account. */
  orchestrator(address: string): OrchestratorStatus | undefined {
    const validator = this.validators.find(({ orchestrator }) => orchestrator === address);
    return (
      validator && {
        lastEventNonce: this.oracle.claimPosition(validator),
        externalHeight: this.oracle.lastObservedExternalHeight,
        balance: balanceAfter(validator.transactions),
      }
    );
  }

  /** Of the response `module_state`. */
  state() {
    const valsets = this.valsets.newestFirst;
    const batches = this.withdrawals.batches.toReversed();
    return {
      params: this.#params,
      last_observed_nonce: String(this.oracle.lastObservedNonce),
      valsets: valsets.map(({ wire }) => wire),
      valset_confirms: valsets.flatMap(({ confirms }) => Array.from(confirms.values())),
      batches: batches.map(({ wire }) => wire),
      batch_confirms: batches.flatMap(({ confirms }) => Array.from(confirms.values())),
      attestations: this.oracle.attestations,
      orchestrator_addresses: this.#orchestratorAddresses,
      erc20_to_denoms: this.#erc20ToDenoms,
      unbatched_transfers: this.withdrawals.unbatched,
      last_observed_external_height: String(this.oracle.lastObservedExternalHeight),
      last_outgoing_batch_id: String(this.withdrawals.lastBatchId),
      last_outgoing_pool_id: String(this.withdrawals.lastPoolId),
      last_observed_valset: this.valsets.observed,
      external_blacklist: this.#blacklist,
    };
  }

  #apply(action: ContractAction): void {
    switch (action.kind) {
      case 'deposit':
        return this.contract.mint(action.tokenContract, BigInt(action.amount));
      case 'withdraw':
        return this.withdrawals.observeExecution(action.batchNonce);
      case 'valset-update':
        return this.valsets.observe(action.valset);
    }
  }
}

type Params = Immutable<ReturnType<typeof createParams>>;

/** With 18 decimals. */
const FULL_BALANCE = 100n * 10n ** 18n;
const FEE = 10n ** 14n;

/** Operators fill up the account when half of the balance is spent. */
function balanceAfter(transactions: number): bigint {
  return FULL_BALANCE - ((BigInt(transactions) * FEE) % (FULL_BALANCE / 2n));
}

function createParams(random: Random, hubCoinContract: string, parameters: BridgeParameters) {
  const signedWindow = String(parameters.signedWindow);
  return {
    bridge_id: 'hub-bridgeid',
    contract_source_hash: '',
    bridge_external_address: createExternalAddress(random),
    bridge_chain_id: '1',
    signed_valsets_window: signedWindow,
    signed_batches_window: signedWindow,
    signed_claims_window: String(parameters.signedClaimsWindow),
    target_batch_timeout: String(parameters.targetBatchTimeoutMs),
    average_block_time: String(parameters.averageBlockMs),
    average_external_block_time: String(parameters.averageExternalBlockMs),
    slash_fraction_valset: SLASH_FRACTION,
    slash_fraction_batch: SLASH_FRACTION,
    slash_fraction_claim: SLASH_FRACTION,
    slash_fraction_conflicting_claim: SLASH_FRACTION,
    unbond_slashing_valsets_window: signedWindow,
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
