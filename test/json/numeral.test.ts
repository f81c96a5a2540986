import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { INVALID } from '../../src/json/field.js';
import { parseDecimal, parseLiteral } from '../../src/json/numeral.js';

describe('parseDecimal', () => {
  it.each(['0', '42', '-1', '+7', '007', '0.001000000000000000', '18446744073709551615', '9'.repeat(100)])(
    'keeps all digits: %j',
    (text) => {
      expect(parseDecimal(text)).toBe(text);
    },
  );

  it('returns undefined for an empty string', () => {
    expect(parseDecimal('')).toBeUndefined();
  });

  it.each(['abc', ' 1', '1 ', '1e5', '0x10', '.5', '5.', '1_000', '--1', 'NaN', 'Infinity', '١', '1'.repeat(101)])(
    'rejects a string that is not a decimal: %j',
    (text) => {
      expect(parseDecimal(text)).toBe(INVALID);
    },
  );
});

describe('parseLiteral', () => {
  it.each([
    ['12345678901234567890', '12345678901234567890'],
    ['-0.10', '-0.10'],
    ['1e3', '1000'],
    ['1.25E+1', '12.5'],
    ['125e-2', '1.25'],
    ['5e-3', '0.005'],
    [`1${'0'.repeat(500)}e-498`, '100'],
    ['1e-999', '0'],
  ])('expands the exponent: %s to %s', (literal, digits) => {
    expect(parseLiteral(literal)).toBe(digits);
  });

  it.each(['1e400', `1${'0'.repeat(400)}`])('rejects a number above the range of doubles: %s', (literal) => {
    expect(parseLiteral(literal)).toBe(INVALID);
  });

  it('keeps the value of every finite JSON number', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        const digits = parseLiteral(JSON.stringify(value));
        return typeof digits === 'string' && /^-?\d+(\.\d+)?$/.test(digits) && Number(digits) + 0 === value + 0;
      }),
    );
  });
});
