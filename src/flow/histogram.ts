import type { LabelValues, Sample } from '../metrics/family.js';
import { DAY_SECONDS } from '../units.js';

/** Upper bounds in seconds, from a minute to a day: withdrawals take minutes to hours. */
const DURATION_BUCKETS: readonly number[] = [60, 120, 300, 600, 1200, 1800, 3600, 7200, 14_400, 28_800, 43_200, 86_400];

/** Observed durations: the number in each bucket, the last bucket without an upper bound, and the sum in seconds. */
export interface Histogram {
  /** Upper bounds of the buckets in seconds. */
  readonly bounds: readonly number[];
  readonly counts: readonly number[];
  readonly sum: number;
}

export const EMPTY_HISTOGRAM: Histogram = emptyHistogram(DURATION_BUCKETS);

function emptyHistogram(bounds: readonly number[]): Histogram {
  return { bounds, counts: [0, ...bounds.map(() => 0)], sum: 0 };
}

/** The histogram with an additional bucket. With other buckets than before, it begins at 0 again. */
export function withBucket(histogram: Histogram, seconds: number | undefined): Histogram {
  const bounds = Array.from(new Set([...DURATION_BUCKETS, ...(seconds === undefined ? [] : [seconds])]));
  const sorted = bounds.toSorted((a, b) => a - b);
  const isSame = sorted.length === histogram.bounds.length && sorted.every((bound) => histogram.bounds.includes(bound));
  return isSame ? histogram : emptyHistogram(sorted);
}

/** Only hostile documents have longer or negative durations, which would stay in the sum for the life of the process. */
const MAX_SECONDS = 10 * 366 * DAY_SECONDS;

export function observe(histogram: Histogram, durations: readonly number[]): Histogram {
  const { bounds, counts, sum } = histogram;
  const seconds = durations.filter((value) => value >= 0 && value <= MAX_SECONDS);
  if (seconds.length === 0) return histogram;
  const added = [...counts];
  for (const value of seconds) {
    const bucket = bounds.findIndex((bound) => value <= bound);
    const index = bucket === -1 ? bounds.length : bucket;
    added[index] = (added[index] ?? 0) + 1;
  }
  return { bounds, counts: added, sum: seconds.reduce((total, value) => total + value, sum) };
}

/** The sum of two histograms with the same buckets. */
export function addHistograms(first: Histogram, second: Histogram): Histogram {
  return {
    bounds: first.bounds,
    counts: first.counts.map((count, bucket) => count + (second.counts[bucket] ?? 0)),
    sum: first.sum + second.sum,
  };
}

/** Buckets, the bucket without an upper bound, sum and count. */
export const SERIES_PER_HISTOGRAM = DURATION_BUCKETS.length + 3;

/** The series of a histogram. `le` is a float, as OpenMetrics requires. */
export function histogramSamples<Label extends string>(
  { bounds, counts, sum }: Histogram,
  labels: LabelValues<Label>,
): readonly Sample<Label>[] {
  let total = 0;
  const buckets = counts.map((count, index): Sample<Label> => {
    total += count;
    return { suffix: '_bucket', labels, le: boundLabel(bounds[index]), value: total };
  });
  return [...buckets, { suffix: '_sum', labels, value: sum }, { suffix: '_count', labels, value: total }];
}

function boundLabel(bound: number | undefined): string {
  if (bound === undefined) return '+Inf';
  return Number.isInteger(bound) ? `${bound}.0` : String(bound);
}

/** The quantile in seconds, estimated like `histogram_quantile` of Prometheus; `undefined` without durations. */
export function quantile({ bounds, counts }: Pick<Histogram, 'bounds' | 'counts'>, rank: number): number | undefined {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return undefined;
  let below = 0;
  for (const [index, count] of counts.entries()) {
    if (below + count >= rank * total && count > 0) {
      const [lower, upper] = [bounds[index - 1] ?? 0, bounds[index]];
      return upper === undefined ? lower : lower + ((upper - lower) * (rank * total - below)) / count;
    }
    below += count;
  }
  return bounds.at(-1);
}

/** The number of durations above the bound of a bucket, and of all. */
export function countLate(
  { bounds, counts }: Pick<Histogram, 'bounds' | 'counts'>,
  seconds: number,
): { readonly late: number; readonly all: number } {
  const sum = (part: readonly number[]): number => part.reduce((total, count) => total + count, 0);
  return { late: sum(counts.slice(bounds.filter((bound) => bound <= seconds).length)), all: sum(counts) };
}
