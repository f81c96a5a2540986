import { describe, expect, it } from 'vitest';
import { toDecimalString } from '../../src/chain/decimal.js';
import { asDecimalString } from '../../src/json/numeral.js';
import { byDecimalString, byNumber, byString, groupedBy } from '../../src/pages/sort-order.js';

const numberRows = ['9007199254740993', '10', null, '9007199254740992', '-3', '0.5'].map((text) => ({
  value: text === null ? null : asDecimalString(text),
}));

describe('a row order', () => {
  it('compares digits exactly, with unknown values last in both directions', () => {
    const order = byDecimalString(({ value }: (typeof numberRows)[number]) => value);
    const ascending = ['-3', '0.5', '10', '9007199254740992', '9007199254740993'];
    expect(order(numberRows, false).map(({ value }) => value)).toEqual([...ascending, null]);
    expect(order(numberRows, true).map(({ value }) => value)).toEqual([...ascending.toReversed(), null]);
  });

  it('compares numbers and strings, with unknown values last', () => {
    expect(byNumber((value: number | null) => value)([2, null, 10, 1], true)).toEqual([10, 2, 1, null]);
    expect(byString((value: string | null) => value)(['b', null, 'a'], false)).toEqual(['a', 'b', null]);
  });

  it('sorts within groups', () => {
    const rows = [
      { token: 'b', amount: 1 },
      { token: 'a', amount: 5 },
      { token: 'b', amount: 3 },
      { token: 'a', amount: 7 },
    ];
    const order = groupedBy(
      ({ token }: (typeof rows)[number]) => token,
      byNumber(({ amount }) => amount),
    );
    expect(order(rows, true).map(({ amount }) => amount)).toEqual([7, 5, 3, 1]);
  });
});

describe('toDigits', () => {
  it.each([
    [0n, 0, '0'],
    [0n, 6, '0'],
    [-5n, 1, '-0.5'],
    [1_500_000n, 6, '1.5'],
    [1_000_000n, 6, '1'],
    [7n, 18, '0.000000000000000007'],
    [2n ** 256n, 0, String(2n ** 256n)],
  ])('formats %s × 10^-%s as %s', (units, scale, text) => {
    expect(toDecimalString({ units, scale })).toBe(text);
  });
});
