import {
  add,
  compare,
  floorDivide,
  integer,
  lowest,
  multiply,
  subtract,
  sum,
  type Decimal,
  type Exact,
} from '../../chain/decimal.js';
import type { Batch, Transfer } from '../../chain/module-state.js';
import { isPresent } from '../../chain/field.js';
import type { Numeral } from '../../chain/numeral.js';
import { families, gauge, labeledGauge } from '../../metrics/family.js';
import { memoize } from '../memoize.js';
import { orUndefined, required, rows } from '../required-fields.js';
import { externalBlockTime, hubBlockTime } from './block-times.js';
import { heightOfLastObserved, requireEventNonces } from './events.js';
import type { BridgeInput } from './input.js';
import { hasContractPower, isBatchSigned, requireSigningInput, batchesBelowThreshold } from './signing.js';
import { contractLabel, feeCoin, minBatchFees } from './tokens.js';

/** A longer interval between two documents says too little about when an event between them was observed. */
const MAX_GAP_MS = 5 * 60_000;

/** The last observed event, as the exporter has seen it. Times are on the monotonic clock. */
export interface SeenEvent {
  readonly nonce: Numeral;
  /** When its nonce was last read. */
  readonly readAtMs: number;
  /** When it became observed; `undefined` unless that happened between two polls. */
  readonly observedAtMs: number | undefined;
}

export function lastEventSeen({ state, at, previous }: BridgeInput): SeenEvent | undefined {
  const nonce = state.last_observed_nonce;
  const before = previous?.lastEvent;
  if (!isPresent(nonce)) return before;
  const readAtMs = at.monotonicMs;
  if (before === undefined) return { nonce, readAtMs, observedAtMs: undefined };
  const order = compare(nonce, before.nonce);
  if (order === 0) return { ...before, readAtMs };
  const isSeen = order > 0 && readAtMs - before.readAtMs <= MAX_GAP_MS;
  return { nonce, readAtMs, observedAtMs: isSeen ? readAtMs : undefined };
}

/** Milliseconds since the last event was observed; `undefined` when that is unknown. */
function msSinceLastEvent(input: BridgeInput): Exact | undefined {
  requireEventNonces(input);
  required(input.state.last_observed_nonce);
  const seenAtMs = lastEventSeen(input)?.observedAtMs;
  if (seenAtMs !== undefined) return integer(Math.round(input.at.monotonicMs - seenAtMs));
  const observedAt = heightOfLastObserved(input);
  if (observedAt === undefined) return undefined;
  return multiply(subtract(required(input.height), observedAt), hubBlockTime(input));
}

/**
 * The current external height: read on the external chain, else estimated from the last observed event and the block times in use. The hub
 * updates its own value only when it observes an event. `undefined` when the last observed event is neither in the state nor was seen.
 */
export const estimatedExternalHeight = memoize((input: BridgeInput): Exact | undefined => {
  if (input.externalHeight !== undefined) return input.externalHeight;
  const base = required(input.state.last_observed_external_height);
  const blockTime = externalBlockTime(input);
  const elapsed = msSinceLastEvent(input);
  return elapsed === undefined ? undefined : floorDivide(add(multiply(base, blockTime), elapsed), blockTime);
});

/** The estimate, or `undefined` when a field for it is missing. */
function estimateIfAny(input: BridgeInput): Exact | undefined {
  return orUndefined(() => estimatedExternalHeight(input));
}

/** Whether the batch has timed out at the estimated external height; `false` without the estimate. */
function isTimedOut(input: BridgeInput, { batch_timeout }: Batch): boolean {
  const estimated = estimateIfAny(input);
  return estimated !== undefined && compare(required(batch_timeout), estimated) <= 0;
}

/** The minimum fee of the token of a batch; `undefined` when none is configured. */
export function minimumFee({ tokens }: BridgeInput, { token_contract }: Batch): Numeral | undefined {
  const minimums = minBatchFees(tokens);
  return minimums.size === 0 ? undefined : minimums.get(required(token_contract));
}

/** The fees of a batch in its own token, in the smallest unit. */
export function totalFees({ token_contract, transactions }: Batch): Decimal {
  const token = required(token_contract);
  const fees: Numeral[] = [];
  for (const transfer of rows(transactions)) {
    const fee = feeCoin(transfer);
    if (required(fee?.contract) === token) fees.push(required(fee?.amount));
  }
  return sum(fees);
}

export function paysFee(batch: Batch, minimum: Numeral): boolean {
  return compare(totalFees(batch), minimum) >= 0;
}

/** Whether the fees of a batch in its own token reach the minimum of the token; without a minimum, any fee does. */
function paysMinimum(input: BridgeInput, batch: Batch): boolean {
  const minimum = minimumFee(input, batch);
  return minimum === undefined || paysFee(batch, minimum);
}

/** `unknown` without a minimum, and for a batch that relayers cannot execute because it lacks signatures. */
export function feesOf(input: BridgeInput, batch: Batch): 'sufficient' | 'insufficient' | 'unknown' {
  const minimum = minimumFee(input, batch);
  if (minimum === undefined) return 'unknown';
  const isSigned = isBatchSigned(input, batch) === true;
  if (!paysFee(batch, minimum)) return 'insufficient';
  return isSigned ? 'sufficient' : 'unknown';
}

/** Whether all conditions hold. A field that is missing withdraws the family unless another condition does not hold. */
function allHold(conditions: readonly (() => boolean | undefined)[]): boolean {
  const results = conditions.map(orUndefined);
  return !results.includes(false) && results.every(required);
}

/** The batches that a relayer can execute and is paid for; `undefined` when the validator set in the contract has no power. */
const relayableBatches = memoize((input: BridgeInput): readonly Batch[] | undefined => {
  requireSigningInput(input);
  const batches = rows(input.state.batches);
  if (batches.length === 0) return [];
  if (!hasContractPower(input)) return undefined;
  return batches.filter((batch) =>
    allHold([() => isBatchSigned(input, batch), () => !isTimedOut(input, batch), () => paysMinimum(input, batch)]),
  );
});

/** The transfers of a token in relayable batches; `undefined` when these are unknown. */
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

/** Age and timeout of live batches. */
export const batchFamilies = families<BridgeInput>({
  bridge_batch_oldest_height: gauge({
    help: 'Hub height at which the oldest live batch was created; absent when there is none.',
    value: ({ state }) => lowest(rows(state.batches).map(({ block }) => required(block))),
  }),
  bridge_oldest_unsigned_batch_height: gauge({
    help: 'Hub height at which the oldest batch was created whose signed power is below the configured threshold; absent when there is none.',
    value: (input) => lowest(batchesBelowThreshold(input).map(({ block }) => required(block))),
  }),
  bridge_relayable_batches: gauge({
    help: 'Number of live batches that are signed, have not timed out and pay the minimum fee of their token.',
    value: (input) => relayableBatches(input)?.length,
  }),
  bridge_oldest_relayable_batch_height: gauge({
    help: 'Hub height at which the oldest relayable batch was created; absent when there is none.',
    value: (input) => lowest((relayableBatches(input) ?? []).map(({ block }) => required(block))),
  }),
  bridge_relayable_batch_next_timeout_height: gauge({
    help: 'Lowest external height at which a relayable batch times out; absent when there is none.',
    value: (input) => lowest((relayableBatches(input) ?? []).map(({ batch_timeout }) => required(batch_timeout))),
  }),
  bridge_batch_next_timeout_height: gauge({
    help: 'Lowest external height at which a live batch that has not timed out does so; absent when there is none.',
    value: (input) => {
      const estimated = estimateIfAny(input);
      const timeouts = rows(input.state.batches).map(({ batch_timeout }) => required(batch_timeout));
      return lowest(timeouts.filter((timeout) => estimated === undefined || compare(timeout, estimated) > 0));
    },
  }),
  bridge_batches_expired: gauge({
    help: 'Number of batches whose timeout is below the last observed external height; 0 on a consistent node, which cancels them at once.',
    value: (input) => {
      // Without the height, expired batches are unknown even if there is no batch.
      required(input.state.last_observed_external_height);
      return rows(input.state.batches).filter((batch) => isExpired(input, batch)).length;
    },
  }),
  bridge_external_height_projected: gauge({
    help: 'Estimated current external height, from the last observed event and the block times in use, rounded down.',
    value: estimatedExternalHeight,
  }),
  bridge_batches_overdue: gauge({
    help: 'Number of batches that have timed out at the estimated external height but are still held by the hub; absent without the estimate.',
    value: (input) => {
      if (estimatedExternalHeight(input) === undefined) return undefined;
      return rows(input.state.batches).filter((batch) => isOverdue(input, batch)).length;
    },
  }),
  bridge_overdue_batches: labeledGauge({
    help: 'Number of overdue batches by their fees: insufficient below the minimum fee of the token, sufficient for signed ones from it on, else unknown.',
    // Three series per target.
    labels: ['fees'],
    derive: (input) => {
      if (estimatedExternalHeight(input) === undefined) return [];
      const fees = rows(input.state.batches).flatMap((batch) => {
        const kind = feesOf(input, batch);
        return isOverdue(input, batch) ? [kind] : [];
      });
      return (['sufficient', 'insufficient', 'unknown'] as const).map((kind) => ({
        labels: { fees: kind },
        value: fees.filter((own) => own === kind).length,
      }));
    },
  }),
});
