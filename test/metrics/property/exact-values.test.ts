import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deriveBridge, deriveCrosschain, type Values } from '../derive.js';
import { corruptedOften } from './corruption.js';
import { bridgeAbout, bridgeState, crosschainAbout, crosschainDocument } from './documents.js';
import { referenceBridge, referenceCrosschain } from './reference.js';

/** The hashes are judged by what changes them, in the tests of the params. */
function withoutHashes(values: Values): Values {
  return Object.fromEntries(Object.entries(values).filter(([name]) => !name.endsWith('_hash')));
}

const numRuns = 500;

describe('every series equals an exact recomputation', () => {
  it('of a bridge', () => {
    const property = fc.property(bridgeState, bridgeAbout, (state, about) => {
      expect(withoutHashes(deriveBridge(state, about).values)).toEqual(referenceBridge(state, about));
    });
    fc.assert(property, { numRuns });
  });

  it('of a bridge with fields dropped or of a wrong kind, where both agree on what is withdrawn', () => {
    const property = fc.property(bridgeState.chain(corruptedOften), bridgeAbout, (state, about) => {
      expect(withoutHashes(deriveBridge(state, about).values)).toEqual(referenceBridge(state, about));
    });
    fc.assert(property, { numRuns });
  });

  it('of the cross-chain queue', () => {
    const property = fc.property(crosschainDocument, crosschainAbout, (document, about) => {
      expect(deriveCrosschain(document, about).values).toEqual(referenceCrosschain(document, about));
    });
    fc.assert(property, { numRuns });
  });

  it('of the cross-chain queue with fields dropped or of a wrong kind', () => {
    const property = fc.property(crosschainDocument.chain(corruptedOften), crosschainAbout, (document, about) => {
      expect(deriveCrosschain(document, about).values).toEqual(referenceCrosschain(document, about));
    });
    fc.assert(property, { numRuns });
  });
});
