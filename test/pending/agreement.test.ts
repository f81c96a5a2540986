import { beforeAll, describe, expect, it } from 'vitest';
import type { TargetConfig } from '../../src/config/config.js';
import type { BridgeItems, CrosschainItems, ItemList } from '../../src/pending/items.js';
import { targetOptions } from '../../src/poll/jobs.js';
import { itemsOf, type Snapshot } from '../../src/poll/poll.js';
import { demoConfig } from '../../src/commands/demo.js';
import { createModel } from '../../src/simulator/model.js';
import { scenarioNames, type ScenarioName } from '../../src/simulator/scenarios.js';
import { seriesOf } from '../support/exposition-text.js';
import { readSnapshot } from '../support/snapshots.js';
import { asReadable } from './read-items.js';

interface ScenarioResult {
  readonly bridge: BridgeItems;
  readonly crosschain: CrosschainItems;
  /** The values of all series by family. */
  readonly gauges: ReadonlyMap<string, readonly number[]>;
}

function simulate(scenario: ScenarioName): ScenarioResult {
  const model = createModel({ seed: 3, scenario, startTime: 1_790_000_000, blockTimeMs: 2000 });
  model.advance(120);
  const config = demoConfig('http://127.0.0.1:1317', model);
  const [target] = config.targets;
  const { bridge, crosschain } = target as Required<TargetConfig>;
  const base = targetOptions(config, { name: 't' });
  const height = String(model.height);
  const bridgeSnapshot = readSnapshot(
    { ...base, document: 'module_state', settings: bridge },
    model.moduleState(),
    height,
  );
  const crosschainSnapshot = readSnapshot(
    { ...base, document: 'rate_limiter_input', settings: crosschain },
    model.rateLimiterInput({ window: 500n }),
    height,
  );
  return {
    bridge: itemsOf(bridgeSnapshot) as BridgeItems,
    crosschain: itemsOf(crosschainSnapshot) as CrosschainItems,
    gauges: gaugesOf(bridgeSnapshot, crosschainSnapshot),
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

/** All rows of a list, or no rows if the list is truncated. */
function completeRows<Row>(list: ItemList<Row>): readonly Row[] {
  const { rows, total } = asReadable(list);
  return rows.length === total ? rows : [];
}

const number = (digits: string | null): number => Number(digits ?? 'unknown');

describe.each(scenarioNames)('the items and metrics of the scenario %s', (scenario) => {
  let result: ScenarioResult;
  const gauge = (name: string): number | undefined => result.gauges.get(name)?.[0];

  beforeAll(() => {
    result = simulate(scenario);
  });

  it('agree on the totals of the bridge', () => {
    const { bridge } = result;
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

  it('agree on the oldest batch, the next event and the oldest transfer', () => {
    const { transfers, batches, claims } = result.bridge;
    const heights = asReadable(batches).rows.map(({ createdHeight }) => number(createdHeight));
    expect(heights.length === 0 ? undefined : Math.min(...heights)).toBe(gauge('bridge_batch_oldest_height'));
    const unsigned = asReadable(batches).rows.find(({ belowThreshold }) => belowThreshold === true);
    expect(unsigned && number(unsigned.createdHeight)).toBe(gauge('bridge_oldest_unsigned_batch_height'));
    const nextEvent = asReadable(claims).rows[0];
    expect(nextEvent?.votedPowerRatio).toBe(gauge('bridge_next_event_voted_power_ratio'));
    const oldestTransfer = gauge('bridge_oldest_pending_transfer_id') ?? Infinity;
    for (const { id } of asReadable(transfers).rows) expect(number(id)).toBeGreaterThanOrEqual(oldestTransfer);
  });

  it('agree on the states and signatures of all batches', () => {
    const batches = completeRows(result.bridge.batches);
    expect(batches).toHaveLength(gauge('bridge_batches') ?? -1);
    const count = (state: string): number => batches.filter((batch) => batch.state === state).length;
    expect(count('expired')).toBe(gauge('bridge_batches_expired'));
    expect(count('overdue')).toBe(gauge('bridge_batches_overdue'));
    const belowThresholdCount = batches.filter(({ belowThreshold }) => belowThreshold).length;
    expect(belowThresholdCount).toBe(gauge('bridge_batches_below_threshold'));
    const ratios = batches.map(({ signedPowerRatio }) => signedPowerRatio ?? Number.NaN);
    expect(ratios.length === 0 ? undefined : Math.min(...ratios)).toBe(gauge('bridge_batch_min_signed_power_ratio'));
  });

  it('agree on the number of missing batch confirms', () => {
    const listed = completeRows(result.bridge.batches).reduce(
      (total, { missing }) => total + (missing?.total ?? Number.NaN),
      0,
    );
    const counted = result.gauges.get('bridge_orchestrator_missing_batch_confirms') ?? [];
    expect(listed).toBe(counted.reduce((total, count) => total + count, 0));
  });

  it('agree on the totals and the oldest transaction of the cross-chain module', () => {
    const { crosschain } = result;
    expect(crosschain.missed.total).toBe(gauge('crosschain_cctxs_missed'));
    expect(crosschain.pending.total).toBe(gauge('crosschain_cctxs_pending'));
    expect(number(crosschain.totalPending)).toBe(gauge('crosschain_total_pending'));
    expect(number(crosschain.hidden)).toBe(gauge('crosschain_cctxs_hidden'));
    const oldest = [crosschain.missed, crosschain.pending].flatMap((list) => asReadable(list).rows[0]?.createdAt ?? []);
    const counted = result.gauges.get('crosschain_oldest_cctx_created_timestamp_seconds') ?? [];
    expect(Math.min(...oldest.map((iso) => Date.parse(iso) / 1000))).toBe(Math.min(...counted));
  });
});
