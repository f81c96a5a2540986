import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stableMetricNames } from '../../support/stable-metric-names.js';
import { deriveBridge, deriveCrosschain, type Values } from '../derive.js';
import { corruptedOften } from './corruption.js';
import { bridgeAbout, bridgeState, crosschainAbout, crosschainDocument } from './documents.js';
import { referenceBridge, referenceCrosschain } from './reference.js';

/** What is promised; the hashes are judged by what changes them, in the tests of the params. */
function held(values: Values): Values {
  const isHeld = (name: string): boolean => stableMetricNames.has(name) && !/^bridge_.*_hash$/.test(name);
  return Object.fromEntries(Object.entries(values).filter(([series]) => isHeld(series.replace(/\{.*/s, ''))));
}

const numRuns = 500;

describe('every series equals an exact recomputation', () => {
  it('of a bridge', () => {
    const property = fc.property(bridgeState, bridgeAbout, (state, about) => {
      expect(held(deriveBridge(state, about).values)).toEqual(referenceBridge(state, about));
    });
    fc.assert(property, { numRuns });
  });

  it('of a bridge with fields dropped or of a wrong kind, where both agree on what is withdrawn', () => {
    const property = fc.property(bridgeState.chain(corruptedOften), bridgeAbout, (state, about) => {
      expect(held(deriveBridge(state, about).values)).toEqual(referenceBridge(state, about));
    });
    fc.assert(property, { numRuns });
  });

  it('of the cross-chain queue', () => {
    const property = fc.property(crosschainDocument, crosschainAbout, (document, about) => {
      expect(held(deriveCrosschain(document, about).values)).toEqual(referenceCrosschain(document, about));
    });
    fc.assert(property, { numRuns });
  });

  it('of the cross-chain queue with fields dropped or of a wrong kind', () => {
    const property = fc.property(crosschainDocument.chain(corruptedOften), crosschainAbout, (document, about) => {
      expect(held(deriveCrosschain(document, about).values)).toEqual(referenceCrosschain(document, about));
    });
    fc.assert(property, { numRuns });
  });
});
