import { describe, expect, it } from 'vitest';
import { createClock } from '../src/clock.js';

const MINUTE_MS = 60_000;
const START_MS = 1_800_000_000_000;

/** The readings of the monotonic clock, in minutes, after steps of both clocks in minutes. */
function minutesAfter(steps: readonly (readonly [wall: number, monotonic: number])[]): readonly number[] {
  let [wall, monotonic] = [0, 0];
  const clock = createClock(
    () => START_MS + wall * MINUTE_MS,
    () => monotonic * MINUTE_MS,
  );
  return steps.map((step) => {
    [wall, monotonic] = [wall + step[0], monotonic + step[1]];
    const at = clock();
    expect(at.at).toBe(START_MS / 1000 + wall * 60);
    return at.monotonicMs / MINUTE_MS;
  });
}

describe('the monotonic clock', () => {
  it('includes the time for which the machine was suspended, from then on', () => {
    const steps = [
      [1, 1],
      [301, 1],
      [1, 1],
      [61, 1],
    ] as const;
    expect(minutesAfter(steps)).toEqual([1, 302, 303, 364]);
  });

  it('does not follow corrections of the wall clock: up to a minute forward, and back', () => {
    const steps = [
      [2, 1],
      [-60, 1],
      [1.5, 1],
    ] as const;
    expect(minutesAfter(steps)).toEqual([1, 2, 3]);
  });
});
