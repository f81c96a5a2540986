import { type Instant, msBetween } from '../clock.js';
import { MINUTE_MS } from '../units.js';
import { countOf, type BridgeFlow } from './bridge-flow.js';
import { quantile, type Histogram } from './histogram.js';

/*
 * What the flow of the bridge has counted until some points in time of the last days: for the objective, and for people without a time
 * series database at hand. About a hundred points for each endpoint, 22 KiB.
 */

/** Totals since the start of the process, at a successful poll. */
interface FlowPoint {
  readonly at: Instant;
  readonly transfersExecuted: number;
  readonly transferDurations: Pick<Histogram, 'bounds' | 'counts'>;
}

export interface FlowHistory {
  /** Oldest first. The first one is where counting began, or is older than all that is remembered. */
  readonly points: readonly FlowPoint[];
  /** The point of the last successful poll. */
  readonly latest: FlowPoint | undefined;
  /** Where counting began: the first successful poll since the start, or since the buckets were changed. */
  readonly since: Instant | undefined;
}

export const NO_FLOW_HISTORY: FlowHistory = { points: [], latest: undefined, since: undefined };

/** How far back increases are known. */
export const FLOW_MINUTES = 3 * 24 * 60;

/** The distance between points, by their age: shorter ones would make the increase of an hour more exact than that of a day has to be. */
const SPACINGS = [
  { fromMinutes: 0, minutes: 5 },
  { fromMinutes: 70, minutes: 20 },
  { fromMinutes: 25 * 60, minutes: 120 },
] as const;

/** Returns the history after one more successful poll. */
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
  // The first poll is part of what is counted from then on.
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

/** The points without those that are too near to the one before them, and without those before the last one that is too old. */
function thinned(points: readonly FlowPoint[], at: Instant): readonly FlowPoint[] {
  const first = points.findLastIndex((point) => msBetween(point.at, at) >= FLOW_MINUTES * MINUTE_MS);
  const kept: FlowPoint[] = [];
  for (const point of points.slice(Math.max(0, first))) {
    const last = kept.at(-1);
    if (last === undefined || msBetween(last.at, point.at) >= spacingMs(msBetween(point.at, at))) kept.push(point);
  }
  return kept;
}

function spacingMs(ageMs: number): number {
  return (SPACINGS.findLast(({ fromMinutes }) => ageMs >= fromMinutes * MINUTE_MS) ?? SPACINGS[0]).minutes * MINUTE_MS;
}

/** What was counted in the last minutes, or since counting began if that is later; `undefined` before the first successful poll. */
export function flowIncrease(
  { points, latest }: FlowHistory,
  minutes: number,
  now: Instant,
): Omit<FlowPoint, 'at'> | undefined {
  const start = points.findLast(({ at }) => msBetween(at, now) >= minutes * MINUTE_MS) ?? points[0];
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

/** The median duration of an increase, estimated from its buckets; `undefined` without one. */
export function medianSeconds({ transferDurations }: Pick<FlowPoint, 'transferDurations'>): number | undefined {
  return quantile(transferDurations, 0.5);
}
