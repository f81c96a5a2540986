import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  add,
  compare,
  decimal,
  floorDivide,
  highest,
  integer,
  lowest,
  multiply,
  numeralKey,
  ratio,
  subtract,
  sum,
  toDouble,
  type Decimal,
  toDecimalString,
} from '../../src/chain/decimal.js';
import { digits } from './digits.js';

const decimalOf = (text: string): Decimal => decimal(digits(text));

describe('a Decimal', () => {
  it('is added and subtracted with different scales', () => {
    expect(add(decimalOf('0.1'), decimalOf('0.02'))).toEqual({ units: 12n, scale: 2 });
    expect(toDouble(subtract(decimalOf('1'), decimalOf('0.999')))).toBe(0.001);
  });

  it('is compared by value, regardless of its notation', () => {
    expect(compare(multiply(decimalOf('1.5'), decimalOf('2')), integer(3))).toBe(0);
    expect(compare(decimalOf('0.6667'), decimalOf('0.66670'))).toBe(0);
    expect(compare(decimalOf('-1'), decimalOf('+1'))).toBe(-1);
    expect(compare(decimalOf('9007199254740993'), decimalOf('9007199254740992'))).toBe(1);
  });

  it('is divided with rounding towards negative infinity', () => {
    expect(floorDivide(integer(7), integer(2))).toEqual(integer(3));
    expect(floorDivide(integer(-7), integer(2))).toEqual(integer(-4));
    expect(floorDivide(integer(-8), integer(2))).toEqual(integer(-4));
    expect(floorDivide(decimalOf('0.5'), decimalOf('0.25'))).toEqual(integer(2));
    expect(floorDivide(integer(1), integer(0))).toBeUndefined();
  });

  it('is compared as a numeral, and has the same numeral key in all notations', () => {
    const short = fc.integer({ min: -(10 ** 15), max: 10 ** 15 });
    const paddedString = fc.tuple(short, fc.constantFrom('', '0', '000')).map(([value, zeros]) => {
      return { value, numeral: digits(`${value < 0 ? '-' : ''}${zeros}${Math.abs(value)}.${zeros}0`) };
    });
    const numeral = fc.oneof(
      paddedString,
      short.map((value) => ({ value, numeral: value })),
    );
    fc.assert(
      fc.property(numeral, numeral, (a, b) => {
        expect(Math.sign(compare(a.numeral, b.numeral))).toBe(Math.sign(a.value - b.value) + 0);
        expect(numeralKey(a.numeral) === numeralKey(b.numeral)).toBe(a.value === b.value);
      }),
    );
    expect(compare(digits('9007199254740993'), digits('9007199254740992'))).toBe(1);
  });

  it('is the exact sum of numerals of any size', () => {
    const notation = (value: bigint) => (value >= 0n && value < 10n ** 15n ? Number(value) : digits(String(value)));
    fc.assert(
      fc.property(fc.array(fc.bigInt({ min: -(10n ** 80n), max: 10n ** 80n })), (values) => {
        expect(sum(values.map(notation)).units).toBe(values.reduce((total, value) => total + value, 0n));
      }),
    );
  });

  it('is the lowest or highest of the values that are present', () => {
    const values = [digits('10000000000000001'), undefined, 7, digits('7.5'), digits('10000000000000002')];
    expect([lowest(values), highest(values)]).toEqual([7, '10000000000000002']);
    expect([lowest([undefined]), highest([])]).toEqual([undefined, undefined]);
  });

  it('has no ratio to 0', () => {
    expect(ratio(integer(1), integer(0))).toBeUndefined();
    expect(ratio(integer(0), integer(5))).toBe(0);
    expect(Object.is(ratio(integer(0), integer(-5)), -0)).toBe(false);
  });

  it('is never converted to -0', () => {
    expect(Object.is(toDouble(digits('-0')), 0)).toBe(true);
    expect(Object.is(toDouble(decimalOf('-0')), 0)).toBe(true);
  });

  it('is converted to the nearest double, like Number() does', () => {
    const notation = fc
      .tuple(fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }), fc.nat({ max: 45 }))
      .map(([units, scale]) => {
        const plain = String(units < 0n ? -units : units).padStart(scale + 1, '0');
        const whole = plain.slice(0, plain.length - scale);
        return `${units < 0n ? '-' : ''}${whole}${scale > 0 ? `.${plain.slice(plain.length - scale)}` : ''}`;
      });
    fc.assert(fc.property(notation, (digitString) => toDouble(decimalOf(digitString)) === Number(digitString) + 0));
  });
});

describe('toDecimalString', () => {
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
