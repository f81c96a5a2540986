import type { Instant } from '../clock.js';
import { MINUTE_SECONDS } from '../units.js';
import { countOf, type BridgeFlow } from './bridge-flow.js';
import { quantile, type Histogram } from './histogram.js';

/*
 * The counts of the flow at points in time of the last days, for the objective and the pages. About a hundred points for each endpoint,
 * 22 KiB.
 */

/** Totals since the start of the process, at a successful poll. */
interface FlowPoint {
  readonly at: Instant;
  readonly transfersExecuted: number;
  readonly transferDurations: Pick<Histogram, 'bounds' | 'counts'>;
}

export interface FlowHistory {
  /** Oldest first. At the first point counting began, or it is as old as the history may be. */
  readonly points: readonly FlowPoint[];
  /** The point of the last successful poll. */
  readonly latest: FlowPoint | undefined;
  /** Where counting began: the first successful poll since the start, or since the buckets were changed. */
  readonly since: Instant | undefined;
}

export const NO_FLOW_HISTORY: FlowHistory = { points: [], latest: undefined, since: undefined };

export const FLOW_MINUTES = 3 * 24 * 60;

/** The distance between points, by their age: the increase of a day need not be as exact as that of an hour. */
const SPACINGS = [
  { fromMinutes: 0, minutes: 5 },
  { fromMinutes: 70, minutes: 20 },
  { fromMinutes: 25 * 60, minutes: 120 },
] as const;

/** The history after one more successful poll. */
export function flowHistoryAfter(
  before: FlowHistory,
  { transferDurations, tokens }: BridgeFlow,
  at: Instant,
): FlowHistory {
  const { latest } = before;
  const isContinued = latest !== undefined && isEqual(latest.transferDurations.bounds, transferDurations.bounds);
  const history = isContinued ? before : NO_FLOW_HISTORY;
  const point = {
    at,
    transfersExecuted: countOf(tokens.values(), 'transfersExecuted'),
    transferDurations: sameCounts(history.latest?.transferDurations, transferDurations),
  };
  // Counting begins with the first poll.
  const { points } = isContinued ? history : { points: [point] };
  return { points: thinned([...points, point], at), latest: point, since: history.since ?? at };
}

/** Points with equal counts share them. */
function sameCounts(before: FlowPoint['transferDurations'] | undefined, { bounds, counts }: Histogram) {
  return before !== undefined && isEqual(before.counts, counts) ? before : { bounds, counts };
}

function isEqual(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((value, index) => value === b[index]);
}

/** The points at the distances of their age, from the last point on that is older than the history. */
function thinned(points: readonly FlowPoint[], at: Instant): readonly FlowPoint[] {
  const first = points.findLastIndex((point) => at - point.at >= FLOW_MINUTES * MINUTE_SECONDS);
  const kept: FlowPoint[] = [];
  for (const point of points.slice(Math.max(0, first))) {
    const last = kept.at(-1);
    if (last === undefined || point.at - last.at >= spacingSeconds(at - point.at)) kept.push(point);
  }
  return kept;
}

function spacingSeconds(ageSeconds: number): number {
  const spacing = SPACINGS.findLast(({ fromMinutes }) => ageSeconds >= fromMinutes * MINUTE_SECONDS) ?? SPACINGS[0];
  return spacing.minutes * MINUTE_SECONDS;
}

/** The counts of the last minutes, or since counting began; `undefined` before the first successful poll. */
export function flowIncrease(
  { points, latest }: FlowHistory,
  minutes: number,
  now: Instant,
): Omit<FlowPoint, 'at'> | undefined {
  const start = points.findLast(({ at }) => now - at >= minutes * MINUTE_SECONDS) ?? points[0];
  if (latest === undefined || start === undefined) return undefined;
  const { bounds, counts } = latest.transferDurations;
  return {
    transfersExecuted: latest.transfersExecuted - start.transfersExecuted,
    transferDurations: {
      bounds,
      counts: counts.map((count, index) => count - (start.transferDurations.counts[index] ?? 0)),
    },
  };
}

/** The median duration of an increase, estimated from its buckets; `undefined` without durations. */
export function medianSeconds({ transferDurations }: Pick<FlowPoint, 'transferDurations'>): number | undefined {
  return quantile(transferDurations, 0.5);
}
