import type { LabelValues, Sample } from '../metrics/family.js';
import { DAY_SECONDS } from '../units.js';

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
