import { add, type Numeral } from '../chain/numeral.js';
import { OTHER } from '../facts/label-value.js';
import type { Sample } from '../metrics/family.js';
import { addHistograms, EMPTY_HISTOGRAM, observe, type Histogram } from './histogram.js';

/** The counts of a token or of a chain. */
export interface Total<Counter extends string> {
  /** The denom of the token, or the name of the chain. */
  readonly name: string;
  /** An absent count is 0. */
  readonly counts: ReadonlyMap<Counter, Numeral>;
  /** Of transfers, or of cross-chain transactions. */
  readonly durations: Histogram;
}

/**
 * Totals by token or chain, in the order of their first documents. The first entry is of the keys above the limit. A
 * key keeps its entry for the life of the process: a counter that moves to another series would count twice.
 */
export type Totals<Counter extends string> = ReadonlyMap<string, Total<Counter>>;

const NOTHING = { counts: new Map<never, Numeral>(), durations: EMPTY_HISTOGRAM };

export const NO_TOTALS: Totals<never> = new Map([[OTHER, { name: OTHER, ...NOTHING }]]);

/** Adds new keys until there are `maxTotals` entries, and updates the names. */
export function withKeys<Counter extends string>(
  totals: Totals<Counter>,
  keys: Iterable<string>,
  findName: (key: string, nameBefore: string) => string,
  maxTotals: number,
): Totals<Counter> {
  const all = new Map<string, Total<Counter>>();
  for (const [key, total] of totals)
    all.set(key, key === OTHER ? total : { ...total, name: findName(key, total.name) });
  for (const key of keys) {
    if (all.size >= maxTotals) break;
    if (!all.has(key)) all.set(key, { name: findName(key, ''), ...NOTHING });
  }
  return all;
}

export interface Count<Counter extends string> {
  readonly key: string;
  readonly counter: Counter;
  /** By default 1. */
  readonly by?: Numeral;
  /** A duration. */
  readonly seconds?: number | undefined;
}

export function withCounts<Counter extends string>(
  totals: Totals<Counter>,
  counts: readonly Count<Counter>[],
): Totals<Counter> {
  const all = new Map(totals);
  for (const { key, counter, by = 1n, seconds } of counts) {
    const seriesKey = all.has(key) ? key : OTHER;
    const total = all.get(seriesKey);
    if (total === undefined) continue;
    const count = add(total.counts.get(counter) ?? 0n, by);
    all.set(seriesKey, {
      ...total,
      counts: new Map(total.counts).set(counter, count),
      durations: observe(total.durations, seconds),
    });
  }
  return all;
}

function addTotals<Counter extends string>(a: Total<Counter>, b: Total<Counter>): Total<Counter> {
  const counts = new Map(a.counts);
  for (const [counter, count] of b.counts) counts.set(counter, add(counts.get(counter) ?? 0n, count));
  return { ...a, counts, durations: addHistograms(a.durations, b.durations) };
}

/**
 * The samples of each token or chain, at most `maxSeries`. Those above the limit share the series of `other`, unless
 * they are 0.
 */
export function totalSamples<Counter extends string, Label extends string>(
  totals: Totals<Counter>,
  maxSeries: number,
  seriesPerKey: number,
  deriveSamples: (key: string, total: Total<Counter>) => readonly Sample<Label>[],
): readonly Sample<Label>[] {
  const limit = Math.floor(maxSeries / seriesPerKey);
  if (limit < 1) return [];
  const [first, ...others] = totals;
  const single = others.slice(0, limit - 1);
  const aggregated = [first, ...others.slice(limit - 1)].flatMap((entry) => (entry === undefined ? [] : [entry[1]]));
  const otherSamples = deriveSamples(OTHER, aggregated.reduce(addTotals));
  const isCounted = otherSamples.some(({ value }) => Number(value) !== 0);
  return [...single.flatMap(([key, total]) => deriveSamples(key, total)), ...(isCounted ? otherSamples : [])];
}
