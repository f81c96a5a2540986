import { OTHER } from '../metrics/render-families.js';

/**
 * What was counted by token or chain, in the order in which they were first seen. The first entry is of those above the limit, for the life
 * of the process: a counter that moves to another series would count twice.
 */
export type Totals<Value> = ReadonlyMap<string, Value>;

/** Adds those that are new, as long as there are at most `limit` besides the entry of the others. */
export function withKeys<Value>(
  totals: Totals<Value>,
  keys: Iterable<string>,
  initial: (key: string) => Value,
  limit: number,
): Totals<Value> {
  const added = new Map(totals);
  for (const key of keys) {
    if (added.size > limit) break;
    if (!added.has(key)) added.set(key, initial(key));
  }
  return added;
}

/** Changes the entry of a key, or that of the others. */
export function changeTotal<Value>(totals: Map<string, Value>, key: string, change: (value: Value) => Value): void {
  const seriesKey = totals.has(key) ? key : OTHER;
  const value = totals.get(seriesKey);
  if (value !== undefined) totals.set(seriesKey, change(value));
}

/** The entries that have series of their own, and the others. */
export function splitTotals<Value>(
  totals: Totals<Value>,
  maxSingle: number,
): { readonly single: readonly (readonly [string, Value])[]; readonly others: readonly Value[] } {
  const [others, ...all] = Array.from(totals);
  const single = all.slice(0, Math.max(0, maxSingle));
  return {
    single,
    others: [...(others === undefined ? [] : [others]), ...all.slice(single.length)].map(([, value]) => value),
  };
}
