import { asNumeral } from '../../chain/numeral.js';
import type { Field } from '../../chain/field.js';
import type { Batch, OrchestratorAddress, Transfer, Valset } from '../../chain/module-state.js';
import {
  externalBlocks,
  hubBlocksSince,
  hubBlocksUntil,
  hubBlockTime,
  hubBlockTimeSource,
} from '../bridge/block-times.js';
import { batchState, existedAt, oldestBlock, waitOfBatch, waitReasons } from '../bridge/batches.js';
import { estimatedExternalHeight } from '../bridge/external-height.js';
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
  readId,
  totalAmount,
  totalFees,
  transferredCoin,
  unbatchedTransfers,
} from '../bridge/tokens.js';
import { validatorName } from '../bridge/registrations.js';
import { memberAddresses, newestPowers, shareOfNewest, unrelayedValsets } from '../bridge/valsets.js';
import { countElements, orEmpty, orNull, orUndefined, required, rows } from '../required-fields.js';
import { validatorItems } from './validator-items.js';
import { claimItem } from '../bridge/claims.js';
import { coinItem, tokenItem } from '../bridge/coins.js';
import { itemList, optionalKey, type Search, type SortKeys } from './item-list.js';
import { executedFee, hubCoin, minimumFee, queueItem, waitingTokenItems } from './token-items.js';
import { decimalOrNull, formatDecimal, truncatedOrNull } from '../plain-values.js';

export type BridgeItems = Readonly<ReturnType<typeof bridgeItems>>;
export type BatchItem = Readonly<ReturnType<typeof batchItem>>;
export type TransferItem = Readonly<ReturnType<typeof transferItem>>;
export type BatchedTransferItem = Readonly<ReturnType<typeof batchedTransferItem>>;
export type RegistrationItem = Readonly<ReturnType<typeof registrationItem>>;
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
    transfers: itemList(
      () => unbatchedTransfers(input),
      [readId],
      (transfer) => transferItem(input, transfer),
      { countRows: () => countElements(state.unbatched_transfers), search, searched: transferNames },
    ),
    /**
     * `null` without a search: the list of batches has their number, and the list of validators those that are late.
     */
    transfersInBatches:
      search === undefined
        ? null
        : itemList(
            () =>
              rows(state.batches).flatMap((batch) => rows(batch.transactions).map((transfer) => ({ transfer, batch }))),
            [({ transfer }) => readId(transfer)],
            ({ transfer, batch }) => batchedTransferItem(input, transfer, batch),
            { search, searched: ({ transfer }) => transferNames(transfer) },
          ),
    registrations:
      search === undefined
        ? null
        : itemList(
            () => rows(state.orchestrator_addresses),
            [],
            (registration) => registrationItem(input, registration),
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

const transferNames = ({ id, sender, dest_address }: Transfer): readonly unknown[] => [id, sender, dest_address];

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

function registrationItem(input: BridgeInput, registration: OrchestratorAddress) {
  const { orchestrator, sender, eth_address } = registration;
  return {
    name: orNull(() => validatorName(input, registration) || undefined),
    orchestrator: truncatedOrNull(() => required(orchestrator)),
    /** Account or operator address. */
    validator: truncatedOrNull(() => required(sender)),
    externalAddress: truncatedOrNull(() => required(eth_address)),
    /** Share of the power of the newest validator set; `null` outside the set. */
    powerRatio: orNull(() => {
      const power = newestPowers(input).get(required(eth_address));
      return power === undefined ? undefined : shareOfNewest(input, power);
    }),
  };
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

function transferItem(input: BridgeInput, transfer: Transfer) {
  const { id, sender, dest_address } = transfer;
  return {
    id: formatDecimal(id),
    sender: truncatedOrNull(() => required(sender)),
    destination: truncatedOrNull(() => required(dest_address)),
    amount: coinItem(input, transferredCoin(transfer)),
    fee: coinItem(input, feeCoin(transfer)),
    /** The shortest possible wait, by the ids in live batches. */
    age: hubBlocksSince(
      input,
      orUndefined(() => existedAt(input, readId(transfer))),
    ),
    /** The queue of its token. */
    queue: orNull(() => queueItem(input, contractLabel(transferredCoin(transfer)?.contract))),
  };
}

function batchedTransferItem(input: BridgeInput, transfer: Transfer, batch: Batch) {
  return {
    ...transferItem(input, transfer),
    batch: decimalOrNull(() => batch.batch_nonce),
    waitsFor: orNull(() => waitOfBatch(input, batch)),
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
    /** External blocks to the timeout from the last observed and from the estimated external height. */
    headroom: externalBlocks(input, () => required(input.state.last_observed_external_height), batch_timeout),
    projectedHeadroom: externalBlocks(input, () => required(estimatedExternalHeight(input)), batch_timeout),
    state: orNull(() => batchState(input, batch)),
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
