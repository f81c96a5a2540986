import { performance } from 'node:perf_hooks';

/** A point in time on two clocks: the wall clock for output, and the monotonic clock for measuring ages. */
export interface Instant {
  readonly epochSeconds: number;
  readonly monotonicMs: number;
}

export function clock(): Instant {
  return { epochSeconds: Date.now() / 1000, monotonicMs: performance.now() };
}

/** The time between two points on the monotonic clock, because a change of the wall clock is no evidence. */
export function msBetween(from: Instant, to: Instant): number {
  return to.monotonicMs - from.monotonicMs;
}

/** The larger age of both clocks: the wall clock can be set back, and the monotonic clock stops while the machine is suspended. */
export function ageSeconds(then: Instant, now: Instant): number {
  return Math.max(0, (now.monotonicMs - then.monotonicMs) / 1000, now.epochSeconds - then.epochSeconds);
}

/** The latest time with a year of four digits, in Unix seconds. */
export const LAST_SECONDS = 253_402_300_799;

/** Unix seconds as ISO 8601. What a document claims can be later or earlier than every time: then the last one, or 1970. */
export function isoTime(epochSeconds: number): string {
  return new Date(Math.round(Math.max(0, Math.min(epochSeconds, LAST_SECONDS)) * 1000)).toISOString();
}
