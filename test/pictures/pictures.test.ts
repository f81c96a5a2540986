import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { projectPath, readProjectFile } from '../support/project-files.js';
import { formatValue } from './format-value.js';
import { sourceIn, withSource } from './picture-source.js';
import { dashboardPictures, pagePictures } from './pictures.js';

/* `npm run build && node test/pictures/take.mjs` takes the pictures again. */

describe('docs', () => {
  it.each([...dashboardPictures, ...pagePictures])('has a picture $name of what is shown now', ({ name, source }) => {
    expect(sourceIn(readFileSync(projectPath(`docs/${name}.png`)))).toBe(source);
  });

  it.each(pagePictures)('shows $name', ({ name }) => {
    expect(['README.md', 'docs/pages.md'].map(readProjectFile).join('')).toContain(`${name}.png)`);
  });
});

describe('withSource', () => {
  it('keeps a picture valid and replaces nothing of it', () => {
    const png = readFileSync(projectPath('docs/status-page.png'));
    const again = withSource(png, 'abc');
    expect(sourceIn(again)).toBe('abc');
    // Length, type, `Source`, a zero, the hash and the checksum.
    expect(again.length - png.length).toBe(4 + 4 + 7 + 3 + 4);
    expect(again.subarray(-100)).toEqual(png.subarray(-100));
  });
});

describe('formatValue', () => {
  const now = Date.parse('2026-09-21T20:32:00Z');

  it.each([
    [1234, 'short', undefined, '1.2 K'],
    [16_000_000, 'short', undefined, '16 Mil'],
    [0.045, 'percentunit', undefined, '4.5%'],
    [0.4512, 'percentunit', 0, '45%'],
    [8100, 's', undefined, '2.3 hours'],
    [40_680, 'dtdhms', undefined, '11:18:00'],
    [40_680, 'dtdurations', 1, '11 hours, 18 minutes'],
    [90_000, 'dtdurations', 1, '1 day, 1 hour'],
    [197_480, 'dtdhms', undefined, '2 d 06:51:20'],
    [Date.parse('2026-09-21T18:55:20Z'), 'dateTimeAsIsoNoDateIfToday', undefined, '18:55:20'],
    [Date.parse('2026-09-20T18:55:20Z'), 'dateTimeAsIsoNoDateIfToday', undefined, '2026-09-20 18:55:20'],
    [559_000, 'bytes', undefined, '546 KiB'],
    [196.38, 'suffix:×', 1, '196.4×'],
  ])('formats %s in the unit %s', (value, unit, decimals, text) => {
    expect(formatValue(value, { unit, decimals, now })).toBe(text);
  });
});
