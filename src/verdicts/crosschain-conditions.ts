import {
  above,
  findingIf,
  sampleCondition,
  type AlertLabels,
  type Condition,
  type Finding,
  type LastingFinding,
  type PollView,
} from './condition.js';
import { labelOf } from './samples.js';
import { chainName, count, duration, list, percent } from './sentences.js';
import type { Severity } from './verdict.js';

/* Conditions of the rate limiter input. Within a severity, the cause comes before its consequences. */

const RATE_LIMITER_INPUT = 'rate_limiter_input';

/** CrosschainBacklogHigh: pending transactions of all chains. */
const BACKLOG_CCTXS = 200;
/** CrosschainOldestPendingTooOld: age of the oldest transaction of a chain. */
const OLD_SECONDS = 1800;
const VERY_OLD_SECONDS = 7200;
/** CrosschainRateLimitNear: share of the configured limit. */
const RATE_LIMIT_RATIO = 0.8;

/** Where a transaction is stuck depends on its outbound. */
const OUTBOUND_ACTION =
  'Without an outbound hash, check that enough TSS signers are online; with one, look it up on its chain: observers have to confirm it.';

const MISSED_ACTION =
  'Look up the missed transactions on their chains by nonce: submit the hash of an executed one as a tracker, have the others signed again.';

function chainOf(labels: AlertLabels): string {
  return chainName(labelOf(labels, 'chain'), labelOf(labels, 'chain_id'));
}

/** The lowest pending nonce of each chain. With a truncated list it need not be the lowest one. */
function lowestNonces({ samples }: PollView): readonly Finding[] {
  if (samples.value('crosschain_cctxs_hidden') !== 0) return [];
  const created = samples
    .series('crosschain_oldest_cctx_created_timestamp_seconds')
    .filter(({ labels }) => labels['list'] === 'pending');
  return samples.series('crosschain_lowest_pending_nonce').map(({ labels, value }) => ({
    labels,
    value,
    unchanged: value,
    // Its transaction was not pending before it was created.
    notBeforeSeconds: created.find((own) => own.labels['chain_id'] === labels['chain_id'])?.value,
  }));
}

/** Whether the listed transaction of a nonce has been broadcast, which decides what to do. */
function hashOf({ labels, value }: Finding, { items }: PollView): string {
  if (items?.document !== RATE_LIMITER_INPUT || !items.pending.readable) return '';
  const cctx = items.pending.rows.find(
    ({ chainId, nonce }) => chainId === labels['chain_id'] && Number(nonce) === value,
  );
  if (cctx === undefined || cctx.hash === null) return '';
  return cctx.hash === '' ? ' without an outbound hash' : ' with an outbound hash';
}

function tooOld(severity: Severity, seconds: number): Condition {
  const ageOf = (created: number, { now }: PollView): number => now.epochSeconds - created;
  const describe = ({ labels, value }: LastingFinding, view: PollView): string =>
    `${chainOf(labels)} for ${duration(ageOf(value, view))}${labelOf(labels, 'list') === 'missed' ? ' (missed)' : ''}`;
  return sampleCondition(RATE_LIMITER_INPUT, {
    alert: 'CrosschainOldestPendingTooOld',
    severity,
    thresholds: [seconds],
    forMinutes: 5,
    find: (view) =>
      view.samples
        .series('crosschain_oldest_cctx_created_timestamp_seconds')
        .filter(({ value }) => ageOf(value, view) > seconds),
    summary: ({ all }, view) => {
      const oldestFirst = all.toSorted((a, b) => a.value - b.value);
      const waiting = list(oldestFirst.map((finding) => describe(finding, view)));
      return `cross-chain transactions have waited for more than ${duration(seconds)}: on chain ${waiting}`;
    },
    action: ({ all }) => (all.every(({ labels }) => labels['list'] === 'missed') ? MISSED_ACTION : OUTBOUND_ACTION),
  });
}

export const crosschainConditions: readonly Condition[] = [
  sampleCondition(RATE_LIMITER_INPUT, {
    alert: 'CrosschainBacklogStuck',
    severity: 'critical',
    rangeMinutes: 45,
    forMinutes: 5,
    find: lowestNonces,
    summary: ({ all, lasting }, view) => {
      const chains = all.map(({ labels, value }) => `${chainOf(labels)} at nonce ${value}`);
      const [only, ...others] = all;
      return only !== undefined && others.length === 0
        ? `nothing has moved for ${lasting} on chain ${list(chains)}${hashOf(only, view)}`
        : `nothing has moved for ${lasting} on ${count(chains.length, 'chain')}: ${list(chains)}`;
    },
    action: `Later nonces are executed only after this one. ${OUTBOUND_ACTION}`,
  }),
  tooOld('critical', VERY_OLD_SECONDS),
  tooOld('warning', OLD_SECONDS),
  sampleCondition(RATE_LIMITER_INPUT, {
    alert: 'CrosschainCctxsMissed',
    severity: 'warning',
    forMinutes: 15,
    find: above('crosschain_cctxs_missed', 0),
    summary: ({ oldest, lasting }) =>
      `cross-chain transactions have been missed for ${lasting}, ${oldest.value} at present; a later nonce of their chain is confirmed`,
    action: MISSED_ACTION,
  }),
  sampleCondition(RATE_LIMITER_INPUT, {
    alert: 'CrosschainRateLimitExceeded',
    severity: 'warning',
    forMinutes: 10,
    find: ({ samples }) => {
      const utilization = samples.value('crosschain_rate_limit_utilization_ratio');
      if (utilization === undefined) return [];
      return findingIf(samples.value('crosschain_rate_limit_exceeded') === 1, utilization);
    },
    summary: ({ oldest, lasting }) =>
      `the value of cross-chain transactions has exceeded the configured rate limit for ${lasting}, ${percent(oldest.value)} of it at present`,
    action:
      'Compare rate and window of the configuration with the chain. If they match and the node enforces the limit, all pending transactions wait.',
  }),
  sampleCondition(RATE_LIMITER_INPUT, {
    alert: 'CrosschainPendingListTruncated',
    severity: 'warning',
    forMinutes: 10,
    find: above('crosschain_cctxs_hidden', 0),
    summary: ({ oldest, lasting }) =>
      `the node has omitted pending cross-chain transactions from its list for ${lasting}, ${oldest.value} at present`,
    action:
      'Remove limit from the configuration if it is set. Otherwise the backlog is longer than the node can list: find out which chain does not move.',
  }),
  sampleCondition(RATE_LIMITER_INPUT, {
    alert: 'CrosschainBacklogHigh',
    severity: 'warning',
    thresholds: [BACKLOG_CCTXS],
    forMinutes: 30,
    find: above('crosschain_total_pending', BACKLOG_CCTXS),
    summary: ({ oldest, lasting }) =>
      `the number of pending cross-chain transactions has been above ${BACKLOG_CCTXS} for ${lasting}, ${oldest.value} at present`,
    action: 'Check in the list of pending transactions which chains they wait for.',
  }),
  sampleCondition(RATE_LIMITER_INPUT, {
    alert: 'CrosschainRateLimitNear',
    severity: 'info',
    thresholds: [RATE_LIMIT_RATIO],
    forMinutes: 10,
    find: ({ samples }) => {
      const utilization = samples.value('crosschain_rate_limit_utilization_ratio');
      if (utilization === undefined || samples.value('crosschain_rate_limit_exceeded') !== 0) return [];
      return findingIf(utilization > RATE_LIMIT_RATIO, utilization);
    },
    summary: ({ oldest }) =>
      `the value of cross-chain transactions is ${percent(oldest.value)} of the configured rate limit`,
    action: 'Compare rate and window of the configuration with the chain; no other action is needed yet.',
  }),
];
