import { describe, expect, it } from 'vitest';
import {
  cleanText,
  count,
  durationInWords,
  list,
  percent,
  splitAddress,
  truncate,
  visibleText,
} from '../../src/text/format.js';

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

describe('untrusted text', () => {
  it('becomes one line without characters that are invisible or change the direction of others', () => {
    expect(cleanText(' Alpha\n\r\u2028Beta\u202E\u200B\u3164 gamma\uD800 ')).toBe('Alpha Beta gamma\uFFFD');
    expect(cleanText('\u202E \u0000')).toBe('');
  });

  it('keeps emoji and letters of all languages', () => {
    expect(cleanText('Ünïted ✔\uFE0F 験証 שלום')).toBe('Ünïted ✔\uFE0F 験証 שלום');
  });

  it('is truncated by characters, not by code units', () => {
    expect(cleanText('🌉'.repeat(500), 4)).toBe('🌉🌉🌉…');
    expect(truncate('🌉🌉🌉🌉', 4)).toBe('🌉🌉🌉🌉');
    expect(Array.from(cleanText('x'.repeat(1_000_000)))).toHaveLength(200);
  });

  it('shows hidden characters on a page, and keeps its lines', () => {
    expect(visibleText('a\n\u202Eb\u0000\uD800')).toBe('a\n\uFFFDb\uFFFD\uFFFD');
    expect(visibleText(`e${'\u0301'.repeat(50)}`)).toBe(`e${'\u0301'.repeat(3)}`);
  });

  it('is split into the ends of an address and its middle', () => {
    expect(splitAddress('0x1234567890abcdef')).toEqual(['0x123456', '7890', 'abcdef']);
    expect(splitAddress('0x1234567890')).toEqual(['0x123456', '', '7890']);
    expect(splitAddress('0x1')).toEqual(['0x1', '', '']);
  });
});
