import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonScanner } from '../../src/json/scanner.js';
import { StringInterner } from '../../src/json/string-interner.js';

/** Reads each string with a new scanner. */
function readAll<T>(interner: StringInterner<T>, strings: readonly string[]): (T | undefined)[] {
  return strings.map((string) => new JsonScanner(Buffer.from(JSON.stringify(string)), Infinity).tryInterned(interner));
}

describe('StringInterner', () => {
  it('creates the value of a repeated string once', () => {
    const created: string[] = [];
    const interner = new StringInterner((decoded) => {
      created.push(decoded);
      return { decoded };
    });
    const [first, other, again] = readAll(interner, ['0xAbc', '0xAbd', '0xAbc']);
    expect(created).toEqual(['0xAbc', '0xAbd']);
    expect(again).toBe(first);
    expect(other).toEqual({ decoded: '0xAbd' });
  });

  it('distinguishes similar and numerous strings', () => {
    const interner = new StringInterner((decoded) => decoded.toUpperCase());
    const similar = fc.string({ unit: fc.constantFrom('a', 'b', '"', 'é'), maxLength: 12 });
    fc.assert(
      fc.property(fc.array(similar, { maxLength: 30 }), (strings) => {
        expect(readAll(interner, strings)).toEqual(strings.map((string) => string.toUpperCase()));
      }),
    );
    const many = Array.from({ length: 20_000 }, (_, index) => `validator-${index}`);
    expect(readAll(interner, many)).toEqual(many.map((string) => string.toUpperCase()));
  });

  it('does not cache long strings', () => {
    let created = 0;
    const interner = new StringInterner((decoded) => {
      created += 1;
      return decoded.length;
    });
    const long = 'x'.repeat(1000);
    expect(readAll(interner, [long, long])).toEqual([1000, 1000]);
    expect(created).toBe(2);
  });
});
