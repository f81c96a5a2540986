import {
  barPanel,
  type Column,
  type Dashboard,
  labelVariable,
  type Row,
  seriesVariable,
  stateTimelinePanel,
  statPanel,
  tablePanel,
  timeSeriesPanel,
} from './grafana.js';
import { commonVariables, exporterUrlVariable, pendingItemsLink } from './filters.js';
import {
  latest,
  latestBy,
  FILTERS,
  blocksToJailing,
  latestBySigner,
  ofMostMissing,
  secondsToJailing,
  signerInfo,
  WATCHED_MATCHER,
} from './queries.js';
import { orangeFromOne } from './thresholds.js';

const BLOCKS = 'suffix:blocks';
const SIGNER = '{{cluster}} {{target}} {{signer}}';

const missing = {
  batches: latestBySigner('bridge_orchestrator_missing_batch_confirms'),
  valsets: latestBySigner('bridge_orchestrator_missing_valset_confirms'),
  votes: latestBySigner('bridge_orchestrator_missing_votes'),
};

/** The signers with a missing signature or vote. */
const withMissing = `(${[
  'bridge_orchestrator_missing_batch_confirms',
  'bridge_orchestrator_missing_valset_confirms',
  'bridge_orchestrator_missing_votes',
]
  .map((metric) => `${latestBy(['orchestrator'], metric)} > 0`)
  .join(' or ')})`;

function ofThoseWithMissing(expr: string): string {
  return `${expr} and on (cluster, target, orchestrator) ${withMissing}`;
}

function jailedIn(kind: 'batch' | 'valset'): string {
  return `max without (confirms) (${secondsToJailing(`confirms="${kind}"`)})`;
}

const columns: readonly Column[] = [
  { title: 'Power', expr: latestBySigner('bridge_orchestrator_power_ratio'), unit: 'percentunit', decimals: 2 },
  { title: 'Batches unsigned', expr: missing.batches, unit: 'short', thresholds: orangeFromOne },
  { title: 'Valsets unsigned', expr: missing.valsets, unit: 'short', thresholds: orangeFromOne },
  { title: 'Jailed for a batch in', expr: jailedIn('batch'), unit: 's', decimals: 0 },
  { title: 'Jailed for a valset in', expr: jailedIn('valset'), unit: 's', decimals: 0 },
  {
    title: 'Last vote',
    expr: missing.votes,
    unit: 'none',
    valueTexts: { '0': ['voted', 'green'], '1': ['missing', 'orange'] },
  },
];

const keys = {
  cluster: 'Cluster',
  target: 'Target',
  signer: 'Signer',
  watched: 'Watched',
};

/** Shown in both tables of signers. */
const signerCells = {
  rowLabels: keys,
  lastLabels: { orchestrator: 'Orchestrator', external_address: 'External address' },
  rowLabelTexts: { Watched: { true: ['yes', 'blue'], false: ['no', 'transparent'] } },
  cellLinks: { Signer: [pendingItemsLink] },
  widths: { Signer: 170, Watched: 90 },
} as const;

function missingPowerOf(metric: string): string {
  return `sum by (cluster, target) (${latestBy(['orchestrator'], 'bridge_orchestrator_power_ratio')} and on (cluster, target, orchestrator) ${latestBy(['orchestrator'], metric)} > 0) or on (cluster, target) 0 * ${latest(metric)}`;
}

const missingPower = [
  { expr: missingPowerOf('bridge_orchestrator_missing_batch_confirms'), legend: '{{cluster}} {{target}} batch' },
  {
    expr: missingPowerOf('bridge_orchestrator_missing_valset_confirms'),
    legend: '{{cluster}} {{target}} validator set',
  },
  { expr: missingPowerOf('bridge_orchestrator_missing_votes'), legend: '{{cluster}} {{target}} last vote' },
];

const missingNow: Row = {
  title: 'Missing signatures',
  panels: [
    tablePanel({
      title: 'Signers with missing signatures or votes',
      description:
        'Signers with an unsigned batch or validator set, or without a vote for the last observed event, sorted by power. Some are normal for a few minutes. If a signer remains, ask its operator whether the orchestrator runs, has funds and reaches its nodes. The signer links to the page /pending of the exporter. Jailed in: time to the first deadline of an unsigned batch or validator set, estimated with the measured block time; BridgeOrchestratorDeadlineNear says when that is a problem. Empty when every signer has signed and voted, as between batches of a healthy bridge.',
      height: 10,
      ...signerCells,
      columns: columns.map((column) => ({ ...column, expr: ofThoseWithMissing(column.expr) })),
      sortBy: { column: 'Power', isDescending: true },
      noValue: 'every signer has signed and voted',
    }),
    statPanel({
      title: 'Signers with an unsigned batch',
      description:
        'Signers that have not signed a live batch. The transfers of a batch are stuck while its signed power is below the threshold.',
      unit: 'short',
      thresholds: orangeFromOne,
      noValue: 'no data',
      width: 6,
      series: [{ expr: signersWith('bridge_orchestrator_missing_batch_confirms'), legend: '{{cluster}} {{target}}' }],
    }),
    statPanel({
      title: 'Signers with an unsigned validator set',
      description:
        'Signers that have not signed a validator set whose deadline has not passed. They are jailed at the deadline.',
      unit: 'short',
      thresholds: orangeFromOne,
      noValue: 'no data',
      width: 6,
      series: [{ expr: signersWith('bridge_orchestrator_missing_valset_confirms'), legend: '{{cluster}} {{target}}' }],
    }),
    statPanel({
      title: 'Signers without the last vote',
      description:
        'Signers that have not voted for the last observed event. Late votes at busy hours are normal. Empty when the state no longer holds that event.',
      unit: 'short',
      thresholds: orangeFromOne,
      noValue: 'no data',
      width: 6,
      series: [{ expr: signersWith('bridge_orchestrator_missing_votes'), legend: '{{cluster}} {{target}}' }],
    }),
    statPanel({
      title: 'First signer jailed in',
      description:
        'Time to the first deadline of an unsigned validator set or batch, estimated with the measured hub block time. Hours are normal for a moment after each batch. Empty when everything is signed, which is normal, or the node sends no height.',
      unit: 's',
      decimals: 0,
      noValue: 'none is due',
      width: 6,
      series: [{ expr: `min by (cluster, target) (${secondsToJailing()})`, legend: '{{cluster}} {{target}}' }],
    }),
  ],
};

function signersWith(metric: string): string {
  return `sum by (cluster, target) (${latestBySigner(metric)} > bool 0)`;
}

const deadlines: Row = {
  title: 'Deadlines',
  panels: [
    barPanel({
      title: 'Blocks to the deadline by signer',
      height: 10,
      noValue: 'everything is signed',
      description:
        'Hub blocks until a signer is jailed for an unsigned validator set or batch, the ten first deadlines. Empty when everything is signed, which is normal, or the node sends no height.',
      unit: BLOCKS,
      decimals: 0,
      min: 0,
      series: [{ expr: `bottomk(10, ${blocksToJailing()})`, legend: `${SIGNER} {{confirms}}` }],
    }),
    timeSeriesPanel({
      title: 'Estimated time to the deadline by signer',
      height: 10,
      noValue: 'everything is signed',
      description:
        'The blocks to the deadline multiplied by the measured hub block time, the ten first deadlines. A line that reaches zero is a signer that is jailed. Empty when everything is signed, which is normal, or the node sends no height.',
      unit: 's',
      min: 0,
      width: 12,
      series: [{ expr: `bottomk(10, ${secondsToJailing()})`, legend: `${SIGNER} {{confirms}}` }],
    }),
  ],
};

const overTime: Row = {
  title: 'History',
  panels: [
    stateTimelinePanel({
      title: 'Unsigned batches by signer',
      description:
        'Orange while a signer has not signed a live batch, for the 15 signers that missed the most in the time range. A long bar is a signer that is down. Simultaneous bars of many signers are a batch that they reject or a common outage.',
      unit: 'short',
      height: 12,
      thresholds: orangeFromOne,
      series: [
        {
          expr: ofMostMissing(missing.batches, 'bridge_orchestrator_missing_batch_confirms'),
          legend: SIGNER,
        },
      ],
    }),
    stateTimelinePanel({
      title: 'Unsigned validator sets by signer',
      description:
        'Orange while a signer has not signed a validator set whose deadline has not passed, for the 15 signers that missed the most in the time range.',
      unit: 'short',
      height: 12,
      thresholds: orangeFromOne,
      series: [
        {
          expr: ofMostMissing(missing.valsets, 'bridge_orchestrator_missing_valset_confirms'),
          legend: SIGNER,
        },
      ],
    }),
    stateTimelinePanel({
      title: 'Votes for the last observed event by signer',
      noValue: 'the state does not hold the last event',
      description:
        'Orange while the vote is missing, for the 15 signers that missed the most in the time range. A long bar is an oracle that is down or behind. Empty when the state no longer holds that event.',
      unit: 'short',
      height: 12,
      thresholds: orangeFromOne,
      valueTexts: { '0': ['voted', 'green'], '1': ['missing', 'orange'] },
      series: [{ expr: ofMostMissing(missing.votes, 'bridge_orchestrator_missing_votes'), legend: SIGNER }],
    }),
    timeSeriesPanel({
      title: 'Power of signers with missing signatures or votes',
      description:
        'Share of the power of all signers that have not signed at least one batch or validator set, or have not cast the last vote. The dashed line is the power that may be missing. Above it, a batch or set that all of them have not signed cannot be relayed.',
      unit: 'percentunit',
      min: 0,
      max: 1,
      width: 12,
      height: 12,
      series: [
        ...missingPower,
        {
          expr: `1 - ${latest('bridge_power_threshold_ratio')}`,
          legend: '{{cluster}} {{target}} may miss',
          isReference: true,
        },
      ],
    }),
  ],
};

const allSigners: Row = {
  title: 'All signers',
  panels: [
    tablePanel({
      title: 'All signers',
      description:
        'The members of the newest validator set with a registered orchestrator, sorted by power. The variable *Watched* selects those of the setting `watch`. A dash is a value that does not apply. The columns on deadlines are empty when all validator sets are signed, which is normal.',
      height: 14,
      ...signerCells,
      columns,
      sortBy: { column: 'Power', isDescending: true },
    }),
    timeSeriesPanel({
      title: 'Power by signer',
      description:
        'Share of the power of the newest validator set, for the ten signers with the most power. A step is a new validator set.',
      unit: 'percentunit',
      min: 0,
      width: 12,
      series: [{ expr: `topk(10, ${latestBySigner('bridge_orchestrator_power_ratio')})`, legend: SIGNER }],
    }),
    timeSeriesPanel({
      title: 'Anomalies of the state',
      description:
        'Inconsistent rows by kind. Members without an orchestrator cannot sign and are jailed. Unknown voters and orphan confirms are mostly remainders of the past.',
      unit: 'short',
      min: 0,
      width: 6,
      series: [{ expr: latestBy(['kind'], 'bridge_anomalies'), legend: '{{cluster}} {{target}} {{kind}}' }],
    }),
    timeSeriesPanel({
      title: 'Registrations',
      description:
        'Validators with a registered orchestrator and external key. The number only increases on the same chain.',
      unit: 'short',
      width: 6,
      series: [
        {
          expr: `max by (cluster, target) (bridge_orchestrator_addresses{${FILTERS}})`,
          legend: '{{cluster}} {{target}}',
        },
      ],
    }),
  ],
};

export const watchedVariable = labelVariable('watched', 'Watched', `bridge_orchestrator_info{${FILTERS}}`);

/** Shows the names and selects by address. Prometheus returns the labels in alphabetical order. */
export const signerVariable = seriesVariable(
  'orchestrator',
  'Signer',
  signerInfo(WATCHED_MATCHER),
  '/orchestrator="(?<value>[^"]+)".*signer="(?<text>[^"]+)"/',
);

export const signers: Dashboard = {
  uid: 'bridge-signers',
  title: 'Bridge / Signers',
  description: 'Which signatures and votes are missing, how much power do they have, and when are signers jailed?',
  tags: ['bridge'],
  variables: [...commonVariables, watchedVariable, signerVariable, exporterUrlVariable],
  rows: [missingNow, deadlines, overTime, allSigners],
};
