import { count, duration, list, percent } from '../text/format.js';
import { above, dataAlert, type Severity } from './alert.js';
import { ON_TARGET, promDuration, unchanged } from './promql.js';
import { chainName } from './sentences.js';
import type { Instant } from '../clock.js';
import { findingIf, labelOf, type AlertLabels, type DatedFinding, type Finding, type PollView } from './view.js';

/* Alerts on the rate limiter input. Within a severity, the cause comes before its consequences. */

const RATE_LIMITER_INPUT = 'rate_limiter_input';

/** Pending transactions of all chains. */
export const BACKLOG_CCTXS = 200;
/** Age of the oldest transaction of a chain. */
export const OLD_SECONDS = 1800;
export const VERY_OLD_SECONDS = 7200;
/** Share of the configured limit. */
export const RATE_LIMIT_RATIO = 0.8;
const STUCK_MINUTES = 45;

const HOUR_SECONDS = 3600;

/** The age limit of the critical alert, from an expression of the age limit: four times the limit, twice from an hour on. */
export function criticalAge(limit: string): string {
  return `${limit} * 4 < ${4 * HOUR_SECONDS} or ${limit} * 2`;
}

/** Where a transaction is stuck depends on its outbound. */
const OUTBOUND_ACTION =
  'Without an outbound hash, check that enough TSS signers are online; with one, look it up on its chain: observers have to confirm it.';

const MISSED_ACTION =
  'Look up the missed transactions on their chains by nonce: submit the hash of an executed one as a tracker, have the others signed again.';

function chainOf(labels: AlertLabels): string {
  return chainName(labelOf(labels, 'chain'), labelOf(labels, 'chain_id'));
}

/** Whether the listed transaction of a nonce has been broadcast, which decides what to do. */
function hashOf({ labels, value }: Finding, { items }: Pick<PollView, 'items'>): string {
  if (items?.document !== RATE_LIMITER_INPUT || !items.pending.readable) return '';
  const cctx = items.pending.rows.find(
    ({ chainId, nonce }) => chainId === labels['chain_id'] && Number(nonce) === value,
  );
  if (cctx === undefined || cctx.hash === null) return '';
  return cctx.hash === '' ? ' without an outbound hash' : ' with an outbound hash';
}

function tooOld(severity: Severity, seconds: number, comment: string) {
  const describe = ({ labels, value }: DatedFinding, now: Instant): string =>
    `${chainOf(labels)} for ${duration(now.epochSeconds - value)}${labelOf(labels, 'list') === 'missed' ? ' (missed)' : ''}`;
  return dataAlert(RATE_LIMITER_INPUT, {
    name: 'CrosschainOldestPendingTooOld',
    severity,
    comment,
    when: `The oldest pending or missed transaction of a chain is older than ${duration(seconds)}.`,
    expr: `time() - crosschain_oldest_cctx_created_timestamp_seconds > ${seconds}`,
    forMinutes: 5,
    families: ['crosschain_oldest_cctx_created_timestamp_seconds'],
    find: ({ samples, now }) =>
      samples
        .series('crosschain_oldest_cctx_created_timestamp_seconds')
        .filter(({ value }) => now.epochSeconds - value > seconds),
    summary:
      'a {{ $labels.list }} transaction on chain {{ $labels.chain_id }} {{ $labels.chain }} is {{ $value | humanizeDuration }} old.',
    description:
      'The oldest {{ $labels.list }} cross-chain transaction of {{ $labels.target }} on chain {{ $labels.chain_id }} {{ $labels.chain }} was created {{ $value | humanizeDuration }} ago.',
    action: `{{ if eq $labels.list "missed" }}${MISSED_ACTION}{{ else }}${OUTBOUND_ACTION}{{ end }}`,
    sentence: ({ all }, { now }) => {
      const oldestFirst = all.toSorted((a, b) => a.value - b.value);
      const waiting = list(oldestFirst.map((finding) => describe(finding, now)));
      return `cross-chain transactions have waited for more than ${duration(seconds)}: on chain ${waiting}`;
    },
    actionFor: ({ all }) => (all.every(({ labels }) => labels['list'] === 'missed') ? MISSED_ACTION : OUTBOUND_ACTION),
  });
}

export const crosschainAlerts = [
  dataAlert(RATE_LIMITER_INPUT, {
    name: 'CrosschainBacklogStuck',
    severity: 'critical',
    comment: `Suspended while the list is truncated, because the lowest listed nonce need not be the lowest one. CrosschainPendingListTruncated and
CrosschainBacklogHigh cover that case.`,
    when: `The lowest pending nonce of a chain has not changed for ${STUCK_MINUTES} minutes; not while the list is truncated.`,
    expr: `${unchanged('crosschain_lowest_pending_nonce', STUCK_MINUTES)}
and ${ON_TARGET} max_over_time(crosschain_cctxs_hidden[${promDuration(STUCK_MINUTES)}]) == 0`,
    forMinutes: 5,
    families: [
      'crosschain_lowest_pending_nonce',
      'crosschain_cctxs_hidden',
      'crosschain_oldest_cctx_created_timestamp_seconds',
    ],
    rangeMinutes: STUCK_MINUTES,
    // With a truncated list, the lowest listed nonce need not be the lowest one.
    find: ({ samples }) => {
      if (samples.value('crosschain_cctxs_hidden') !== 0) return [];
      const created = samples
        .series('crosschain_oldest_cctx_created_timestamp_seconds')
        .filter(({ labels }) => labels['list'] === 'pending');
      return samples.series('crosschain_lowest_pending_nonce').map(({ labels, value }) => ({
        labels,
        value,
        unchangedValue: value,
        // Its transaction was not pending before it was created.
        notBeforeSeconds: created.find((own) => own.labels['chain_id'] === labels['chain_id'])?.value,
      }));
    },
    summary: 'nothing moves on chain {{ $labels.chain_id }} {{ $labels.chain }}.',
    description: `Nonce {{ $value | printf "%.0f" }} has been the lowest pending nonce of {{ $labels.target }} on chain {{ $labels.chain_id }} {{ $labels.chain }} for ${STUCK_MINUTES} minutes, and later nonces wait for it.`,
    action: `Later nonces are executed only after this one. ${OUTBOUND_ACTION}`,
    sentence: ({ all, duration: lasting }, view) => {
      const chains = all.map(({ labels, value }) => `${chainOf(labels)} at nonce ${value}`);
      const [only, ...others] = all;
      return only !== undefined && others.length === 0
        ? `nothing has moved for ${lasting} on chain ${list(chains)}${hashOf(only, view)}`
        : `nothing has moved for ${lasting} on ${count(chains.length, 'chain')}: ${list(chains)}`;
    },
    inhibits: [{ alert: 'CrosschainOldestPendingTooOld', severity: 'warning', equal: ['chain_id'] }],
  }),
  tooOld('critical', VERY_OLD_SECONDS, 'The same for the critical alert: 2 hours.'),
  tooOld(
    'warning',
    OLD_SECONDS,
    'Age of the oldest cctx of a chain. Usual are 2 to 14 minutes; ZetaChain calls a cctx long-lived from 30 minutes on.',
  ),
  dataAlert(RATE_LIMITER_INPUT, {
    name: 'CrosschainCctxsMissed',
    severity: 'warning',
    comment:
      'Missed cctxs may not be scheduled again. CrosschainOldestPendingTooOld becomes critical when they get old.',
    when: 'Transactions are missed.',
    ...above('crosschain_cctxs_missed', 0),
    forMinutes: 15,
    summary: '{{ $value }} cross-chain transactions are missed.',
    description:
      'For 15 minutes, transactions of {{ $labels.target }} have been pending although a later nonce of their chain is confirmed, {{ $value }} at present. They may need manual action.',
    action: MISSED_ACTION,
    sentence: ({ oldest, duration: lasting }) =>
      `cross-chain transactions have been missed for ${lasting}, ${oldest.value} at present; a later nonce of their chain is confirmed`,
  }),
  dataAlert(RATE_LIMITER_INPUT, {
    name: 'CrosschainRateLimitExceeded',
    severity: 'warning',
    comment:
      'The limit is configured here. Recent ZetaChain nodes do not enforce it; older ones hold back all pending cctxs above it.',
    when: 'The value of past and pending transactions exceeds the configured rate limit.',
    expr: `crosschain_rate_limit_utilization_ratio
and crosschain_rate_limit_exceeded == 1`,
    forMinutes: 10,
    linksToPending: false,
    families: ['crosschain_rate_limit_utilization_ratio', 'crosschain_rate_limit_exceeded'],
    find: ({ samples }) => {
      const utilization = samples.value('crosschain_rate_limit_utilization_ratio');
      if (utilization === undefined) return [];
      return findingIf(samples.value('crosschain_rate_limit_exceeded') === 1, utilization);
    },
    summary: 'the rate limit is exceeded.',
    description:
      'Past and pending transactions of {{ $labels.target }} have exceeded the configured rate limit for 10 minutes, at present {{ $value | humanizePercentage }} of it. A node that enforces the limit holds back all pending transactions.',
    action:
      'Compare rate and window of the configuration with the chain. If they match and the node enforces the limit, all pending transactions wait.',
    sentence: ({ oldest, duration: lasting }) =>
      `the value of cross-chain transactions has exceeded the configured rate limit for ${lasting}, ${percent(oldest.value)} of it at present`,
    inhibits: [{ alert: 'CrosschainRateLimitNear' }],
  }),
  dataAlert(RATE_LIMITER_INPUT, {
    name: 'CrosschainPendingListTruncated',
    severity: 'warning',
    when: 'The node omits pending transactions from its list.',
    ...above('crosschain_cctxs_hidden', 0),
    forMinutes: 10,
    summary: '{{ $value }} pending cross-chain transactions are not listed.',
    description:
      'For 10 minutes, the node has omitted pending transactions of {{ $labels.target }} from its list, {{ $value }} at present. Counts by chain are lower bounds, the oldest transaction may be hidden, and CrosschainBacklogStuck is suspended.',
    action:
      'Remove limit from the configuration if it is set. Otherwise the backlog is longer than the node can list: find out which chain does not move.',
    sentence: ({ oldest, duration: lasting }) =>
      `the node has omitted pending cross-chain transactions from its list for ${lasting}, ${oldest.value} at present`,
  }),
  dataAlert(RATE_LIMITER_INPUT, {
    name: 'CrosschainBacklogHigh',
    severity: 'warning',
    comment: `total_pending includes the cctxs that the node omits from its list.
Pending cctxs of all chains, including hidden ones. Up to 30 are usual; the node lists at most 500.`,
    when: `More than ${BACKLOG_CCTXS} transactions are pending, hidden ones included.`,
    ...above('crosschain_total_pending', BACKLOG_CCTXS),
    forMinutes: 30,
    summary: '{{ $value }} cross-chain transactions are pending.',
    description:
      '{{ $value }} cross-chain transactions of {{ $labels.target }} are missed or pending, and the backlog has been above the threshold for 30 minutes.',
    action: 'Check in the list of pending transactions which chains they wait for.',
    sentence: ({ oldest, duration: lasting }) =>
      `the number of pending cross-chain transactions has been above ${BACKLOG_CCTXS} for ${lasting}, ${oldest.value} at present`,
  }),
  dataAlert(RATE_LIMITER_INPUT, {
    name: 'CrosschainRateLimitNear',
    severity: 'info',
    comment: 'Share of the configured rate limit.',
    when: `The value of past and pending transactions is above ${percent(RATE_LIMIT_RATIO)} of the configured rate limit.`,
    expr: `crosschain_rate_limit_utilization_ratio > ${RATE_LIMIT_RATIO}
and crosschain_rate_limit_exceeded == 0`,
    forMinutes: 10,
    linksToPending: false,
    families: ['crosschain_rate_limit_utilization_ratio', 'crosschain_rate_limit_exceeded'],
    find: ({ samples }) => {
      const utilization = samples.value('crosschain_rate_limit_utilization_ratio');
      if (utilization === undefined || samples.value('crosschain_rate_limit_exceeded') !== 0) return [];
      return findingIf(utilization > RATE_LIMIT_RATIO, utilization);
    },
    summary: 'the rate limit is almost reached.',
    description:
      'Past and pending transactions of {{ $labels.target }} use {{ $value | humanizePercentage }} of the configured rate limit.',
    action: 'Compare rate and window of the configuration with the chain; no other action is needed yet.',
    sentence: ({ oldest }) =>
      `the value of cross-chain transactions is ${percent(oldest.value)} of the configured rate limit`,
  }),
];
