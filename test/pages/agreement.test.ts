import { beforeAll, describe, expect, it } from 'vitest';
import type { TargetVerdicts } from '../../src/alerts/judge.js';
import { renderEndpoints } from '../../src/exposition/metrics-page.js';
import { endpointStatus } from '../../src/pages/endpoint-view.js';
import { pendingView, pendingJson, type PendingJson } from '../../src/pages/pending-view.js';
import { pendingPage } from '../../src/pages/pending-page.js';
import { statusJson, type StatusJson } from '../../src/pages/status-json.js';
import { statusPage } from '../../src/pages/status-page.js';
import { targetViews } from '../../src/pages/target-view.js';
import { isoTime } from '../../src/pages/time.js';
import { duration } from '../../src/text/format.js';
import type { BridgeItems, CrosschainItems } from '../../src/pending/items.js';
import type { EndpointState } from '../../src/poll/endpoint-state.js';
import { scenarioNames, type ScenarioName } from '../../src/simulator/scenarios.js';
import { instantAt, record, type Phase } from '../alerts/recording.js';
import { asReadable } from '../pending/read-items.js';
import { seriesOf, type Series } from '../support/exposition-text.js';
import { instance, testLinks, textOf } from './sample-snapshots.js';
import { sentenceText } from '../../src/alerts/sentences.js';

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
  readonly pending: PendingJson;
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
  const pending = pendingView(states, [verdicts], links, now, 'demo');
  const [bridge, crosschain] = statuses.map(({ items }) => items);
  if (pending === undefined || bridge?.document !== 'module_state' || crosschain?.document !== 'rate_limiter_input') {
    throw new Error('an endpoint has no items');
  }
  const site = { telemetryPath: '/metrics', version: '0.2.0' };
  return {
    series: seriesOf(renderEndpoints(states, 'text', now)),
    verdicts,
    status: statusJson(document),
    pending: pendingJson(pending),
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

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

const numberOrAbsent = (value: string | null): number | undefined => (value === null ? undefined : Number(value));

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

type Groups = Readonly<Record<string, string | undefined>>;

interface SentenceNumber {
  /** With the group `number`, and with `chain` if it is one of a chain. */
  readonly pattern: RegExp;
  /** The same from the metrics. */
  readonly ofMetrics: (shown: Shown, groups: Groups) => number | string | undefined;
}

const plain = (pattern: RegExp, metric: string): SentenceNumber => ({
  pattern,
  ofMetrics: (shown) => gauge(shown, metric),
});

const perChain = (pattern: RegExp, metric: string, ...labels: readonly string[]): SentenceNumber => ({
  pattern,
  ofMetrics: (shown, { chain }) => sum(valuesOf(shown, metric, `chain_id="${chain}"`, ...labels)),
});

const asPercent = (ratio: number | undefined): number | undefined => ratio && Math.round(ratio * 100);

const WATCHED_DEADLINES = /^bridge_orchestrator_(?:batch_)?confirm_deadline_height$/;

/** The numbers in the sentences, with the metrics that have them. Each occurs in some scenario. */
const sentenceNumbers: readonly SentenceNumber[] = [
  plain(/no event observed for [^,]*, (?<number>\d+) waiting/g, 'bridge_pending_events'),
  plain(/batches have lacked signatures for [^,]*, (?<number>\d+) at present/g, 'bridge_batches_below_threshold'),
  plain(/no signed batch has been executed for [^,]*, (?<number>\d+) waiting/g, 'bridge_relayable_batches'),
  plain(/pending transfers has been above (?<number>\d+) for/g, 'bridge_backlog_limit_transfers'),
  plain(/at present, of which (?<number>\d+) in no batch/g, 'bridge_unbatched_transfers'),
  plain(/cross-chain transactions has been above (?<number>\d+) for/g, 'crosschain_backlog_limit_cctxs'),
  plain(/cross-chain transactions has been above .*, (?<number>\d+) at present/g, 'crosschain_total_pending'),
  plain(/omitted pending cross-chain transactions .*, (?<number>\d+) at present/g, 'crosschain_cctxs_hidden'),
  perChain(/\((?<chain>\d+)\) at nonce (?<number>\d+)/g, 'crosschain_lowest_pending_nonce'),
  perChain(/\((?<chain>\d+)\) is frozen behind nonce (?<number>\d+)/g, 'crosschain_lowest_missed_nonce'),
  perChain(
    /(?<=missed for long: .*)(?<number>\d+) on chain (?:\S+ \()?(?<chain>\d+)/g,
    'crosschain_cctxs',
    'list="missed"',
  ),
  {
    pattern: /locked for .* in (?<number>\d+) batch(?:es)? past/g,
    ofMetrics: (shown, { number }) => {
      const counts = ['sufficient', 'insufficient', 'unknown'].map((fees) =>
        gauge(shown, 'bridge_overdue_batches', `fees="${fees}"`),
      );
      return counts.find((value) => value === Number(number)) ?? counts.join();
    },
  },
  {
    pattern: /the first times out in (?<number>\d+) external blocks/g,
    ofMetrics: (shown) => {
      const timeout = gauge(shown, 'bridge_relayable_batch_next_timeout_height') ?? Number.NaN;
      return Math.round(timeout - (gauge(shown, 'bridge_external_height_projected') ?? Number.NaN));
    },
  },
  {
    pattern: /(?<number>\d+) % of the power claim/g,
    ofMetrics: (shown) => asPercent(gauge(shown, 'bridge_next_event_voted_power_ratio')),
  },
  {
    pattern: /of the power claim .*, (?<number>\d+) % claim/g,
    ofMetrics: (shown) => asPercent(gauge(shown, 'bridge_next_event_second_claim_power_ratio')),
  },
  {
    pattern: /(?<number>\d+) % of the power has signed it/g,
    ofMetrics: (shown) => asPercent(gauge(shown, 'bridge_newest_valset_signed_power_ratio')),
  },
  {
    // Who has not voted is rounded on its own.
    pattern: /with (?<number>\d+) % of the power have not voted/g,
    ofMetrics: (shown, { number }) => {
      const voted = gauge(shown, 'bridge_next_event_voted_power_ratio') ?? Number.NaN;
      return Math.abs(100 - voted * 100 - Number(number)) <= 0.5 ? Number(number) : 100 - voted * 100;
    },
  },
  {
    pattern: /\(yours\); it is jailed in (?<number>\d+) hub blocks/g,
    ofMetrics: (shown) => {
      const own = `orchestrator="${shown.bridge.watched[0]?.orchestrator}"`;
      const deadlines = shown.series.filter(({ name, labels }) => WATCHED_DEADLINES.test(name) && labels.includes(own));
      return Math.min(...deadlines.map(({ value }) => value)) - (gauge(shown, 'bridge_height') ?? Number.NaN);
    },
  },
  {
    pattern: /on chain \S+ \((?<chain>\d+)\) has waited for (?<number>[^,]*), longer than its limit of/g,
    ofMetrics: (shown, { chain }) => {
      const created = sum(
        valuesOf(shown, 'crosschain_oldest_cctx_created_timestamp_seconds', 'list="pending"', `chain_id="${chain}"`),
      );
      return duration(Date.parse(shown.pending.generatedAt) / 1000 - created);
    },
  },
  {
    pattern: /on chain \S+ \((?<chain>\d+)\) has waited for [^,]*, longer than its limit of (?<number>.+)/g,
    ofMetrics: (shown, { chain }) =>
      duration(sum(valuesOf(shown, 'crosschain_age_limit_seconds', `chain_id="${chain}"`))),
  },
];

/** The patterns and labels that have been compared in some scenario. */
const compared = new Set<RegExp | string>();

function compareNumbers(shown: Shown): void {
  const { status, pending, texts, bridge, crosschain } = shown;
  expect(status.targets.map(({ verdicts, status: own }) => [own, verdicts])).toEqual(
    pending.targets.map(({ verdicts, status: own }) => [own, verdicts]),
  );
  for (const { label, count } of status.endpoints.flatMap(({ backlog }) => backlog ?? [])) {
    for (const text of [texts.status, texts.pending]) expect(text).toContain(`${label} ${count ?? 'unknown'}`);
    const metric = statisticMetrics[label];
    if (metric === undefined) continue;
    expect([label, Number(count)]).toEqual([label, gauge(shown, metric)]);
    compared.add(label);
  }
  for (const { sentence } of shown.verdicts.verdicts) {
    const summary = sentenceText(sentence);
    for (const { pattern, ofMetrics } of sentenceNumbers) {
      for (const { groups = {} } of summary.matchAll(pattern)) {
        expect([summary, groups['number']]).toEqual([summary, String(ofMetrics(shown, groups))]);
        compared.add(pattern);
      }
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
    const deadlines = shown.series.filter(({ name, labels }) => WATCHED_DEADLINES.test(name) && labels.includes(label));
    expect(numberOrAbsent(own.deadlineHeight) ?? Infinity).toBe(Math.min(...deadlines.map(({ value }) => value)));
    const nextVote = gauge(shown, 'bridge_orchestrator_missing_next_votes', label);
    expect(own.nextVote).toBe(nextVote === undefined ? null : nextVote === 1 ? 'missing' : 'voted');
  }
  for (const own of asReadable(crosschain.chains).rows) {
    const chain = `chain_id="${own.chainId}"`;
    const sumOf = (metric: string, list: string): number => sum(valuesOf(shown, metric, `list="${list}"`, chain));
    expect([own.chainId, own.pending, own.missed, own.withoutHash]).toEqual([
      own.chainId,
      sumOf('crosschain_cctxs', 'pending'),
      sumOf('crosschain_cctxs', 'missed'),
      sumOf('crosschain_cctxs_without_hash', 'pending'),
    ]);
    expect([own.lowestPendingNonce, own.highestPendingNonce, own.lowestMissedNonce].map(numberOrAbsent)).toEqual(
      ['crosschain_lowest_pending_nonce', 'crosschain_highest_pending_nonce', 'crosschain_lowest_missed_nonce'].map(
        (metric) => gauge(shown, metric, chain),
      ),
    );
    expect(own.ageLimitSeconds).toBe(gauge(shown, 'crosschain_age_limit_seconds', chain));
    const created = own.oldestCreatedAt === null ? undefined : Date.parse(own.oldestCreatedAt) / 1000;
    const oldest = gauge(shown, 'crosschain_oldest_cctx_created_timestamp_seconds', 'list="pending"', chain);
    expect(created).toBe(oldest);
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

describe('over all scenarios', () => {
  it('every number of the backlog and of the sentences has been compared at least once', () => {
    const all = [...Object.keys(statisticMetrics), ...sentenceNumbers.map(({ pattern }) => pattern)];
    expect(all.filter((own) => !compared.has(own))).toEqual([]);
  });
});
