import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Sum, type Digits } from '../../src/json/decimal.js';
import { JsonCursor } from '../../src/json/json-cursor.js';
import { NumberColumn, type NumberIndex } from '../../src/json/number-column.js';

const upTo30Digits = fc.bigInt({ min: 0n, max: 10n ** 30n - 1n });

describe('numbers that are kept', () => {
  it('are given back and added up with all their digits', () => {
    fc.assert(
      fc.property(fc.array(upTo30Digits, { maxLength: 50 }), (values) => {
        const cursor = new JsonCursor(Buffer.from(JSON.stringify(values.map(String))), Infinity, false);
        const sum = new Sum();
        cursor.enters(0x5b);
        for (const [index, value] of values.entries()) {
          cursor.hasEntry(0x5d, index === 0);
          const place = cursor.keptNumber();
          if (place === undefined) throw new Error(`${value} is not kept`);
          expect(String(cursor.numbers.at(place))).toBe(String(value));
          cursor.numbers.addTo(sum, place);
        }
        expect(sum.total).toEqual({ units: values.reduce((total, value) => total + value, 0n), scale: 0 });
      }),
    );
  });

  it.each(['""', '"01"', '"-1"', '"1.5"', `"${'9'.repeat(31)}"`, '5', 'null', '"5', '"a"'])(
    '%s is left to others, and nothing of it is passed',
    (text) => {
      const cursor = new JsonCursor(Buffer.from(text), Infinity, false);
      expect(cursor.keptNumber()).toBeUndefined();
      expect(cursor.position).toBe(0);
    },
  );

  it('can be any, and any number of them', () => {
    const numbers = new NumberColumn();
    const sum = new Sum();
    const other = numbers.keepOther('-1.5' as Digits);
    numbers.addTo(sum, other);
    const places = Array.from({ length: 5000 }, (_, index) => numbers.keep(0, index));
    for (const place of places) numbers.addTo(sum, place);
    expect(numbers.at(other)).toBe('-1.5');
    expect(places.map((place) => numbers.at(place))).toEqual(places.map((_, index) => index));
    expect(sum.total).toEqual({ units: 124_974_985n, scale: 1 });
  });

  it('are compared with all their digits', () => {
    const any = fc.oneof(upTo30Digits, fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }), fc.constant(10n ** 15n));
    fc.assert(
      fc.property(any, any, (a, b) => {
        const numbers = new NumberColumn();
        const [first, second] = [keep(numbers, a), keep(numbers, b)];
        expect(Math.sign(numbers.compare(first, second))).toBe(a < b ? -1 : Number(a > b));
        expect(numbers.compare(first, first)).toBe(0);
      }),
    );
  });
});

function keep(numbers: NumberColumn, value: bigint): NumberIndex {
  const isShort = value >= 0n && value < 10n ** 30n;
  if (!isShort) return numbers.keepOther(String(value) as Digits);
  return numbers.keep(Number(value / 10n ** 15n), Number(value % 10n ** 15n));
}
