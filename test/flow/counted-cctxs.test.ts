import { describe, expect, it } from 'vitest';
import { addCounted, countedKeys, MAX_COUNTED, NONE_COUNTED } from '../../src/flow/counted-cctxs.js';

const index = (number: number): string => `0x${number.toString(16).padStart(64, '0')}`;
/** Only the first characters are remembered. */
const reversed = (number: number): string => `0x${Array.from(index(number).slice(2)).toReversed().join('')}`;

describe.each([
  ['few lookups', 1],
  ['many lookups', 1000],
])('the transactions that were counted, with %s', (_what, lookups) => {
  it('are found, and no others', () => {
    const counted = addCounted(addCounted(NONE_COUNTED, [reversed(1), reversed(2)]), [reversed(3)]);
    const keys = countedKeys(counted, lookups);
    expect([1, 2, 3, 4].map((number) => keys.has(reversed(number)))).toEqual([true, true, true, false]);
    expect(countedKeys(NONE_COUNTED, lookups).has(reversed(1))).toBe(false);
  });

  it('are not found across the border of two of them', () => {
    const counted = addCounted(NONE_COUNTED, ['ab'.repeat(9), 'ab'.repeat(9), 'b'.repeat(18)]);
    const keys = countedKeys(counted, lookups);
    expect(keys.has('ba'.repeat(9))).toBe(false);
    expect(keys.has('b'.repeat(18))).toBe(true);
  });

  it('are forgotten from the oldest on', () => {
    const all = Array.from({ length: MAX_COUNTED + 1 }, (_, number) => reversed(number));
    const keys = countedKeys(addCounted(NONE_COUNTED, all), lookups);
    expect([0, 1, MAX_COUNTED].map((number) => keys.has(reversed(number)))).toEqual([false, true, true]);
  });
});
