import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../support/json.js';
import { deriveBridge, deriveCrosschain, type SeriesValues } from '../derive.js';
import { corruptedDocument } from './corruption.js';
import { bridgeOptions, bridgeState, crosschainDocument, crosschainOptions } from './documents.js';
import { valuesOfFamily } from './families.js';
import { fuzzRuns } from '../../support/fuzz.js';

const numRuns = fuzzRuns(20);
/** Valid documents and documents with missing or invalid fields. */
const validOrCorrupted = (documents: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonObject> =>
  fc.oneof(documents, documents.chain(corruptedDocument));

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
const rowsOf = (document: JsonObject, list: string): readonly JsonObject[] => document[list] as readonly JsonObject[];

/** Finite numbers; ratios that are computed between 0 and 1, and the power drift between 0 and 2. That no series is repeated, `derive` checks. */
function expectPossible(values: SeriesValues): void {
  for (const [series, value] of Object.entries(values)) {
    expect(Number.isFinite(value), series).toBe(true);
    if (!/^bridge_(?!params_)\w+_ratio\b/.test(series)) continue;
    expect(value, series).toBeGreaterThanOrEqual(0);
    expect(value, series).toBeLessThanOrEqual(series.includes('drift') ? 2 : 1);
  }
}

describe('the series of a random document', () => {
  it('are possible numbers', () => {
    const bridge = fc.property(validOrCorrupted(bridgeState), bridgeOptions, (state, options) =>
      expectPossible(deriveBridge(state, options).values),
    );
    fc.assert(bridge, { numRuns });
    const crosschain = fc.property(validOrCorrupted(crosschainDocument), crosschainOptions, (document, options) =>
      expectPossible(deriveCrosschain(document, options).values),
    );
    fc.assert(crosschain, { numRuns });
  });

  it('count each row of module_state at most once', () => {
    const property = fc.property(bridgeState, bridgeOptions, (state, options) => {
      const { values } = deriveBridge(state, options);
      const sumOf = (name: string): number => sum(valuesOfFamily(values, name));
      const [valsets, batches] = ['valsets', 'batches'].map((list) => rowsOf(state, list).length);
      expect(sumOf('bridge_unrelayed_valsets')).toBeLessThanOrEqual(valsets ?? 0);
      expect(sumOf('bridge_unrelayed_valsets_below_threshold')).toBeLessThanOrEqual(sumOf('bridge_unrelayed_valsets'));
      expect(sumOf('bridge_batches_expired') + sumOf('bridge_batches_overdue')).toBeLessThanOrEqual(batches ?? 0);
      expect(sumOf('bridge_batches_below_threshold')).toBeLessThanOrEqual(batches ?? 0);
      expect(sumOf('bridge_conflicting_claims')).toBeLessThanOrEqual(rowsOf(state, 'attestations').length / 2);
      expect(sumOf('bridge_attestations')).toBe(rowsOf(state, 'attestations').length);
      expect(sumOf('bridge_token_unbatched_transfers')).toBe(rowsOf(state, 'unbatched_transfers').length);
      expect(sumOf('bridge_token_batched_transfers')).toBe(sumOf('bridge_batch_transactions'));
    });
    fc.assert(property, { numRuns });
  });

  it('count each transaction of rate_limiter_input once', () => {
    const property = fc.property(crosschainDocument, crosschainOptions, (document, options) => {
      const { values } = deriveCrosschain(document, options);
      const indexesOf = (...lists: string[]): Set<unknown> =>
        new Set(lists.flatMap((list) => rowsOf(document, list).map(({ index }) => index)));
      for (const list of ['missed', 'pending']) {
        const series = Object.keys(values).filter((key) =>
          /^crosschain_cctxs(?:_ignored)?\{list="(\w+)"/.exec(key)?.[1]?.startsWith(list),
        );
        expect(sum(series.map((key) => values[key] ?? 0))).toBe(indexesOf(`cctxs_${list}`).size);
      }
      const listed = rowsOf(document, 'cctxs_missed').length + rowsOf(document, 'cctxs_pending').length;
      const repeated = listed - indexesOf('cctxs_missed', 'cctxs_pending').size;
      expect(values['crosschain_anomalies{kind="duplicate_cctxs"}']).toBe(repeated);
    });
    fc.assert(property, { numRuns });
  });
});
