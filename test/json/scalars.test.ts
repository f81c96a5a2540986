import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { double } from '../../src/json/decimal.js';
import { INVALID } from '../../src/json/field.js';
import * as scalars from '../../src/json/scalars.js';
import { JsonCursor } from '../../src/json/json-cursor.js';

/** Reads a value as it stands in a document. */
function reading<T>(read: scalars.ScalarReader<T>) {
  return (json: unknown) => readingText(read)(JSON.stringify(json));
}

function readingText<T>(read: scalars.ScalarReader<T>) {
  return (json: string) => {
    const scalar = new JsonCursor(Buffer.from(json), Infinity, false).scalar();
    return scalar === null ? undefined : read(scalar);
  };
}

const readNumber = reading(scalars.readNumber);
const readText = reading(scalars.readText);
const readFlag = reading(scalars.readFlag);
const readChainId = reading(scalars.readChainId);

describe('a number', () => {
  it.each([
    ['0', 0],
    ['42', 42],
    ['-1', -1],
    ['+7', 7],
    ['007', 7],
    ['0.001000000000000000', 0.001],
    ['18446744073709551615', 2 ** 64],
    ['9'.repeat(100), 1e100],
    [5, 5],
    [0.25, 0.25],
    [-0, 0],
    [1e21, 1e21],
    [1.5e-7, 1.5e-7],
    [-2.5e300, -2.5e300],
    [5e-324, 5e-324],
  ])('%j is read as %d', (json, value) => {
    const read = readNumber(json);
    expect(read === undefined || read === INVALID ? read : double(read)).toBe(value);
  });

  it('is missing when the text is empty', () => {
    expect(readNumber('')).toBeUndefined();
  });

  it.each([
    ['abc'],
    [' 1'],
    ['1 '],
    ['1e5'],
    ['0x10'],
    ['.5'],
    ['5.'],
    ['1_000'],
    ['--1'],
    ['NaN'],
    ['Infinity'],
    ['١'],
    ['1'.repeat(101)],
    [true],
    [{}],
    [[]],
    [['1']],
  ])('%j is of the wrong kind', (json) => {
    expect(readNumber(json)).toBe(INVALID);
  });

  it.each([
    ['12345678901234567890', '12345678901234567890'],
    ['-0.10', '-0.10'],
    ['1e3', '1000'],
    ['1.25E+1', '12.5'],
    ['125e-2', '1.25'],
    ['5e-3', '0.005'],
    [`1${'0'.repeat(500)}e-498`, '100'],
    ['1e-999', '0'],
  ])('the literal %s is kept as %s', (literal, digits) => {
    expect(readingText(scalars.readNumber)(literal)).toBe(digits);
  });

  it.each(['1e400', `1${'0'.repeat(400)}`])('%s is too large for any double', (literal) => {
    expect(readingText(scalars.readNumber)(literal)).toBe(INVALID);
  });

  it('keeps the value of any finite JSON number', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (json) => {
        const read = readNumber(json);
        return read !== undefined && read !== INVALID && /^-?\d+(\.\d+)?$/.test(read) && double(read) === json + 0;
      }),
    );
  });
});

describe('other scalars', () => {
  it('take their own kind only', () => {
    expect(readText('')).toBe('');
    expect(readText(1)).toBe(INVALID);
    expect(readFlag(false)).toBe(false);
    expect(readFlag('true')).toBe(INVALID);
    expect(readFlag(1)).toBe(INVALID);
  });

  it('a chain id is text or the digits of a JSON integer', () => {
    expect(readChainId('7000')).toBe('7000');
    expect(readChainId(8332)).toBe('8332');
    expect(readChainId(1.5)).toBe(INVALID);
    expect(readChainId(1e21)).toBe(INVALID);
    expect(readChainId(true)).toBe(INVALID);
  });
});
