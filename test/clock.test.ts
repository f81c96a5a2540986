import { describe, expect, it } from 'vitest';
import { createClock, wallSeconds, type Instant } from '../src/clock.js';

const START = 1_800_000_000;

interface Step {
  /** How many seconds pass. */
  readonly passes?: number;
  /** For how many seconds the machine is suspended. */
  readonly suspended?: number;
  /** By how many seconds the wall clock is set. */
  readonly set?: number;
}

/** A machine whose uptime has whole seconds, as where a sandbox hides `/proc/uptime`. */
function machine({ wall: first = START, start }: { readonly wall?: number; readonly start?: Instant } = {}) {
  let [wall, monotonic, uptime] = [first, 1000.4, 5000.7];
  const clock = createClock({
    wallMs: () => wall * 1000,
    monotonicMs: () => monotonic * 1000,
    uptimeSeconds: () => Math.floor(uptime),
    ...(start !== undefined && { start }),
  });
  /** The seconds since the start by the process clock, and Unix seconds of now. */
  return ({ passes = 0, suspended = 0, set = 0 }: Step): readonly [number, number] => {
    wall += passes + suspended + set;
    monotonic += passes;
    uptime += passes + suspended;
    const now = clock();
    return [now.at - (start ?? first), wallSeconds(now.at, now) - START];
  };
}

describe('the process clock', () => {
  it('begins with the wall clock, or where the previous process ended', () => {
    expect(machine()({ passes: 10 })).toEqual([10, 10]);
    expect(machine({ start: START - 500 })({ passes: 10 })).toEqual([10, 10]);
  });

  it.each([
    ['forward by 4 h', { set: 4 * 3600 }],
    ['back by 1 h', { set: -3600 }],
  ])('does not follow a wall clock that is set %s, and its offset does', (_title, step) => {
    const after = machine();
    after({ passes: 60 });
    expect(after(step)).toEqual([60, 60 + step.set]);
    expect(after({ passes: 60 })).toEqual([120, 120 + step.set]);
  });

  it('has right times after a start in 1970', () => {
    const after = machine({ wall: 100 });
    expect(after({ passes: 60, set: START - 100 })).toEqual([60, 60]);
  });

  it('counts suspensions of the machine', () => {
    const after = machine();
    after({ passes: 60 });
    const [at, wall] = after({ suspended: 3 * 3600 });
    // The uptime has whole seconds.
    expect(Math.abs(at - (60 + 3 * 3600))).toBeLessThan(1);
    expect(Math.abs(wall - (60 + 3 * 3600))).toBeLessThan(1);
    expect(after({ passes: 60 })[0]).toBeCloseTo(at + 60);
  });

  it('has the same offset while NTP slews the wall clock, so that timestamps stay', () => {
    const after = machine();
    for (let step = 0; step < 9; step += 1)
      expect(after({ passes: 60, set: 0.1 })).toEqual([60 * (step + 1), 60 * (step + 1)]);
  });
});
