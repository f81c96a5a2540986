import {
  bars,
  type Dashboard,
  datasourceVariable,
  labelVariable,
  type Row,
  stat,
  stateTimeline,
  table,
  textVariable,
  timeseries,
} from './grafana.js';
import { CHAIN, latest, latestBy, ofChains, TARGET } from './queries.js';
import { cctxAge, cctxsPending, rateLimitUse, someIsBusy } from './thresholds.js';

const BLOCKS = 'suffix: blocks';
const CHAIN_NAME = '{{target}} {{chain}} {{chain_id}}';

function listed(list: 'missed' | 'pending'): string {
  return `sum by (target, chain_id, chain) (${ofChains(['status', 'coin_type', 'direction'], 'crosschain_cctxs', `list="${list}"`)})`;
}

function oldest(list: 'missed' | 'pending'): string {
  return `time() - ${ofChains([], 'crosschain_oldest_cctx_created_timestamp_seconds', `list="${list}"`)}`;
}

function withoutHash(list: 'missed' | 'pending'): string {
  return ofChains([], 'crosschain_cctxs_without_hash', `list="${list}"`);
}

function nonceMoved(window: string): string {
  return `max by (target, chain_id, chain) (delta(crosschain_lowest_pending_nonce{${TARGET}, ${CHAIN}}[${window}])) and on (target, chain_id) ${ofChains([], 'crosschain_lowest_pending_nonce')}`;
}

/** In whole coins: the document does not say how many units make one, so the reader of the dashboard does. */
function coins(expr: string): string {
  return `(${expr}) / 10 ^ $coin_decimals`;
}

const oldestOfAll = `time() - min by (target) (crosschain_oldest_cctx_created_timestamp_seconds{${TARGET}, ${CHAIN}})`;

const glance: Row = {
  title: 'Is money stuck?',
  panels: [
    stat({
      title: 'Pending and missed',
      description:
        'Cross-chain transactions that have not arrived, on all chains, also those the service left out of its lists. Many are normal at busy hours; see whether the nonces below move.',
      unit: 'short',
      decimals: 0,
      steps: cctxsPending,
      noValue: 'no data',
      series: [{ expr: latest('crosschain_total_pending'), legend: '{{target}}' }],
    }),
    stat({
      title: 'Missed',
      description:
        'Transactions that a later nonce of their chain has overtaken: the signers have lost track of them, and they may never be sent by themselves. Any for more than moments: ask the signers to track them again; the page /pending has their ids.',
      unit: 'short',
      decimals: 0,
      steps: someIsBusy,
      noValue: 'no data',
      series: [{ expr: latest('crosschain_cctxs_missed'), legend: '{{target}}' }],
    }),
    stat({
      title: 'Oldest',
      description:
        'Age of the oldest listed transaction on the chosen chains, missed or pending. Minutes are normal, hours are not. Empty when none waits.',
      unit: 's',
      decimals: 0,
      steps: cctxAge,
      noValue: 'none waits',
      series: [{ expr: oldestOfAll, legend: '{{target}}' }],
    }),
    stat({
      title: 'Hidden',
      description:
        'Pending transactions that the service left out of its list: while there are any, all figures by chain are lower bounds, and the oldest may be hidden. Raise the limit of the target, as far as the node lets you.',
      unit: 'short',
      decimals: 0,
      steps: someIsBusy,
      noValue: 'no data',
      series: [{ expr: latest('crosschain_cctxs_hidden'), legend: '{{target}}' }],
    }),
    stat({
      title: 'Rate limit used',
      description:
        'Value of past and pending transactions over what the configured rate allows in the window. Above 100 % a node that enforces the limit holds back all pending ones; newer nodes do not. Empty when no rate is configured.',
      unit: 'percentunit',
      decimals: 0,
      steps: rateLimitUse,
      noValue: 'no rate',
      series: [{ expr: latest('crosschain_rate_limit_utilization_ratio'), legend: '{{target}}' }],
    }),
    stat({
      title: 'Not broadcast',
      description:
        'Listed transactions without an outbound hash on the chosen chains: they wait for the signers. The others wait for confirmations of their chain.',
      unit: 'short',
      decimals: 0,
      noValue: 'none waits',
      series: [
        { expr: `sum by (target) (${ofChains(['list'], 'crosschain_cctxs_without_hash')})`, legend: '{{target}}' },
      ],
    }),
    table({
      title: 'Each chain at a glance',
      description:
        'One row for each chain that something waits on. A chain is stuck when its oldest gets older and its lowest nonce does not move: signers send only a few nonces ahead of it. Unsigned ones wait for the signers, the others for the chain. A dash is a figure that does not apply. A chain is not in the list when nothing waits on it, and the columns on missed ones are empty when none is missed.',
      height: 10,
      keys: { target: 'Target', chain: 'Chain', chain_id: 'Chain id' },
      columns: [
        { title: 'Pending', expr: listed('pending'), unit: 'short' },
        { title: 'Oldest pending', expr: oldest('pending'), unit: 's', decimals: 0, steps: cctxAge },
        { title: 'Pending without hash', expr: withoutHash('pending'), unit: 'short' },
        { title: 'Lowest nonce', expr: ofChains([], 'crosschain_lowest_pending_nonce'), unit: 'none' },
        { title: 'Nonces moved in 15 minutes', expr: nonceMoved('15m'), unit: 'none', decimals: 0 },
        { title: 'Missed', expr: listed('missed'), unit: 'short', steps: someIsBusy },
        { title: 'Oldest missed', expr: oldest('missed'), unit: 's', decimals: 0, steps: cctxAge },
        { title: 'Missed without hash', expr: withoutHash('missed'), unit: 'short' },
      ],
      sortBy: { column: 'Oldest pending', isDescending: true },
    }),
  ],
};

const chains: Row = {
  title: 'By chain',
  panels: [
    timeseries({
      title: 'Pending, by chain',
      description:
        'Listed pending transactions by the chain they wait on. One chain that climbs alone is that chain or its signers.',
      unit: 'short',
      min: 0,
      series: [{ expr: listed('pending'), legend: CHAIN_NAME }],
    }),
    timeseries({
      title: 'Oldest pending, by chain',
      description:
        'Age of the oldest listed pending transaction of each chain. A line that climbs at 45 degrees is one that does not move.',
      unit: 's',
      min: 0,
      steps: cctxAge,
      series: [{ expr: oldest('pending'), legend: CHAIN_NAME }],
    }),
    timeseries({
      title: 'Nonces done in 15 minutes, by chain',
      description:
        'How far the lowest pending nonce of each chain has moved. Zero with a full queue is a chain that is stuck at its first transaction; below zero the signers have a new key, or an older one came back.',
      unit: 'short',
      series: [{ expr: nonceMoved('15m'), legend: CHAIN_NAME }],
    }),
    timeseries({
      title: 'Missed, by chain',
      description:
        'Transactions that a later nonce has overtaken, by chain. Empty when none is missed, as in the healthy demo.',
      unit: 'short',
      min: 0,
      series: [{ expr: listed('missed'), legend: CHAIN_NAME }],
    }),
    timeseries({
      title: 'Oldest missed, by chain',
      description:
        'Age of the oldest missed transaction of each chain. Empty when none is missed, as in the healthy demo.',
      unit: 's',
      min: 0,
      steps: cctxAge,
      series: [{ expr: oldest('missed'), legend: CHAIN_NAME }],
    }),
    timeseries({
      title: 'Without a hash, by chain',
      description: 'Listed transactions that are not broadcast, by chain and list: they wait for the signers.',
      unit: 'short',
      min: 0,
      series: [{ expr: ofChains(['list'], 'crosschain_cctxs_without_hash'), legend: `${CHAIN_NAME} {{list}}` }],
    }),
    bars({
      title: 'Listed, by status, coin type and direction',
      description:
        'What the listed transactions are. Reverts come back from a chain to those who sent; outgoing ones go out from the hub. The direction is unknown unless the ids of the hub are configured. Empty when nothing waits.',
      unit: 'short',
      height: 10,
      series: [
        {
          expr: `sum by (target, list, status, coin_type, direction) (${ofChains(['list', 'status', 'coin_type', 'direction'], 'crosschain_cctxs')})`,
          legend: '{{target}} {{list}} {{status}} {{coin_type}} {{direction}}',
        },
      ],
    }),
    timeseries({
      title: 'Listed, by coin type',
      description: 'Listed transactions on the chosen chains by type of coin, both lists. Empty when nothing waits.',
      unit: 'short',
      width: 12,
      height: 10,
      isStacked: true,
      series: [
        {
          expr: `sum by (target, coin_type) (${ofChains(['list', 'status', 'coin_type', 'direction'], 'crosschain_cctxs')})`,
          legend: '{{target}} {{coin_type}}',
        },
      ],
    }),
  ],
};

const totals: Row = {
  title: 'All chains',
  panels: [
    timeseries({
      title: 'Missed, listed and hidden',
      description:
        'What the service says of all chains: missed and listed pending ones, and those it left out. Hidden ones are counted here and nowhere else.',
      unit: 'short',
      min: 0,
      width: 12,
      isStacked: true,
      series: [
        { expr: latest('crosschain_cctxs_missed'), legend: '{{target}} missed' },
        { expr: latest('crosschain_cctxs_pending'), legend: '{{target}} listed pending' },
        { expr: latest('crosschain_cctxs_hidden'), legend: '{{target}} hidden' },
      ],
    }),
    timeseries({
      title: 'Blocks since the lowest pending height',
      description:
        'Distance of the height from the lowest height at which a first transaction of a chain was seen. Far above anything sensible, or below zero, that height is of another chain: take the ages above instead. Empty when nothing is pending.',
      unit: BLOCKS,
      width: 12,
      series: [
        {
          expr: `${latest('crosschain_height')} - on (target) (${latest('crosschain_lowest_pending_cctx_height')} > 0)`,
          legend: '{{target}}',
        },
      ],
    }),
  ],
};

const COIN_NOTE =
  'In coins of 10 to the power of $coin_decimals smallest units; 0 shows smallest units. Set the variable to the decimals of the native coin.';

const limit: Row = {
  title: 'Rate limit and values',
  panels: [
    timeseries({
      title: 'Rate limit used, over time',
      description:
        'Value of past and pending transactions over what the configured rate allows in the window in effect. Nodes that enforce the limit hold back all pending ones above 100 %. Empty when no rate is configured.',
      unit: 'percentunit',
      min: 0,
      steps: rateLimitUse,
      series: [{ expr: latest('crosschain_rate_limit_utilization_ratio'), legend: '{{target}}' }],
    }),
    stateTimeline({
      title: 'Rate limit exceeded',
      description:
        'When the limit was exceeded. It ends by itself as the window grows or moves on; one transaction larger than the whole allowance does not let it end. Empty when no rate is configured.',
      unit: 'none',
      width: 8,
      words: { '0': ['within', 'green'], '1': ['exceeded', 'orange'] },
      series: [{ expr: latest('crosschain_rate_limit_exceeded'), legend: '{{target}}' }],
    }),
    timeseries({
      title: 'Window, in effect and configured',
      description:
        'The window grows back to the lowest pending height. Far above the configured one, that height is often of another chain, and the use of the limit is far too low. Empty when no window is configured.',
      unit: BLOCKS,
      min: 0,
      series: [
        { expr: latest('crosschain_rate_limit_window_blocks'), legend: '{{target}} in effect' },
        {
          expr: latest('crosschain_rate_limit_configured_window_blocks'),
          legend: '{{target}} configured',
          isReference: true,
        },
      ],
    }),
    timeseries({
      title: 'Value past and pending',
      description: `Value inside the window and of all pending transactions; what has no configured conversion counts 0 there, so both are lower bounds. ${COIN_NOTE}`,
      unit: 'locale',
      min: 0,
      series: [
        { expr: coins(latest('crosschain_past_cctxs_value')), legend: '{{target}} past' },
        { expr: coins(latest('crosschain_pending_cctxs_value')), legend: '{{target}} pending' },
      ],
    }),
    timeseries({
      title: 'Rate, in effect and allowed',
      description: `Value for each block of the window, and the configured rate as a dashed line. ${COIN_NOTE} Empty when no window is configured.`,
      unit: 'suffix: coins per block',
      min: 0,
      series: [
        { expr: coins(latest('crosschain_withdraw_rate')), legend: '{{target}}' },
        { expr: coins(latest('crosschain_rate_limit')), legend: '{{target}} allowed', isReference: true },
      ],
    }),
    timeseries({
      title: 'Largest pending native amount',
      description: `One transaction near the allowance of a whole window (dashed) holds back all others where the limit is enforced. ${COIN_NOTE} Empty when none of the native coin is pending.`,
      unit: 'locale',
      min: 0,
      series: [
        { expr: coins(latest('crosschain_largest_pending_native_amount')), legend: '{{target}}' },
        {
          expr: coins(
            `${latest('crosschain_rate_limit')} * on (target) ${latest('crosschain_rate_limit_configured_window_blocks')}`,
          ),
          legend: '{{target}} allowance of a window',
          isReference: true,
        },
      ],
    }),
    timeseries({
      title: 'Oddities of the lists',
      description:
        'Duplicates, a lowest height above the height (it is of another chain), and transactions without an outbound. Harmless for the bridge; the figures by chain can be off by as many.',
      unit: 'short',
      min: 0,
      width: 24,
      height: 6,
      series: [{ expr: latestBy(['kind'], 'crosschain_anomalies'), legend: '{{target}} {{kind}}' }],
    }),
  ],
};

export const crossChain: Dashboard = {
  uid: 'bridge-cross-chain',
  title: 'Cross-chain',
  description: 'On which chain do transactions wait, for how long, and for the signers or for the chain?',
  tags: ['bridge'],
  variables: [
    datasourceVariable,
    labelVariable('target', 'Target', 'bridge_exporter_polls_total'),
    labelVariable('chain_id', 'Chain id', 'crosschain_cctxs{target=~"$target"}'),
    textVariable('coin_decimals', 'Decimals of the native coin', '18'),
  ],
  rows: [glance, chains, totals, limit],
};
