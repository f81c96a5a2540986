import type { LabelValues } from '../metrics/family.js';
import type { SeriesSample } from './cumulative-family.js';

/** Upper bounds in seconds, from a minute to a day: withdrawals take minutes to hours. */
export const DURATION_BUCKETS: readonly number[] = [
  60, 120, 300, 600, 1200, 1800, 3600, 7200, 14_400, 28_800, 43_200, 86_400,
];

/** Observed durations: the number in each bucket, the last one without an upper bound, and their sum in seconds. */
export interface Histogram {
  readonly counts: readonly number[];
  readonly sum: number;
}

export const EMPTY_HISTOGRAM: Histogram = { counts: [0, ...DURATION_BUCKETS.map(() => 0)], sum: 0 };

export function observe({ counts, sum }: Histogram, seconds: readonly number[]): Histogram {
  if (seconds.length === 0) return { counts, sum };
  const added = [...counts];
  for (const value of seconds) {
    const bucket = DURATION_BUCKETS.findIndex((bound) => value <= bound);
    const index = bucket === -1 ? DURATION_BUCKETS.length : bucket;
    added[index] = (added[index] ?? 0) + 1;
  }
  return { counts: added, sum: seconds.reduce((total, value) => total + value, sum) };
}

/** The series of a histogram. `le` is a float, as OpenMetrics requires. */
export function histogramSamples({ counts, sum }: Histogram, labels: LabelValues = {}): SeriesSample[] {
  let total = 0;
  const buckets = counts.map((count, index): SeriesSample => {
    total += count;
    const bound = DURATION_BUCKETS[index];
    return { suffix: '_bucket', labels: { ...labels, le: bound === undefined ? '+Inf' : `${bound}.0` }, value: total };
  });
  return [...buckets, { suffix: '_sum', labels, value: sum }, { suffix: '_count', labels, value: total }];
}

/** The quantile in seconds, estimated like `histogram_quantile` of Prometheus; `undefined` without observations. */
export function quantile({ counts }: Histogram, rank: number): number | undefined {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return undefined;
  let below = 0;
  for (const [index, count] of counts.entries()) {
    if (below + count >= rank * total && count > 0) {
      const [lower, upper] = [DURATION_BUCKETS[index - 1] ?? 0, DURATION_BUCKETS[index]];
      return upper === undefined ? lower : lower + ((upper - lower) * (rank * total - below)) / count;
    }
    below += count;
  }
  return DURATION_BUCKETS.at(-1);
}
