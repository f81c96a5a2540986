import {
  add,
  compare,
  floorDivide,
  integer,
  lowest,
  multiply,
  subtract,
  sum,
  toSeconds,
  type Decimal,
  type AnyNumber,
} from '../../chain/decimal.js';
import type { Batch, Transfer } from '../../chain/module-state.js';
import { isValid } from '../../chain/field.js';
import type { Numeral } from '../../chain/numeral.js';
import { MINUTE_MS } from '../../units.js';
import { memoize } from '../memoize.js';
import { orUndefined, required, rows } from '../required-fields.js';
import { externalBlockTime, hubBlockTime, hubBlockTimeSource } from './block-times.js';
import { heightOfLastObserved, requireEventNonces } from './events.js';
import type { BridgeInput } from './input.js';
import { executionClaimsOf, highestVotedShare } from './integrity.js';
import { CREDIBLE_RATIO } from './power-shares.js';
import { contractPower, isBatchSigned, requireSigningInput } from './signatures.js';
import { contractLabel, feeCoin, minBatchFees } from './tokens.js';

/** After a longer interval between two documents, the time of an event between them is too uncertain. */
const MAX_GAP_MS = 5 * MINUTE_MS;

/** The last observed event in the polls so far. Times are on the monotonic clock. */
export interface SeenEvent {
  readonly nonce: Numeral;
  /** The last document with the nonce. */
  readonly readAtMs: number;
  /** When the event was observed; `undefined` unless that was between two polls. */
  readonly observedAtMs: number | undefined;
}

export function lastEventSeen({ state, at, past, isNodeBehind }: BridgeInput): SeenEvent | undefined {
  const nonce = state.last_observed_nonce;
  const before = past?.lastEvent;
  if (!isValid(nonce)) return before;
  const readAtMs = at.monotonicMs;
  if (before === undefined) return { nonce, readAtMs, observedAtMs: undefined };
  const order = compare(nonce, before.nonce);
  if (order === 0) return { ...before, readAtMs };
  // A node that is behind shows late what was observed.
  const isSeen = isNodeBehind !== true && order > 0 && readAtMs - before.readAtMs <= MAX_GAP_MS;
  return { nonce, readAtMs, observedAtMs: isSeen ? readAtMs : undefined };
}

/** Milliseconds since the last event was observed; `undefined` when its time is unknown. */
function msSinceLastEvent(input: BridgeInput): AnyNumber | undefined {
  requireEventNonces(input);
  required(input.state.last_observed_nonce);
  const seenAtMs = lastEventSeen(input)?.observedAtMs;
  if (seenAtMs !== undefined) return integer(Math.round(input.at.monotonicMs - seenAtMs));
  const observedAt = heightOfLastObserved(input);
  if (observedAt === undefined) return undefined;
  return multiply(subtract(required(input.height), observedAt), hubBlockTime(input));
}

/**
 * The current external height: read on the external chain, else estimated from the last observed event and the block times in use. The value
 * of the hub changes only with an observed event. `undefined` when the time of that event is unknown.
 */
export const estimatedExternalHeight = memoize((input: BridgeInput): AnyNumber | undefined => {
  if (input.externalHeight !== undefined) return input.externalHeight;
  const base = required(input.state.last_observed_external_height);
  const blockTime = externalBlockTime(input);
  const elapsed = msSinceLastEvent(input);
  return elapsed === undefined ? undefined : floorDivide(add(multiply(base, blockTime), elapsed), blockTime);
});

/**
 * Whether the current external height is known well enough to judge timeouts: read, or estimated since an event that was seen, or with a block time
 * that is not only the parameter of the chain, which can be three times too long.
 */
export function isExternalHeightReliable(input: BridgeInput): boolean {
  const isSeen = lastEventSeen(input)?.observedAtMs !== undefined;
  return input.externalHeight !== undefined || isSeen || hubBlockTimeSource(input) !== 'parameter';
}

/** The estimate, or `undefined` when a field for it is missing. */
function estimateIfAny(input: BridgeInput): AnyNumber | undefined {
  return orUndefined(() => estimatedExternalHeight(input));
}

/** Seconds from now to an external height; `undefined` if unknown. A node that is behind has an old height, unless the external chain was read. */
export function secondsToExternalHeight(input: BridgeInput, height: () => AnyNumber | undefined): number | undefined {
  if (input.isNodeBehind === true && input.externalHeight === undefined) return undefined;
  return orUndefined(() => {
    const blocks = subtract(required(height()), required(estimatedExternalHeight(input)));
    return toSeconds(multiply(blocks, externalBlockTime(input)));
  });
}

/** Whether the batch has timed out at the estimated external height; `false` without the estimate. */
function isTimedOut(input: BridgeInput, { batch_timeout }: Batch): boolean {
  const estimated = estimateIfAny(input);
  return estimated !== undefined && compare(required(batch_timeout), estimated) <= 0;
}

/** The fees of a batch in the token of the batch, in the smallest unit. */
export function totalFees({ token_contract, transactions }: Batch): Decimal {
  const token = required(token_contract);
  const fees: Numeral[] = [];
  for (const transfer of rows(transactions)) {
    const fee = feeCoin(transfer);
    if (required(fee?.contract) === token) fees.push(required(fee?.amount));
  }
  return sum(fees);
}

/** Whether the fees of a batch reach the minimum of its token; `undefined` without a configured minimum. */
export function paysMinimum({ tokens }: BridgeInput, batch: Batch): boolean | undefined {
  const minimums = minBatchFees(tokens);
  const minimum = minimums.size === 0 ? undefined : minimums.get(required(batch.token_contract));
  return minimum === undefined ? undefined : compare(totalFees(batch), minimum) >= 0;
}

/** `unknown` without a minimum, and for a batch that relayers cannot execute because it lacks signatures. */
export function feeSufficiency(input: BridgeInput, batch: Batch): 'sufficient' | 'insufficient' | 'unknown' {
  const pays = paysMinimum(input, batch);
  if (pays === undefined) return 'unknown';
  const isSigned = isBatchSigned(input, batch) === true;
  if (!pays) return 'insufficient';
  return isSigned ? 'sufficient' : 'unknown';
}

/** Whether all conditions hold. A missing field withdraws the family unless another condition does not hold. */
function allHold(conditions: readonly (() => boolean | undefined)[]): boolean {
  const results = conditions.map(orUndefined);
  return !results.includes(false) && results.every(required);
}

/** The batches that a relayer can execute for sufficient fees; `undefined` when the validator set in the contract has no power. */
export const relayableBatches = memoize((input: BridgeInput): readonly Batch[] | undefined => {
  requireSigningInput(input);
  const batches = rows(input.state.batches);
  if (batches.length === 0) return [];
  if (contractPower(input) === undefined) return undefined;
  return batches.filter((batch) =>
    allHold([
      () => isBatchSigned(input, batch),
      () => !isTimedOut(input, batch),
      () => paysMinimum(input, batch) !== false,
    ]),
  );
});

/** The transfers of a token in relayable batches; `undefined` when the batches are unknown. */
export function relayableTransfers(input: BridgeInput, contract: string): readonly Transfer[] | undefined {
  return relayableBatches(input)
    ?.filter(({ token_contract }) => contractLabel(token_contract) === contract)
    .flatMap(({ transactions }) => rows(transactions));
}

/** Whether the hub cancels the batch: its timeout is below the last observed external height. */
export function isExpired({ state }: BridgeInput, { batch_timeout }: Batch): boolean {
  return compare(required(batch_timeout), required(state.last_observed_external_height)) < 0;
}

/** Whether the batch has timed out at the estimated external height, but not yet for the hub; `undefined` without the estimate. */
export function isOverdue(input: BridgeInput, batch: Batch): boolean | undefined {
  const estimated = estimatedExternalHeight(input);
  if (estimated === undefined) return undefined;
  return compare(required(batch.batch_timeout), estimated) <= 0 && !isExpired(input, batch);
}

/** `expired`: the hub cancels it. `overdue`: timed out at the estimated external height, but still held by the hub. */
type BatchState = 'live' | 'overdue' | 'expired';

/** `undefined` without the estimate, unless it has expired. */
export function batchState(input: BridgeInput, batch: Batch): BatchState | undefined {
  if (isExpired(input, batch)) return 'expired';
  const overdue = isOverdue(input, batch);
  return overdue === undefined ? undefined : overdue ? 'overdue' : 'live';
}

/**
 * What a live batch or a queued transfer waits for. `observation`: a third of the power or more claims that the batch was executed.
 * `fees`: the fees are below the minimum fee of the token.
 */
export const waitReasons = ['timeout', 'observation', 'signatures', 'fees', 'relayer', 'batch'] as const;
export type WaitReason = (typeof waitReasons)[number];

function isClaimedAsExecuted(input: BridgeInput, batch: Batch): boolean {
  const claims = executionClaimsOf(input, batch);
  return claims.length > 0 && (highestVotedShare(input, claims) ?? 1) >= CREDIBLE_RATIO;
}

/** The first reason of a live batch; `undefined` without the power of the validator set in the contract. */
export function waitOfBatch(input: BridgeInput, batch: Batch): WaitReason | undefined {
  if (orUndefined(() => isExpired(input, batch)) === true || isTimedOut(input, batch)) return 'timeout';
  if (orUndefined(() => isClaimedAsExecuted(input, batch)) === true) return 'observation';
  const isSigned = isBatchSigned(input, batch);
  if (isSigned === undefined) return undefined;
  if (!isSigned) return 'signatures';
  return paysMinimum(input, batch) === false ? 'fees' : 'relayer';
}

/** Number of transfers in batches that are claimed as executed. */
export function countClaimedTransfers(input: BridgeInput): number {
  const claimed = rows(input.state.batches).filter((batch) => waitOfBatch(input, batch) === 'observation');
  return claimed.reduce((transfers, batch) => transfers + rows(batch.transactions).length, 0);
}

/** The lowest height at which one of the batches was created. */
export function oldestBlock(batches: readonly Batch[]): Numeral | undefined {
  return lowest(batches.map(({ block }) => required(block)));
}

/** The lowest external height at which a live batch will time out. */
export function nextTimeout(input: BridgeInput): Numeral | undefined {
  const estimated = estimateIfAny(input);
  const timeouts = rows(input.state.batches).map(({ batch_timeout }) => required(batch_timeout));
  return lowest(timeouts.filter((timeout) => estimated === undefined || compare(timeout, estimated) > 0));
}
