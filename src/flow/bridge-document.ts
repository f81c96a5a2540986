import { claimTypes, packedClaimContent, type ClaimType } from '../chain/claim.js';
import { compare, numeralKey } from '../chain/decimal.js';
import type { Attestation, Batch, Transfer } from '../chain/module-state.js';
import { isPresent } from '../json/field.js';
import type { Numeral } from '../json/numeral.js';
import { eventAttestations } from '../metrics/bridge/events.js';
import type { BridgeInput } from '../metrics/bridge/input.js';
import { claimMessage } from '../metrics/bridge/integrity.js';
import { contractLabel, transferredCoin, unbatchedTransfers } from '../metrics/bridge/tokens.js';
import { optional, orElse, required, rows, WITHDRAWN } from '../metrics/required-fields.js';

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
  /** Distinct ones that are in no batch: the token contract by id. */
  readonly unbatched: ReadonlyMap<Numeral, string>;
  /** Of observed events, usually only the last one, and of later ones. */
  readonly claims: readonly FlowClaim[];
}

export interface FlowBatch {
  readonly nonce: Numeral;
  readonly contract: string;
  readonly timeout: Numeral;
  /** `undefined` when it is missing, which affects only the duration of the batch. */
  readonly block: Numeral | undefined;
  /** Distinct ones, by id. */
  readonly transfers: ReadonlyMap<Numeral, FlowTransfer>;
}

interface FlowTransfer {
  readonly contract: string;
  readonly amount: Numeral;
}

/** A claim as in the document. Its content is read when the event was observed: an oracle that has stalled leaves hundreds of claims. */
export interface FlowClaim {
  readonly nonce: Numeral;
  readonly isObserved: boolean;
  readonly votes: number;
  /** `undefined` for a claim that cannot be read. */
  readonly content: ClaimContent | undefined;
}

interface ClaimContent {
  readonly message: string;
  readonly packed: string | undefined;
  readonly contract: string | undefined;
  readonly amount: Numeral | undefined;
  readonly batchNonce: Numeral | undefined;
}

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
  return orElse(
    () => read(input),
    () => undefined,
  );
}

function read(input: BridgeInput): FlowDocument {
  const { state } = input;
  const eventNonce = keyOf(state.last_observed_nonce);
  const unbatched = new Map<Numeral, string>();
  for (const transfer of unbatchedTransfers(input)) {
    const id = keyOf(transfer.id);
    if (!unbatched.has(id)) unbatched.set(id, contractOf(transfer));
  }
  const batches = new Map<string, FlowBatch>();
  for (const batch of rows(state.batches).map(readBatch)) {
    const key = batchKey(batch.nonce, batch.contract);
    if (!batches.has(key)) batches.set(key, batch);
  }
  return {
    bridgeContract: optional(optional(state.params)?.bridge_external_address),
    eventNonce,
    batchId: keyOf(state.last_outgoing_batch_id),
    transferId: keyOf(state.last_outgoing_pool_id),
    externalHeight: required(state.last_observed_external_height),
    valsetNonce: optional(optional(state.last_observed_valset)?.nonce),
    batches,
    unbatched,
    claims: eventAttestations(input)
      .filter(({ nonce, attestation }) => compare(nonce, eventNonce) > 0 || attestation.observed === true)
      .map(({ nonce, attestation }) => readClaim(numeralKey(nonce), attestation)),
  };
}

function keyOf(field: Parameters<typeof required<Numeral>>[0]): Numeral {
  return numeralKey(required(field));
}

/** Some chains number the batches of each token separately. */
export function batchKey(nonce: Numeral, contract: string): string {
  return `${nonce} ${contract}`;
}

function contractOf(transfer: Transfer): string {
  return contractLabel(transferredCoin(transfer)?.contract);
}

function readBatch({ batch_nonce, token_contract, batch_timeout, block, transactions }: Batch): FlowBatch {
  const transfers = new Map<Numeral, FlowTransfer>();
  for (const transfer of rows(transactions)) {
    const id = keyOf(transfer.id);
    const amount = amountOf(transferredCoin(transfer)?.amount);
    if (!transfers.has(id)) transfers.set(id, { contract: contractOf(transfer), amount });
  }
  return {
    nonce: keyOf(batch_nonce),
    contract: contractLabel(token_contract),
    timeout: required(batch_timeout),
    block: isPresent(block) ? block : undefined,
    transfers,
  };
}

/** A negative amount is invalid: counters never decrease. */
function amountOf(field: Parameters<typeof required<Numeral>>[0]): Numeral {
  const amount = required(field);
  if (compare(amount, 0) < 0) throw WITHDRAWN;
  return amount;
}

function readClaim(nonce: Numeral, attestation: Attestation): FlowClaim {
  return {
    nonce,
    isObserved: optional(attestation.observed) === true,
    votes: (optional(attestation.votes) ?? []).length,
    content: orElse(
      () => readContent(attestation),
      () => undefined,
    ),
  };
}

function readContent(attestation: Attestation): ClaimContent {
  const claim = required(attestation.claim);
  return {
    message: claimMessage(attestation),
    packed: optional(claim.value),
    contract: optional(claim.token_contract),
    amount: optional(claim.amount),
    batchNonce: optional(claim.batch_nonce),
  };
}

export function eventOf({ content }: FlowClaim): FlowEvent {
  return orElse<FlowEvent>(
    () => readEvent(required(content)),
    () => ({ type: undefined }),
  );
}

function readEvent({ message, packed, ...fields }: ClaimContent): FlowEvent {
  const type = typeOfMessage.get(message);
  if (type !== 'deposit' && type !== 'withdraw') return { type };
  const content = () => required(packedClaimContent(type, required(packed)));
  const contract = contractLabel(fields.contract ?? content().tokenContract);
  if (type === 'deposit') return { type, deposit: { contract, amount: amountOf(fields.amount ?? content().amount) } };
  return { type, batch: batchKey(numeralKey(required(fields.batchNonce ?? content().batchNonce)), contract) };
}
