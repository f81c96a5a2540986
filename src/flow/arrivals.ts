import type { Numeral } from '../chain/numeral.js';

/*
 * When transfers were first seen. The hub numbers transfers in the order of their requests, so the new transfers of a document are above the
 * highest id of the document before, and have one entry together.
 */

export interface Arrival {
  /** The highest id of the document. */
  readonly upTo: Numeral;
  /** In milliseconds of the process clock; `undefined` when the time is unknown. */
  readonly seenAtMs?: number | undefined;
}

/** Transfers with the time when they appeared, by ascending id. */
export type Arrivals = readonly Arrival[];

/** The oldest are forgotten. */
export const MAX_ARRIVALS = 10_000;
/** Above this number, arrivals without remaining transfers are dropped: a busy bridge has an arrival in each poll of days. */
export const MAX_UNUSED = 500;

/** Adds the arrival of a document with these transfers. */
export function addArrival(arrivals: Arrivals, arrival: Arrival, ids: Iterable<Numeral>): Arrivals {
  const last = arrivals.at(-1);
  if (last !== undefined && arrival.upTo <= last.upTo) return arrivals;
  const used = withoutUnused([...arrivals, arrival], ids);
  if (used.length <= MAX_ARRIVALS) return used;
  const [{ upTo } = arrival, ...later] = used.slice(-MAX_ARRIVALS);
  return [{ upTo }, ...later];
}

/** Drops arrivals without remaining transfers; lower ids then count as part of the next arrival. */
function withoutUnused(arrivals: Arrivals, ids: Iterable<Numeral>): Arrivals {
  if (arrivals.length <= MAX_UNUSED) return arrivals;
  const used = new Set([arrivals.length - 1]);
  for (const id of ids) used.add(indexOf(arrivals, id));
  return arrivals.filter((_arrival, index) => used.has(index));
}

/** When a transfer was first seen, in milliseconds of the process clock; `undefined` when unknown. */
export function seenAtMs(arrivals: Arrivals, id: Numeral): number | undefined {
  return arrivals[indexOf(arrivals, id)]?.seenAtMs;
}

/** The position of the first arrival that is not below the id. */
function indexOf(arrivals: Arrivals, id: Numeral): number {
  let [low, high] = [0, arrivals.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const arrival = arrivals[middle];
    if (arrival !== undefined && arrival.upTo < id) low = middle + 1;
    else high = middle;
  }
  return low;
}
