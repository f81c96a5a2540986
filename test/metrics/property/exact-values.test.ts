import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stableMetricNames } from '../../support/stable-metric-names.js';
import type { CrosschainObservations } from '../../../src/metrics/crosschain/observations.js';
import { crosschainSnapshot } from '../../support/snapshots.js';
import { deriveBridge, deriveCrosschain, type SeriesValues } from '../derive.js';
import { corruptedDocument } from './corruption.js';
import { bridgeOptions, bridgeState, crosschainDocument, crosschainOptions } from './documents.js';
import { SeriesCollector } from './exact.js';
import { referenceNonceChanges } from './reference-crosschain.js';
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

describe('the time at which the lowest pending nonce of a chain has changed', () => {
  it('equals the reference value after a sequence of random documents, of which some are truncated or invalid', () => {
    const complete = crosschainDocument.map((document) => ({ ...document, total_pending: '0' }));
    const documents = fc.array(
      fc.oneof(complete, complete, crosschainDocument, crosschainDocument.chain(corruptedDocument)),
      {
        minLength: 2,
        maxLength: 8,
      },
    );
    const FAMILY = 'crosschain_lowest_pending_nonce_changed_timestamp_seconds';
    const property = fc.property(documents, (all) => {
      const received = all.map((document, index) => ({
        document,
        at: { epochSeconds: 1_700_000_000 + 30 * index, monotonicMs: 30_000 * index },
      }));
      let previous: CrosschainObservations | undefined;
      for (const [index, { document, at }] of received.entries()) {
        const snapshot = crosschainSnapshot(document, { at, ...(previous && { previous }) });
        const expected = new SeriesCollector();
        referenceNonceChanges(received.slice(0, index + 1), {}, expected);
        const { values } = deriveCrosschain(document, { at, ...(previous && { previous }) });
        const changed = Object.entries(values).filter(([series]) => series.startsWith(FAMILY));
        expect(Object.fromEntries(changed)).toEqual(expected.values);
        previous = structuredClone(snapshot.observations);
      }
    });
    fc.assert(property, { numRuns });
  });
});
