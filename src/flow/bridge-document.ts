import type { ClaimType } from '../chain/claim.js';
import { compare, sum, type Numeral } from '../chain/numeral.js';
import type { Attestation, Batch, Transfer } from '../chain/module-state.js';
import { validOrUndefined } from '../chain/field.js';
import {
  claimContent,
  claimTypeOf,
  eventAttestations,
  pendingAttestations,
  type EventAttestation,
} from '../facts/bridge/events.js';
import type { BridgeInput } from '../facts/bridge/input.js';
import { batchKey } from '../facts/bridge/signatures.js';
import { contractLabel, transferredCoin, unbatchedByToken } from '../facts/bridge/tokens.js';
import { groupBy } from '../facts/grouping.js';
import { optional, orElse, orUndefined, required, rows, WITHDRAWN } from '../facts/required-fields.js';
import type { Arrivals } from './arrivals.js';

/* The module state as far as the flow reads it. */

/** The counters of the hub. They only grow. */
export interface HighestIds {
  readonly event: Numeral;
  readonly batch: Numeral;
  readonly transfer: Numeral;
}

/** Ids and nonces are in the form of Map keys (`numeralKey`). */
export interface FlowDocument {
  readonly bridgeContract: string | undefined;
  readonly highest: HighestIds;
  readonly externalHeight: Numeral;
  /** The nonce of the validator set in the contract; `undefined` when it is missing. */
  readonly valsetNonce: Numeral | undefined;
  readonly batches: ReadonlyMap<string, FlowBatch>;
  /** By token. */
  readonly unbatched: readonly TransferGroup[];
  /** The ids of all transfers. */
  readonly ids: ReadonlySet<Numeral>;
  /** Usually only the last event. */
  readonly observedEvents: readonly FlowEvent[];
  /** Claims of later events. */
  readonly pendingEvents: readonly FlowEvent[];
  /** Whether a batch or a transfer has an id that the hub has not reached. */
  readonly isContradictory: boolean;
}

export interface TransferGroup {
  readonly contract: string;
  /** Without ids of earlier batches or queues of the document. */
  readonly ids: readonly Numeral[];
}

export interface FlowBatch extends TransferGroup {
  readonly nonce: Numeral;
  readonly timeout: Numeral;
  /** `undefined` when missing; then the batch has no duration. */
  readonly block: Numeral | undefined;
  /** By token. */
  readonly totals: readonly { readonly contract: string; readonly transfers: number; readonly amount: Numeral }[];
}

/** The first pending events are kept, which are observed first. */
const MAX_CLAIMS = 1_000;

export interface FlowEvent {
  readonly nonce: Numeral;
  /** `undefined` for a claim of another type, and for an unreadable claim. */
  readonly type?: ClaimType | undefined;
  readonly deposit?: { readonly contract: string; readonly amount: Numeral };
  /** The key of the batch that was executed. */
  readonly batch?: string;
}

/** `undefined` when a field is missing or invalid. */
export function readFlowDocument(input: BridgeInput): FlowDocument | undefined {
  return orUndefined(() => read(input));
}

function read(input: BridgeInput): FlowDocument {
  const { state } = input;
  const ids = new Set<Numeral>();
  const batches = new Map<string, FlowBatch>();
  for (const row of rows(state.batches)) {
    const [key, batch] = [batchKey(row.batch_nonce, row.token_contract), readBatch(row, ids)];
    if (!batches.has(key)) batches.set(key, batch);
  }
  const unbatched = Array.from(unbatchedByToken(input), ([contract, transfers]) => ({
    contract,
    ids: addIds(transfers, ids),
  }));
  const highest = {
    event: required(state.last_observed_nonce),
    batch: required(state.last_outgoing_batch_id),
    transfer: required(state.last_outgoing_pool_id),
  };
  const nonces = Array.from(batches.values(), ({ nonce }) => nonce);
  return {
    bridgeContract: optional(optional(state.params)?.bridge_external_address),
    highest,
    externalHeight: required(state.last_observed_external_height),
    valsetNonce: optional(optional(state.last_observed_valset)?.nonce),
    batches,
    unbatched,
    ids,
    observedEvents: eventAttestations(input)
      .filter(({ attestation }) => attestation.observed === true)
      .map(readEvent),
    pendingEvents: withinLimit(pendingAttestations(input)).map(readEvent),
    isContradictory: isAnyAbove(nonces, highest.batch) || isAnyAbove(ids, highest.transfer),
  };
}

function isAnyAbove(ids: Iterable<Numeral>, limit: Numeral): boolean {
  for (const id of ids) if (id > limit) return true;
  return false;
}

function withinLimit(attestations: readonly EventAttestation[]): readonly EventAttestation[] {
  if (attestations.length <= MAX_CLAIMS) return attestations;
  return attestations.toSorted((a, b) => compare(a.nonce, b.nonce)).slice(0, MAX_CLAIMS);
}

/** Adds the ids of the transfers to the set, and returns the new ids. */
function addIds(transfers: readonly Transfer[], ids: Set<Numeral>): readonly Numeral[] {
  return transfers.map(({ id }) => required(id)).filter((id) => isAdded(ids, id));
}

/** Adds an id to the set; false when the set has it already. */
function isAdded(ids: Set<Numeral>, id: Numeral): boolean {
  const count = ids.size;
  return ids.add(id).size > count;
}

/** Adds the ids of the transfers to `ids`. */
function readBatch(
  { batch_nonce, token_contract, batch_timeout, block, transactions }: Batch,
  ids: Set<Numeral>,
): FlowBatch {
  const transfers = rows(transactions)
    .map(readTransfer)
    .filter(({ id }) => isAdded(ids, id));
  return {
    nonce: required(batch_nonce),
    contract: contractLabel(token_contract),
    timeout: required(batch_timeout),
    block: validOrUndefined(block),
    ids: transfers.map(({ id }) => id),
    totals: Array.from(
      groupBy(transfers, ({ contract }) => contract),
      ([contract, ofToken]) => ({
        contract,
        transfers: ofToken.length,
        amount: sum(ofToken.map(({ amount }) => amount)),
      }),
    ),
  };
}

function readTransfer(transfer: Transfer) {
  const coin = transferredCoin(transfer);
  return { id: required(transfer.id), contract: contractLabel(coin?.contract), amount: amountOf(coin?.amount) };
}

/** A negative amount is invalid: counters never decrease. */
function amountOf(field: Parameters<typeof required<Numeral>>[0]): Numeral {
  const amount = required(field);
  if (amount < 0) throw WITHDRAWN;
  return amount;
}

function readEvent({ nonce, attestation }: EventAttestation): FlowEvent {
  return orElse<FlowEvent>(
    () => ({ nonce, ...readClaim(attestation) }),
    () => ({ nonce }),
  );
}

function readClaim(attestation: Attestation): Omit<FlowEvent, 'nonce'> {
  const type = claimTypeOf(attestation);
  if (type !== 'deposit' && type !== 'withdraw') return { type };
  const content = claimContent(attestation);
  const contract = contractLabel(content.tokenContract);
  return type === 'deposit'
    ? { type, deposit: { contract, amount: amountOf(content.amount) } }
    : { type, batch: batchKey(content.batchNonce, contract) };
}

/** The memory of a document, to compare the next document with. */
export interface Baseline
  extends
    Pick<BridgeInput, 'at' | 'height'>,
    Pick<FlowDocument, 'bridgeContract' | 'highest' | 'valsetNonce' | 'batches' | 'unbatched' | 'pendingEvents'> {
  readonly arrivals: Arrivals;
}

/** Bounds the memory of an endpoint. The transfers with the lowest ids are forgotten. */
export const MAX_TRANSFERS = 100_000;

export function baselineOf(document: FlowDocument, { at, height }: BridgeInput, arrivals: Arrivals): Baseline {
  const { bridgeContract, highest, valsetNonce, batches, unbatched, pendingEvents, ids } = document;
  const keptIds =
    ids.size <= MAX_TRANSFERS
      ? undefined
      : new Set(
          Array.from(ids)
            .toSorted((a, b) => compare(b, a))
            .slice(0, MAX_TRANSFERS),
        );
  const bounded = <Group extends TransferGroup>(group: Group): Group =>
    keptIds === undefined ? group : { ...group, ids: group.ids.filter((id) => keptIds.has(id)) };
  const boundedBatches = Array.from(batches, ([key, batch]) => [key, bounded(batch)] as const);
  return {
    at,
    height,
    bridgeContract,
    highest,
    valsetNonce,
    batches: new Map(boundedBatches.filter(([, batch]) => batch.ids.length > 0)),
    unbatched: unbatched.map(bounded),
    pendingEvents,
    arrivals,
  };
}
