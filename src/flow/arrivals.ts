import { compare } from '../chain/decimal.js';
import type { Numeral } from '../json/numeral.js';

/*
 * When transfers were first seen. The hub numbers them in the order of their requests, so the new ones of a document are those above the
 * highest id of the document before, and one entry stands for all of them.
 */

export interface Arrival {
  /** The highest id of the document. */
  readonly upTo: Numeral;
  /** On the monotonic clock; `undefined` when it is not known since when they were there. */
  readonly seenAtMs?: number | undefined;
}

/** By ascending id. */
export type Arrivals = readonly Arrival[];

/** At a poll every 30 s, those of at least three days. The oldest are forgotten. */
export const MAX_ARRIVALS = 10_000;

export function addArrival(arrivals: Arrivals, arrival: Arrival): Arrivals {
  const last = arrivals.at(-1);
  if (last !== undefined && compare(arrival.upTo, last.upTo) <= 0) return arrivals;
  const all = [...arrivals, arrival];
  if (all.length <= MAX_ARRIVALS) return all;
  const [{ upTo } = arrival, ...others] = all.slice(-MAX_ARRIVALS);
  return [{ upTo }, ...others];
}

/** When a transfer was first seen, on the monotonic clock; `undefined` when that is not known. */
export function seenAtMs(arrivals: Arrivals, id: Numeral): number | undefined {
  let [low, high] = [0, arrivals.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const arrival = arrivals[middle];
    if (arrival !== undefined && compare(arrival.upTo, id) < 0) low = middle + 1;
    else high = middle;
  }
  return arrivals[low]?.seenAtMs;
}
