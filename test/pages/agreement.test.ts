import { beforeAll, describe, expect, it } from 'vitest';
import type { TargetVerdicts } from '../../src/alerts/judge.js';
import { renderEndpoints } from '../../src/exposition/exposition.js';
import { endpointStatus } from '../../src/pages/endpoint-view.js';
import { pendingDocument, type PendingDocument } from '../../src/pages/pending-document.js';
import { pendingPage } from '../../src/pages/pending-page.js';
import { statusJson, type StatusJson } from '../../src/pages/status-json.js';
import { statusPage } from '../../src/pages/status-page.js';
import { targetViews } from '../../src/pages/target-view.js';
import { isoTime } from '../../src/pages/time.js';
import type { BridgeItems, CrosschainItems } from '../../src/pending/items.js';
import type { EndpointState } from '../../src/poll/endpoint-state.js';
import { scenarioNames, type ScenarioName } from '../../src/simulator/scenarios.js';
import { instantAt, record, type Phase } from '../alerts/recording.js';
import { asReadable } from '../pending/read-items.js';
import { seriesOf, type Series } from '../support/exposition-text.js';
import { instance, testLinks, textOf } from './sample-snapshots.js';

/*
 * Every number that the pages, their JSON and the metrics have in common, in every scenario, of an exporter that has observed all of it,
 * and of one that was restarted in the middle.
 */

const SAMPLE_SECONDS = 240;
const HEALTHY_MINUTES = 12;
const INCIDENT_MINUTES = 52;
/** The exporter polls every four minutes, and block times are rounded. */
const TOLERANCE_SECONDS = 2 * SAMPLE_SECONDS;

interface Shown {
  readonly series: readonly Series[];
  readonly verdicts: TargetVerdicts;
  readonly status: StatusJson;
  readonly pending: PendingDocument;
  readonly texts: { readonly status: string; readonly pending: string };
  readonly bridge: BridgeItems;
  readonly crosschain: CrosschainItems;
}

/** What the exporter shows at the end of the phases. */
function shownAfter(phases: readonly Phase[], scenario: ScenarioName): Shown {
  let last: readonly [TargetVerdicts, readonly EndpointState[], number] | undefined;
  record(phases, {
    // Other chains cannot become a main network.
    scenario: scenario === 'mainnet' ? 'mainnet' : 'healthy',
    sampleSeconds: SAMPLE_SECONDS,
    valsets: 12,
    keep: new Set(),
    observe: ([verdicts], minute, states) => {
      if (verdicts !== undefined) last = [verdicts, states, minute];
    },
  });
  if (last === undefined) throw new Error('no poll was recorded');
  const [verdicts, states, minute] = last;
  const now = instantAt(minute * 60);
  const links = testLinks();
  const statuses = states.map((state) => endpointStatus(state, 'http://node.example', now));
  const document = {
    generatedAt: isoTime(now.epochSeconds),
    targets: targetViews([verdicts], statuses, links, now),
    endpoints: statuses,
    validatorNames: [],
    instance,
  };
  const pending = pendingDocument(states, [verdicts], links, now, 'demo');
  const [bridge, crosschain] = statuses.map(({ items }) => items);
  if (pending === undefined || bridge?.document !== 'module_state' || crosschain?.document !== 'rate_limiter_input') {
    throw new Error('an endpoint has no items');
  }
  const site = { telemetryPath: '/metrics', version: '0.2.0' };
  return {
    series: seriesOf(renderEndpoints(states, 'text', now)),
    verdicts,
    status: statusJson(document),
    pending,
    texts: {
      status: textOf(statusPage(document, site)),
      pending: textOf(pendingPage(pending, undefined, links, site)),
    },
    bridge,
    crosschain,
  };
}

function valuesOf({ series }: Shown, name: string, ...labels: readonly string[]): readonly number[] {
  return series
    .filter((own) => own.name === name && labels.every((label) => own.labels.includes(label)))
    .map(({ value }) => value);
}

const gauge = (shown: Shown, name: string, ...labels: readonly string[]): number | undefined =>
  valuesOf(shown, name, ...labels)[0];

/** The metrics behind the numbers of the backlog. */
const statisticMetrics: Readonly<Record<string, string>> = {
  'Live batches': 'bridge_batches',
  'Batches past their timeout': 'bridge_batches_overdue',
  'Batches short of signatures': 'bridge_batches_below_threshold',
  'Unrelayed validator sets': 'bridge_unrelayed_valsets',
  'Validator sets short of signatures': 'bridge_unrelayed_valsets_below_threshold',
  'Pending events': 'bridge_pending_events',
  'Conflicting events': 'bridge_conflicting_claims',
  'Unbatched transfers': 'bridge_unbatched_transfers',
  'Missed cctxs': 'crosschain_cctxs_missed',
  'Pending cctxs': 'crosschain_cctxs_pending',
  'Listed pending cctxs': 'crosschain_cctxs_pending',
  'Hidden cctxs': 'crosschain_cctxs_hidden',
};

/** The numbers in the sentences, with the metric that has them. */
const sentenceNumbers: readonly (readonly [RegExp, string])[] = [
  [/no event observed for [^,]*, (\d+) waiting/, 'bridge_pending_events'],
  [/batches have lacked signatures for [^,]*, (\d+) at present/, 'bridge_batches_below_threshold'],
  [/no signed batch has been executed for [^,]*, (\d+) waiting/, 'bridge_relayable_batches'],
  [/pending transfers has been above (\d+) for/, 'bridge_backlog_limit_transfers'],
  [/at present, of which (\d+) in no batch/, 'bridge_unbatched_transfers'],
  [/cross-chain transactions has been above (\d+) for/, 'crosschain_backlog_limit_cctxs'],
  [/cross-chain transactions has been above .*, (\d+) at present/, 'crosschain_total_pending'],
  [/omitted pending cross-chain transactions .*, (\d+) at present/, 'crosschain_cctxs_hidden'],
];

function compareNumbers(shown: Shown): void {
  const { status, pending, texts, bridge, crosschain } = shown;
  expect(status.targets.map(({ verdicts, status: own }) => [own, verdicts])).toEqual(
    pending.targets.map(({ verdicts, status: own }) => [own, verdicts]),
  );
  for (const { label, count } of status.endpoints.flatMap(({ backlog }) => backlog ?? [])) {
    for (const text of [texts.status, texts.pending]) expect(text).toContain(`${label} ${count ?? 'unknown'}`);
    const metric = statisticMetrics[label];
    if (metric !== undefined) expect([label, Number(count)]).toEqual([label, gauge(shown, metric)]);
  }
  for (const { summary } of shown.verdicts.verdicts) {
    for (const [pattern, metric] of sentenceNumbers) {
      const found = pattern.exec(summary)?.[1];
      if (found !== undefined) expect([summary, Number(found)]).toEqual([summary, gauge(shown, metric)]);
    }
  }
  for (const waiting of asReadable(bridge.tokens).rows) {
    const label = `token_contract="${waiting.token.contract}"`;
    expect([
      waiting.unbatchedTransfers,
      waiting.batchedTransfers,
      Number(waiting.unbatched.amount),
      Number(waiting.batched.amount),
    ]).toEqual(
      [
        'bridge_token_unbatched_transfers',
        'bridge_token_batched_transfers',
        'bridge_token_unbatched_amount',
        'bridge_token_batched_amount',
      ].map((metric) => gauge(shown, metric, label)),
    );
  }
  expect(bridge.watched).toHaveLength(1);
  for (const own of bridge.watched) {
    const label = `orchestrator="${own.orchestrator}"`;
    expect([own.missingBatches?.total, own.missingValsets?.total, own.powerRatio]).toEqual(
      [
        'bridge_orchestrator_missing_batch_confirms',
        'bridge_orchestrator_missing_valset_confirms',
        'bridge_orchestrator_power_ratio',
      ].map((metric) => gauge(shown, metric, label)),
    );
    const nextVote = gauge(shown, 'bridge_orchestrator_missing_next_votes', label);
    expect(own.nextVote).toBe(nextVote === undefined ? null : nextVote === 1 ? 'missing' : 'voted');
  }
  for (const { chainId, pending: count } of asReadable(crosschain.chains).rows) {
    const counts = valuesOf(shown, 'crosschain_cctxs', 'list="pending"', `chain_id="${chainId}"`);
    expect(count).toBe(counts.reduce((sum, value) => sum + value, 0));
  }
}

describe.each(scenarioNames)('in the scenario %s', (scenario) => {
  const incident = { scenario: scenario === 'mainnet' ? 'mainnet' : scenario } as const;
  let running: Shown;
  let restarted: Shown;

  beforeAll(() => {
    running = shownAfter([{ minutes: HEALTHY_MINUTES }, { minutes: INCIDENT_MINUTES, ...incident }], scenario);
    restarted = shownAfter(
      [
        { minutes: HEALTHY_MINUTES, exporterDown: true },
        { minutes: INCIDENT_MINUTES - 8, ...incident, exporterDown: true },
        { minutes: 8 },
      ],
      scenario,
    );
  });

  it('pages, JSON and metrics have the same numbers', () => {
    expect(running.status.endpoints).toHaveLength(2);
    compareNumbers(running);
  });

  it('pages, JSON and metrics have the same numbers after a restart', () => {
    expect(restarted.status.endpoints).toHaveLength(2);
    compareNumbers(restarted);
  });

  it('nothing is older after a restart than it was before', () => {
    for (const after of restarted.verdicts.verdicts.filter(({ state }) => state === 'firing')) {
      const before = running.verdicts.verdicts.filter(({ alert }) => alert === after.alert);
      // What began before the exporter that has observed all of it cannot be compared.
      const known = before.filter(({ mayBeOlder }) => !mayBeOlder).map(({ since }) => since.epochSeconds);
      if (known.length === 0) continue;
      expect([after.alert, after.since.epochSeconds]).toEqual([
        after.alert,
        Math.max(after.since.epochSeconds, Math.min(...known) - TOLERANCE_SECONDS),
      ]);
    }
  });
});
