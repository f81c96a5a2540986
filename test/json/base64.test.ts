import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { strictBase64 } from '../../src/json/base64.js';

function decoded(text: string): number[] | undefined {
  const bytes = Buffer.from(`"${text}"`);
  const found = strictBase64(bytes, 1, bytes.length - 1);
  return found && Array.from(found);
}

/** Node.js takes anything; only strict base64 survives the way back. */
function expected(text: string): number[] | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? Array.from(bytes) : undefined;
}

describe('strict base64', () => {
  it('is decoded', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        expect(decoded(Buffer.from(bytes).toString('base64'))).toEqual(Array.from(bytes));
      }),
    );
  });

  it('is told from what only looks like it, as Node.js tells it', () => {
    const nearly = fc.string({
      unit: fc.constantFrom('A', 'B', 'z', '9', '+', '/', '-', '_', '=', ' ', 'é'),
      maxLength: 12,
    });
    fc.assert(
      fc.property(nearly, (text) => {
        expect(decoded(text)).toEqual(expected(text));
      }),
      { numRuns: 3000 },
    );
    for (const text of ['', '=', '==', '====', 'A===', 'AA==', 'AB==', 'AAA=', 'AAB=', 'AA=A', 'AAAA=', 'AAAA====']) {
      expect(decoded(text), text).toEqual(expected(text));
    }
  });

  it('of any length gives all its bytes', () => {
    for (const length of [16 * 1024 - 1, 16 * 1024, 16 * 1024 + 1, 100_000]) {
      const bytes = Buffer.alloc(length, 'claim');
      expect(Buffer.from(decoded(bytes.toString('base64')) ?? []).equals(bytes), String(length)).toBe(true);
    }
  });
});
