import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eventNonceOfPackedClaim } from '../../src/chain/claim.js';

/** Field 1 with nonce 9, and field 3 with arbitrary bytes. */
function packed(bytes: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([8, 9, 26, bytes.length]), bytes]);
}

describe('eventNonceOfPackedClaim', () => {
  it('reads the nonce of a claim with any other content', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        expect(eventNonceOfPackedClaim(packed(bytes).toString('base64'))).toBe(9);
      }),
    );
  });

  it('accepts only the canonical base64 of the bytes', () => {
    const valid = packed(Buffer.from('claim')).toString('base64');
    const change = fc.tuple(
      fc.nat({ max: valid.length - 1 }),
      fc.constantFrom('', '-', '_', '=', ' ', '\n', 'é', 'AA'),
    );
    fc.assert(
      fc.property(change, ([index, replacement]) => {
        const changed = valid.slice(0, index) + replacement + valid.slice(index + 1);
        const isCanonical = Buffer.from(changed, 'base64').toString('base64') === changed;
        if (!isCanonical) expect(eventNonceOfPackedClaim(changed)).toBeUndefined();
      }),
    );
    for (const text of ['', '=', '==', 'A===', 'CAk', 'CAl=', 'CAk=\n']) {
      expect(eventNonceOfPackedClaim(text), JSON.stringify(text)).toBeUndefined();
    }
  });
});
