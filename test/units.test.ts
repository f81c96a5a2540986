import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatDuration, formatSize, parseDuration, parseSize } from '../src/units.js';

test.each([
  ['0', 0],
  ['0s', 0],
  ['500ms', 500],
  ['30s', 30_000],
  ['1m30s', 90_000],
  ['5m', 300_000],
  ['1h', 3_600_000],
  ['1h0m1s', 3_601_000],
  ['1d', 86_400_000],
  ['2w', 1_209_600_000],
  ['1y', 31_536_000_000],
  ['1y1w1d1h1m1s1ms', 32_230_861_001],
  ['90s', 90_000],
])('parseDuration parses %s as %i ms', (text, milliseconds) => {
  expect(parseDuration(text)).toBe(milliseconds);
});

test.each([
  '',
  '30',
  's',
  '1.5s',
  '-1s',
  '+1s',
  '1s1m',
  '1s 1m',
  '1S',
  '1m1m',
  '1us',
  '1ms1s',
  ' 1s',
  '99999999999999999y',
])('parseDuration rejects "%s"', (text) => {
  expect(parseDuration(text)).toBeUndefined();
});

test('a formatted duration is parsed as the same duration', () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), (milliseconds) => parseDuration(formatDuration(milliseconds)) === milliseconds),
  );
});

test('formatDuration uses days as the largest unit', () => {
  const formatted = [0, 1, 1_500, 60_000, 90_000, 3_600_000, 86_400_000, 604_800_000].map(formatDuration);
  expect(formatted).toEqual(['0s', '1ms', '1s500ms', '1m', '1m30s', '1h', '1d', '7d']);
});

test.each([
  ['0', 0],
  ['1048576', 1_048_576],
  ['100B', 100],
  ['512KiB', 524_288],
  ['64MiB', 67_108_864],
  ['1GiB', 1_073_741_824],
  ['10KB', 10_000],
  ['10MB', 10_000_000],
  ['1GB', 1_000_000_000],
])('parseSize parses %s as %i bytes', (text, bytes) => {
  expect(parseSize(text)).toBe(bytes);
});

test.each(['', 'MiB', '1.5MiB', '-1B', '64 MiB', '64mib', '64M', '64Mb', '1TiB', '0x10', '1e3', '99999999999GiB'])(
  'parseSize rejects "%s"',
  (text) => {
    expect(parseSize(text)).toBeUndefined();
  },
);

test('a formatted size is parsed as the same size', () => {
  const bytes = fc.oneof(
    fc.maxSafeNat(),
    fc.nat(2 ** 20).map((count) => count * 2 ** 20),
  );
  fc.assert(fc.property(bytes, (size) => parseSize(formatSize(size)) === size));
});
