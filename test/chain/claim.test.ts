import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eventNonceOfPackedClaim } from '../../src/chain/claim.js';

/** A protobuf message with the nonce 9 in field 1 and arbitrary bytes in field 3. */
function claimMessage(bytes: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([8, 9, 26, bytes.length]), bytes]);
}

describe('eventNonceOfPackedClaim', () => {
  it('reads the nonce regardless of the other fields', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        expect(eventNonceOfPackedClaim(claimMessage(bytes).toString('base64'))).toBe(9);
      }),
    );
  });

  it('rejects base64 that is not canonical', () => {
    const valid = claimMessage(Buffer.from('claim')).toString('base64');
    const replacements = fc.tuple(
      fc.nat({ max: valid.length - 1 }),
      fc.constantFrom('', '-', '_', '=', ' ', '\n', 'é', 'AA'),
    );
    fc.assert(
      fc.property(replacements, ([index, replacement]) => {
        const changed = valid.slice(0, index) + replacement + valid.slice(index + 1);
        const isCanonical = Buffer.from(changed, 'base64').toString('base64') === changed;
        if (!isCanonical) expect(eventNonceOfPackedClaim(changed)).toBeUndefined();
      }),
    );
    for (const invalid of ['', '=', '==', 'A===', 'CAk', 'CAl=', 'CAk=\n']) {
      expect(eventNonceOfPackedClaim(invalid), JSON.stringify(invalid)).toBeUndefined();
    }
  });
});
