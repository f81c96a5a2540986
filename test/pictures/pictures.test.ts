import { describe, expect, it } from 'vitest';
import { readProjectFile } from '../support/project-files.js';
import { formatValue } from './format-value.js';
import { pictureSources } from './pictures.js';

describe('docs', () => {
  it('has pictures of what is shown now; `npm run build && node test/pictures/take.mjs` takes them again', () => {
    expect(pictureSources()).toEqual(JSON.parse(readProjectFile('test/pictures/sources.json')));
    const text = ['README.md', 'docs/pages.md'].map(readProjectFile).join('');
    expect(Object.keys(pictureSources()).filter((name) => !text.includes(`${name}.png)`))).toEqual([]);
  });
});

describe('formatValue', () => {
  const now = Date.parse('2026-09-21T20:32:00Z');

  it.each([
    [1234, 'short', undefined, '1.2 K'],
    [16_000_000, 'short', undefined, '16 Mil'],
    [0.045, 'percentunit', undefined, '4.5%'],
    [40_680, 'dtdhms', undefined, '11:18:00'],
    [197_480, 'dtdhms', undefined, '2 d 06:51:20'],
    [Date.parse('2026-09-21T18:55:20Z'), 'dateTimeAsIsoNoDateIfToday', undefined, '18:55:20'],
    [Date.parse('2026-09-20T18:55:20Z'), 'dateTimeAsIsoNoDateIfToday', undefined, '2026-09-20 18:55:20'],
    [196.38, 'suffix:×', 1, '196.4×'],
  ])('formats %s in the unit %s', (value, unit, decimals, text) => {
    expect(formatValue(value, { unit, decimals, now })).toBe(text);
  });
});
