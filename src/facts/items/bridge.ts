import { asNumeral } from '../../chain/numeral.js';
import type { Field } from '../../chain/field.js';
import type { Batch, Transfer, Valset } from '../../chain/module-state.js';
import {
  externalBlocks,
  hubBlocksSince,
  hubBlocksUntil,
  hubBlockTime,
  hubBlockTimeSource,
} from '../bridge/block-times.js';
import { existedAt, oldestBlock, timeoutState, waitOfBatch, waitReasons, type WaitReason } from '../bridge/batches.js';
import { learnedFees } from '../bridge/executions.js';
import { estimatedExternalHeight, judgedExternalHeight } from '../bridge/external-height.js';
import {
  claimContent,
  conflictingNonces,
  pendingAttestations,
  pendingEventCount,
  type EventAttestation,
} from '../bridge/events.js';
import type { BridgeInput } from '../bridge/bridge-input.js';
import { findExecutionClaims, highestVotedShare } from '../bridge/integrity.js';
import { valsetDeadline } from '../bridge/duties.js';
import {
  batchesBelowThreshold,
  batchSignatures,
  countValsetsBelowThreshold,
  valsetSignatures,
} from '../bridge/signatures.js';
import {
  batchedTransfers,
  contractLabel,
  countTokensWithoutMinimum,
  feeCoin,
  minBatchFees,
  queueWaitsFor,
  topBatchFeesByToken,
  waitingTokensByWorth,
  type WaitingToken,
  readId,
  totalAmount,
  totalFees,
  transferredCoin,
  unbatchedTransfers,
} from '../bridge/tokens.js';
import { validatorName } from '../bridge/registrations.js';
import { memberAddresses, unrelayedValsets } from '../bridge/valsets.js';
import { countElements, orEmpty, orNull, orUndefined, required, rows } from '../required-fields.js';
import { registeredItem, validatorItems } from './validator-items.js';
import { claimItem } from '../bridge/claims.js';
import { coinItem, hubCoin, tokenItem, type CoinItem } from '../bridge/coins.js';
import { itemList, optionalKey, type Search, type SortKeys } from './item-list.js';
import { decimalOrNull, formatDecimal, truncatedOrNull } from '../plain-values.js';

export type BridgeItems = Readonly<ReturnType<typeof bridgeItems>>;
export type BatchItem = Readonly<ReturnType<typeof batchItem>>;
export type TransferItem = Readonly<ReturnType<typeof transferItem>>;
export type ValsetItem = Readonly<ReturnType<typeof valsetItem>>;

/**
 * The items of a bridge for `/pending`, derived from the same facts as the metrics. With a search, the lists have the
 * rows that it has found.
 */
export function bridgeItems(input: BridgeInput, search?: Search) {
  const { state, height, settings } = input;
  const belowThreshold = orNull(() => batchesBelowThreshold(input));
  const first = new Set(belowThreshold);
  return {
    document: 'module_state' as const,
    hubHeight: decimalOrNull(() => height),
    /** Then the time until a height is unknown, and newer signatures. */
    isNodeBehind: input.isNodeBehind === true,
    /** `null` without a recent reading of the contract. */
    isContractPaused: input.isContractPaused ?? null,
    lastObservedNonce: decimalOrNull(() => state.last_observed_nonce),
    lastObservedExternalHeight: decimalOrNull(() => state.last_observed_external_height),
    /** Estimated current external height. */
    projectedExternalHeight: decimalOrNull(() => estimatedExternalHeight(input)),
    /** The block time of durations; the parameter of the chain is often wrong. */
    hubBlockTime: orNull(() => ({ seconds: hubBlockTime(input) / 1000, source: hubBlockTimeSource(input) })),
    powerThreshold: formatDecimal(asNumeral(settings.power_threshold)),
    /** Numbers of live batches and of unrelayed validator sets whose signed power is below the threshold. */
    batchesBelowThreshold: belowThreshold?.length ?? null,
    valsetsBelowThreshold: orNull(() => countValsetsBelowThreshold(input)),
    /** Number of transfers in live batches, and of live batches by the reason of their wait. */
    batchedTransfers: orNull(() => batchedTransfers(input).length),
    batchesByWait: orNull(() => batchesByWait(input)),
    oldestBatchAge: hubBlocksSince(
      input,
      orUndefined(() => oldestBlock(rows(state.batches))),
    ),
    pendingEvents: decimalOrNull(() => pendingEventCount(input)),
    conflictingEvents: orNull(() => conflictingNonces(input).size),
    hubCoin: orNull(() => hubCoin(input)),
    validators: validatorItems(input),
    /** Live batches: unsigned, then signed batches, each by creation height. */
    batches: itemList(
      () => rows(state.batches),
      BATCH_KEYS,
      (batch) => batchItem(input, batch),
      {
        countRows: () => countElements(state.batches),
        isFirst: (batch) => first.has(batch),
        search,
        searched: ({ batch_nonce, token_contract }) => [batch_nonce, ...tokenNames(input, token_contract)],
      },
    ),
    /** Unrelayed validator sets: unsigned, then signed sets, each by nonce. */
    valsets: itemList(
      () => unrelayedValsets(input),
      [({ nonce }) => required(nonce)],
      (valset) => valsetItem(input, valset),
      {
        isFirst: (valset) => valsetSignatures(input, valset).belowThreshold === true,
        search,
        searched: ({ nonce }) => [nonce],
      },
    ),
    claims: itemList(
      () => pendingAttestations(input),
      CLAIM_KEYS,
      (claim) => claimItem(input, claim),
      { search, searched: (claim) => claimNames(input, claim) },
    ),
    tokens: waitingTokenItems(input, search),
    tokensWithoutMinimumFee: orNull(() => countTokensWithoutMinimum(input)),
    /** Those in no batch; with a search, also those in batches, whose number is in the list of batches. */
    transfers: itemList(
      () => [
        ...unbatchedTransfers(input).map((transfer) => ({ transfer, batch: undefined })),
        ...(search === undefined ? [] : rows(state.batches)).flatMap((batch) =>
          rows(batch.transactions).map((transfer) => ({ transfer, batch })),
        ),
      ],
      [({ transfer }) => readId(transfer)],
      ({ transfer, batch }) => transferItem(input, transfer, batch),
      {
        countRows: () => countElements(state.unbatched_transfers),
        search,
        searched: ({ transfer: { id, sender, dest_address } }) => [id, sender, dest_address],
      },
    ),
    /** All registered validators; `null` without a search, because `validators` has the members of the set. */
    registrations:
      search === undefined
        ? null
        : itemList(
            () => rows(state.orchestrator_addresses),
            [],
            (registration) => registeredItem(input, registration),
            {
              search,
              searched: (registration) => [
                ...Object.values(registration),
                orNull(() => validatorName(input, registration)),
              ],
            },
          ),
  };
}

/** Contract, denom and symbol of a token. */
function tokenNames(input: BridgeInput, contract: Field<string>): readonly unknown[] {
  return Object.values(tokenItem(input, contract));
}

function claimNames(input: BridgeInput, { nonce, attestation }: EventAttestation): readonly unknown[] {
  const content = orEmpty(() => {
    const claim = claimContent(attestation);
    const { external_sender, hub_receiver, batch_nonce, valset_nonce, token_contract } = claim;
    return [external_sender, hub_receiver, batch_nonce, valset_nonce, ...tokenNames(input, token_contract)];
  });
  return [nonce, ...content];
}

function batchesByWait(input: BridgeInput) {
  const waits = rows(input.state.batches).map((batch) => orNull(() => waitOfBatch(input, batch)) ?? 'unknown');
  const countWaits = (reason: string): number => waits.filter((wait) => wait === reason).length;
  return [...waitReasons, 'unknown' as const]
    .map((waitsFor) => ({ waitsFor, batches: countWaits(waitsFor) }))
    .filter(({ batches }) => batches > 0);
}

const BATCH_KEYS: SortKeys<Batch> = [
  optionalKey(({ block }) => required(block)),
  ({ batch_nonce }) => required(batch_nonce),
];

const CLAIM_KEYS: SortKeys<EventAttestation> = [
  ({ nonce }) => nonce,
  optionalKey(({ attestation }) => required(attestation.height)),
];

function transferItem(input: BridgeInput, transfer: Transfer, batch: Batch | undefined) {
  const { id, sender, dest_address } = transfer;
  const queue = orNull(() => queueItem(input, contractLabel(transferredCoin(transfer)?.contract)));
  return {
    id: formatDecimal(id),
    /** `null` in no batch, and if the nonce of its batch is unknown. */
    batch: batch === undefined ? null : decimalOrNull(() => batch.batch_nonce),
    sender: truncatedOrNull(() => required(sender)),
    destination: truncatedOrNull(() => required(dest_address)),
    amount: coinItem(input, transferredCoin(transfer)),
    fee: coinItem(input, feeCoin(transfer)),
    /** The shortest possible wait, by the ids in live batches. */
    age: hubBlocksSince(
      input,
      orUndefined(() => existedAt(input, readId(transfer))),
    ),
    /** The queue of its token; `null` in a batch. */
    queue: batch === undefined ? queue : null,
    waitsFor: batch === undefined ? (queue?.waitsFor ?? null) : orNull(() => waitOfBatch(input, batch)),
  };
}

function batchItem(input: BridgeInput, batch: Batch) {
  const { batch_nonce, token_contract, transactions, block, batch_timeout } = batch;
  return {
    nonce: formatDecimal(batch_nonce),
    token: tokenItem(input, token_contract),
    transfers: orNull(() => countElements(transactions)),
    amount: coinItem(input, {
      contract: token_contract,
      amount: orUndefined(() => totalAmount(rows(transactions))),
    }),
    /** Sum of the fees in the token of the batch, which a relayer earns. */
    fee: coinItem(input, { contract: token_contract, amount: orUndefined(() => totalFees(batch)) }),
    createdHeight: decimalOrNull(() => block),
    age: hubBlocksSince(input, block),
    /** External height from which the contract rejects the batch. */
    timeoutHeight: decimalOrNull(() => batch_timeout),
    /** External blocks to the timeout from the last observed height, and from the current one if it is known. */
    headroom: externalBlocks(input, () => required(input.state.last_observed_external_height), batch_timeout),
    projectedHeadroom: externalBlocks(input, () => required(judgedExternalHeight(input)), batch_timeout),
    state: orNull(() => timeoutState(input, batch)),
    minimumFee: orNull(() => minimumFee(input, contractLabel(token_contract))),
    executedFee: orNull(() => executedFee(input, contractLabel(token_contract))),
    waitsFor: orNull(() => waitOfBatch(input, batch)),
    /** Share of the power of the newest validator set that claims the execution, 0 to 1; `null` without claims. */
    executedPowerRatio: orNull(() => {
      const claims = findExecutionClaims(input, batch);
      return claims.length === 0 ? undefined : highestVotedShare(input, claims);
    }),
    ...batchSignatures(input, batch),
  };
}

function valsetItem(input: BridgeInput, valset: Valset) {
  const deadline = () => valsetDeadline(input, valset);
  return {
    nonce: formatDecimal(valset.nonce),
    members: orNull(() => memberAddresses(valset).size),
    createdHeight: decimalOrNull(() => valset.height),
    age: hubBlocksSince(input, valset.height),
    /** Hub height after which members without a signature are jailed. */
    deadlineHeight: decimalOrNull(() => deadline()),
    headroom: hubBlocksUntil(input, deadline),
    ...valsetSignatures(input, valset),
  };
}

/** The configured fees below which nobody builds or relays a batch of a token. */
function minimumFee(input: BridgeInput, contract: string): CoinItem | null {
  const amount = minBatchFees(input.tokens).get(contract);
  return amount === undefined ? null : coinItem(input, { contract, amount });
}

/**
 * What batches of a token that were executed in fourteen days have paid at least; `null` unless it takes the place of a
 * minimum.
 */
function executedFee(input: BridgeInput, contract: string) {
  const { lowest, secondLowest, minimum } = learnedFees(input).get(contract) ?? {};
  if (minimum === undefined || lowest === undefined || minBatchFees(input.tokens).has(contract)) return null;
  const isOfAll = lowest >= minimum;
  return {
    ...coinItem(input, { contract, amount: isOfAll ? lowest : secondLowest }),
    /** Otherwise of all but one. */ isOfAll,
  };
}

export type WaitingTokenItem = Readonly<ReturnType<typeof waitingTokenItem>>;

/** The queue of unbatched transfers of a token. */
interface QueueItem {
  /** The fees of a batch built now. */
  readonly fees: CoinItem;
  readonly minimumFee: CoinItem | null;
  /** Without a minimum, any fee is sufficient. */
  readonly waitsFor: WaitReason | null;
}

/** Withdrawn when a fee is unknown; `undefined` for an empty queue. */
function queueItem(input: BridgeInput, contract: string): QueueItem | undefined {
  const fees = topBatchFeesByToken(input).get(contract);
  if (fees === undefined) return undefined;
  return {
    fees: coinItem(input, { contract, amount: fees }),
    minimumFee: minimumFee(input, contract),
    waitsFor: queueWaitsFor(input, contract) ?? null,
  };
}

/**
 * The waiting tokens by worth, then configured tokens, then by the number of transfers. Unreadable when either list is:
 * an amount could be too low.
 */
function waitingTokenItems(input: BridgeInput, search?: Search) {
  return itemList(
    () => waitingTokensByWorth(input),
    [],
    (waiting) => waitingTokenItem(input, waiting),
    { search, searched: ({ contract }) => Object.values(tokenItem(input, contract)) },
  );
}

function waitingTokenItem(input: BridgeInput, waiting: WaitingToken) {
  const { contract, unbatched, batched } = waiting;
  const coin = (transfers: readonly Transfer[]): CoinItem =>
    coinItem(input, { contract, amount: orUndefined(() => totalAmount(transfers)) });
  return {
    token: tokenItem(input, contract),
    unbatchedTransfers: unbatched.length,
    batchedTransfers: batched.length,
    unbatched: coin(unbatched),
    batched: coin(batched),
    queue: orNull(() => queueItem(input, contract)),
  };
}
