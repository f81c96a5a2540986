import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { INVALID, parseNumeral } from '../../src/chain/fields.js';
import {
  add,
  compare,
  floorDivide,
  highest,
  lowest,
  multiply,
  toNumeral,
  ratio,
  subtract,
  sum,
  type Numeral,
} from '../../src/chain/numeral.js';

describe('parseNumeral', () => {
  it.each<[unknown, unknown]>([
    ['0', 0n],
    ['-0', 0n],
    ['9'.repeat(100), BigInt('9'.repeat(100))],
    ['007', 7n],
    ['-1', -1n],
    ['+1', 1n],
    ['9007199254740993.00', 9007199254740993n],
    ['-0.0', 0n],
    ['1.50', 1.5],
    ['-0007.50', -7.5],
    ['0.001000000000000000', 0.001],
    ['', undefined],
    [null, undefined],
    ['x', INVALID],
    [true, INVALID],
    [{}, INVALID],
    [['1'], INVALID],
  ])('reads integers as bigints with all digits, and other numbers as doubles: %j', (json, value) => {
    expect(parseNumeral(json)).toBe(value);
  });

  it.each(['abc', ' 1', '1 ', '1e5', '0x10', '.5', '5.', '1_000', '--1', 'NaN', 'Infinity', '١', '1'.repeat(101)])(
    'rejects a string that is not a decimal of at most 100 characters: %j',
    (text) => {
      expect(parseNumeral(text)).toBe(INVALID);
    },
  );

  it.each<[string, Numeral]>([
    ['5', 5n],
    ['-0', 0n],
    ['-0.10', -0.1],
    ['1e3', 1000n],
    ['125e-2', 1.25],
    ['-1.5e-7', -1.5e-7],
    ['1e21', 10n ** 21n],
    ['1e-999', 0n],
    ['9007199254740993', 9007199254740992n],
    ['12345678901234567890', 12345678901234567168n],
  ])('reads a JSON number as the double that JSON.parse makes of it: %s', (json, value) => {
    expect(parseNumeral(JSON.parse(json))).toBe(value);
  });

  it.each(['1e400', `-1${'0'.repeat(400)}`])('rejects a number above the range of doubles: %s', (json) => {
    expect(parseNumeral(JSON.parse(json))).toBe(INVALID);
  });
});

describe('a numeral', () => {
  const integer = fc.bigInt({ min: -(10n ** 80n), max: 10n ** 80n });

  it('is a bigint if it is an integer, so that equal numbers are the same key of a Map', () => {
    const double = fc.double({ noNaN: true, noDefaultInfinity: true });
    fc.assert(
      fc.property(double, (value) => {
        const numeral = toNumeral(value);
        return Number(numeral) === value && (typeof numeral === 'bigint') === Number.isInteger(value);
      }),
    );
    expect(add(0.5, 0.5)).toBe(1n);
    expect(subtract(1.5, 0.5)).toBe(1n);
    expect(multiply(0.5, 4n)).toBe(2n);
    expect(floorDivide(-0.5, 0.25)).toBe(-2n);
    expect(new Set(['1', '01', '1.0', 1].map(parseNumeral))).toEqual(new Set([1n]));
  });

  it('is exact in calculations with integers of any size, also with small integers that are doubles', () => {
    fc.assert(
      fc.property(integer, integer, (a, b) => {
        expect([add(a, b), subtract(a, b), multiply(a, b)]).toEqual([a + b, a - b, a * b]);
        expect(sum([a, b, 1])).toBe(a + b + 1n);
      }),
    );
  });

  it('is calculated as a double with a fraction', () => {
    expect([add(0.25, 1n), subtract(1n, 0.25), multiply(0.25, 3)]).toEqual([1.25, 0.75, 0.75]);
  });

  it('is compared by value', () => {
    const values = [7.5, 9007199254740993n, 7n, 9007199254740992n, -1n];
    expect(values.toSorted(compare)).toEqual([-1n, 7n, 7.5, 9007199254740992n, 9007199254740993n]);
    expect([lowest([undefined, ...values]), highest([undefined, ...values])]).toEqual([-1n, 9007199254740993n]);
    expect([lowest([undefined]), highest([])]).toEqual([undefined, undefined]);
  });

  it('is divided with rounding towards negative infinity', () => {
    expect(floorDivide(7n, 2n)).toBe(3n);
    expect(floorDivide(-7n, 2n)).toBe(-4n);
    expect(floorDivide(-8n, 2n)).toBe(-4n);
    expect(floorDivide(1n, 0n)).toBeUndefined();
  });

  it('has no ratio to 0', () => {
    expect(ratio(1n, 0n)).toBeUndefined();
    expect(ratio(1.5, 0)).toBeUndefined();
    expect(ratio(0n, 5n)).toBe(0);
    expect(Object.is(ratio(0n, -5n), 0)).toBe(true);
  });

  it('has the nearest double as its ratio to a power of ten', () => {
    fc.assert(
      fc.property(integer, fc.nat({ max: 45 }), (units, scale) => {
        expect(ratio(units, 10n ** BigInt(scale))).toBe(Number(`${units}e-${scale}`) + 0);
      }),
    );
  });
});
