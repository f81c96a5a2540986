import { performance } from 'node:perf_hooks';

/** A point in time on two clocks: the wall clock for output, and the monotonic clock for measuring ages. */
export interface Instant {
  readonly epochSeconds: number;
  readonly monotonicMs: number;
}

export function clock(): Instant {
  return { epochSeconds: Date.now() / 1000, monotonicMs: performance.now() };
}

/**
 * Whether the age is at most `staleAfterMs` on both clocks: the wall clock can be set back, and the monotonic clock stops while
 * the machine is suspended.
 */
export function isFresh(at: Instant, now: Instant, staleAfterMs: number): boolean {
  const age = now.monotonicMs - at.monotonicMs;
  const wallAge = (now.epochSeconds - at.epochSeconds) * 1000;
  return age <= staleAfterMs && wallAge <= staleAfterMs;
}
