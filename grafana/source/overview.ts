import { OUTDATED_SECONDS } from '../../src/problems/polls.js';
import { commonVariables, exporterUrlVariable, pendingItemsLink, rowLink } from './filters.js';
import { type Dashboard, graph, type Row, table, timeline } from './grafana.js';
import { backlogShareColumn, problemColumn, problemTable, worstTexts } from './problem-table.js';
import { worst } from './problems.js';
import {
  CLUSTER,
  ageOf,
  CHAIN,
  changeOf,
  increaseOf,
  latest,
  lowest,
  ofCurrentData,
  orNothing,
  orZero,
  perToken,
  sumBy,
  withSymbol,
} from './queries.js';

const TARGET = `{{${CLUSTER}}} {{target}}`;

const TOKEN = { by: ['token_contract'] } as const;
const coins = (amount: string): string => perToken(amount, '/', `10 ^ ${latest('bridge_token_decimals', TOKEN)}`);
const AGE_LIMIT = latest('crosschain_age_limit_seconds', { by: CHAIN });
const OLDEST_BATCH = `(${latest('bridge_height')} - ${lowest('bridge_batch_oldest_height')}) * ${latest('bridge_block_time_seconds')}`;
const QUEUE = latest('bridge_unbatched_transfers');
const ALL_WAITING = perToken(
  latest('bridge_token_unbatched_transfers', TOKEN),
  '+',
  latest('bridge_token_batched_transfers', TOKEN),
);
const listed = (list: 'pending' | 'missed'): string =>
  latest('crosschain_cctxs', { by: [...CHAIN, 'status', 'coin_type', 'direction'], where: [`list="${list}"`] });
/** Of the tokens of which something waits, by symbol. */
const waiting = (expr: string): string =>
  sumBy(['symbol'], withSymbol(`(${expr}) and on (${CLUSTER}, target, token_contract) ${ALL_WAITING} > 0`));

const now: Row = {
  title: 'Now',
  panels: [
    problemTable({
      title: 'Problems now',
      description:
        'What is wrong, what to do first, and since when? Red and orange: the alert fires. Yellow: it will, if the problem lasts. Without the alert rules everything is yellow. What follows from another problem is not here. Alerts on the exporter are here, too, since their rule has matched: without current data, begin with them.',
      noValue: 'no problem, if the data below is current',
      height: 12,
    }),
    table({
      title: 'Bridges',
      description:
        'Which bridge has the problem, is its data current, and what does it wait for? A dash: the node sent no data, or there is nothing to sign. Of limit: waiting transfers as a share of backlog_limit. Oldest batch: its age, by hub heights. Unsigned and overdue are batches, events and cctxs the pending ones. Set signed: power that signed the newest validator set.',
      noValue: 'no bridge is polled',
      height: 6,
      labels: { target: 'Target' },
      lastLabels: { [CLUSTER]: 'Cluster' },
      links: {
        Target: [
          rowLink('Validator', 'bridge-validator'),
          rowLink('Cross-chain', 'bridge-cross-chain'),
          rowLink('Exporter', 'bridge-exporter'),
          pendingItemsLink,
        ],
      },
      columns: [
        problemColumn([], latest('bridge_exporter_up')),
        {
          title: 'Age of data',
          expr: `max by (${CLUSTER}, target) (${ageOf('bridge_exporter_last_success_timestamp_seconds', { by: ['document'] })})`,
          unit: 'dtdhms',
          thresholds: [
            ['transparent', null],
            ['red', OUTDATED_SECONDS],
          ],
        },
        { title: 'In queue', expr: QUEUE, unit: 'short' },
        { title: 'In batches', expr: latest('bridge_batch_transactions'), unit: 'short' },
        backlogShareColumn(
          `(${QUEUE} + ${latest('bridge_batch_transactions')})`,
          latest('bridge_backlog_limit_transfers'),
        ),
        {
          title: 'Oldest batch',
          expr: orNothing(OLDEST_BATCH, [], QUEUE),
          unit: 'dtdhms',
          texts: { '-1': ['none', 'transparent'] },
        },
        { title: 'Batches', expr: latest('bridge_batches'), unit: 'short' },
        { title: 'Unsigned', expr: latest('bridge_batches_below_threshold'), unit: 'short' },
        { title: 'Overdue', expr: latest('bridge_batches_overdue'), unit: 'short' },
        { title: 'Events', expr: latest('bridge_pending_events'), unit: 'short' },
        {
          title: 'Set signed',
          expr: latest('bridge_newest_valset_signed_power_ratio'),
          unit: 'percentunit',
        },
        { title: 'Cctxs', expr: latest('crosschain_total_pending'), unit: 'short' },
      ],
    }),
    table({
      title: 'What waits, by token',
      description:
        'How much is waiting, and do the fees pay for a batch? The amounts are in whole coins of the token. Fees: of the best hundred transfers in the queue, in minimum fees; below 1 nobody builds a batch. A dash: decimals or min_batch_fee are not configured.',
      noValue: 'nothing waits',
      width: 13,
      widths: { 'Amount in queue': 135, 'Amount in batches': 145 },
      labels: { target: 'Target', symbol: 'Token' },
      lastLabels: { [CLUSTER]: 'Cluster' },
      links: { Target: [pendingItemsLink] },
      columns: [
        { title: 'Transfers', expr: waiting(ALL_WAITING), unit: 'short' },
        {
          title: 'Amount in queue',
          expr: waiting(coins(latest('bridge_token_unbatched_amount', TOKEN))),
          unit: 'short',
        },
        {
          title: 'Amount in batches',
          expr: waiting(coins(latest('bridge_token_batched_amount', TOKEN))),
          unit: 'short',
        },
        {
          title: 'Fees',
          expr: waiting(
            perToken(
              latest('bridge_token_top_batch_fees_amount', TOKEN),
              '/',
              latest('bridge_token_min_batch_fees_amount', TOKEN),
            ),
          ),
          unit: 'suffix:×',
          decimals: 1,
        },
      ],
      sortBy: [{ column: 'Transfers', isDescending: true }],
    }),
    table({
      title: 'Chains',
      description:
        'On which chain do cross-chain transactions wait, and for how long compared with its limit? Cross-chain has what blocks a chain.',
      noValue: 'no transaction is listed',
      width: 11,
      labels: { target: 'Target', chain: 'Chain', chain_id: 'Id' },
      lastLabels: { [CLUSTER]: 'Cluster' },
      links: { Target: [rowLink('Cross-chain', 'bridge-cross-chain'), pendingItemsLink] },
      columns: [
        {
          ...problemColumn([], ''),
          expr: orZero(
            `0 * ${AGE_LIMIT} + on (${CLUSTER}, target, chain_id) group_left () (${worst(['chain_id'], 'chain_id!=""')})`,
            CHAIN,
            AGE_LIMIT,
          ),
        },
        {
          title: 'Pending',
          expr: orZero(sumBy(CHAIN, listed('pending')), CHAIN, AGE_LIMIT),
          unit: 'short',
        },
        {
          title: 'Oldest',
          expr: orNothing(
            ageOf('crosschain_oldest_cctx_created_timestamp_seconds', { by: CHAIN, where: ['list="pending"'] }),
            CHAIN,
            AGE_LIMIT,
          ),
          unit: 'dtdhms',
          texts: { '-1': ['none', 'transparent'] },
        },
        { title: 'Limit', expr: AGE_LIMIT, unit: 'dtdhms' },
      ],
      sortBy: [{ column: 'Oldest', isDescending: true }],
    }),
  ],
};

const overTime: Row = {
  title: 'Over time',
  panels: [
    timeline({
      title: 'Problems over time',
      description:
        'What was wrong, and when? Yellow until the alert fired; a problem appears here ten minutes after it began.',
      noValue: 'nothing was wrong',
      unit: 'none',
      width: 24,
      height: 7,
      texts: worstTexts,
      series: [{ expr: worst(['problem']), legend: `${TARGET} {{problem}}` }],
    }),
    graph({
      title: 'Waiting transfers',
      description:
        'Does the backlog of a bridge grow: in the queue, or in batches? A line ends when its data is outdated.',
      noValue: 'no bridge is polled, or its data is outdated',
      unit: 'short',
      min: 0,
      series: [
        { expr: ofCurrentData(QUEUE, 'module_state'), legend: `${TARGET} in the queue` },
        {
          expr: ofCurrentData(latest('bridge_batch_transactions'), 'module_state'),
          legend: `${TARGET} in batches`,
        },
      ],
    }),
    graph({
      title: 'Waiting cross-chain transactions',
      description:
        'Does the backlog of a hub grow, and does one chain alone? Missed ones are not among those of a chain; hidden ones are pending and left out of the list by the node.',
      noValue: 'no transaction is listed',
      unit: 'short',
      min: 0,
      isStacked: true,
      series: [
        {
          expr: `${ofCurrentData(sumBy([], listed('missed')), 'rate_limiter_input')} > 0`,
          legend: `${TARGET} missed`,
        },
        { expr: `${latest('crosschain_cctxs_hidden')} > 0`, legend: `${TARGET} hidden` },
        {
          expr: ofCurrentData(sumBy(CHAIN, listed('pending')), 'rate_limiter_input'),
          legend: `${TARGET} {{chain}} {{chain_id}}`,
        },
      ],
    }),
    graph({
      title: 'Events',
      description:
        'Are events of the external chain observed? Pending ones that only rise mean that the oracle is stalled: no deposit arrives, and no batch finishes.',
      noValue: 'no bridge is polled',
      unit: 'short',
      width: 8,
      series: [
        { expr: latest('bridge_pending_events'), legend: `${TARGET} pending` },
        { expr: changeOf('bridge_last_observed_nonce', '15m'), legend: `${TARGET} observed in 15 min` },
      ],
    }),
    graph({
      title: 'Batches',
      description:
        'What do batches wait for: signatures, a relayer, or the observation of their timeout? Overdue ones have timed out on the external chain, and their transfers are locked until the hub observes an event.',
      noValue: 'no bridge is polled',
      unit: 'short',
      width: 8,
      min: 0,
      series: [
        { expr: latest('bridge_batches'), legend: `${TARGET} all` },
        { expr: latest('bridge_batches_below_threshold'), legend: `${TARGET} unsigned` },
        { expr: latest('bridge_relayable_batches'), legend: `${TARGET} wait for a relayer` },
        { expr: latest('bridge_batches_overdue'), legend: `${TARGET} overdue` },
      ],
    }),
    graph({
      title: 'Signatures',
      description:
        'How much power has signed the least signed batch, and the newest validator set? Below the dashed line they cannot be relayed.',
      noValue: 'no bridge is polled',
      unit: 'percentunit',
      width: 8,
      min: 0,
      max: 1,
      series: [
        { expr: latest('bridge_batch_min_signed_power_ratio'), legend: `${TARGET} batch` },
        { expr: latest('bridge_newest_valset_signed_power_ratio'), legend: `${TARGET} validator set` },
        { expr: latest('bridge_power_threshold_ratio'), legend: `${TARGET} threshold`, isReference: true },
      ],
    }),
    graph({
      title: 'Age of the oldest batch',
      description:
        'How long has the oldest batch waited to be executed? A line that rises for hours is a batch that is stuck, or one that pays too little.',
      noValue: 'no batch waits',
      unit: 'dtdhms',
      min: 0,
      series: [{ expr: ofCurrentData(OLDEST_BATCH, 'module_state'), legend: TARGET }],
    }),
    graph({
      title: 'Batches per hour',
      description:
        'Are batches built and executed, or canceled? A canceled batch returns its transfers to the queue. A batch that is stuck is built and neither of the others: Batches counts those that wait, and for what.',
      noValue: 'no bridge is polled',
      unit: 'short',
      min: 0,
      series: [
        { expr: changeOf('bridge_last_outgoing_batch_id', '1h'), legend: `${TARGET} built` },
        {
          expr: sumBy([], increaseOf('bridge_batches_executed_total', '1h', { by: ['token_contract'] })),
          legend: `${TARGET} executed`,
        },
        {
          expr: sumBy(
            ['reason'],
            increaseOf('bridge_batches_canceled_total', '1h', { by: ['token_contract', 'reason'] }),
          ),
          legend: `${TARGET} canceled: {{reason}}`,
        },
      ],
    }),
  ],
};

export const overview: Dashboard = {
  uid: 'bridge-overview',
  title: 'Bridge / Overview',
  description: 'What is wrong, since when, and what are transfers waiting for?',
  variables: [...commonVariables, exporterUrlVariable],
  rows: [now, overTime],
};
