import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonCursor } from '../../src/json/json-cursor.js';
import { StringInterner } from '../../src/json/string-interner.js';

/** What a cursor finds at each of some texts. */
function found<T>(texts: StringInterner<T>, strings: readonly string[]): (T | undefined)[] {
  const read = strings.map((text) => new JsonCursor(Buffer.from(JSON.stringify(text)), Infinity, false).shared(texts));
  return read;
}

describe('texts that occur again and again', () => {
  it('are made once', () => {
    const made: string[] = [];
    const texts = new StringInterner((text) => {
      made.push(text);
      return { text };
    });
    const [first, other, again] = found(texts, ['0xAbc', '0xAbd', '0xAbc']);
    expect(made).toEqual(['0xAbc', '0xAbd']);
    expect(again).toBe(first);
    expect(other).toEqual({ text: '0xAbd' });
  });

  it('are never taken for one another, however much they look alike and however many there are', () => {
    const texts = new StringInterner((text) => text.toUpperCase());
    const alike = fc.string({ unit: fc.constantFrom('a', 'b', '"', 'é'), maxLength: 12 });
    fc.assert(
      fc.property(fc.array(alike, { maxLength: 30 }), (strings) => {
        expect(found(texts, strings)).toEqual(strings.map((text) => text.toUpperCase()));
      }),
    );
    const many = Array.from({ length: 20_000 }, (_, index) => `validator-${index}`);
    expect(found(texts, many)).toEqual(many.map((text) => text.toUpperCase()));
  });

  it('are made anew when they are long, and are nothing when they are no text', () => {
    let made = 0;
    const texts = new StringInterner((text) => {
      made += 1;
      return text.length;
    });
    const long = 'x'.repeat(1000);
    expect(found(texts, [long, long])).toEqual([1000, 1000]);
    expect(made).toBe(2);
    const cursor = new JsonCursor(Buffer.from('5'), Infinity, false);
    expect(cursor.shared(texts)).toBeUndefined();
    expect(cursor.position).toBe(0);
  });
});
