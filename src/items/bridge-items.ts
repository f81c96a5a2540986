import { lowest } from '../chain/numeral.js';
import type { Batch, Transfer, Valset } from '../chain/module-state.js';
import { isoTime } from '../clock.js';
import { existedAt, waitOfBatch, type WaitReason } from '../facts/bridge/batches.js';
import {
  externalBlocks,
  hubBlocksSince,
  hubBlocksUntil,
  hubBlockTime,
  hubBlockTimeSource,
  isLate,
  judgedExternalHeight,
} from '../facts/bridge/block-times.js';
import type { BridgeInput } from '../facts/bridge/bridge-input.js';
import { claimItem } from '../facts/bridge/integrity.js';
import {
  coinItem,
  tokenItem,
  type CoinItem,
  contractLabel,
  countTokensWithoutMinimum,
  minBatchFees,
  queueWaitsFor,
  readId,
  topBatchFeesByToken,
  totalAmount,
  transferredCoin,
  unbatchedTransfers,
  waitingTokens,
  type WaitingToken,
} from '../facts/bridge/tokens.js';
import { valsetDeadline } from '../facts/bridge/members.js';
import { claimContent, pendingAttestations, type EventAttestation } from '../facts/bridge/events.js';
import { batchesBelowThreshold, batchSignatures, valsetSignatures } from '../facts/bridge/signatures.js';
import type { ContractReading } from '../facts/contract/reading.js';
import { memberAddresses, unrelayedValsets, type Members } from '../facts/bridge/valsets.js';
import { decimalOrNull, formatDecimal, truncatedOrNull } from '../facts/plain-values.js';
import { countElements, orEmpty, orNull, orUndefined, required, rows } from '../facts/required-fields.js';
import { contentText, haveOrHas, listMembers, validators } from '../problems/sentence.js';
import { percent } from '../text/format.js';
import { itemList, type Filter } from './item-list.js';
import { unreadableText, validatorItems } from './validator-items.js';

export type BridgeItems = Readonly<ReturnType<typeof bridgeItems>>;
export type TokenRow = Readonly<ReturnType<typeof tokenRow>>;
export type BatchRow = Readonly<ReturnType<typeof batchRow>>;
export type ValsetRow = Readonly<ReturnType<typeof valsetRow>>;
export type ClaimRow = Readonly<ReturnType<typeof claimRow>>;
export type TransferRow = Readonly<ReturnType<typeof transferRow>>;

/** The items of a bridge, derived from the same facts as the metrics. */
export function bridgeItems(input: BridgeInput, filter?: Filter) {
  const { state, height } = input;
  const unsigned = new Set(orEmpty(() => batchesBelowThreshold(input)));
  return {
    document: 'module_state' as const,
    hubHeight: decimalOrNull(() => height),
    lastObservedNonce: decimalOrNull(() => state.last_observed_nonce),
    /** The block time of durations; the parameter of the chain is often wrong. */
    hubBlockTime: orNull(() => ({ seconds: hubBlockTime(input) / 1000, source: hubBlockTimeSource(input) })),
    tokensWithoutMinimumFee: orNull(() => countTokensWithoutMinimum(input)),
    validators: validatorItems(input, filter),
    /** Which data about validators cannot be read. */
    validatorsNote: unreadableText(input),
    /**
     * Configured tokens first, then by the number of transfers. Unreadable when either list of transfers is:
     * an amount could be too low.
     */
    tokens: itemList(
      () => waitingTokens(input),
      [],
      (waiting) => tokenRow(input, waiting),
      { filter, names: ({ contract }) => tokenNames(input, contract) },
    ),
    /** Live batches: unsigned, then signed batches, each by creation height. */
    batches: itemList(
      () => rows(state.batches),
      [({ block }) => required(block), ({ batch_nonce }) => required(batch_nonce)],
      (batch) => batchRow(input, batch),
      {
        isFirst: (batch) => unsigned.has(batch),
        filter,
        names: ({ batch_nonce, token_contract }) => [batch_nonce, ...tokenNames(input, token_contract)],
      },
    ),
    /** Unrelayed validator sets: unsigned, then signed sets, each by nonce. */
    valsets: itemList(
      () => unrelayedValsets(input),
      [({ nonce }) => required(nonce)],
      (valset) => valsetRow(input, valset),
      {
        isFirst: (valset) => valsetSignatures(input, valset).belowThreshold === true,
        filter,
        names: ({ nonce }) => [nonce],
      },
    ),
    claims: itemList(
      () => pendingAttestations(input),
      [({ nonce }) => nonce, ({ attestation }) => required(attestation.height)],
      (claim) => claimRow(input, claim),
      { filter, names: (claim) => claimNames(input, claim) },
    ),
    /** Transfers in no batch, and transfers in batches. */
    transfers: itemList(
      () => [
        ...unbatchedTransfers(input).map((transfer) => ({ transfer, batch: undefined })),
        ...rows(state.batches).flatMap((batch) => rows(batch.transactions).map((transfer) => ({ transfer, batch }))),
      ],
      [({ transfer }) => readId(transfer)],
      ({ transfer, batch }) => transferRow(input, transfer, batch),
      {
        filter,
        names: ({ transfer: { id, sender, dest_address } }) => [id, sender, dest_address],
      },
    ),
  };
}

/** Contract, denom and symbol of a token. */
function tokenNames(input: BridgeInput, contract: Batch['token_contract']): readonly unknown[] {
  return Object.values(tokenItem(input, contract));
}

function claimNames(input: BridgeInput, { nonce, attestation }: EventAttestation): readonly unknown[] {
  const content = orEmpty(() => {
    const { external_sender, hub_receiver, batch_nonce, valset_nonce, token_contract } = claimContent(attestation);
    return [external_sender, hub_receiver, batch_nonce, valset_nonce, ...tokenNames(input, token_contract)];
  });
  return [nonce, ...content];
}

/** The configured fees below which nobody builds or relays a batch of a token; absent when none are configured. */
function minimumFee(input: BridgeInput, contract: string): CoinItem | undefined {
  const amount = minBatchFees(input.tokens).get(contract);
  return amount === undefined ? undefined : coinItem(input, { contract, amount });
}

function tokenRow(input: BridgeInput, { contract, unbatched, batched }: WaitingToken) {
  const totalCoin = (transfers: readonly Transfer[]): CoinItem =>
    coinItem(input, { contract, amount: orUndefined(() => totalAmount(transfers)) });
  const fees = orNull(() => topBatchFeesByToken(input).get(contract) ?? 'none');
  const waitsFor = orNull(() => queueWaitsFor(input, contract));
  return {
    token: tokenItem(input, contract),
    /** Number and amount of the transfers in no batch. */
    queued: unbatched.length,
    queuedAmount: totalCoin(unbatched),
    /** The fees of a batch built now. */
    fees: fees === null ? null : fees === 'none' ? undefined : coinItem(input, { contract, amount: fees }),
    minimumFee: minimumFee(input, contract),
    waits: fees === 'none' ? 'all in batches' : waitsFor && WAIT_TEXTS[waitsFor].row,
    batched: batched.length,
    batchedAmount: totalCoin(batched),
  };
}

function transferRow(input: BridgeInput, transfer: Transfer, batch: Batch | undefined) {
  const { id, sender, dest_address } = transfer;
  const amount = coinItem(input, transferredCoin(transfer));
  const waitsFor = orNull(() =>
    batch === undefined ? queueWaitsFor(input, contractLabel(amount.contract ?? undefined)) : waitOfBatch(input, batch),
  );
  return {
    id: formatDecimal(id),
    /** Absent in no batch. */
    batch: batch && decimalOrNull(() => batch.batch_nonce),
    amount,
    /** The minimum age: the transfer existed when the first live batch with its id or a higher one was built. */
    age: hubBlocksSince(
      input,
      orUndefined(() => existedAt(input, readId(transfer))),
    ),
    waits: waitsFor && WAIT_TEXTS[waitsFor].row,
    sender: truncatedOrNull(() => required(sender)),
    destination: truncatedOrNull(() => required(dest_address)),
  };
}

function batchRow(input: BridgeInput, batch: Batch) {
  const { batch_nonce, token_contract, transactions, block, batch_timeout } = batch;
  const waitsFor = orNull(() => waitOfBatch(input, batch));
  const signatures = batchSignatures(input, batch);
  const age = hubBlocksSince(input, block);
  return {
    nonce: formatDecimal(batch_nonce),
    token: tokenItem(input, token_contract),
    transfers: orNull(() => countElements(transactions)),
    amount: coinItem(input, {
      contract: token_contract,
      amount: orUndefined(() => totalAmount(rows(transactions))),
    }),
    age,
    waitsFor,
    waits: waitsFor && batchWaits(input, batch, waitsFor),
    /** External height from which the contract rejects the batch. */
    timeoutHeight: decimalOrNull(() => batch_timeout),
    /** External blocks from the current external height, not from the old height on the hub, to the timeout. */
    timeout: externalBlocks(input, () => required(judgedExternalHeight(input)), batch_timeout),
    ...signatures,
    /** Whether signatures are missing for longer than they usually take. */
    lacksSignatures: signatures.belowThreshold === true && isLate(age),
    missingNames: memberNames(signatures.missing),
  };
}

/** What a row waits for, and what some batches are, as in "2 timed out". */
export const WAIT_TEXTS: Readonly<Record<WaitReason, { readonly row: string; readonly batches: string }>> = {
  timeout: { row: 'timed out', batches: 'timed out' },
  observation: { row: 'claimed as executed, not observed yet', batches: 'claimed as executed' },
  signatures: { row: 'needs signatures', batches: 'short of signatures' },
  fees: { row: 'fees below the minimum', batches: 'below the minimum fee' },
  relayer: { row: 'signed, waits for a relayer', batches: 'signed' },
  batch: { row: 'waits for a batch', batches: 'without a batch' },
};

/** "needs signatures of 66.00 % of the power". */
function batchWaits(input: BridgeInput, batch: Batch, waitsFor: WaitReason): string {
  const text = WAIT_TEXTS[waitsFor].row;
  if (waitsFor === 'signatures') return `${text} of ${percent(Number(input.settings.power_threshold), 2)} of the power`;
  const isLearned = waitsFor === 'fees' && !minBatchFees(input.tokens).has(contractLabel(batch.token_contract));
  return isLearned ? 'fees probably too low: executed batches have paid more' : text;
}

function valsetRow(input: BridgeInput, valset: Valset) {
  const deadline = () => valsetDeadline(input, valset);
  const signatures = valsetSignatures(input, valset);
  const age = hubBlocksSince(input, valset.height);
  return {
    nonce: formatDecimal(valset.nonce),
    members: orNull(() => memberAddresses(valset).size),
    age,
    /** Hub height after which members without a signature are jailed. */
    deadlineHeight: decimalOrNull(() => deadline()),
    /** Absent when all have signed. */
    deadline: signatures.missing?.total === 0 ? undefined : hubBlocksUntil(input, deadline),
    ...signatures,
    /** Whether signatures are missing for longer than they usually take. */
    lacksSignatures: signatures.belowThreshold === true && isLate(age),
    missingNames: memberNames(signatures.missing),
  };
}

/** "6: Alpha, Beta and 4 more"; absent when nobody is missing. */
function memberNames(members: Members | null): string | null | undefined {
  if (members === null) return null;
  return members.total === 0 ? undefined : `${members.total}: ${validators(listMembers(members), members.total)}`;
}

/** How a claim contradicts others, or the hub. */
const CONTRADICTIONS = {
  conflict: 'conflict: validators voted for different claims of this event',
  valset_claim_mismatch: 'the hub did not create this validator set',
  withdraw_claim_without_batch: 'the hub does not have this batch, and halts when the claim is observed',
} as const;

function claimRow(input: BridgeInput, attestation: EventAttestation) {
  const claim = claimItem(input, attestation);
  const { conflicting, violation, type, amount, receiver, externalHeight, voted, missing } = claim;
  const contradictions = [...(conflicting ? (['conflict'] as const) : []), ...(violation === null ? [] : [violation])];
  const isDeposit = type === 'deposit';
  const next = lowest(pendingAttestations(input).map(({ nonce }) => nonce));
  return {
    ...claim,
    /** Whether it is of the event that has to be observed before all others. */
    isNext: attestation.nonce === next,
    // Claims of one event can differ in the height only.
    claim: `${contentText({ ...claim, amount: null }) || 'of unknown type'}${conflicting ? `, external height ${externalHeight ?? 'unknown'}` : ''}`,
    /** The amount of a deposit; absent for other claims. */
    deposited: isDeposit ? amount : undefined,
    depositedFor: isDeposit ? receiver : undefined,
    contradiction:
      contradictions.length === 0 ? undefined : contradictions.map((each) => CONTRADICTIONS[each]).join('; '),
    votedBy: voted && validators(listMembers(voted), voted.total),
    others: missing && othersText(missing),
  };
}

function othersText(missing: Members): string {
  const { total } = missing;
  if (total === 0) return 'all have voted';
  return `${total} ${haveOrHas(total)} not voted for it: ${validators(listMembers(missing), total)}`;
}

export type ContractItems = Readonly<ReturnType<typeof contractItems>>;

/** The contract on the pages. Nothing waits in it. */
export function contractItems(reading: ContractReading) {
  const { contract, height, blockSeconds, unobservedEvents } = reading;
  return {
    document: 'external_contract' as const,
    contract,
    externalHeight: String(height),
    externalTime: isoTime(blockSeconds),
    /** Events of the contract that the hub has not observed; `null` when unknown. */
    unobservedEvents: unobservedEvents === undefined ? null : String(unobservedEvents),
  };
}
