import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stableMetricNames } from '../../support/stable-metric-names.js';
import { deriveBridge, deriveCrosschain, type SeriesValues } from '../derive.js';
import { corruptedDocument } from './corruption.js';
import { bridgeOptions, bridgeState, crosschainDocument, crosschainOptions } from './documents.js';
import { referenceBridge, referenceCrosschain } from './reference.js';
import { fuzzRuns } from '../../support/fuzz.js';

/** The series that the reference implementation computes: those of stable families except hashes. */
function withReference(values: SeriesValues): SeriesValues {
  const hasReference = (name: string): boolean => stableMetricNames.has(name) && !/^bridge_.*_hash$/.test(name);
  return Object.fromEntries(Object.entries(values).filter(([series]) => hasReference(series.replace(/\{.*/s, ''))));
}

const numRuns = fuzzRuns(150);

describe('the value of every series', () => {
  it('equals the reference value for a random module_state', () => {
    const property = fc.property(bridgeState, bridgeOptions, (state, options) => {
      expect(withReference(deriveBridge(state, options).values)).toEqual(referenceBridge(state, options));
    });
    fc.assert(property, { numRuns });
  });

  it('equals the reference value for a module_state with missing or invalid fields', () => {
    const property = fc.property(bridgeState.chain(corruptedDocument), bridgeOptions, (state, options) => {
      expect(withReference(deriveBridge(state, options).values)).toEqual(referenceBridge(state, options));
    });
    fc.assert(property, { numRuns });
  });

  it('equals the reference value for a random rate_limiter_input', () => {
    const property = fc.property(crosschainDocument, crosschainOptions, (document, options) => {
      expect(withReference(deriveCrosschain(document, options).values)).toEqual(referenceCrosschain(document, options));
    });
    fc.assert(property, { numRuns });
  });

  it('equals the reference value for a rate_limiter_input with missing or invalid fields', () => {
    const property = fc.property(
      crosschainDocument.chain(corruptedDocument),
      crosschainOptions,
      (document, options) => {
        expect(withReference(deriveCrosschain(document, options).values)).toEqual(
          referenceCrosschain(document, options),
        );
      },
    );
    fc.assert(property, { numRuns });
  });
});
