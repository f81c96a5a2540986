import { beforeAll, describe, expect, it } from 'vitest';
import type { TargetConfig } from '../../src/config/config.js';
import type { BridgeItems, CrosschainItems, ItemList } from '../../src/pending/items.js';
import { targetOptions } from '../../src/poll/jobs.js';
import { itemsOf, type Snapshot } from '../../src/poll/poll.js';
import { demoConfig } from '../../src/commands/demo.js';
import { createModel } from '../../src/simulator/model.js';
import { scenarioNames, type ScenarioName } from '../../src/simulator/scenarios.js';
import { seriesOf, type Series } from '../support/exposition-text.js';
import { readSnapshot } from '../support/snapshots.js';
import { asReadable } from './read-items.js';

interface ScenarioResult {
  readonly bridge: BridgeItems;
  readonly crosschain: CrosschainItems;
  /** The values of all series by family. */
  readonly gauges: ReadonlyMap<string, readonly number[]>;
  readonly series: readonly Series[];
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
  const series = seriesOfSnapshots(bridgeSnapshot, crosschainSnapshot);
  return {
    bridge: itemsOf(bridgeSnapshot) as BridgeItems,
    crosschain: itemsOf(crosschainSnapshot) as CrosschainItems,
    gauges: gaugesOf(series),
    series,
  };
}

function seriesOfSnapshots(...snapshots: readonly Snapshot[]): readonly Series[] {
  return snapshots.flatMap(({ families }) => seriesOf(families.map(({ lines }) => lines).join('')));
}

function gaugesOf(series: readonly Series[]): ReadonlyMap<string, readonly number[]> {
  const gauges = new Map<string, number[]>();
  for (const { name, value } of series) gauges.set(name, [...(gauges.get(name) ?? []), value]);
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

  it('agree on every chain', () => {
    const { crosschain, series } = result;
    const chains = asReadable(crosschain.chains).rows;
    expect(chains.length > 0).toBe((gauge('crosschain_total_pending') ?? 0) > 0);
    for (const chain of chains) {
      const values = (name: string, ...labels: readonly string[]): readonly number[] =>
        series
          .filter((own) => own.name === name)
          .filter((own) => [`chain_id="${chain.chainId}"`, ...labels].every((label) => own.labels.includes(label)))
          .map(({ value }) => value);
      const sum = (list: string): number =>
        values('crosschain_cctxs', `list="${list}"`).reduce((total, value) => total + value, 0);
      const oldest = values('crosschain_oldest_cctx_created_timestamp_seconds', 'list="pending"');
      const numbers = (value: string | null): readonly number[] => (value === null ? [] : [Number(value)]);
      expect([chain.pending, chain.missed]).toEqual([sum('pending'), sum('missed')]);
      expect([chain.ageLimitSeconds]).toEqual(values('crosschain_age_limit_seconds'));
      expect(chain.oldestCreatedAt === null ? [] : [Date.parse(chain.oldestCreatedAt) / 1000]).toEqual(oldest);
      expect(numbers(chain.lowestPendingNonce)).toEqual(values('crosschain_lowest_pending_nonce'));
      expect(numbers(chain.highestPendingNonce)).toEqual(values('crosschain_highest_pending_nonce'));
      expect(numbers(chain.lowestMissedNonce)).toEqual(values('crosschain_lowest_missed_nonce'));
      const withoutHash = values('crosschain_cctxs_without_hash', 'list="pending"');
      expect(chain.pending === 0 ? [] : [chain.withoutHash]).toEqual(withoutHash);
    }
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
