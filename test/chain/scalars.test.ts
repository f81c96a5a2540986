import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { double } from '../../src/chain/decimal.js';
import { WRONG } from '../../src/chain/reading.js';
import { readChainId, readFlag, readNumber, readText } from '../../src/chain/scalars.js';

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
    expect(read === undefined || read === WRONG ? read : double(read)).toBe(value);
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
    [Number.NaN],
    [Number.POSITIVE_INFINITY],
    [true],
    [{}],
    [[]],
    [['1']],
  ])('%j is of the wrong kind', (json) => {
    expect(readNumber(json)).toBe(WRONG);
  });

  it('keeps the value of any finite JSON number', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (json) => {
        const read = readNumber(json);
        return read !== undefined && read !== WRONG && /^-?\d+(\.\d+)?$/.test(read) && double(read) === json + 0;
      }),
    );
  });
});

describe('other scalars', () => {
  it('take their own kind only', () => {
    expect(readText('')).toBe('');
    expect(readText(1)).toBe(WRONG);
    expect(readFlag(false)).toBe(false);
    expect(readFlag('true')).toBe(WRONG);
    expect(readFlag(1)).toBe(WRONG);
  });

  it('a chain id is text or the digits of a JSON integer', () => {
    expect(readChainId('7000')).toBe('7000');
    expect(readChainId(8332)).toBe('8332');
    expect(readChainId(1.5)).toBe(WRONG);
    expect(readChainId(1e21)).toBe(WRONG);
  });
});
