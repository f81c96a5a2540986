import { add, compare, highest, subtract, type Numeral } from '../../chain/numeral.js';
import type { Transfer } from '../../chain/module-state.js';
import { memoize } from '../memoize.js';
import { required, rows } from '../required-fields.js';
import { heightOfLastObserved } from './events.js';
import type { BridgeInput } from './input.js';
import {
  BATCH_SIZE,
  batchedTransfers,
  batchesByToken,
  feeOf,
  idOf,
  minBatchFees,
  unbatchedTransfers,
  type WaitingToken,
} from './tokens.js';

/*
 * Proofs in a single document of how long transfers have waited. Transfers have no time, but their ids increase, and a batch has the height
 * at which it was built: every transfer up to the highest id in the batch existed at that height.
 */

/** The batches by height, each with the highest id up to it. */
const highestIds = memoize((input: BridgeInput) => {
  const batches = rows(input.state.batches).toSorted((a, b) => compare(required(a.block), required(b.block)));
  let maxId: Numeral | undefined;
  return batches.flatMap(({ block, transactions }) => {
    maxId = highest([maxId, ...rows(transactions).map(idOf)]);
    return maxId === undefined ? [] : [{ height: required(block), maxId }];
  });
});

/** A hub height at which the transfer with this id existed. */
export function existedAt(input: BridgeInput, id: Numeral): Numeral | undefined {
  return highestIds(input).find(({ maxId }) => id <= maxId)?.height;
}

/**
 * Hub height since which the unbatched transfers of a token have paid for a batch and none was built; `undefined` without a proof or a
 * minimum fee. No batch is executed or canceled without an observed event. So since the last event, all new batches are live, and no
 * transfer has returned from a batch. The height of the event is that of the first vote; the last vote follows within minutes.
 */
export function standstillSince(input: BridgeInput, { contract, unbatched }: WaitingToken): Numeral | undefined {
  const minimum = minBatchFees(input.tokens).get(contract);
  const lastEvent = heightOfLastObserved(input);
  if (minimum === undefined || lastEvent === undefined) return undefined;
  const id = firstPayingId(unbatched, minimum);
  const paidSince = id === undefined ? undefined : existedAt(input, id);
  if (paidSince === undefined) return undefined;
  const built = (batchesByToken(input).get(contract) ?? []).map(({ block }) => required(block));
  return highest([paidSince, lastEvent, ...built]);
}

/** The id of the oldest transfer that pays for a batch together with the transfers before it. */
function firstPayingId(transfers: readonly Transfer[], minimum: Numeral): Numeral | undefined {
  let total: Numeral = 0n;
  // The highest fees, in ascending order.
  const fees: Numeral[] = [];
  for (const transfer of transfers.toSorted((a, b) => compare(idOf(a), idOf(b)))) {
    const fee = feeOf(transfer);
    const place = fees.findIndex((other) => fee < other);
    fees.splice(place === -1 ? fees.length : place, 0, fee);
    total = add(total, fee);
    const dropped = fees.length > BATCH_SIZE ? fees.shift() : undefined;
    if (dropped !== undefined) total = subtract(total, dropped);
    if (total >= minimum) return required(transfer.id);
  }
  return undefined;
}

/** Hub height since which more transfers than `backlog_limit` have been pending, batched or not; `undefined` without a proof. */
export function aboveLimitSince(input: BridgeInput): Numeral | undefined {
  const ids = [...unbatchedTransfers(input), ...batchedTransfers(input)].map(idOf);
  const limit = input.settings.backlog_limit;
  const decisive = ids.length > limit ? ids.toSorted(compare)[limit] : undefined;
  return decisive === undefined ? undefined : existedAt(input, decisive);
}
