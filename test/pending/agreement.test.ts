import { beforeAll, describe, expect, it } from 'vitest';
import type { TargetConfig } from '../../src/config/config.js';
import type { BridgeItems, CrosschainItems, ItemList } from '../../src/pending/items.js';
import { documentSourceBase } from '../../src/poll/jobs.js';
import { demoConfig } from '../../src/simulator/demo.js';
import { createModel } from '../../src/simulator/model.js';
import { scenarioNames, type ScenarioName } from '../../src/simulator/scenarios.js';
import { seriesOf } from '../support/exposition-text.js';
import type { Snapshot } from '../../src/poll/poll.js';
import { readable, snapshotOf } from './read-items.js';

/*
 * Page and gauges come from one document: whatever the chain is up to, they tell the same.
 */
interface Told {
  readonly bridge: BridgeItems;
  readonly crosschain: CrosschainItems;
  /** Every gauge by name; those with labels as the list of their values. */
  readonly gauges: ReadonlyMap<string, readonly number[]>;
}

function toldIn(scenario: ScenarioName): Told {
  const model = createModel({ seed: 3, scenario, startTime: 1_790_000_000, blockTimeMs: 2000 });
  model.advance(120);
  const config = demoConfig({ url: 'http://127.0.0.1:1317', tokens: model.tokens });
  const [target] = config.targets;
  const { bridge, crosschain } = target as Required<TargetConfig>;
  const base = documentSourceBase(config, { name: 't' });
  const height = String(model.height);
  const ofBridge = snapshotOf({ ...base, document: 'module_state', settings: bridge }, model.moduleState(), height);
  const ofCrosschain = snapshotOf(
    { ...base, document: 'rate_limiter_input', settings: crosschain },
    model.rateLimiterInput({ window: 500n }),
    height,
  );
  return {
    bridge: ofBridge.items as BridgeItems,
    crosschain: ofCrosschain.items as CrosschainItems,
    gauges: gaugesOf(ofBridge, ofCrosschain),
  };
}

function gaugesOf(...snapshots: readonly Snapshot[]): ReadonlyMap<string, readonly number[]> {
  const gauges = new Map<string, number[]>();
  for (const { families } of snapshots) {
    for (const { name, value } of seriesOf(families.map(({ lines }) => lines).join(''))) {
      gauges.set(name, [...(gauges.get(name) ?? []), value]);
    }
  }
  return gauges;
}

/** The whole of a section, of which every row is at hand; an empty list of a longer one. */
function whole<Row>(section: ItemList<Row>): readonly Row[] {
  const { rows, total } = readable(section);
  return rows.length === total ? rows : [];
}

const number = (digits: string | null): number => Number(digits ?? 'unknown');

describe.each(scenarioNames)('in the scenario %s', (scenario) => {
  let told: Told;
  const gauge = (name: string): number | undefined => told.gauges.get(name)?.[0];

  beforeAll(() => {
    told = toldIn(scenario);
  });

  it('the totals of the bridge are its gauges', () => {
    const { bridge } = told;
    expect(bridge.transfers.total).toBe(gauge('bridge_unbatched_transfers'));
    expect(bridge.batches.total).toBe(gauge('bridge_batches'));
    expect(bridge.valsets.total).toBe(gauge('bridge_unrelayed_valsets'));
    expect(bridge.batchesBelowThreshold).toBe(gauge('bridge_batches_below_threshold'));
    expect(bridge.valsetsBelowThreshold).toBe(gauge('bridge_unrelayed_valsets_below_threshold'));
    expect(bridge.conflictingEvents).toBe(gauge('bridge_conflicting_claims'));
    expect(number(bridge.pendingEvents)).toBe(gauge('bridge_pending_events'));
    expect(number(bridge.hubHeight)).toBe(gauge('bridge_height'));
    expect(number(bridge.projectedExternalHeight)).toBe(gauge('bridge_external_height_projected'));
  });

  it('the first rows of the bridge are what its gauges are about', () => {
    const { transfers, batches, claims } = told.bridge;
    const oldestBatch = readable(batches).rows[0];
    expect(oldestBatch ? number(oldestBatch.createdHeight) : undefined).toBe(gauge('bridge_batch_oldest_height'));
    const nextEvent = readable(claims).rows[0];
    expect(nextEvent?.votedPowerRatio).toBe(gauge('bridge_next_event_voted_power_ratio'));
    const waiting = gauge('bridge_oldest_pending_transfer_id') ?? Infinity;
    for (const { id } of readable(transfers).rows) expect(number(id)).toBeGreaterThanOrEqual(waiting);
  });

  it('the batches one by one are the gauges over all of them', () => {
    const batches = whole(told.bridge.batches);
    expect(batches).toHaveLength(gauge('bridge_batches') ?? -1);
    const count = (state: string): number => batches.filter((batch) => batch.state === state).length;
    expect(count('expired')).toBe(gauge('bridge_batches_expired'));
    expect(count('overdue')).toBe(gauge('bridge_batches_overdue'));
    const lacking = batches.filter(({ belowThreshold }) => belowThreshold).length;
    expect(lacking).toBe(gauge('bridge_batches_below_threshold'));
    const ratios = batches.map(({ signedPowerRatio }) => signedPowerRatio ?? Number.NaN);
    expect(ratios.length === 0 ? undefined : Math.min(...ratios)).toBe(gauge('bridge_batch_min_signed_power_ratio'));
  });

  it('who has not signed a batch is who the orchestrators’ gauge counts', () => {
    const named = whole(told.bridge.batches).reduce((total, { missing }) => total + (missing?.total ?? Number.NaN), 0);
    const counted = told.gauges.get('bridge_orchestrator_missing_batch_confirms') ?? [];
    expect(named).toBe(counted.reduce((total, count) => total + count, 0));
  });

  it('the totals between chains are their gauges', () => {
    const { crosschain } = told;
    expect(crosschain.missed.total).toBe(gauge('crosschain_cctxs_missed'));
    expect(crosschain.pending.total).toBe(gauge('crosschain_cctxs_pending'));
    expect(number(crosschain.totalPending)).toBe(gauge('crosschain_total_pending'));
    expect(number(crosschain.hidden)).toBe(gauge('crosschain_cctxs_hidden'));
    const oldest = [crosschain.missed, crosschain.pending].flatMap((list) => readable(list).rows[0]?.createdAt ?? []);
    const counted = told.gauges.get('crosschain_oldest_cctx_created_timestamp_seconds') ?? [];
    expect(Math.min(...oldest.map((iso) => Date.parse(iso) / 1000))).toBe(Math.min(...counted));
  });
});
