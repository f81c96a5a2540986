import { OTHER } from '../facts/label-value.js';

/**
 * Counts by token or chain, in the order of their first documents. The first entry is of the keys above the limit. A key keeps its entry for
 * the life of the process: a counter that moves to another series would count twice.
 */
export type Totals<Value> = ReadonlyMap<string, Value>;

/** Adds new keys, up to `limit` besides the first entry. */
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

/** Changes the entry of a key, or the first entry. */
export function changeTotal<Value>(totals: Map<string, Value>, key: string, change: (value: Value) => Value): void {
  const seriesKey = totals.has(key) ? key : OTHER;
  const value = totals.get(seriesKey);
  if (value !== undefined) totals.set(seriesKey, change(value));
}

/** The entries with series, and the entries that share the series `other`. */
export function splitTotals<Value>(
  totals: Totals<Value>,
  maxSingle: number,
): { readonly single: readonly (readonly [string, Value])[]; readonly aggregated: readonly Value[] } {
  const entries = Array.from(totals);
  const single = entries.slice(1, 1 + Math.max(0, maxSingle));
  const aggregated = [...entries.slice(0, 1), ...entries.slice(1 + single.length)];
  return { single, aggregated: aggregated.map(([, value]) => value) };
}
