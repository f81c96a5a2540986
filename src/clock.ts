import { performance } from 'node:perf_hooks';
import { MINUTE_MS } from './units.js';

/** A point in time on two clocks: the wall clock for output, and the monotonic clock for measuring ages. */
export interface Instant {
  readonly epochSeconds: number;
  readonly monotonicMs: number;
}

/** Wall time that passes without as much monotonic time between two calls. Corrections by NTP are shorter. */
const MIN_SUSPENSION_MS = MINUTE_MS;

/**
 * The monotonic clock of Node.js stops while the machine is suspended: that time is added, so that it is right for block times and
 * estimates. A wall clock that is set forward looks the same. Then ages become longer, as after a pause between two processes (state-file.ts).
 */
export function createClock(wallMs: () => number, monotonicMs: () => number): () => Instant {
  let suspendedMs = 0;
  let aheadMs = wallMs() - monotonicMs();
  return () => {
    const [wall, monotonic] = [wallMs(), monotonicMs()];
    const advancedMs = wall - monotonic - aheadMs;
    if (advancedMs > MIN_SUSPENSION_MS) suspendedMs += advancedMs;
    aheadMs += advancedMs;
    return { epochSeconds: wall / 1000, monotonicMs: monotonic + suspendedMs };
  };
}

export const clock = createClock(
  () => Date.now(),
  () => performance.now(),
);

/** The seconds since a value of `performance.now()`. */
export function secondsSince(startMs: number): number {
  return (performance.now() - startMs) / 1000;
}

/** The time between two points on the monotonic clock, because a change of the wall clock is no evidence. */
export function msBetween(from: Instant, to: Instant): number {
  return to.monotonicMs - from.monotonicMs;
}

/** The larger age of both clocks: the wall clock can be set back, and a suspension of less than a minute is not in the monotonic clock. */
export function ageSeconds(then: Instant, now: Instant): number {
  return Math.max(0, (now.monotonicMs - then.monotonicMs) / 1000, now.epochSeconds - then.epochSeconds);
}

/** The latest time with a year of four digits, in Unix seconds. */
export const LAST_SECONDS = 253_402_300_799;

/** Unix seconds as ISO 8601. What a document claims can be later or earlier than every time: then the last one, or 1970. */
export function isoTime(epochSeconds: number): string {
  return new Date(Math.round(Math.max(0, Math.min(epochSeconds, LAST_SECONDS)) * 1000)).toISOString();
}
