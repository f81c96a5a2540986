import { isScheduledByDistance, knownChains } from '../../src/chain/known-chains.js';
import { chainVariable, commonVariables, exporterUrlVariable, pendingItemsLink } from './filters.js';
import { type Dashboard, graph, type Row, table, timeline, type ValueTexts } from './grafana.js';
import { backlogShareColumn, problemColumn } from './problem-table.js';
import { worst } from './problems.js';
import { CLUSTER, ageOf, CHAIN, changeOf, latest, orNothing, orZero, type Selection, sumBy } from './queries.js';

const TARGET = `{{${CLUSTER}}} {{target}}`;
const CHAIN_NAME = `${TARGET} {{chain}} {{chain_id}}`;
const SELECTED = 'chain_id=~"$chain_id"';
/** Of the selected chains. */
const byChain = (...where: readonly string[]): Selection => ({ by: CHAIN, where: [SELECTED, ...where] });

const listed = (by: readonly string[], ...where: readonly string[]): string =>
  sumBy(
    by,
    latest('crosschain_cctxs', {
      by: [...CHAIN, 'list', 'status', 'coin_type', 'direction'],
      where: [SELECTED, ...where],
    }),
  );

const oldestPending = ageOf('crosschain_oldest_cctx_created_timestamp_seconds', byChain('list="pending"'));

const ageLimit = latest('crosschain_age_limit_seconds', byChain());
const perChain = (left: string, operator: string, right: string): string =>
  `${left} ${operator} on (${CLUSTER}, target, chain_id, chain) ${right}`;

const unchangedFor = ageOf('crosschain_lowest_pending_nonce_changed_timestamp_seconds', byChain());
const noncesDone = changeOf('crosschain_lowest_pending_nonce', '15m', byChain());
/** A missed transaction does not block a chain whose clients do not look at the distance. */
const withoutLookahead = Array.from(knownChains.keys()).filter((chainId) => !isScheduledByDistance(chainId));
const lookahead = latest('crosschain_schedule_lookahead_nonces', byChain(`chain_id!~"${withoutLookahead.join('|')}"`));
export const lookaheadUsed = perChain(
  `(${perChain(latest('crosschain_highest_pending_nonce', byChain()), '-', latest('crosschain_lowest_missed_nonce', byChain()))})`,
  '/',
  lookahead,
);
const LOOKAHEAD = [
  ['transparent', null],
  ['orange', 0.5],
  ['red', 0.8],
] as const;
const NONE: ValueTexts = { '-1': ['none', 'transparent'] };
const SWITCH = { '0': ['off', 'orange'], '1': ['on', 'transparent'] } as const;

const now: Row = {
  title: 'Now',
  panels: [
    table({
      title: 'Hubs',
      description:
        'Does the hub send and accept transactions, and is its list complete? Of limit: pending and missed ones as a share of backlog_limit. Hidden ones are left out of the list by the node: then everything by chain is a lower bound. A dash: not known, or not configured.',
      noValue: 'no hub is polled, or its data is not current',
      height: 5,
      labels: { target: 'Target' },
      lastLabels: { [CLUSTER]: 'Cluster' },
      links: { Target: [pendingItemsLink] },
      columns: [
        problemColumn([], latest('crosschain_total_pending'), 'problem=~"Crosschain.+"'),
        { title: 'Outbound', expr: latest('crosschain_outbound_enabled'), unit: 'none', texts: SWITCH },
        { title: 'Inbound', expr: latest('crosschain_inbound_enabled'), unit: 'none', texts: SWITCH },
        { title: 'Pending', expr: latest('crosschain_total_pending'), unit: 'short' },
        backlogShareColumn(latest('crosschain_total_pending'), latest('crosschain_backlog_limit_cctxs')),
        { title: 'Missed', expr: latest('crosschain_cctxs_missed'), unit: 'short' },
        { title: 'Hidden', expr: latest('crosschain_cctxs_hidden'), unit: 'short' },
        { title: 'Ignored', expr: sumBy([], latest('crosschain_cctxs_ignored', { by: ['list'] })), unit: 'short' },
        {
          title: 'Rate limit',
          expr: latest('crosschain_rate_limit_utilization_ratio'),
          unit: 'percentunit',
          decimals: 0,
        },
      ],
    }),
    table({
      title: 'Chains',
      description:
        'On which chain do transactions wait, for how long, and does it move? A chain is stuck when its oldest transaction is above the limit and its lowest nonce stays. Missed ones are below the lowest nonce and not finished; too many nonces above the lowest missed one, the chain freezes: when the lookahead is used up, except on Bitcoin. A dash: not known, or without a lookahead.',
      noValue: 'no transaction is listed',
      height: 10,
      labels: { target: 'Target', chain: 'Chain', chain_id: 'Id' },
      lastLabels: { [CLUSTER]: 'Cluster' },
      links: { Target: [pendingItemsLink] },
      columns: [
        {
          ...problemColumn([], ''),
          expr: orZero(
            `0 * ${ageLimit} + on (${CLUSTER}, target, chain_id) group_left () (${worst(['chain_id'], 'chain_id!=""', SELECTED)})`,
            CHAIN,
            ageLimit,
          ),
        },
        { title: 'Pending', expr: orZero(listed(CHAIN, 'list="pending"'), CHAIN, ageLimit), unit: 'short' },
        { title: 'Oldest', expr: orNothing(oldestPending, CHAIN, ageLimit), unit: 'dtdhms', texts: NONE },
        { title: 'Limit', expr: ageLimit, unit: 'dtdhms' },
        { title: 'Lowest nonce', expr: latest('crosschain_lowest_pending_nonce', byChain()), unit: 'none' },
        { title: 'Unchanged', expr: unchangedFor, unit: 'dtdhms' },
        {
          title: 'Without hash',
          expr: latest('crosschain_cctxs_without_hash', { by: CHAIN, where: ['list="pending"'] }),
          unit: 'short',
        },
        { title: 'Missed', expr: orZero(listed(CHAIN, 'list="missed"'), CHAIN, ageLimit), unit: 'short' },
        {
          title: 'Missed nonce',
          expr: orNothing(latest('crosschain_lowest_missed_nonce', byChain()), CHAIN, ageLimit),
          unit: 'none',
          texts: NONE,
        },
        {
          title: 'Lookahead used',
          expr: orNothing(lookaheadUsed, CHAIN, lookahead),
          unit: 'percentunit',
          decimals: 0,
          texts: { '-1': ['none missed', 'transparent'] },
          thresholds: LOOKAHEAD,
        },
      ],
      widths: { Pending: 90, Limit: 90, Missed: 90, 'Lookahead used': 140 },
      sortBy: [{ column: 'Oldest', isDescending: true }],
    }),
    graph({
      title: 'Pending by chain',
      description: 'Does the backlog of a single chain grow? Then check that chain and its signers.',
      noValue: 'no transaction is listed',
      unit: 'short',
      min: 0,
      isStacked: true,
      series: [{ expr: listed(CHAIN, 'list="pending"'), legend: CHAIN_NAME }],
    }),
    graph({
      title: 'Oldest pending, as share of the limit',
      description:
        'On which chain does the oldest transaction not finish? A line that rises without a drop; from 100 % on it is too old for its chain.',
      noValue: 'no transaction is pending',
      unit: 'percentunit',
      min: 0,
      thresholds: [
        ['text', null],
        ['orange', 1],
      ],
      series: [{ expr: perChain(`(${oldestPending})`, '/', ageLimit), legend: CHAIN_NAME }],
    }),
  ],
};

const blocking: Row = {
  title: 'What blocks a chain',
  isCollapsed: true,
  panels: [
    graph({
      title: 'Nonces done in 15 minutes',
      description:
        'Does the lowest pending nonce of a chain move? Zero with pending transactions: the chain waits for its first one. Below zero: the signers have a new key, or an older one is pending again.',
      noValue: 'no transaction is listed',
      unit: 'short',
      series: [{ expr: noncesDone, legend: CHAIN_NAME }],
    }),
    graph({
      title: 'Lowest nonce unchanged for',
      description: 'Since when does a chain wait for its first transaction? Up to two hours are normal on Bitcoin.',
      noValue: 'no transaction is listed',
      unit: 'dtdhms',
      min: 0,
      series: [{ expr: unchangedFor, legend: CHAIN_NAME }],
    }),
    graph({
      title: 'Missed',
      description:
        'Which chains have transactions below their lowest nonce that are not finished? An observer has to post their hash.',
      noValue: 'none is missed',
      unit: 'short',
      min: 0,
      series: [{ expr: listed(CHAIN, 'list="missed"'), legend: CHAIN_NAME }],
    }),
    graph({
      title: 'Lookahead used',
      description:
        'When does a chain freeze because of a missed transaction? Clients send nothing further above it than the lookahead: from 100 % on the chain is frozen. Not on Bitcoin.',
      noValue: 'none is missed, or nothing is pending above it',
      unit: 'percentunit',
      min: 0,
      thresholds: [['text', null], ...LOOKAHEAD.slice(1)],
      series: [{ expr: lookaheadUsed, legend: CHAIN_NAME }],
    }),
    graph({
      title: 'Without hash',
      description:
        'For how many transactions has nobody posted a hash? On EVM chains they can still be in the mempool, on Bitcoin they were not broadcast.',
      noValue: 'no transaction is listed',
      unit: 'short',
      min: 0,
      series: [
        {
          expr: sumBy(CHAIN, latest('crosschain_cctxs_without_hash', { by: [...CHAIN, 'list'], where: [SELECTED] })),
          legend: CHAIN_NAME,
        },
      ],
    }),
    graph({
      title: 'Unlisted',
      description:
        'Which transactions does nobody work on any more? They are pending, and so far below the lowest nonce that the node does not list them.',
      noValue: 'none is known, or cctx_queries is off',
      unit: 'short',
      min: 0,
      series: [{ expr: latest('crosschain_cctxs_unlisted', byChain()), legend: CHAIN_NAME }],
    }),
  ],
};

const kinds: Row = {
  title: 'Kinds and rate limit',
  isCollapsed: true,
  panels: [
    table({
      title: 'Listed by kind',
      description: 'What kind of transactions wait? A revert returns to its sender; an outgoing one leaves the hub.',
      noValue: 'no transaction is listed',
      labels: { target: 'Target', list: 'List', status: 'Status', coin_type: 'Coin type', direction: 'Direction' },
      lastLabels: { [CLUSTER]: 'Cluster' },
      columns: [{ title: 'Listed', expr: listed(['list', 'status', 'coin_type', 'direction']), unit: 'short' }],
      sortBy: [{ column: 'Listed', isDescending: true }],
    }),
    graph({
      title: 'Rate limit used',
      description:
        'Is the value of past and pending transactions near the limit? For information: only clients 19 to 26 enforced it.',
      noValue: 'no rate is configured',
      unit: 'percentunit',
      min: 0,
      thresholds: [
        ['text', null],
        ['yellow', 1],
      ],
      series: [{ expr: latest('crosschain_rate_limit_utilization_ratio'), legend: TARGET }],
    }),
    timeline({
      title: 'Keys of the signers',
      description:
        'Have the signers rotated their key? Then nonces begin at 0, and missed transactions of the old key are not listed any more.',
      noValue: 'no transaction is listed',
      unit: 'none',
      texts: { '1': ['listed', 'blue'] },
      series: [
        {
          expr: `label_replace(${latest('crosschain_tss_info', { by: ['tss_pubkey'] })}, "key", "$1…$2", "tss_pubkey", "(.{8}).*?(.{0,6})")`,
          legend: `${TARGET} {{key}}`,
        },
      ],
    }),
  ],
};

export const crossChain: Dashboard = {
  uid: 'bridge-cross-chain',
  title: 'Bridge / Cross-chain',
  description: 'On which chains do transactions wait, for how long, and what blocks them?',
  variables: [...commonVariables, chainVariable, exporterUrlVariable],
  rows: [now, blocking, kinds],
};
