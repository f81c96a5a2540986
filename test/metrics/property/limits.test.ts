import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deriveBridge, deriveCrosschain, type Values } from '../derive.js';
import { corruptedOften } from './corruption.js';
import { bridgeAbout, bridgeState, crosschainAbout, crosschainDocument, type Row } from './documents.js';
import { valuesOf } from './families.js';

const numRuns = 300;
/** Whole documents, and such with fields dropped or of a wrong kind. */
const orCorrupted = (documents: fc.Arbitrary<Row>): fc.Arbitrary<Row> =>
  fc.oneof(documents, documents.chain(corruptedOften));

function expectWithin(values: Values, limits: Readonly<Record<string, readonly [number, number]>>): void {
  for (const [name, [least, most]] of Object.entries(limits)) {
    for (const value of valuesOf(values, name)) {
      expect(value, name).toBeGreaterThanOrEqual(least);
      expect(value, name).toBeLessThanOrEqual(most);
    }
  }
}

const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
const count = (document: Row, list: string): number => (document[list] as readonly unknown[]).length;

describe('no series', () => {
  it('is NaN, infinite or there twice, whatever a document is like', () => {
    const bridges = fc.property(orCorrupted(bridgeState), bridgeAbout, (state, about) => {
      // A series that is there twice is refused by the harness.
      expect(Object.values(deriveBridge(state, about).values).filter((value) => !Number.isFinite(value))).toEqual([]);
    });
    fc.assert(bridges, { numRuns });
    const queues = fc.property(orCorrupted(crosschainDocument), crosschainAbout, (document, about) => {
      const { values } = deriveCrosschain(document, about);
      expect(Object.values(values).filter((value) => !Number.isFinite(value))).toEqual([]);
    });
    fc.assert(queues, { numRuns });
  });
});

describe('a ratio', () => {
  it('is within 0 and 1, the drift within 0 and 2', () => {
    const property = fc.property(orCorrupted(bridgeState), bridgeAbout, (state, about) => {
      expectWithin(deriveBridge(state, about).values, {
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

describe('a count', () => {
  it('of a bridge is not above its list', () => {
    const property = fc.property(bridgeState, bridgeAbout, (state, about) => {
      const { values } = deriveBridge(state, about);
      const [valsets, batches, attestations] = ['valsets', 'batches', 'attestations'].map((list) => count(state, list));
      const of = (name: string): number => total(valuesOf(values, name));
      expectWithin(values, {
        bridge_unrelayed_valsets: [0, valsets ?? 0],
        bridge_unrelayed_valsets_below_threshold: [0, of('bridge_unrelayed_valsets')],
        bridge_batches_below_threshold: [0, batches ?? 0],
        bridge_orchestrator_missing_valset_confirms: [0, valsets ?? 0],
        bridge_orchestrator_missing_batch_confirms: [0, batches ?? 0],
        bridge_orchestrator_missing_votes: [0, 1],
        bridge_conflicting_claims: [0, (attestations ?? 0) / 2],
      });
      expect(of('bridge_batches_expired') + of('bridge_batches_overdue')).toBeLessThanOrEqual(batches ?? 0);
      expect(of('bridge_attestations')).toBe(attestations);
      expect(of('bridge_token_unbatched_transfers')).toBe(count(state, 'unbatched_transfers'));
      expect(of('bridge_token_batched_transfers')).toBe(of('bridge_batch_transactions'));
      const anomaly = (kind: string): number | undefined => values[`bridge_anomalies{kind="${kind}"}`];
      expect(anomaly('orphan_valset_confirms')).toBeLessThanOrEqual(count(state, 'valset_confirms'));
      expect(anomaly('orphan_batch_confirms')).toBeLessThanOrEqual(count(state, 'batch_confirms'));
      expect(anomaly('duplicate_orchestrators')).toBeLessThanOrEqual(count(state, 'orchestrator_addresses'));
      expect(anomaly('members_without_orchestrator')).toBeLessThanOrEqual(values['bridge_newest_valset_members'] ?? 0);
    });
    fc.assert(property, { numRuns });
  });

  it('of the cross-chain queue is not above its list', () => {
    const property = fc.property(crosschainDocument, crosschainAbout, (document, about) => {
      const { values } = deriveCrosschain(document, about);
      for (const list of ['missed', 'pending']) {
        const rows = document[`cctxs_${list}`] as readonly Row[];
        const ofList = (name: string): number =>
          total(
            Object.keys(values).flatMap((key) => (key.startsWith(`${name}{list="${list}"`) ? [values[key] ?? 0] : [])),
          );
        expect(ofList('crosschain_cctxs')).toBe(new Set(rows.map((row) => row['index'])).size);
        expect(ofList('crosschain_cctxs_without_hash')).toBeLessThanOrEqual(ofList('crosschain_cctxs'));
      }
      const listed = count(document, 'cctxs_missed') + count(document, 'cctxs_pending');
      const anomaly = (kind: string): number | undefined => values[`crosschain_anomalies{kind="${kind}"}`];
      expect(anomaly('duplicate_cctxs')).toBe(
        listed -
          new Set(
            ['cctxs_missed', 'cctxs_pending'].flatMap((list) => (document[list] as Row[]).map((row) => row['index'])),
          ).size,
      );
      expect(anomaly('cctxs_without_outbound')).toBeLessThanOrEqual(listed);
      expectWithin(values, {
        crosschain_cctxs_hidden: [0, values['crosschain_total_pending'] ?? 0],
        crosschain_rate_limit_exceeded: [0, 1],
        crosschain_rate_limit_window_blocks: [Number(about.window ?? 0), Number.MAX_SAFE_INTEGER],
      });
    });
    fc.assert(property, { numRuns });
  });
});
