import { describe, expect, it } from 'vitest';
import { addArrival, MAX_ARRIVALS, seenAtMs, type Arrivals } from '../../src/flow/arrivals.js';

describe('the times at which transfers were first seen', () => {
  const arrivals = [{ upTo: 5 }, { upTo: 7, seenAtMs: 100 }, { upTo: 20, seenAtMs: 300 }].reduce(
    addArrival,
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
    expect(addArrival(arrivals, { upTo: 20, seenAtMs: 400 })).toBe(arrivals);
  });

  it('are forgotten from the oldest on, whose transfers get no later time', () => {
    let many: Arrivals = [];
    for (let id = 1; id <= MAX_ARRIVALS + 10; id += 1) many = addArrival(many, { upTo: id, seenAtMs: id });
    expect(many).toHaveLength(MAX_ARRIVALS);
    expect([1, 11, 12].map((id) => seenAtMs(many, id))).toEqual([undefined, undefined, 12]);
  });
});
