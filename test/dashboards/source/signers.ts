import {
  bars,
  type Column,
  type Dashboard,
  datasourceVariable,
  labelVariable,
  type Row,
  stat,
  stateTimeline,
  table,
  timeseries,
} from './grafana.js';
import { hubBlockSeconds, latest, latestBy, ofOrchestrators, ORCHESTRATOR, TARGET } from './queries.js';
import { confirmWindowLeft, someIsBusy } from './thresholds.js';

const BLOCKS = 'suffix: blocks';
const SIGNER = '{{target}} {{orchestrator}}';

const blocksLeft = `${ofOrchestrators('bridge_orchestrator_confirm_deadline_height')} - on (target) group_left () ${latest('bridge_height')}`;
const secondsLeft = `(${blocksLeft}) * on (target) group_left () ${hubBlockSeconds}`;

const windowLeft = `(${blocksLeft}) / on (target) group_left () ${latest('bridge_params_signed_valsets_window_blocks')}`;

const missing = {
  batches: ofOrchestrators('bridge_orchestrator_missing_batch_confirms'),
  valsets: ofOrchestrators('bridge_orchestrator_missing_valset_confirms'),
  votes: ofOrchestrators('bridge_orchestrator_missing_votes'),
};

/** Of the signers that owe something: batches first, since they hold money. */
const owing = `(${missing.batches} > 0 or ${missing.valsets} > 0 or ${missing.votes} > 0)`;

function ofOwing(expr: string): string {
  return `${expr} and on (target, orchestrator) ${owing}`;
}

const columns: readonly Column[] = [
  { title: 'Power', expr: ofOrchestrators('bridge_orchestrator_power_ratio'), unit: 'percentunit', decimals: 2 },
  { title: 'Batches unsigned', expr: missing.batches, unit: 'short', steps: someIsBusy },
  { title: 'Valsets unsigned', expr: missing.valsets, unit: 'short', steps: someIsBusy },
  { title: 'Jailed in (blocks)', expr: blocksLeft, unit: BLOCKS, decimals: 0 },
  { title: 'Jailed in (estimate)', expr: secondsLeft, unit: 's', decimals: 0 },
  { title: 'Window left', expr: windowLeft, unit: 'percentunit', decimals: 0, steps: confirmWindowLeft },
  {
    title: 'Last vote',
    expr: missing.votes,
    unit: 'none',
    words: { '0': ['voted', 'green'], '1': ['missing', 'orange'] },
  },
];

const keys = { target: 'Target', orchestrator: 'Orchestrator', external_address: 'External address' };

function powerOfThoseMissing(metric: string): string {
  return `sum by (target) (${latestBy(['orchestrator'], 'bridge_orchestrator_power_ratio')} and on (target, orchestrator) ${latestBy(['orchestrator'], metric)} > 0) or on (target) 0 * ${latest(metric)}`;
}

const missingPower = [
  { expr: powerOfThoseMissing('bridge_orchestrator_missing_batch_confirms'), legend: '{{target}} a batch' },
  { expr: powerOfThoseMissing('bridge_orchestrator_missing_valset_confirms'), legend: '{{target}} a validator set' },
  { expr: powerOfThoseMissing('bridge_orchestrator_missing_votes'), legend: '{{target}} the last vote' },
];

const now: Row = {
  title: 'Whose signature is missing?',
  panels: [
    table({
      title: 'Signers that owe something',
      description:
        'Each signer with an unsigned batch or validator set or without a vote for the last observed event; the strongest first. Some for a few minutes are normal. Who stays: ask its operator whether the orchestrator runs, has funds, and reaches its nodes. Jailed in: until the first deadline of an unsigned validator set; the estimate goes by the measured block time. Empty when every signer has signed and voted, as between batches of a healthy bridge.',
      height: 10,
      keys,
      columns: columns.map((column) => ({ ...column, expr: ofOwing(column.expr) })),
      sortBy: { column: 'Power', isDescending: true },
    }),
    stat({
      title: 'Signers with an unsigned batch',
      description:
        'How many signers owe a signature under a live batch. It holds the money of its batch while the power of those who signed is below the threshold.',
      unit: 'short',
      steps: someIsBusy,
      noValue: 'no data',
      width: 6,
      series: [{ expr: counted('bridge_orchestrator_missing_batch_confirms'), legend: '{{target}}' }],
    }),
    stat({
      title: 'Signers with an unsigned validator set',
      description:
        'How many signers owe a signature under a validator set whose deadline is still ahead. They are jailed at the deadline.',
      unit: 'short',
      steps: someIsBusy,
      noValue: 'no data',
      width: 6,
      series: [{ expr: counted('bridge_orchestrator_missing_valset_confirms'), legend: '{{target}}' }],
    }),
    stat({
      title: 'Signers without the last vote',
      description:
        'How many signers have not voted for the last observed event. Late votes at a busy hour are normal. Empty when the state no longer holds that event.',
      unit: 'short',
      steps: someIsBusy,
      noValue: 'no data',
      width: 6,
      series: [{ expr: counted('bridge_orchestrator_missing_votes'), legend: '{{target}}' }],
    }),
    stat({
      title: 'First signer is jailed in',
      description:
        'Estimated time to the first deadline of an unsigned validator set, by the measured hub block time. Empty when no signer owes a validator set, as most of the time, or the node sends no height.',
      unit: 's',
      decimals: 0,
      noValue: 'none is due',
      width: 6,
      series: [{ expr: `min by (target) (${secondsLeft})`, legend: '{{target}}' }],
    }),
  ],
};

function counted(metric: string): string {
  return `sum by (target) (${latestBy(['orchestrator'], metric, ORCHESTRATOR)} > bool 0)`;
}

const deadlines: Row = {
  title: 'Deadlines',
  panels: [
    bars({
      title: 'Blocks to the deadline, by signer',
      description:
        'Hub blocks until a signer is jailed for the unsigned validator set that is due first; the ten that are due first. Empty when no signer owes a validator set, as most of the time, or the node sends no height.',
      unit: BLOCKS,
      decimals: 0,
      min: 0,
      series: [{ expr: `bottomk(10, ${blocksLeft})`, legend: SIGNER }],
    }),
    timeseries({
      title: 'Estimated time to the deadline, by signer',
      description:
        'The same as time, by the measured hub block time. A line that falls to zero is a signer that is jailed. Empty when no signer owes a validator set, as most of the time, or the node sends no height.',
      unit: 's',
      min: 0,
      width: 12,
      series: [{ expr: secondsLeft, legend: SIGNER }],
    }),
  ],
};

const overTime: Row = {
  title: 'Since when?',
  panels: [
    stateTimeline({
      title: 'Unsigned batches, by signer',
      description:
        'Coloured while a signer owes a signature under a live batch. A long bar is a signer that is down; bars of many signers at once are a batch they all refuse, or an outage they share.',
      unit: 'short',
      height: 12,
      steps: someIsBusy,
      series: [{ expr: missing.batches, legend: SIGNER }],
    }),
    stateTimeline({
      title: 'Unsigned validator sets, by signer',
      description: 'Coloured while a signer owes a signature under a validator set whose deadline is ahead.',
      unit: 'short',
      height: 12,
      steps: someIsBusy,
      series: [{ expr: missing.valsets, legend: SIGNER }],
    }),
    stateTimeline({
      title: 'Vote for the last observed event, by signer',
      description:
        'Coloured while the vote is missing. A long bar is an oracle that is down or behind. Empty when the state no longer holds that event.',
      unit: 'short',
      height: 12,
      steps: someIsBusy,
      words: { '0': ['voted', 'green'], '1': ['missing', 'orange'] },
      series: [{ expr: missing.votes, legend: SIGNER }],
    }),
    timeseries({
      title: 'Power of those who miss something',
      description:
        'Share of the power of all signers that owe at least one batch, one validator set or the last vote. Above the dashed line, which is what the threshold leaves over, nothing can be relayed if they all miss the same one.',
      unit: 'percentunit',
      min: 0,
      max: 1,
      width: 12,
      height: 12,
      series: [
        ...missingPower,
        {
          expr: `1 - ${latest('bridge_power_threshold_ratio')}`,
          legend: '{{target}} may miss',
          isReference: true,
        },
      ],
    }),
  ],
};

const everyone: Row = {
  title: 'All signers',
  panels: [
    table({
      title: 'All signers',
      description:
        'Every member of the newest validator set with a registered orchestrator, the strongest first; of the watched ones only where that is configured. A dash is a figure that does not apply. The columns on deadlines are empty when no signer owes a validator set, as most of the time.',
      height: 14,
      keys,
      columns,
      sortBy: { column: 'Power', isDescending: true },
    }),
    timeseries({
      title: 'Power, by signer',
      description: 'Share of each signer of the power of the newest validator set. A step is a new validator set.',
      unit: 'percentunit',
      min: 0,
      width: 12,
      series: [{ expr: ofOrchestrators('bridge_orchestrator_power_ratio'), legend: SIGNER }],
    }),
    timeseries({
      title: 'Oddities of the state',
      description:
        'Rows that fit nothing else, by kind. Members without an orchestrator cannot sign and are jailed for it; unknown voters and orphan confirms are mostly left from the past.',
      unit: 'short',
      min: 0,
      width: 6,
      series: [{ expr: latestBy(['kind'], 'bridge_anomalies'), legend: '{{target}} {{kind}}' }],
    }),
    timeseries({
      title: 'Registrations',
      description:
        'Validators that have registered an orchestrator and an external key. It only grows; a step down is another chain.',
      unit: 'short',
      width: 6,
      series: [{ expr: `max by (target) (bridge_orchestrator_addresses{${TARGET}})`, legend: '{{target}}' }],
    }),
  ],
};

export const signers: Dashboard = {
  uid: 'bridge-signers',
  title: 'Signers',
  description: 'Who has not signed or voted, how much power that is, and when someone is jailed for it.',
  tags: ['bridge'],
  variables: [
    datasourceVariable,
    labelVariable('target', 'Target', 'bridge_exporter_polls_total'),
    labelVariable('orchestrator', 'Orchestrator', 'bridge_orchestrator_power_ratio{target=~"$target"}'),
  ],
  rows: [now, deadlines, overTime, everyone],
};
