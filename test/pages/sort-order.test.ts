import { describe, expect, it } from 'vitest';
import { byDecimalString, byNumber, byString, groupedBy } from '../../src/pages/sort-order.js';
import { toDecimalString } from '../../src/chain/decimal.js';
import { asDecimalString } from '../../src/json/numeral.js';

const huge = ['9007199254740993', '10', null, '9007199254740992', '-3', '0.5'].map((text) => ({
  value: text === null ? null : asDecimalString(text),
}));

describe('an order', () => {
  it('of digits is exact, and leaves what is not known to the end both ways', () => {
    const order = byDecimalString(({ value }: (typeof huge)[number]) => value);
    const ascending = ['-3', '0.5', '10', '9007199254740992', '9007199254740993'];
    expect(order(huge, false).map(({ value }) => value)).toEqual([...ascending, null]);
    expect(order(huge, true).map(({ value }) => value)).toEqual([...ascending.toReversed(), null]);
  });

  it('of numbers and texts likewise', () => {
    expect(byNumber((value: number | null) => value)([2, null, 10, 1], true)).toEqual([10, 2, 1, null]);
    expect(byString((value: string | null) => value)(['b', null, 'a'], false)).toEqual(['a', 'b', null]);
  });

  it('within groups keeps together what has no common unit', () => {
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

describe('digits', () => {
  it.each([
    [0n, 0, '0'],
    [0n, 6, '0'],
    [-5n, 1, '-0.5'],
    [1_500_000n, 6, '1.5'],
    [1_000_000n, 6, '1'],
    [7n, 18, '0.000000000000000007'],
    [2n ** 256n, 0, String(2n ** 256n)],
  ])('of %s × 10^-%s are %s', (units, scale, text) => {
    expect(toDecimalString({ units, scale })).toBe(text);
  });
});
