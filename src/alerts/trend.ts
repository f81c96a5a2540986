import { type Instant, msBetween } from '../clock.js';
import { MINUTE_MS } from '../settings/units.js';
import type { DocumentName } from '../documents.js';
import type { EndpointState } from '../poll/endpoint-state.js';
import { samplesOf, type Samples } from './samples.js';

/*
 * Whether the backlog of an endpoint grows or shrinks: some values of the last hours, for people without a time series database at hand.
 * At most one point per five minutes, and two or three numbers per point.
 */

/** The families that this file reads. Their samples are kept, like those of alerts (metrics/kept-samples.ts). */
export const trendFamilies = [
  'bridge_unbatched_transfers',
  'bridge_batch_transactions',
  'bridge_pending_events',
  'bridge_height',
  'bridge_batch_oldest_height',
  'bridge_block_time_seconds',
  'crosschain_total_pending',
  'crosschain_oldest_cctx_created_timestamp_seconds',
] as const;

type TrendSamples = Samples<(typeof trendFamilies)[number]>;

export interface TrendMeasure {
  readonly name: string;
  readonly title: string;
  readonly unit: 'items' | 'seconds';
  /** `undefined` when it is unknown. */
  readonly value: (samples: TrendSamples, at: Instant) => number | undefined;
}

export const trendMeasures: Readonly<Record<DocumentName, readonly TrendMeasure[]>> = {
  module_state: [
    { name: 'transfers', title: 'Pending transfers', unit: 'items', value: pendingTransfers },
    {
      name: 'events',
      title: 'Pending events',
      unit: 'items',
      value: (samples) => samples.value('bridge_pending_events'),
    },
    { name: 'oldest_batch', title: 'Age of the oldest batch', unit: 'seconds', value: oldestBatchSeconds },
  ],
  external_contract: [],
  rate_limiter_input: [
    {
      name: 'cctxs',
      title: 'Missed and pending cctxs',
      unit: 'items',
      value: (samples) => samples.value('crosschain_total_pending'),
    },
    { name: 'oldest_cctx', title: 'Age of the oldest pending cctx', unit: 'seconds', value: oldestCctxSeconds },
  ],
};

/** Those in no batch and those in batches. */
function pendingTransfers(samples: TrendSamples): number | undefined {
  const unbatched = samples.value('bridge_unbatched_transfers');
  const batched = samples.value('bridge_batch_transactions');
  return unbatched === undefined || batched === undefined ? undefined : unbatched + batched;
}

/** 0 without a batch. */
function oldestBatchSeconds(samples: TrendSamples): number | undefined {
  const height = samples.value('bridge_height');
  const blockTime = samples.value('bridge_block_time_seconds');
  const transfers = samples.value('bridge_batch_transactions');
  if (height === undefined || blockTime === undefined || transfers === undefined) return undefined;
  const oldest = samples.value('bridge_batch_oldest_height');
  if (oldest === undefined) return transfers === 0 ? 0 : undefined;
  return Math.max(0, (height - oldest) * blockTime);
}

/** 0 without a pending transaction. */
function oldestCctxSeconds(samples: TrendSamples, { epochSeconds }: Instant): number | undefined {
  const created = samples
    .series('crosschain_oldest_cctx_created_timestamp_seconds')
    .filter(({ labels }) => labels['list'] === 'pending')
    .map(({ value }) => value);
  if (created.length > 0) return Math.max(0, epochSeconds - Math.min(...created));
  return samples.value('crosschain_total_pending') === 0 ? 0 : undefined;
}

/** The values at the time of a successful poll, by the name of the measure; without those that are unknown. */
interface TrendPoint {
  readonly at: Instant;
  readonly values: ReadonlyMap<string, number>;
}

export interface Trend {
  /** Oldest first, at least five minutes apart. */
  readonly points: readonly TrendPoint[];
  /** Of the last successful poll. */
  readonly latest: TrendPoint | undefined;
}

export const NO_TREND: Trend = { points: [], latest: undefined };

export const TREND_MINUTES = 6 * 60;
const SPACING_MINUTES = 5;

/** Returns the trend after one more successful poll. */
export function trendAfter({ points }: Trend, { document, success }: EndpointState, at: Instant): Trend {
  const samples = samplesOf(success?.snapshot);
  const values = trendMeasures[document].flatMap(({ name, value }): [string, number][] => {
    const known = value(samples, at);
    return known === undefined ? [] : [[name, known]];
  });
  const latest = { at, values: new Map(values) };
  const last = points.at(-1);
  const isDue = last === undefined || msBetween(last.at, at) >= SPACING_MINUTES * MINUTE_MS;
  const kept = points.filter((point) => msBetween(point.at, at) <= TREND_MINUTES * MINUTE_MS);
  return { points: isDue ? [...kept, latest] : kept, latest };
}
