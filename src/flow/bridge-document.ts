import { claimTypes, packedClaimContent, type ClaimType } from '../chain/claim.js';
import { compare, numeralKey } from '../chain/decimal.js';
import type { Attestation, Batch, Transfer } from '../chain/module-state.js';
import { isPresent } from '../chain/field.js';
import type { Numeral } from '../chain/numeral.js';
import { eventAttestations, pendingAttestations, type EventAttestation } from '../facts/bridge/events.js';
import type { BridgeInput } from '../facts/bridge/input.js';
import { claimMessage } from '../facts/bridge/integrity.js';
import { contractLabel, transferredCoin, unbatchedByToken } from '../facts/bridge/tokens.js';
import { optional, orElse, orUndefined, required, rows, WITHDRAWN } from '../facts/required-fields.js';

/* What the flow of the bridge reads of a module state, and nothing else of it. */

/** Ids and nonces are in the form of Map keys (`numeralKey`). */
export interface FlowDocument {
  readonly bridgeContract: string | undefined;
  readonly eventNonce: Numeral;
  readonly batchId: Numeral;
  readonly transferId: Numeral;
  readonly externalHeight: Numeral;
  /** Of the set in the contract; `undefined` when it is missing. */
  readonly valsetNonce: Numeral | undefined;
  /** Distinct ones, by key. */
  readonly batches: ReadonlyMap<string, FlowBatch>;
  /** Distinct ones that are in no batch, by token. */
  readonly unbatched: readonly { readonly contract: string; readonly ids: readonly Numeral[] }[];
  /** The ids of all transfers. */
  readonly ids: ReadonlySet<Numeral>;
  /** Of observed events, usually only the last one. */
  readonly observedClaims: readonly FlowClaim[];
  /** Of later events. */
  readonly pendingClaims: readonly FlowClaim[];
  /** Whether a batch or a transfer has a number that the hub has not reached. */
  readonly isContradictory: boolean;
}

export interface FlowBatch {
  readonly nonce: Numeral;
  readonly contract: string;
  readonly timeout: Numeral;
  /** `undefined` when it is missing, which affects only the duration of the batch. */
  readonly block: Numeral | undefined;
  /** Those that are in no batch before it. */
  readonly transfers: readonly FlowTransfer[];
}

interface FlowTransfer {
  readonly id: Numeral;
  readonly contract: string;
  readonly amount: Numeral;
}

/** A claim as in the document. Its content is read when the event was observed: an oracle that has stalled leaves hundreds of claims. */
export interface FlowClaim {
  readonly nonce: Numeral;
  /** Absent for a claim that cannot be read. */
  readonly content?: ClaimContent | undefined;
}

interface ClaimContent {
  /** `undefined` for another type. The other fields are only of deposits and withdrawals. */
  readonly type: ClaimType | undefined;
  readonly packed?: string | undefined;
  readonly contract?: string | undefined;
  readonly amount?: Numeral | undefined;
  readonly batchNonce?: Numeral | undefined;
}

/** Of events that are claimed and not observed, the first ones are observed first. */
const MAX_CLAIMS = 1_000;
/** A claim of which a field is longer, which only a hostile document has, cannot be read. */
const MAX_FIELD_CHARACTERS = 4_096;

/** What an event was. */
export interface FlowEvent {
  /** `undefined` for a claim of another type, and for one that cannot be read. */
  readonly type: ClaimType | undefined;
  readonly deposit?: { readonly contract: string; readonly amount: Numeral };
  /** The key of the batch that was executed. */
  readonly batch?: string;
}

const typeOfMessage: ReadonlyMap<string, ClaimType> = new Map(Object.entries(claimTypes));

/** `undefined` when a field is missing or invalid. */
export function readFlowDocument(input: BridgeInput): FlowDocument | undefined {
  return orUndefined(() => read(input));
}

function read(input: BridgeInput): FlowDocument {
  const { state } = input;
  const ids = new Set<Numeral>();
  const batches = new Map<string, FlowBatch>();
  for (const row of rows(state.batches)) {
    const batch = readBatch(row, ids);
    const key = batchKey(batch.nonce, batch.contract);
    if (!batches.has(key)) batches.set(key, batch);
  }
  const unbatched = Array.from(unbatchedByToken(input), ([contract, transfers]) => ({
    contract,
    ids: newIds(transfers, ids),
  }));
  const batchId = keyOf(state.last_outgoing_batch_id);
  const transferId = keyOf(state.last_outgoing_pool_id);
  return {
    bridgeContract: optional(optional(state.params)?.bridge_external_address),
    eventNonce: keyOf(state.last_observed_nonce),
    batchId,
    transferId,
    externalHeight: required(state.last_observed_external_height),
    valsetNonce: optional(optional(state.last_observed_valset)?.nonce),
    batches,
    unbatched,
    ids,
    observedClaims: eventAttestations(input)
      .filter(({ attestation }) => attestation.observed === true)
      .map(readClaim),
    pendingClaims: first(pendingAttestations(input)).map(readClaim),
    isContradictory:
      isAnyAbove(
        Array.from(batches.values(), ({ nonce }) => nonce),
        batchId,
      ) || isAnyAbove(ids, transferId),
  };
}

function isAnyAbove(ids: Iterable<Numeral>, limit: Numeral): boolean {
  for (const id of ids) if (compare(id, limit) > 0) return true;
  return false;
}

function first(attestations: readonly EventAttestation[]): readonly EventAttestation[] {
  if (attestations.length <= MAX_CLAIMS) return attestations;
  return attestations.toSorted((a, b) => compare(a.nonce, b.nonce)).slice(0, MAX_CLAIMS);
}

/** Those of the transfers that are not in the set, which are added to it. */
function newIds(transfers: readonly Transfer[], known: Set<Numeral>): readonly Numeral[] {
  const added: Numeral[] = [];
  for (const { id } of transfers) {
    const key = keyOf(id);
    if (isNew(known, key)) added.push(key);
  }
  return added;
}

/** Adds an id to the set; false when it is there already. */
function isNew(ids: Set<Numeral>, id: Numeral): boolean {
  const count = ids.size;
  return ids.add(id).size > count;
}

function keyOf(field: Parameters<typeof required<Numeral>>[0]): Numeral {
  return numeralKey(required(field));
}

/** Some chains number the batches of each token separately. */
function batchKey(nonce: Numeral, contract: string): string {
  return `${nonce} ${contract}`;
}

export function keyOfBatch({ batch_nonce, token_contract }: Batch): string {
  return batchKey(keyOf(batch_nonce), contractLabel(token_contract));
}

/** Adds the ids of its transfers to those of the document. */
function readBatch(
  { batch_nonce, token_contract, batch_timeout, block, transactions }: Batch,
  ids: Set<Numeral>,
): FlowBatch {
  return {
    nonce: keyOf(batch_nonce),
    contract: contractLabel(token_contract),
    timeout: required(batch_timeout),
    block: isPresent(block) ? block : undefined,
    transfers: rows(transactions)
      .map(readTransfer)
      .filter(({ id }) => isNew(ids, id)),
  };
}

function readTransfer(transfer: Transfer): FlowTransfer {
  const coin = transferredCoin(transfer);
  return { id: keyOf(transfer.id), contract: contractLabel(coin?.contract), amount: amountOf(coin?.amount) };
}

/** A negative amount is invalid: counters never decrease. */
function amountOf(field: Parameters<typeof required<Numeral>>[0]): Numeral {
  const amount = required(field);
  if (compare(amount, 0) < 0) throw WITHDRAWN;
  return amount;
}

function readClaim({ nonce, attestation }: EventAttestation): FlowClaim {
  return {
    nonce: numeralKey(nonce),
    content: orUndefined(() => readContent(attestation)),
  };
}

function readContent(attestation: Attestation): ClaimContent {
  const type = typeOfMessage.get(claimMessage(attestation));
  if (type !== 'deposit' && type !== 'withdraw') return { type };
  const claim = required(attestation.claim);
  return {
    type,
    packed: short(optional(claim.value)),
    contract: short(optional(claim.token_contract)),
    amount: optional(claim.amount),
    batchNonce: optional(claim.batch_nonce),
  };
}

function short(text: string | undefined): string | undefined {
  if (text !== undefined && text.length > MAX_FIELD_CHARACTERS) throw WITHDRAWN;
  return text;
}

export function eventOf({ content }: FlowClaim): FlowEvent {
  return orElse<FlowEvent>(
    () => readEvent(required(content)),
    () => ({ type: undefined }),
  );
}

function readEvent({ type, packed, ...fields }: ClaimContent): FlowEvent {
  if (type !== 'deposit' && type !== 'withdraw') return { type };
  const content = () => required(packedClaimContent(type, required(packed)));
  const contract = contractLabel(fields.contract ?? content().tokenContract);
  if (type === 'deposit') return { type, deposit: { contract, amount: amountOf(fields.amount ?? content().amount) } };
  return { type, batch: batchKey(numeralKey(required(fields.batchNonce ?? content().batchNonce)), contract) };
}
