import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../support/json.js';
import { deriveBridge, deriveCrosschain, type SeriesValues } from '../derive.js';
import { corruptedDocument } from './corruption.js';
import { bridgeOptions, bridgeState, crosschainDocument, crosschainOptions } from './documents.js';
import { valuesOfFamily } from './families.js';
import { fuzzRuns } from '../../support/fuzz.js';

const numRuns = fuzzRuns(40);
/** Valid documents and documents with missing or invalid fields. */
const validOrCorrupted = (documents: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonObject> =>
  fc.oneof(documents, documents.chain(corruptedDocument));

function expectWithin(values: SeriesValues, limits: Readonly<Record<string, readonly [number, number]>>): void {
  for (const [name, [min, max]] of Object.entries(limits)) {
    for (const value of valuesOfFamily(values, name)) {
      expect(value, name).toBeGreaterThanOrEqual(min);
      expect(value, name).toBeLessThanOrEqual(max);
    }
  }
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
const lengthOf = (document: JsonObject, list: string): number => (document[list] as readonly unknown[]).length;

describe('the series of a random document', () => {
  it('are finite and unique', () => {
    const bridge = fc.property(validOrCorrupted(bridgeState), bridgeOptions, (state, options) => {
      // deriveBridge throws for a duplicate series.
      expect(Object.values(deriveBridge(state, options).values).filter((value) => !Number.isFinite(value))).toEqual([]);
    });
    fc.assert(bridge, { numRuns });
    const crosschain = fc.property(validOrCorrupted(crosschainDocument), crosschainOptions, (document, options) => {
      const { values } = deriveCrosschain(document, options);
      expect(Object.values(values).filter((value) => !Number.isFinite(value))).toEqual([]);
    });
    fc.assert(crosschain, { numRuns });
  });
});

describe('a ratio metric', () => {
  it('is between 0 and 1, and the power drift between 0 and 2', () => {
    const property = fc.property(validOrCorrupted(bridgeState), bridgeOptions, (state, options) => {
      expectWithin(deriveBridge(state, options).values, {
        bridge_power_threshold_ratio: [0, 1],
        bridge_unrelayed_valset_min_signed_power_ratio: [0, 1],
        bridge_batch_min_signed_power_ratio: [0, 1],
        bridge_orchestrator_power_ratio: [0, 1],
        bridge_next_event_voted_power_ratio: [0, 1],
        bridge_valset_power_drift_ratio: [0, 2],
      });
    });
    fc.assert(property, { numRuns });
  });
});

describe('a count metric', () => {
  it('is at most the length of its list in module_state', () => {
    const property = fc.property(bridgeState, bridgeOptions, (state, options) => {
      const { values } = deriveBridge(state, options);
      const [valsets, batches, attestations] = ['valsets', 'batches', 'attestations'].map((list) =>
        lengthOf(state, list),
      );
      const sumOfFamily = (name: string): number => sum(valuesOfFamily(values, name));
      expectWithin(values, {
        bridge_unrelayed_valsets: [0, valsets ?? 0],
        bridge_unrelayed_valsets_below_threshold: [0, sumOfFamily('bridge_unrelayed_valsets')],
        bridge_batches_below_threshold: [0, batches ?? 0],
        bridge_orchestrator_missing_valset_confirms: [0, valsets ?? 0],
        bridge_orchestrator_missing_batch_confirms: [0, batches ?? 0],
        bridge_orchestrator_missing_votes: [0, 1],
        bridge_conflicting_claims: [0, (attestations ?? 0) / 2],
      });
      expect(sumOfFamily('bridge_batches_expired') + sumOfFamily('bridge_batches_overdue')).toBeLessThanOrEqual(
        batches ?? 0,
      );
      expect(sumOfFamily('bridge_attestations')).toBe(attestations);
      expect(sumOfFamily('bridge_token_unbatched_transfers')).toBe(lengthOf(state, 'unbatched_transfers'));
      expect(sumOfFamily('bridge_token_batched_transfers')).toBe(sumOfFamily('bridge_batch_transactions'));
      const anomaly = (kind: string): number | undefined => values[`bridge_anomalies{kind="${kind}"}`];
      expect(anomaly('orphan_valset_confirms')).toBeLessThanOrEqual(lengthOf(state, 'valset_confirms'));
      expect(anomaly('orphan_batch_confirms')).toBeLessThanOrEqual(lengthOf(state, 'batch_confirms'));
      expect(anomaly('duplicate_orchestrators')).toBeLessThanOrEqual(lengthOf(state, 'orchestrator_addresses'));
      expect(anomaly('members_without_orchestrator')).toBeLessThanOrEqual(values['bridge_newest_valset_members'] ?? 0);
    });
    fc.assert(property, { numRuns });
  });

  it('is at most the length of its list in rate_limiter_input', () => {
    const property = fc.property(crosschainDocument, crosschainOptions, (document, options) => {
      const { values } = deriveCrosschain(document, options);
      for (const list of ['missed', 'pending']) {
        const rows = document[`cctxs_${list}`] as readonly JsonObject[];
        const sumOfList = (name: string): number =>
          sum(
            Object.keys(values).flatMap((key) => (key.startsWith(`${name}{list="${list}"`) ? [values[key] ?? 0] : [])),
          );
        const counted = sumOfList('crosschain_cctxs') + sumOfList('crosschain_cctxs_ignored');
        expect(counted).toBe(new Set(rows.map((row) => row['index'])).size);
        expect(sumOfList('crosschain_cctxs_without_hash')).toBeLessThanOrEqual(sumOfList('crosschain_cctxs'));
      }
      const listed = lengthOf(document, 'cctxs_missed') + lengthOf(document, 'cctxs_pending');
      const anomaly = (kind: string): number | undefined => values[`crosschain_anomalies{kind="${kind}"}`];
      expect(anomaly('duplicate_cctxs')).toBe(
        listed -
          new Set(
            ['cctxs_missed', 'cctxs_pending'].flatMap((list) =>
              (document[list] as JsonObject[]).map((row) => row['index']),
            ),
          ).size,
      );
      expect(anomaly('cctxs_without_outbound')).toBeLessThanOrEqual(listed);
      expectWithin(values, {
        crosschain_cctxs_hidden: [0, values['crosschain_total_pending'] ?? 0],
        crosschain_rate_limit_exceeded: [0, 1],
        crosschain_rate_limit_window_blocks: [Number(options.window ?? 500), Number.MAX_SAFE_INTEGER],
      });
    });
    fc.assert(property, { numRuns });
  });
});
