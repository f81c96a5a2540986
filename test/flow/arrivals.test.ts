import { describe, expect, it } from 'vitest';
import { addArrival, MAX_ARRIVALS, MAX_UNUSED, seenAtMs, type Arrivals } from '../../src/flow/arrivals.js';

describe('the times at which transfers were first seen', () => {
  const arrivals = [{ upTo: 5 }, { upTo: 7, seenAtMs: 100 }, { upTo: 20, seenAtMs: 300 }].reduce(
    (before, arrival) => addArrival(before, arrival, []),
    [] as Arrivals,
  );

  it.each([
    [1, undefined],
    [5, undefined],
    [6, 100],
    [7, 100],
    [8, 300],
    [20, 300],
    [21, undefined],
  ])('give transfer %s the time of the first document with its id', (id, time) => {
    expect(seenAtMs(arrivals, id)).toBe(time);
  });

  it('do not change without new transfers', () => {
    expect(addArrival(arrivals, { upTo: 20, seenAtMs: 400 }, [])).toBe(arrivals);
  });

  it('are forgotten from the oldest on, whose transfers get no later time', () => {
    let many: Arrivals = Array.from({ length: MAX_ARRIVALS }, (_, index) => ({ upTo: index + 1, seenAtMs: index + 1 }));
    const ids = Array.from({ length: MAX_ARRIVALS + 10 }, (_, index) => index + 1);
    for (let id = MAX_ARRIVALS + 1; id <= MAX_ARRIVALS + 10; id += 1) {
      many = addArrival(many, { upTo: id, seenAtMs: id }, ids);
    }
    expect(many).toHaveLength(MAX_ARRIVALS);
    expect([1, 11, 12].map((id) => seenAtMs(many, id))).toEqual([undefined, undefined, 12]);
  });

  it('are dropped when no transfer of them is left, and those of the others stay', () => {
    let many: Arrivals = [{ upTo: 0 }];
    const old = [-5, 3, 40];
    for (let id = 1; id <= 10 * MAX_UNUSED; id += 1) {
      many = addArrival(many, { upTo: id, seenAtMs: 1000 + id }, [...old, id]);
      expect(many.length).toBeLessThanOrEqual(MAX_UNUSED);
    }
    const newest = 10 * MAX_UNUSED;
    expect([...old, newest].map((id) => seenAtMs(many, id))).toEqual([undefined, 1003, 1040, 1000 + newest]);
  });
});
