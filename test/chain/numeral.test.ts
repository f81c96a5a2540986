import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { INVALID } from '../../src/chain/field.js';
import { parseDecimal, parseNumeral } from '../../src/chain/numeral.js';

describe('parseDecimal', () => {
  it.each(['abc', ' 1', '1 ', '1e5', '0x10', '.5', '5.', '1_000', '--1', 'NaN', 'Infinity', '١', '1'.repeat(101)])(
    'rejects a string that is not a decimal: %j',
    (text) => {
      expect(parseDecimal(text)).toBe(INVALID);
    },
  );
});

describe('parseNumeral', () => {
  it.each<[unknown, unknown]>([
    ['0', 0],
    ['999999999999999', 999_999_999_999_999],
    ['1000000000000000', '1000000000000000'],
    ['9'.repeat(31), '9'.repeat(31)],
    ['007', '007'],
    ['-1', '-1'],
    ['1.50', '1.50'],
    ['', undefined],
    [null, undefined],
    ['x', INVALID],
    ['1e5', INVALID],
    [true, INVALID],
    [{}, INVALID],
    [['1'], INVALID],
  ])('reads short integers as numbers, and other decimals with all digits: %j', (json, value) => {
    expect(parseNumeral(json)).toBe(value);
  });

  it.each([
    ['5', '5'],
    ['-0', '0'],
    ['-0.10', '-0.1'],
    ['1e3', '1000'],
    ['1.25E+1', '12.5'],
    ['125e-2', '1.25'],
    ['5e-3', '0.005'],
    ['-1.5e-7', '-0.00000015'],
    ['1e21', '1000000000000000000000'],
    ['-1.5e300', `-15${'0'.repeat(299)}`],
    ['1e-999', '0'],
    ['9007199254740993', '9007199254740992'],
    ['12345678901234567890', '12345678901234567000'],
  ])('reads a JSON number as digits without an exponent: %s', (json, digits) => {
    expect(parseNumeral(JSON.parse(json))).toBe(digits);
  });

  it.each(['1e400', `-1${'0'.repeat(400)}`])('rejects a number above the range of doubles: %s', (json) => {
    expect(parseNumeral(JSON.parse(json))).toBe(INVALID);
  });

  it('keeps the value of every finite JSON number', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        const digits = parseNumeral(value);
        return typeof digits === 'string' && /^-?\d+(\.\d+)?$/.test(digits) && Number(digits) + 0 === value + 0;
      }),
    );
  });
});
