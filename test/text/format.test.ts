import { describe, expect, it } from 'vitest';
import { count, durationInWords, list, percent } from '../../src/text/format.js';

describe('the numbers of a summary', () => {
  it.each([
    [0, '0 s'],
    [-5, '0 s'],
    [119.9, '119 s'],
    [120, '2 min'],
    [1799, '29 min'],
    [1800, '30 min'],
    [7200, '2 h'],
    [7_500, '2 h 5 min'],
    [172_800, '2 d'],
    [180_000, '2 d 2 h'],
  ])('round %d seconds down to %s', (seconds, expected) => {
    expect(durationInWords(seconds)).toBe(expected);
  });

  it.each([
    [0, '0 %'],
    [0.004, 'less than 1 %'],
    [0.5342, '53 %'],
    [0.999, '99 %'],
    [1, '100 %'],
    [2.105, '211 %'],
  ])('write the ratio %d as %s', (ratio, expected) => {
    expect(percent(ratio)).toBe(expected);
  });

  it('write small differences in as many decimals as asked for', () => {
    expect([0, 0.00001, 0.6599, 0.99999, 1, 2].map((ratio) => percent(ratio, 2))).toEqual([
      '0.00 %',
      'less than 0.01 %',
      '65.99 %',
      '99.99 %',
      '100.00 %',
      '200.00 %',
    ]);
  });

  it('use the singular for one item', () => {
    expect([count(1, 'batch', 'batches'), count(2, 'batch', 'batches'), count(1, 'event')]).toEqual([
      '1 batch',
      '2 batches',
      '1 event',
    ]);
  });

  it('list five entries and the number of the others', () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    expect(list(names.slice(0, 5))).toBe('a, b, c, d, e');
    expect(list(names.slice(0, 6))).toBe('a, b, c, d, e, f');
    expect(list(names)).toBe('a, b, c, d, e and 2 more');
    expect(list(names, 30)).toBe('a, b, c, d, e and 25 more');
  });
});
