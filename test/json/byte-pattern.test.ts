import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BytePattern } from '../../src/json/byte-pattern.js';

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.length);

describe('BytePattern', () => {
  it('matches only at the offsets at which a document contains its bytes', () => {
    const document = fc.uint8Array({ max: 1, maxLength: 40 });
    fc.assert(
      fc.property(document, fc.uint8Array({ max: 1, minLength: 1, maxLength: 10 }), (bytes, patternBytes) => {
        const pattern = new BytePattern(patternBytes);
        for (let offset = 0; offset <= bytes.length + 1; offset += 1) {
          const isMatch = Buffer.from(bytes.subarray(offset, offset + patternBytes.length)).equals(patternBytes);
          expect(pattern.matchesAt(viewOf(bytes), offset), `at ${offset}`).toBe(isMatch);
        }
      }),
    );
  });

  it('does not share its bytes with the given array', () => {
    const bytes = Buffer.from('"nonce":');
    const pattern = new BytePattern(bytes);
    bytes.fill(0);
    expect(pattern.matchesAt(viewOf(Buffer.from('{"nonce":')), 1)).toBe(true);
  });
});
