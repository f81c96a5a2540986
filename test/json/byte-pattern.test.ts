import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BytePattern } from '../../src/json/byte-pattern.js';

describe('bytes to look for', () => {
  it('stand where they stand and nowhere else', () => {
    const few = fc.uint8Array({ max: 1, maxLength: 40 });
    fc.assert(
      fc.property(few, fc.uint8Array({ max: 1, minLength: 1, maxLength: 10 }), (whole, sought) => {
        const view = new DataView(whole.buffer, whole.byteOffset, whole.length);
        const known = new BytePattern(sought);
        for (let start = 0; start <= whole.length + 1; start += 1) {
          const isThere = Buffer.from(whole.subarray(start, start + sought.length)).equals(sought);
          expect(known.standAt(view, whole.length, start), `at ${start}`).toBe(isThere);
        }
      }),
    );
  });

  it('are a copy', () => {
    const bytes = Buffer.from('"nonce":');
    const known = new BytePattern(bytes);
    bytes.fill(0);
    const whole = Buffer.from('{"nonce":');
    expect(known.standAt(new DataView(whole.buffer, whole.byteOffset, whole.length), whole.length, 1)).toBe(true);
  });
});
