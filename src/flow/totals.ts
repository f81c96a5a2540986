import type { Instant } from '../clock.js';
import type { LabelValues, Sample } from '../metrics/family.js';
import { DAY_SECONDS } from '../units.js';
import { add, type Numeral } from '../chain/numeral.js';
import { OTHER } from '../facts/label-value.js';

/*
 * What the flows of both documents have: totals with durations, and gaps. Each document is compared with the document
 * before it. If that is impossible nothing is counted, and the interval is a gap.
 */

export interface FlowOptions {
  /** A longer interval between two documents is a gap. */
  readonly staleAfterMs: number;
  readonly maxSeries: number;
}

/** The number of gaps by reason. `unseen` and `key` are intervals in which not everything was counted. */
export type Gaps = Readonly<Record<string, number>>;

export function noGaps(reasons: readonly string[]): Gaps {
  return Object.fromEntries(reasons.map((reason) => [reason, 0]));
}

export function addGap(gaps: Gaps, reason: string | undefined): Gaps {
  return reason === undefined ? gaps : { ...gaps, [reason]: (gaps[reason] ?? 0) + 1 };
}

export function isStale(before: { readonly at: Instant }, at: Instant, staleAfterMs: number): boolean {
  return (at - before.at) * 1000 > staleAfterMs;
}

/** Upper bounds in seconds, from a minute to a day: withdrawals take minutes to hours. */
const DURATION_BUCKETS: readonly number[] = [60, 120, 300, 600, 1200, 1800, 3600, 7200, 14_400, 28_800, 43_200, 86_400];

/** The label `le` of each bucket: a float, as OpenMetrics requires. */
const BUCKET_LABELS = [...DURATION_BUCKETS.map((bound) => `${bound}.0`), '+Inf'];

/** Observed durations: the number in each bucket, the last one without an upper bound, and the sum in seconds. */
export interface Histogram {
  readonly counts: readonly number[];
  readonly sum: number;
}

export const EMPTY_HISTOGRAM: Histogram = { counts: BUCKET_LABELS.map(() => 0), sum: 0 };

/**
 * Only hostile documents have longer or negative durations, which would stay in the sum for the life of the process.
 */
const MAX_SECONDS = 10 * 366 * DAY_SECONDS;

export function observe({ counts, sum }: Histogram, seconds: number | undefined): Histogram {
  if (seconds === undefined || seconds < 0 || seconds > MAX_SECONDS) return { counts, sum };
  const bucket = DURATION_BUCKETS.findIndex((bound) => seconds <= bound);
  const index = bucket === -1 ? DURATION_BUCKETS.length : bucket;
  return { counts: counts.with(index, (counts[index] ?? 0) + 1), sum: sum + seconds };
}

/** The sum of two histograms. */
export function addHistograms(first: Histogram, second: Histogram): Histogram {
  return {
    counts: first.counts.map((count, bucket) => count + (second.counts[bucket] ?? 0)),
    sum: first.sum + second.sum,
  };
}

/** Buckets, sum and count. */
export const SERIES_PER_HISTOGRAM = BUCKET_LABELS.length + 2;

export function histogramSamples<Label extends string>(
  { counts, sum }: Histogram,
  labels: LabelValues<Label>,
): readonly Sample<Label>[] {
  let total = 0;
  const buckets = BUCKET_LABELS.map((le, index): Sample<Label> => {
    total += counts[index] ?? 0;
    return { suffix: '_bucket', labels, le, value: total };
  });
  return [...buckets, { suffix: '_sum', labels, value: sum }, { suffix: '_count', labels, value: total }];
}

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
