import {
  type Dashboard,
  labelVariable,
  type Row,
  stateTimelinePanel,
  statPanel,
  tablePanel,
  textVariable,
  timeSeriesPanel,
} from './grafana.js';
import { commonVariables, exporterUrlVariable, pendingItemsLink } from './filters.js';
import {
  CHAIN_MATCHER,
  FILTERS,
  increaseBy,
  latest,
  latestBy,
  latestByChain,
  quantileByChain,
  tooOldByChain,
} from './queries.js';
import { aboveLimit, orangeFromOne, rateLimitUtilization } from './thresholds.js';

const BLOCKS = 'suffix:blocks';
const CHAIN_NAME = '{{cluster}} {{target}} {{chain}} ({{chain_id}})';

function listed(list: 'missed' | 'pending'): string {
  return `sum by (cluster, target, chain_id, chain) (${latestByChain(['status', 'coin_type', 'direction'], 'crosschain_cctxs', `list="${list}"`)})`;
}

function oldest(list: 'missed' | 'pending'): string {
  return `time() - ${latestByChain([], 'crosschain_oldest_cctx_created_timestamp_seconds', `list="${list}"`)}`;
}

function withoutHash(list: 'missed' | 'pending'): string {
  return latestByChain([], 'crosschain_cctxs_without_hash', `list="${list}"`);
}

function nonceMoved(window: string): string {
  return `max by (cluster, target, chain_id, chain) (delta(crosschain_lowest_pending_nonce{${FILTERS}, ${CHAIN_MATCHER}}[${window}])) and on (cluster, target, chain_id) ${latestByChain([], 'crosschain_lowest_pending_nonce')}`;
}

const unchangedFor = `time() - ${latestByChain([], 'crosschain_lowest_pending_nonce_changed_timestamp_seconds')}`;

/** Clients send nothing that is further above the lowest missed nonce than their lookahead. */
const noncesAboveMissed = `${latestByChain([], 'crosschain_highest_pending_nonce')} - on (cluster, target, chain_id, chain) ${latestByChain([], 'crosschain_lowest_missed_nonce')}`;

/** Converts to whole coins. The document does not contain the decimals, so the user of the dashboard sets them. */
function inCoins(expr: string): string {
  return `(${expr}) / 10 ^ $coin_decimals`;
}

const oldestOfAll = `time() - min by (cluster, target) (crosschain_oldest_cctx_created_timestamp_seconds{${FILTERS}, ${CHAIN_MATCHER}, list="pending"})`;

const summary: Row = {
  title: 'Are transactions stuck?',
  panels: [
    statPanel({
      title: 'Pending and missed',
      description:
        'Unfinished cross-chain transactions on all chains, including those that the service omits from its lists. Many are normal at busy hours, if the nonces below increase. The limit is backlog_limit of the target.',
      unit: 'short',
      decimals: 0,
      noValue: 'no data',
      series: [
        { expr: latest('crosschain_total_pending'), legend: '{{cluster}} {{target}}' },
        { expr: latest('crosschain_backlog_limit_cctxs'), legend: '{{cluster}} {{target}} limit' },
      ],
    }),
    statPanel({
      title: 'Missed',
      description:
        'Unfinished transactions with a nonce below the lowest pending one of their chain. They were executed; what is missing is their hash or the votes. If they remain, an observer has to post the hash. Too many nonces above one, its chain freezes; the page /pending has their ids.',
      unit: 'short',
      decimals: 0,
      thresholds: orangeFromOne,
      noValue: 'no data',
      series: [{ expr: latest('crosschain_cctxs_missed'), legend: '{{cluster}} {{target}}' }],
    }),
    statPanel({
      title: 'Oldest',
      description:
        'Age of the oldest listed pending transaction on the selected chains. Minutes are normal, on Bitcoin up to two hours; the table has the limit of each chain. Empty when none is pending.',
      unit: 's',
      decimals: 0,
      noValue: 'none pending',
      series: [{ expr: oldestOfAll, legend: '{{cluster}} {{target}}' }],
    }),
    statPanel({
      title: 'Hidden',
      description:
        'Pending transactions that the service omits from its list. While there are any, all values by chain are lower bounds, and the oldest transaction may be hidden. The node lists at most 500, which is the default: remove a lower limit of the target.',
      unit: 'short',
      decimals: 0,
      thresholds: orangeFromOne,
      noValue: 'no data',
      series: [{ expr: latest('crosschain_cctxs_hidden'), legend: '{{cluster}} {{target}}' }],
    }),
    statPanel({
      title: 'Rate limit utilization',
      description:
        'Value of past and pending transactions divided by the value that the configured rate allows in the window. Informational: zetaclient 19 to 26 delayed all pending transactions above 100 %, newer ones do not. Empty when no rate is configured.',
      unit: 'percentunit',
      decimals: 0,
      thresholds: rateLimitUtilization,
      noValue: 'no rate',
      series: [{ expr: latest('crosschain_rate_limit_utilization_ratio'), legend: '{{cluster}} {{target}}' }],
    }),
    statPanel({
      title: 'Without hash',
      description:
        'Listed transactions without an outbound hash on the selected chains. On EVM chains a hash means that the transaction is in a block, on Bitcoin that it was broadcast. Nodes before version 29 send none.',
      unit: 'short',
      decimals: 0,
      noValue: 'none pending',
      series: [
        {
          expr: `sum by (cluster, target) (${latestByChain(['list'], 'crosschain_cctxs_without_hash')})`,
          legend: '{{cluster}} {{target}}',
        },
      ],
    }),
    tablePanel({
      title: 'Chains',
      description:
        'One row per chain with listed transactions. A chain is stuck when the age of its oldest transaction increases and its lowest nonce does not: observers sign only outbound_schedule_lookahead nonces ahead of it or of a missed one, 60 by default. Too old is the condition of CrosschainOldestPendingTooOld. A dash is a value that does not apply. The columns on missed transactions are empty when none is missed. The target links to the page /pending of the exporter.',
      height: 10,
      rowLabels: { cluster: 'Cluster', target: 'Target', chain: 'Chain', chain_id: 'Chain id' },
      cellLinks: { Target: [pendingItemsLink] },
      columns: [
        { title: 'Pending', expr: listed('pending'), unit: 'short' },
        {
          title: 'Pending by nonces',
          expr: `(${latestByChain([], 'crosschain_nonce_high')}) - (${latestByChain([], 'crosschain_nonce_low')})`,
          unit: 'short',
        },
        { title: 'Oldest pending', expr: oldest('pending'), unit: 's', decimals: 0 },
        { title: 'Age limit', expr: latestByChain([], 'crosschain_age_limit_seconds'), unit: 's', decimals: 0 },
        { title: 'Too old', expr: tooOldByChain(CHAIN_MATCHER), unit: 'none', valueTexts: aboveLimit },
        { title: 'Pending, no hash', expr: withoutHash('pending'), unit: 'short' },
        { title: 'Lowest nonce', expr: latestByChain([], 'crosschain_lowest_pending_nonce'), unit: 'none' },
        { title: 'Unchanged for', expr: unchangedFor, unit: 's', decimals: 0 },
        { title: 'Nonces in 15 min', expr: nonceMoved('15m'), unit: 'none', decimals: 0 },
        { title: 'Missed', expr: listed('missed'), unit: 'short', thresholds: orangeFromOne },
        { title: 'Oldest missed', expr: oldest('missed'), unit: 's', decimals: 0 },
        { title: 'Missed, no hash', expr: withoutHash('missed'), unit: 'short' },
        { title: 'Nonces above missed', expr: noncesAboveMissed, unit: 'none', decimals: 0 },
      ],
      sortBy: { column: 'Oldest pending', isDescending: true },
    }),
  ],
};

const chains: Row = {
  title: 'By chain',
  panels: [
    timeSeriesPanel({
      title: 'Pending by chain',
      width: 12,
      height: 10,
      description: 'Listed pending transactions by chain. If a single chain rises, check that chain and its signers.',
      unit: 'short',
      min: 0,
      series: [{ expr: listed('pending'), legend: CHAIN_NAME }],
    }),
    timeSeriesPanel({
      title: 'Oldest pending by chain',
      width: 12,
      height: 10,
      description:
        'Age of the oldest listed pending transaction of each chain. A line that rises without a drop is a transaction that does not finish. The dashed lines are the limits of the chains.',
      unit: 's',
      min: 0,
      series: [
        { expr: oldest('pending'), legend: CHAIN_NAME },
        {
          expr: latestByChain([], 'crosschain_age_limit_seconds'),
          legend: `${CHAIN_NAME} limit`,
          isReference: true,
        },
      ],
    }),
    timeSeriesPanel({
      title: 'Nonces done in 15 minutes by chain',
      width: 12,
      height: 10,
      description:
        'Increase of the lowest pending nonce of each chain. Zero with pending transactions means that the chain waits for its first transaction, on Bitcoin for up to two hours without a fault. A negative value means that the signers have a new key, or an older transaction is pending again.',
      unit: 'short',
      series: [{ expr: nonceMoved('15m'), legend: CHAIN_NAME }],
    }),
    timeSeriesPanel({
      title: 'Without hash by chain',
      width: 12,
      height: 10,
      description:
        'Listed transactions for which no observer has posted a hash, missed or pending. What that means depends on the chain: on EVM chains they can still be in the mempool.',
      unit: 'short',
      min: 0,
      series: [
        {
          expr: `sum by (cluster, target, chain_id, chain) (${latestByChain(['list'], 'crosschain_cctxs_without_hash')})`,
          legend: CHAIN_NAME,
        },
      ],
    }),
    timeSeriesPanel({
      title: 'Missed by chain',
      noValue: 'none missed',
      width: 12,
      height: 9,
      description:
        'Unfinished transactions below the lowest pending nonce, by chain. Empty when none is missed, as in the healthy demo.',
      unit: 'short',
      min: 0,
      series: [{ expr: listed('missed'), legend: CHAIN_NAME }],
    }),
    timeSeriesPanel({
      title: 'Oldest missed by chain',
      noValue: 'none missed',
      width: 12,
      height: 9,
      description:
        'Age of the oldest missed transaction of each chain. Empty when none is missed, as in the healthy demo.',
      unit: 's',
      min: 0,
      series: [{ expr: oldest('missed'), legend: CHAIN_NAME }],
    }),
    timeSeriesPanel({
      title: 'Unlisted by chain',
      noValue: 'no answer of the node',
      height: 9,
      description:
        'Transactions that have left the lists and are pending according to the node, far below the lowest nonce of their chain: nobody works on them. Zero is normal. Empty until the node has answered for one that has left the lists, or with cctx_queries off.',
      unit: 'short',
      min: 0,
      series: [{ expr: latestByChain([], 'crosschain_cctxs_unlisted'), legend: CHAIN_NAME }],
    }),
    tablePanel({
      title: 'Listed by status, coin type and direction',
      description:
        'Listed transactions by status, coin type and direction. A revert returns to its sender; an outgoing transaction leaves the hub. The direction is unknown unless the chain ids of the hub are configured. Empty when none is listed.',
      width: 12,
      height: 10,
      rowLabels: {
        cluster: 'Cluster',
        target: 'Target',
        list: 'List',
        status: 'Status',
        coin_type: 'Coin type',
        direction: 'Direction',
      },
      columns: [
        {
          title: 'Listed',
          unit: 'short',
          expr: `sum by (cluster, target, list, status, coin_type, direction) (${latestByChain(['list', 'status', 'coin_type', 'direction'], 'crosschain_cctxs')})`,
        },
      ],
      widths: { Status: 150 },
      sortBy: { column: 'Listed', isDescending: true },
    }),
    timeSeriesPanel({
      title: 'Listed by coin type',
      noValue: 'none listed',
      description: 'Listed transactions on the selected chains by coin type, of both lists. Empty when none is listed.',
      unit: 'short',
      width: 12,
      height: 10,
      isStacked: true,
      series: [
        {
          expr: `sum by (cluster, target, coin_type) (${latestByChain(['list', 'status', 'coin_type', 'direction'], 'crosschain_cctxs')})`,
          legend: '{{cluster}} {{target}} {{coin_type}}',
        },
      ],
    }),
  ],
};

/** By target, chain and these labels. */
function finishedBy(labels: readonly string[], window: string): string {
  const increase = increaseBy(
    ['chain_id', 'chain', 'outcome'],
    'crosschain_cctxs_finished_total',
    window,
    CHAIN_MATCHER,
  );
  return `sum by (${['cluster', 'target', ...labels].join(', ')}) (${increase})`;
}

/** Of the transactions whose outcome is known. */
function shareOf(outcome: string): string {
  const [own, known] = [`outcome="${outcome}"`, 'outcome!="unknown"'].map(
    (matcher) =>
      `sum by (cluster, target) (${increaseBy(['chain_id', 'chain', 'outcome'], 'crosschain_cctxs_finished_total', '1d', CHAIN_MATCHER, matcher)})`,
  );
  return `${own} / (${known} > 0)`;
}

const NONE_FINISHED = 'none finished in a day';

const flow: Row = {
  title: 'Flow',
  panels: [
    timeSeriesPanel({
      title: 'Finished per hour by chain',
      noValue: 'no transaction was seen',
      width: 12,
      description:
        'Transactions that have left the lists for good, by the chain on which they were pending. Zero on a quiet chain, and without an end on one that is stuck.',
      unit: 'short',
      min: 0,
      isStacked: true,
      series: [{ expr: finishedBy(['chain_id', 'chain'], '1h'), legend: CHAIN_NAME }],
    }),
    timeSeriesPanel({
      title: 'Finished per hour by outcome',
      noValue: 'no transaction was seen',
      width: 12,
      description:
        'By what the node answers when one has left the lists: mined, reverted to its sender, or aborted, whose amount has to be refunded. Unknown without an answer, or with cctx_queries off.',
      unit: 'short',
      min: 0,
      isStacked: true,
      series: [{ expr: finishedBy(['outcome'], '1h'), legend: '{{cluster}} {{target}} {{outcome}}' }],
    }),
    timeSeriesPanel({
      title: 'Median duration by chain',
      noValue: NONE_FINISHED,
      description:
        'From the creation of a transaction to the first document without it, of those that finished in a day with a known outcome. Estimated from buckets of a minute to a day.',
      unit: 's',
      min: 0,
      series: [{ expr: quantileByChain(0.5, 'crosschain_cctx_duration_seconds', '1d'), legend: CHAIN_NAME }],
    }),
    timeSeriesPanel({
      title: 'Duration of 99 % by chain',
      noValue: NONE_FINISHED,
      description:
        'The time within which 99 % of the transactions of a day finished. A few slow ones on a chain with little traffic move it far.',
      unit: 's',
      min: 0,
      series: [{ expr: quantileByChain(0.99, 'crosschain_cctx_duration_seconds', '1d'), legend: CHAIN_NAME }],
    }),
    timeSeriesPanel({
      title: 'Reverted and aborted share',
      noValue: NONE_FINISHED,
      description:
        'Of the transactions that finished in a day with a known outcome. A few percent of reverts are normal: calls of contracts fail. Aborted ones need an administrator for their refund.',
      unit: 'percentunit',
      min: 0,
      series: [
        { expr: shareOf('reverted'), legend: '{{cluster}} {{target}} reverted' },
        { expr: shareOf('aborted'), legend: '{{cluster}} {{target}} aborted' },
      ],
    }),
  ],
};

const totals: Row = {
  title: 'All chains',
  panels: [
    timeSeriesPanel({
      title: 'Missed, listed and hidden',
      description:
        'Transactions of all chains: missed, listed as pending, and omitted from the list. Only this panel includes the hidden ones.',
      unit: 'short',
      min: 0,
      width: 12,
      isStacked: true,
      series: [
        { expr: latest('crosschain_cctxs_missed'), legend: '{{cluster}} {{target}} missed' },
        { expr: latest('crosschain_cctxs_pending'), legend: '{{cluster}} {{target}} listed pending' },
        { expr: latest('crosschain_cctxs_hidden'), legend: '{{cluster}} {{target}} hidden' },
      ],
    }),
    stateTimelinePanel({
      title: 'Switches of the hub',
      noValue: 'not known',
      description:
        'Whether the hub sends transactions to other chains, and accepts transactions from them. Empty when the node does not know the query, or node_queries is off.',
      unit: 'none',
      valueTexts: { '0': ['off', 'orange'], '1': ['on', 'green'] },
      series: [
        { expr: latest('crosschain_outbound_enabled'), legend: '{{cluster}} {{target}} outbound' },
        { expr: latest('crosschain_inbound_enabled'), legend: '{{cluster}} {{target}} inbound' },
      ],
    }),
    timeSeriesPanel({
      title: 'Ignored',
      description:
        'Listed transactions that ignore of the target leaves out of the values by chain. They still block their chain.',
      unit: 'short',
      min: 0,
      width: 12,
      series: [{ expr: latestBy(['list'], 'crosschain_cctxs_ignored'), legend: '{{cluster}} {{target}} {{list}}' }],
    }),
    timeSeriesPanel({
      title: 'Blocks since the lowest pending height',
      noValue: 'none pending',
      description:
        'Difference between the hub height and the lowest inbound height among the first transactions of all chains. An implausibly high or negative value means that this height belongs to another chain; use the ages above instead. Empty when nothing is pending.',
      unit: BLOCKS,
      width: 12,
      series: [
        {
          expr: `${latest('crosschain_height')} - on (cluster, target) (${latest('crosschain_lowest_pending_cctx_height')} > 0)`,
          legend: '{{cluster}} {{target}}',
        },
      ],
    }),
    stateTimelinePanel({
      title: 'Keys of the signers',
      noValue: 'none pending',
      description:
        'The public keys in listed transactions. A new key means that the signers have rotated it: nonces begin at 0, and missed transactions of the old key are no longer listed although they are not finished.',
      unit: 'none',
      valueTexts: { '1': ['listed', 'green'] },
      series: [
        { expr: latestBy(['tss_pubkey'], 'crosschain_tss_info'), legend: '{{cluster}} {{target}} {{tss_pubkey}}' },
      ],
    }),
  ],
};

const COIN_NOTE =
  'In coins of 10^$coin_decimals smallest units; set the variable to the decimals of the native coin, or to 0 for smallest units.';

const limit: Row = {
  title: 'Rate limit and values',
  panels: [
    timeSeriesPanel({
      title: 'Rate limit utilization over time',
      noValue: 'no rate is configured',
      description:
        'Value of past and pending transactions divided by the value that the configured rate allows in the effective window. Informational: only zetaclient 19 to 26 enforced it. Empty when no rate is configured.',
      unit: 'percentunit',
      min: 0,
      thresholds: rateLimitUtilization,
      series: [{ expr: latest('crosschain_rate_limit_utilization_ratio'), legend: '{{cluster}} {{target}}' }],
    }),
    stateTimelinePanel({
      title: 'Rate limit exceeded',
      noValue: 'no rate is configured',
      description:
        'The times when the limit was exceeded. It ends when the window grows or moves on, unless a single transaction is larger than the whole allowance. Empty when no rate is configured.',
      unit: 'none',
      width: 8,
      valueTexts: { '0': ['within', 'green'], '1': ['exceeded', 'orange'] },
      series: [{ expr: latest('crosschain_rate_limit_exceeded'), legend: '{{cluster}} {{target}}' }],
    }),
    timeSeriesPanel({
      title: 'Effective and configured window',
      noValue: 'no window is configured',
      description:
        'The effective window extends back to the lowest pending height. If it is far above the configured window, that height often belongs to another chain, and the utilization is far too low. Empty when no window is configured.',
      unit: BLOCKS,
      min: 0,
      series: [
        { expr: latest('crosschain_rate_limit_window_blocks'), legend: '{{cluster}} {{target}} effective' },
        {
          expr: latest('crosschain_rate_limit_configured_window_blocks'),
          legend: '{{cluster}} {{target}} configured',
          isReference: true,
        },
      ],
    }),
    timeSeriesPanel({
      title: 'Past and pending value',
      description: `Value of past transactions in the window and of all pending ones. Coins without a configured conversion rate count as 0, so both are lower bounds. ${COIN_NOTE}`,
      unit: 'locale',
      min: 0,
      series: [
        { expr: inCoins(latest('crosschain_past_cctxs_value')), legend: '{{cluster}} {{target}} past' },
        { expr: inCoins(latest('crosschain_pending_cctxs_value')), legend: '{{cluster}} {{target}} pending' },
      ],
    }),
    timeSeriesPanel({
      title: 'Effective and allowed rate',
      noValue: 'no window is configured',
      description: `Value per block of the window. The dashed line is the configured rate. ${COIN_NOTE} Empty when no window is configured.`,
      unit: 'suffix:coins per block',
      min: 0,
      series: [
        { expr: inCoins(latest('crosschain_withdraw_rate')), legend: '{{cluster}} {{target}}' },
        { expr: inCoins(latest('crosschain_rate_limit')), legend: '{{cluster}} {{target}} allowed', isReference: true },
      ],
    }),
    timeSeriesPanel({
      title: 'Largest pending native amount',
      noValue: 'none pending',
      description: `With zetaclient 19 to 26, a transaction near the allowance of a whole window (dashed line) delays all others. ${COIN_NOTE} Empty when no transaction in the native coin is pending.`,
      unit: 'locale',
      min: 0,
      series: [
        { expr: inCoins(latest('crosschain_largest_pending_native_amount')), legend: '{{cluster}} {{target}}' },
        {
          expr: inCoins(
            `${latest('crosschain_rate_limit')} * on (cluster, target) ${latest('crosschain_rate_limit_configured_window_blocks')}`,
          ),
          legend: '{{cluster}} {{target}} allowance of a window',
          isReference: true,
        },
      ],
    }),
    timeSeriesPanel({
      title: 'Anomalies of the lists',
      description:
        'Duplicate transactions, a lowest height above the hub height (it belongs to another chain), and transactions without an outbound. They do not harm the bridge, but values by chain can be wrong by this number.',
      unit: 'short',
      min: 0,
      width: 24,
      height: 6,
      series: [{ expr: latestBy(['kind'], 'crosschain_anomalies'), legend: '{{cluster}} {{target}} {{kind}}' }],
    }),
  ],
};

export const crossChain: Dashboard = {
  uid: 'bridge-cross-chain',
  title: 'Bridge / Cross-chain',
  description: 'On which chains are transactions pending, for how long, and what blocks them?',
  tags: ['bridge'],
  variables: [
    ...commonVariables,
    labelVariable('chain_id', 'Chain id', `crosschain_cctxs{${FILTERS}}`),
    textVariable('coin_decimals', 'Decimals of the native coin', '18'),
    exporterUrlVariable,
  ],
  rows: [summary, chains, flow, totals, limit],
};
