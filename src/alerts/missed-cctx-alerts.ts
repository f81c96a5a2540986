import { chainIdsOfType, isScheduledByDistance } from '../chain/known-chains.js';
import { groupBy } from '../facts/grouping.js';
import { count, list, percent } from '../text/format.js';
import { dataAlert, type Inhibition } from './alert.js';
import { CCTXS, byChain, CHAIN, chainOf, ON_CHAIN, RATE_LIMITER_INPUT, THE_CHAIN } from './crosschain-chains.js';
import { countOfValue, ON_TARGET, promDuration } from './promql.js';
import { crosschainItemsOf, listedRows, unixSecondsOf, withList } from './sentences.js';
import { valueAgo, valuesWithin } from './poll-history.js';
import { labelOf } from './samples.js';
import { lastedSince, type AlertLabels, type Finding, type PollView } from './view.js';

/* Alerts on missed cross-chain transactions, and on what waits for them. */

const MISSED_ACTION =
  'A missed transaction was executed: look it up on its chain by its nonce, and have an observer post its hash. Do not abort it, because that can pay twice.';

const MISSED = 'crosschain_cctxs_missed';
const UNLISTED = 'crosschain_cctxs_unlisted';
const DAY_MINUTES = 24 * 60;
const DAY = promDuration(DAY_MINUTES);
const WITHOUT_DETAILS = 'sum without (list, status, coin_type, direction)';
const MISSED_SERIES = `${CCTXS}{list="missed"}`;
const SERIES = `${CHAIN}, status, coin_type, direction`;

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
  const hasIncreased =
    total !== undefined && valuesWithin(view, MISSED, {}, DAY_MINUTES).some((value) => value < total);
  if (!isObservedSinceYesterday && !hasIncreased) return [];
  return missedFindings(view, (labels, value) =>
    Math.max(0, value - (valueAgo(view, CCTXS, labels, DAY_MINUTES) ?? 0)),
  );
}

function countsOf(all: readonly Finding[]): string {
  return list(all.map(({ labels, value }) => `${value} on chain ${chainOf(labels)}`));
}

/* Missed transactions that stop their chain. */

const HIGHEST_NONCE = 'crosschain_highest_pending_nonce';
const LOWEST_MISSED = 'crosschain_lowest_missed_nonce';

const LOOKAHEADS = 'crosschain_schedule_lookahead_nonces';

const lookahead = `max by (${CHAIN}) (${LOOKAHEADS}{chain_id!~"${chainIdsOfType('bitcoin').join('|')}"})`;

/** The nonces that are left of the lookahead of each chain, if they are fewer than this share. */
function noncesLeft(share: number): string {
  return `-(
  ${HIGHEST_NONCE}
  - ${ON_CHAIN} group_left ()
  max by (${CHAIN}) (${LOWEST_MISSED})
)
+ ${ON_CHAIN} group_left () ${lookahead}
  < ${ON_CHAIN} group_left ()
${lookahead} * ${share}`;
}

/** How fast the nonces of a chain rise, if the exporter has observed it for an hour. */
function noncesInLastHour({ labels }: Finding, view: PollView<typeof HIGHEST_NONCE | typeof LOWEST_MISSED>): string {
  const now = byChain(view.samples, HIGHEST_NONCE).get(labelOf(labels, 'chain_id'));
  const hourAgo = valueAgo(view, HIGHEST_NONCE, labels, 60);
  return now === undefined || hourAgo === undefined || now < hourAgo ? '' : ` (${now - hourAgo} in the last hour)`;
}

/** Since when a chain is known to be frozen, in Unix seconds. */
function frozenSince(view: Pick<PollView, 'items'>, chainId: string): number | undefined {
  const chains = listedRows(crosschainItemsOf(view)?.chains);
  return unixSecondsOf(chains.find((own) => own.chainId === chainId)?.frozenSince);
}

function freezeNear(
  severity: 'critical' | 'warning',
  share: number,
  forMinutes: number,
  inhibits: readonly Inhibition[],
) {
  return dataAlert(RATE_LIMITER_INPUT, {
    name: 'CrosschainFreezeNear',
    severity,
    description: `The highest pending nonce of a chain is so far above its lowest missed one that less than ${percent(share)} of the lookahead is left, which is 60 nonces unless the chain says otherwise, 30 on Arbitrum. Clients send nothing further above the missed one. Not on Bitcoin.`,
    expr: noncesLeft(share),
    forMinutes,
    families: [HIGHEST_NONCE, LOWEST_MISSED, LOOKAHEADS],
    find: (view) => {
      const missed = byChain(view.samples, LOWEST_MISSED);
      const lookaheads = byChain(view.samples, LOOKAHEADS);
      return view.samples.series(HIGHEST_NONCE).flatMap(({ labels, value }) => {
        const chainId = labelOf(labels, 'chain_id');
        const nonces = lookaheads.get(chainId);
        const lowest = missed.get(chainId);
        if (nonces === undefined || lowest === undefined || !isScheduledByDistance(chainId)) return [];
        const left = nonces - (value - lowest);
        return left < nonces * share
          ? [{ labels, value: left, start: lastedSince(() => frozenSince(view, chainId)) }]
          : [];
      });
    },
    summary: `${THE_CHAIN} {{ if gt $value 0.0 }}freezes after ${countOfValue('more nonce')}{{ else }}is frozen{{ end }}, because of a missed transaction.`,
    action: `Begin with the lowest missed nonce. ${MISSED_ACTION}`,
    sentence: ({ all }, view) => {
      const fewestFirst = all.toSorted((a, b) => a.value - b.value);
      const missed = byChain(view.samples, LOWEST_MISSED);
      const chains = fewestFirst.map((finding) =>
        finding.value > 0
          ? `${chainOf(finding.labels)} freezes after ${count(finding.value, 'more nonce')}${noncesInLastHour(finding, view)}`
          : `${chainOf(finding.labels)} is frozen behind nonce ${missed.get(labelOf(finding.labels, 'chain_id')) ?? 'unknown'}`,
      );
      const what =
        all.length === 1 ? 'a missed transaction stops its chain' : `missed transactions stop ${all.length} chains`;
      return withList(what, list(chains));
    },
    inhibits: [{ alert: 'CrosschainCctxsMissed', equal: ['chain_id'] }, ...inhibits],
  });
}

export const missedAlerts = [
  freezeNear('critical', 0.2, 2, [
    { alert: 'CrosschainBacklogStuck', equal: ['chain_id'] },
    { alert: 'CrosschainOldestPendingTooOld', equal: ['chain_id'] },
  ]),
  freezeNear('warning', 0.5, 5, []),
  dataAlert(RATE_LIMITER_INPUT, {
    name: 'CrosschainCctxsMissed',
    severity: 'warning',
    description:
      'More transactions of a chain are missed than a day ago: they are pending although a later nonce of the chain is confirmed. Too many nonces above one, the chain freezes.',
    // Without data from a day ago, more than at some time since then, so that a new exporter does not report what has been missed for long.
    expr: missedSinceYesterday,
    forMinutes: 15,
    families: [MISSED, CCTXS],
    find: findMissedSinceYesterday,
    summary: `${countOfValue('more cross-chain transaction')} on ${THE_CHAIN} missed than a day ago.`,
    action: MISSED_ACTION,
    sentence: ({ all }) => withList('more cross-chain transactions are missed than a day ago', countsOf(all)),
  }),
  dataAlert(RATE_LIMITER_INPUT, {
    name: 'CrosschainCctxsUnlisted',
    severity: 'warning',
    description:
      'Transactions of a chain have left the lists, and the node says that they are pending: they are so far below the lowest nonce of the chain that no client works on them any more.',
    // A node that is behind the one of the document says for moments that a finished transaction is pending.
    expr: `${UNLISTED} > 0`,
    forMinutes: 15,
    families: [UNLISTED],
    find: ({ samples }) => samples.series(UNLISTED).filter(({ value }) => value > 0),
    summary: `${countOfValue('cross-chain transaction')} on ${THE_CHAIN} pending and no longer listed.`,
    action:
      'Clients see it no more, so a posted hash does not help: look it up on its chain by its nonce, and have enough observers vote for its outbound by hand. An abort can pay twice.',
    sentence: ({ all }) => withList('cross-chain transactions are pending and no longer listed', countsOf(all)),
  }),
];
