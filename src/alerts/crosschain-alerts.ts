import {
  chainIdsOfType,
  chainType,
  knownChains,
  LOOKAHEAD,
  lookaheadOf,
  type ChainType,
} from '../chain/known-chains.js';
import { groupBy } from '../metrics/grouping.js';
import { count, duration, list, percent } from '../text/format.js';
import { above, dataAlert, type Inhibition, type Severity } from './alert.js';
import { countOfValue, indent, ON_TARGET, promDuration, TARGET } from './promql.js';
import { chainName } from './sentences.js';
import {
  findingIf,
  labelOf,
  lowestPast,
  MINUTE_MS,
  valueAgo,
  type AlertLabels,
  type DatedFinding,
  type Finding,
  type PollView,
  type Samples,
} from './view.js';

/* Alerts on the rate limiter input. Within a severity, the cause comes before its consequences. */

const RATE_LIMITER_INPUT = 'rate_limiter_input';

/** Share of the configured limit. */
export const RATE_LIMIT_RATIO = 0.8;

const CHAIN = `${TARGET}, chain_id`;
const ON_CHAIN = `on (${CHAIN})`;
const HOUR_SECONDS = 3600;

/** In the texts of an alert about a chain. */
const THE_CHAIN =
  'chain {{ with $labels.chain }}{{ . }} ({{ $labels.chain_id }}){{ else }}{{ $labels.chain_id }}{{ end }}';

/** What the hash of an outbound tells. */
const hashActions: Readonly<Record<ChainType, string>> = {
  evm: 'On an EVM chain, an outbound with a hash is in a block and waits for confirmations or votes. Without one, compare its nonce with the transactions of the signers: it is not sent, in the mempool, or executed.',
  bitcoin:
    'On Bitcoin, an outbound with a hash was broadcast: check its fee and its confirmations. Without one, check the signers.',
  other:
    'On this chain, an outbound with a hash was executed and waits for votes. Without one, check the relayer and the signers.',
};

const MISSED_ACTION =
  'A missed transaction was executed: look it up on its chain by its nonce, and have an observer post its hash. Do not abort it, because that can pay twice.';

/** The action for the chain of an alert. */
const hashAction = `{{ if ${isChainOfType('bitcoin')} }}${hashActions.bitcoin}{{ else if ${isChainOfType('other')} }}${hashActions.other}{{ else }}${hashActions.evm}{{ end }}`;

function isChainOfType(type: ChainType): string {
  return `eq $labels.chain_id ${chainIdsOfType(type)
    .map((id) => `"${id}"`)
    .join(' ')}`;
}

/** The actions for the chains of all findings. */
function hashActionsOf(all: readonly Finding[]): string {
  const types = new Set(all.map(({ labels }) => chainType(labelOf(labels, 'chain_id'))));
  return Array.from(types, (type) => hashActions[type]).join(' ');
}

function chainOf(labels: AlertLabels): string {
  return chainName(labelOf(labels, 'chain'), labelOf(labels, 'chain_id'));
}

/** The values of a family by chain. */
function byChain<Family extends string>(samples: Samples<Family>, family: Family): ReadonlyMap<string, number> {
  return new Map(samples.series(family).map(({ labels, value }) => [labelOf(labels, 'chain_id'), value]));
}

/** The query of the value of a metric for the chain of an alert, in a text. */
function queryOfChain(metric: string, fn: (selector: string) => string): string {
  const labels = CHAIN.split(', ');
  const selector = `${metric}{${labels.map((label) => `${label}=%q`).join(', ')}}`;
  return `query (printf "max(${fn(selector)})" ${labels.map((label) => `$labels.${label}`).join(' ')})`;
}

const AGE_LIMIT = 'crosschain_age_limit_seconds';

/** The limit of each chain, aggregated for a join. */
function ageLimits(limit = AGE_LIMIT): string {
  return `max by (${CHAIN}) (${limit})`;
}

/** The age limit of the critical alert, from an expression of the age limit: four times the limit, twice from an hour on. */
export function criticalAge(limit: string): string {
  return `${limit} * 4 < ${4 * HOUR_SECONDS} or ${limit} * 2`;
}

function criticalAgeSeconds(limitSeconds: number): number {
  return limitSeconds < HOUR_SECONDS ? limitSeconds * 4 : limitSeconds * 2;
}

/* The lowest pending nonce of a chain. */

const NONCE_CHANGED = 'crosschain_lowest_pending_nonce_changed_timestamp_seconds';
const LOWEST_NONCE = 'crosschain_lowest_pending_nonce';
const OLDEST = 'crosschain_oldest_cctx_created_timestamp_seconds';
const HIDDEN = 'crosschain_cctxs_hidden';

/** After a halt of the hub, all chains need some minutes. */
const STUCK_FOR_MINUTES = 5;

function findStuck({
  samples,
  history: { firstSuccessAt },
  now,
}: PollView<typeof NONCE_CHANGED | typeof LOWEST_NONCE | typeof OLDEST | typeof HIDDEN | typeof AGE_LIMIT>): Finding[] {
  // A truncated list does not tell whether the nonce has changed.
  if (samples.value(HIDDEN) !== 0) return [];
  const limits = byChain(samples, AGE_LIMIT);
  const nonces = byChain(samples, LOWEST_NONCE);
  const pending = samples.series(OLDEST).filter(({ labels }) => labels['list'] === 'pending');
  return samples.series(NONCE_CHANGED).flatMap(({ labels, value: changedSeconds }) => {
    const chainId = labelOf(labels, 'chain_id');
    const limitSeconds = limits.get(chainId);
    const nonce = nonces.get(chainId);
    if (limitSeconds === undefined || nonce === undefined) return [];
    const ageSeconds = now.epochSeconds - changedSeconds;
    return {
      labels,
      value: nonce,
      since: { epochSeconds: changedSeconds, monotonicMs: now.monotonicMs - ageSeconds * 1000 },
      // The exporter does not know when the nonces of the first document have changed.
      mayBeOlder: firstSuccessAt !== undefined && changedSeconds <= firstSuccessAt.epochSeconds,
      // Its transaction was not pending before it was created.
      notBeforeSeconds: pending.find((own) => own.labels['chain_id'] === chainId)?.value,
      requiredMs: limitSeconds * 1000 + STUCK_FOR_MINUTES * MINUTE_MS,
    };
  });
}

/** Whether somebody has posted a hash for the transaction of a nonce; empty for a node that lists no hashes. */
function hashOf({ labels, value }: Finding, { items }: Pick<PollView, 'items'>): string {
  if (items?.document !== RATE_LIMITER_INPUT || !items.pending.readable) return '';
  const { rows } = items.pending;
  const cctx = rows.find(({ chainId, nonce }) => chainId === labels['chain_id'] && Number(nonce) === value);
  if (cctx === undefined || !rows.some(({ hash }) => hash !== null && hash !== '')) return '';
  return cctx.hash === '' ? ' without an outbound hash' : ' with an outbound hash';
}

/* The oldest pending transaction of a chain. */

function tooOld(severity: Extract<Severity, 'critical' | 'warning'>, comment: string) {
  const isCritical = severity === 'critical';
  return dataAlert(RATE_LIMITER_INPUT, {
    name: 'CrosschainOldestPendingTooOld',
    severity,
    comment,
    when: isCritical
      ? 'The oldest pending transaction of a chain is older than four times the age limit of the chain, or twice from a limit of an hour on.'
      : 'The oldest pending transaction of a chain is older than the age limit of the chain.',
    expr: `time() - ${OLDEST}{list="pending"}
> ${ON_CHAIN} group_left ()
${isCritical ? ageLimits(criticalAge(AGE_LIMIT)) : ageLimits()}`,
    forMinutes: 5,
    families: [OLDEST, AGE_LIMIT],
    find: ({ samples, now }) => {
      const limits = byChain(samples, AGE_LIMIT);
      return samples.series(OLDEST).flatMap(({ labels, value }) => {
        const ageLimit = limits.get(labelOf(labels, 'chain_id')) ?? Infinity;
        const limit = isCritical ? criticalAgeSeconds(ageLimit) : ageLimit;
        const isTooOld = labels['list'] === 'pending' && now.epochSeconds - value > limit;
        return isTooOld ? [{ labels, value, provenSinceSeconds: () => value + limit }] : [];
      });
    },
    summary: `a pending transaction on ${THE_CHAIN} is {{ $value | humanizeDuration }} old.`,
    description: `The oldest pending cross-chain transaction of {{ $labels.target }} on ${THE_CHAIN} was created {{ $value | humanizeDuration }} ago${isCritical ? ', far longer than the age limit of the chain' : ', longer than the age limit of the chain'}.`,
    action: hashAction,
    sentence: ({ all }, { now }) => {
      const describe = ({ labels, value }: DatedFinding): string =>
        `${chainOf(labels)} for ${duration(now.epochSeconds - value)}`;
      const oldestFirst = all.toSorted((a, b) => a.value - b.value);
      return `cross-chain transactions have waited ${isCritical ? 'far ' : ''}longer than the age limit of their chain: on chain ${list(oldestFirst.map(describe))}`;
    },
    actionFor: ({ all }) => hashActionsOf(all),
  });
}

/* Missed transactions. */

const MISSED = 'crosschain_cctxs_missed';
const CCTXS = 'crosschain_cctxs';
const DAY_MINUTES = 24 * 60;
const DAY = promDuration(DAY_MINUTES);
const WITHOUT_DETAILS = 'sum without (list, status, coin_type, direction)';
const MISSED_SERIES = `${CCTXS}{list="missed"}`;
const SERIES = `${CHAIN}, status, coin_type, direction`;

const missedByChain = `${WITHOUT_DETAILS} (${MISSED_SERIES})`;

const missedSinceYesterday = `${WITHOUT_DETAILS} (
  (
    ${MISSED_SERIES}
    - on (${SERIES}) group_left ()
    max by (${SERIES}) (${MISSED_SERIES} offset ${DAY})
  ) > 0
  or
  (${MISSED_SERIES} unless on (${SERIES}) ${MISSED_SERIES} offset ${DAY})
)
and ${ON_TARGET} (
  ${MISSED} offset ${DAY}
  or
  ${MISSED} > min_over_time(${MISSED}[${DAY}])
)`;

type MissedView = PollView<typeof MISSED | typeof CCTXS>;

/** The numbers of missed transactions by chain. */
function missedFindings(
  { samples }: MissedView,
  countOf: (labels: AlertLabels, value: number) => number,
): readonly Finding[] {
  const missed = samples.series(CCTXS).filter(({ labels }) => labels['list'] === 'missed');
  const byChainId = groupBy(missed, ({ labels }) => labelOf(labels, 'chain_id'));
  return Array.from(byChainId, ([chainId, series]) => ({
    labels: { chain_id: chainId, chain: labelOf(series[0]?.labels ?? {}, 'chain') },
    value: series.reduce((sum, { labels, value }) => sum + countOf(labels, value), 0),
  })).filter(({ value }) => value > 0);
}

function findMissedSinceYesterday(view: MissedView): readonly Finding[] {
  const total = view.samples.value(MISSED);
  const isObservedSinceYesterday = valueAgo(view, MISSED, {}, DAY_MINUTES) !== undefined;
  const hasIncreased = total !== undefined && total > (lowestPast(view, MISSED, {}) ?? total);
  if (!isObservedSinceYesterday && !hasIncreased) return [];
  return missedFindings(view, (labels, value) =>
    Math.max(0, value - (valueAgo(view, CCTXS, labels, DAY_MINUTES) ?? 0)),
  );
}

function findMissedForLong(view: MissedView): readonly Finding[] {
  const recent = new Set(findMissedSinceYesterday(view).map(({ labels }) => labels['chain_id']));
  return missedFindings(view, (_labels, value) => value).filter(({ labels }) => !recent.has(labels['chain_id']));
}

function missedOf(all: readonly Finding[]): string {
  return list(all.map(({ labels, value }) => `${value} on chain ${chainOf(labels)}`));
}

/* Missed transactions that stop their chain. */

const HIGHEST_NONCE = 'crosschain_highest_pending_nonce';
const LOWEST_MISSED = 'crosschain_lowest_missed_nonce';

/** Chains with a lookahead of their own. */
const lookaheads = Array.from(knownChains).flatMap(([chainId, { lookahead }]) =>
  lookahead === undefined ? [] : [{ chainId, lookahead }],
);

/** The nonces that are left of the lookahead of each chain, if they are fewer than this share. */
function noncesLeft(share: number): string {
  const ofChains = (matcher: string, lookahead: number): string => `${lookahead} - (
  ${HIGHEST_NONCE}{chain_id${matcher}}
  - ${ON_CHAIN} group_left ()
  max by (${CHAIN}) (${LOWEST_MISSED})
) < ${Math.round(lookahead * share)}`;
  const others = [...chainIdsOfType('bitcoin'), ...lookaheads.map(({ chainId }) => chainId)];
  return [
    ofChains(`!~"${others.join('|')}"`, LOOKAHEAD),
    ...lookaheads.map(({ chainId, lookahead }) => ofChains(`="${chainId}"`, lookahead)),
  ].join('\nor\n');
}

/** How fast the nonces of a chain rise, if the exporter has observed it for an hour. */
function noncesInLastHour({ labels }: Finding, view: PollView<typeof HIGHEST_NONCE | typeof LOWEST_MISSED>): string {
  const now = byChain(view.samples, HIGHEST_NONCE).get(labelOf(labels, 'chain_id'));
  const hourAgo = valueAgo(view, HIGHEST_NONCE, labels, 60);
  return now === undefined || hourAgo === undefined || now < hourAgo ? '' : ` (${now - hourAgo} in the last hour)`;
}

function freezeNear(
  severity: Extract<Severity, 'critical' | 'warning'>,
  share: number,
  forMinutes: number,
  inhibits: readonly Inhibition[],
) {
  return dataAlert(RATE_LIMITER_INPUT, {
    name: 'CrosschainFreezeNear',
    severity,
    comment: `Clients send no nonce that is further above the lowest missed one than their lookahead: ${LOOKAHEAD}, on Arbitrum 30. Less than ${percent(share)}
of it is left. Bitcoin is not scheduled by the distance of nonces.`,
    when: `The highest pending nonce of a chain is so far above its lowest missed one that less than ${percent(share)} of the lookahead is left. Not on Bitcoin.`,
    expr: noncesLeft(share),
    forMinutes,
    families: [HIGHEST_NONCE, LOWEST_MISSED],
    find: ({ samples }) => {
      const missed = byChain(samples, LOWEST_MISSED);
      return samples.series(HIGHEST_NONCE).flatMap(({ labels, value }) => {
        const chainId = labelOf(labels, 'chain_id');
        const lookahead = lookaheadOf(chainId);
        const lowest = missed.get(chainId);
        if (lookahead === undefined || lowest === undefined) return [];
        const left = lookahead - (value - lowest);
        return left < Math.round(lookahead * share) ? [{ labels, value: left }] : [];
      });
    },
    summary: `${THE_CHAIN} {{ if gt $value 0.0 }}freezes after ${countOfValue('more nonce')}{{ else }}is frozen{{ end }}, because of a missed transaction.`,
    description: `Clients send nothing on ${THE_CHAIN} of {{ $labels.target }} when its missed transaction is too far behind: {{ if gt $value 0.0 }}${countOfValue('more nonce')}{{ else }}now{{ end }}.{{ with ${queryOfChain(HIGHEST_NONCE, (selector) => `delta(${selector}[1h])`)} }} In the last hour, nonces have increased by {{ . | first | value | printf "%.0f" }}.{{ end }}`,
    action: `Begin with the lowest missed nonce. ${MISSED_ACTION}`,
    sentence: ({ all }, view) => {
      const fewestFirst = all.toSorted((a, b) => a.value - b.value);
      const chains = fewestFirst.map((finding) =>
        finding.value > 0
          ? `${chainOf(finding.labels)} freezes after ${count(finding.value, 'more nonce')}${noncesInLastHour(finding, view)}`
          : `${chainOf(finding.labels)} is frozen`,
      );
      return `a missed transaction stops its chain: ${list(chains)}`;
    },
    inhibits: [{ alert: 'CrosschainCctxsMissed', equal: ['chain_id'] }, ...inhibits],
  });
}

export const crosschainAlerts = [
  freezeNear('critical', 0.2, 2, [
    { alert: 'CrosschainBacklogStuck', equal: ['chain_id'] },
    { alert: 'CrosschainOldestPendingTooOld', equal: ['chain_id'] },
  ]),
  dataAlert(RATE_LIMITER_INPUT, {
    name: 'CrosschainBacklogStuck',
    severity: 'critical',
    comment: `A truncated list does not tell whether the lowest nonce has changed, so it changes nothing: the next complete list tells.
After a halt of the hub, all chains need some minutes.`,
    when: 'The lowest pending nonce of a chain has not changed for longer than the age limit of the chain.',
    expr: `time() - ${NONCE_CHANGED}
> ${ON_CHAIN} group_left ()
${ageLimits()}
and ${ON_TARGET} ${HIDDEN} == 0`,
    forMinutes: STUCK_FOR_MINUTES,
    families: [NONCE_CHANGED, LOWEST_NONCE, OLDEST, HIDDEN, AGE_LIMIT, CCTXS],
    find: findStuck,
    summary: `nothing has moved on ${THE_CHAIN} for {{ $value | humanizeDuration }}.`,
    description: `The lowest pending nonce of {{ $labels.target }} on ${THE_CHAIN}{{ with ${queryOfChain(LOWEST_NONCE, (selector) => selector)} }}, {{ . | first | value | printf "%.0f" }},{{ end }} has not changed for {{ $value | humanizeDuration }}, longer than the age limit of the chain. Later nonces wait for it.`,
    action: `If a transaction of the chain is missed, begin with that. ${hashAction}`,
    sentence: ({ all, duration: lasting }, view) => {
      const chains = all.map(({ labels, value }) => `${chainOf(labels)} at nonce ${value}`);
      const [only, ...others] = all;
      return only !== undefined && others.length === 0
        ? `nothing has moved for ${lasting} on chain ${list(chains)}${hashOf(only, view)}`
        : `nothing has moved for ${lasting} on ${count(chains.length, 'chain')}: ${list(chains)}`;
    },
    actionFor: ({ all }, { samples }) => {
      const missed = samples.series(CCTXS).filter(({ labels, value }) => labels['list'] === 'missed' && value > 0);
      const chains = new Set(missed.map(({ labels }) => labels['chain_id']));
      const hasMissed = all.some(({ labels }) => chains.has(labels['chain_id']));
      return hasMissed
        ? `Begin with the missed transactions of the chain, the lowest nonce first. ${hashActionsOf(all)}`
        : hashActionsOf(all);
    },
    inhibits: [{ alert: 'CrosschainOldestPendingTooOld', equal: ['chain_id'] }],
  }),
  tooOld(
    'critical',
    `Four times the age limit of the chain, which is 2 hours by default; twice from a limit of an hour on, which is 4 hours on Bitcoin.`,
  ),
  freezeNear('warning', 0.5, 5, []),
  tooOld(
    'warning',
    `The age limit of the chain: by default 30 minutes, because 2 to 14 are usual and ZetaChain calls a cctx long-lived from then on; 2 hours on Bitcoin.
Missed ones are the matter of CrosschainCctxsMissed.`,
  ),
  dataAlert(RATE_LIMITER_INPUT, {
    name: 'CrosschainCctxsMissed',
    severity: 'warning',
    comment: `More than a day ago, for transactions of the same chain, status and coin type. Without data from a day ago, more than at some time since then,
so that a new exporter does not report what has been missed for long.`,
    when: 'More transactions of a chain are missed than a day ago.',
    expr: missedSinceYesterday,
    forMinutes: 15,
    families: [MISSED, CCTXS],
    find: findMissedSinceYesterday,
    summary: `${countOfValue('more cross-chain transaction')} on ${THE_CHAIN} missed than a day ago.`,
    description: `Transactions of {{ $labels.target }} on ${THE_CHAIN} are pending although a later nonce of the chain is confirmed, {{ $value }} more than a day ago. Too many nonces above one, the chain freezes.`,
    action: MISSED_ACTION,
    sentence: ({ all }) => `more cross-chain transactions are missed than a day ago: ${missedOf(all)}`,
  }),
  dataAlert(RATE_LIMITER_INPUT, {
    name: 'CrosschainPendingListTruncated',
    severity: 'warning',
    when: 'The node omits pending transactions from its list.',
    ...above(HIDDEN, 0),
    forMinutes: 10,
    summary: `${countOfValue('pending cross-chain transaction is', 'pending cross-chain transactions are')} not listed.`,
    description:
      'For at least 10 minutes, the node has omitted pending transactions of {{ $labels.target }} from its list, {{ $value }} at present. Counts by chain are lower bounds, the oldest transaction may be hidden, and CrosschainBacklogStuck waits for a complete list.',
    action:
      'Remove limit from the configuration if it is set. Otherwise the backlog is longer than the 500 that a node lists: find out which chain does not move.',
    sentence: ({ oldest, duration: lasting }) =>
      `the node has omitted pending cross-chain transactions from its list for ${lasting}, ${oldest.value} at present`,
  }),
  dataAlert(RATE_LIMITER_INPUT, {
    name: 'CrosschainBacklogHigh',
    severity: 'warning',
    comment: 'Pending cctxs of all chains, including those that the node omits from its list.',
    when: 'More transactions are pending than `crosschain.backlog_limit`, hidden ones included.',
    expr: `crosschain_total_pending
> ${ON_TARGET} group_left ()
max by (${TARGET}) (crosschain_backlog_limit_cctxs)`,
    forMinutes: 30,
    families: ['crosschain_total_pending', 'crosschain_backlog_limit_cctxs'],
    find: ({ samples }) => {
      const pending = samples.value('crosschain_total_pending');
      const limit = samples.value('crosschain_backlog_limit_cctxs');
      return pending === undefined || limit === undefined ? [] : findingIf(pending > limit, pending);
    },
    summary: `${countOfValue('cross-chain transaction is', 'cross-chain transactions are')} pending.`,
    description:
      'The backlog of {{ $labels.target }} has been above its limit for at least 30 minutes; {{ $value }} cross-chain transactions are missed or pending.',
    action:
      'Check whether outbounds are switched off (crosschain_flags), then in the list of pending transactions which chains they wait for.',
    sentence: ({ oldest, duration: lasting }, { samples }) =>
      `the number of pending cross-chain transactions has been above ${samples.value('crosschain_backlog_limit_cctxs') ?? 'its limit'} for ${lasting}, ${oldest.value} at present`,
  }),
  dataAlert(RATE_LIMITER_INPUT, {
    name: 'CrosschainCctxsMissed',
    severity: 'info',
    comment: 'Those of chains without new ones.',
    when: 'Transactions of a chain have been missed for long, except those that `crosschain.ignore` takes out.',
    expr: `${missedByChain}
unless ${ON_CHAIN}
(
${indent(missedSinceYesterday)}
)`,
    forMinutes: 15,
    families: [MISSED, CCTXS],
    find: findMissedForLong,
    summary: `${countOfValue('cross-chain transaction')} on ${THE_CHAIN} missed for long.`,
    description: `Transactions of {{ $labels.target }} on ${THE_CHAIN} are pending although a later nonce of the chain is confirmed, {{ $value }} at present. Their number has not risen within a day.`,
    action: `${MISSED_ACTION} Take those that nobody can clear out with crosschain.ignore.`,
    sentence: ({ all }) => `cross-chain transactions have been missed for long: ${missedOf(all)}`,
  }),
  dataAlert(RATE_LIMITER_INPUT, {
    name: 'CrosschainRateLimitExceeded',
    severity: 'info',
    comment:
      'The limit is configured here. Nobody has enforced it since zetaclient 27; clients 19 to 26 hold back all pending cctxs above it.',
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
      'Past and pending transactions of {{ $labels.target }} have exceeded the configured rate limit for at least 10 minutes, at present {{ $value | humanizePercentage }} of it. Nobody has enforced it since zetaclient 27; clients 19 to 26 hold back all pending transactions.',
    action:
      'Compare rate and window of the configuration with the flags of the chain. With zetaclient 27 and newer, nothing waits for the limit.',
    sentence: ({ oldest, duration: lasting }) =>
      `the value of cross-chain transactions has exceeded the configured rate limit for ${lasting}, ${percent(oldest.value)} of it at present`,
    inhibits: [{ alert: 'CrosschainRateLimitNear' }],
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
      'Past and pending transactions of {{ $labels.target }} use {{ $value | humanizePercentage }} of the configured rate limit, which nobody has enforced since zetaclient 27.',
    action: 'Compare rate and window of the configuration with the flags of the chain; no other action is needed.',
    sentence: ({ oldest }) =>
      `the value of cross-chain transactions is ${percent(oldest.value)} of the configured rate limit`,
  }),
];
