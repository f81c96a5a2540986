import {
  beginningWith,
  type Dashboard,
  type Row,
  stateTimelinePanel,
  statPanel,
  tablePanel,
  timeSeriesPanel,
} from './grafana.js';
import { commonVariables, dashboardLink } from './filters.js';
import { problemTable } from './problems.js';
import { FILTERS, latest, latestBySigner, secondsToJailing } from './queries.js';
import { orangeFromOne } from './thresholds.js';
import { signerVariable, watchedVariable } from './signers.js';

/* Own validators: each selected one has a value in every panel, so those of the setting watch are selected at first. */

const SIGNER = '{{cluster}} {{target}} {{signer}}';
const toSigners = dashboardLink('Signers', 'bridge-signers');

const VOTES = { '0': ['voted', 'green'], '1': ['missing', 'orange'] } as const;

/** What the node answers about each validator of `watch`. */
function ofWatched(metric: string): string {
  return `max by (cluster, target, orchestrator, name) (${metric}{${FILTERS}})`;
}

/** The share of the time range in which nothing was missing. */
function participation(metric: string, range: string): string {
  const isMissing = `(max by (cluster, target, orchestrator, external_address) (${metric}{${FILTERS}}) > bool 0)`;
  // The subquery has no sample before the exporter has been scraped for one of its steps.
  const missing = `avg_over_time(${isMissing}[${range}:5m]) or ${isMissing}`;
  return `1 - (${missing}) * on (cluster, target, orchestrator, external_address) group_left (signer, watched) ${signerOf}`;
}

/** The selected signers with the value 1. */
const signerOf = `(${latestBySigner('bridge_orchestrator_info')})`;

const now: Row = {
  title: 'Now',
  panels: [
    problemTable(
      {
        title: 'Problems of validators of watch',
        noValue: 'no problem of a validator of watch',
        description:
          'What is wrong with each entry of the setting watch, worst first, whether or not it is selected above. It is red or orange when its alert fires. Outside of the newest validator set, a validator neither signs nor votes, and the other panels have no value of it. Empty without the setting, and when nothing is wrong, as in the demo.',
        height: 6,
      },
      'problem=~"BridgeWatched.+|BridgeOrchestrator.+"',
      'watched!="false"',
    ),
    statPanel({
      title: 'Power',
      description: 'Share of the power of the newest validator set. Empty when the validator is not in it.',
      unit: 'percentunit',
      decimals: 2,
      noValue: 'not in the set',
      series: [{ expr: latestBySigner('bridge_orchestrator_power_ratio'), legend: SIGNER }],
    }),
    statPanel({
      title: 'Jailed in',
      width: 8,
      description:
        'Time to the first deadline for an unsigned batch or validator set, estimated with the block time in use. After it the validator is jailed. Empty when nothing is unsigned, which is normal.',
      unit: 's',
      decimals: 0,
      noValue: 'nothing is due',
      series: [
        {
          expr: `min by (cluster, target, signer) (${secondsToJailing()})`,
          legend: SIGNER,
        },
      ],
    }),
    statPanel({
      title: 'Batches unsigned',
      description: 'Live batches that the validator has not signed. Some are normal for a few minutes.',
      unit: 'short',
      thresholds: orangeFromOne,
      noValue: 'no data',
      series: [{ expr: latestBySigner('bridge_orchestrator_missing_batch_confirms'), legend: SIGNER }],
    }),
    statPanel({
      title: 'Validator sets unsigned',
      description: 'Validator sets with an open deadline that the validator has not signed.',
      unit: 'short',
      thresholds: orangeFromOne,
      noValue: 'no data',
      series: [{ expr: latestBySigner('bridge_orchestrator_missing_valset_confirms'), legend: SIGNER }],
    }),
    statPanel({
      title: 'Last event',
      description:
        'Whether the validator has voted for the last observed event. Empty when the state no longer holds that event.',
      unit: 'none',
      valueTexts: VOTES,
      noValue: 'the state does not hold the event',
      series: [{ expr: latestBySigner('bridge_orchestrator_missing_votes'), legend: SIGNER }],
    }),
    tablePanel({
      title: 'Status, claims and funds',
      description:
        'What the node answers about each validator of watch: whether it is jailed, how many events its last claim is behind the last observed one, and the balance of its orchestrator in smallest units. Empty when the node does not know the queries, or node_queries is off. What was spent is empty in the first hour, as in the demo.',
      width: 24,
      height: 5,
      rowLabels: { cluster: 'Cluster', target: 'Target', orchestrator: 'Orchestrator', name: 'Name' },
      columns: [
        {
          title: 'Jailed',
          expr: ofWatched('bridge_watched_validator_jailed'),
          unit: 'none',
          valueTexts: { '0': ['no', 'green'], '1': ['yes', 'red'] },
        },
        {
          title: 'Bonded',
          expr: ofWatched('bridge_watched_validator_bonded'),
          unit: 'none',
          valueTexts: { '0': ['no', 'orange'], '1': ['yes', 'green'] },
        },
        {
          title: 'Events behind',
          expr: `clamp_min(- (${ofWatched('bridge_watched_validator_last_event_nonce')}) + on (cluster, target) group_left () ${latest('bridge_last_observed_nonce')}, 0)`,
          unit: 'short',
          thresholds: orangeFromOne,
        },
        { title: 'Balance', expr: ofWatched('bridge_watched_orchestrator_balance_amount'), unit: 'sci' },
        {
          title: 'Balance spent in 3 days',
          expr: `max_over_time((${ofWatched('bridge_watched_orchestrator_balance_amount')})[3d:1h]) - ${ofWatched('bridge_watched_orchestrator_balance_amount')}`,
          unit: 'sci',
        },
      ],
      noValue: 'no answer of the node',
    }),
  ],
};

const history: Row = {
  title: 'History',
  panels: [
    tablePanel({
      title: 'Participation',
      description:
        'Share of the time in which no batch was unsigned, and in which the vote for the last observed event was there. A running orchestrator signs within a minute or two, so its share of signatures depends on how many batches there are. Calculated from a sample every five minutes.',
      height: 6,
      links: [toSigners],
      rowLabels: { cluster: 'Cluster', target: 'Target', signer: 'Signer' },
      lastLabels: { orchestrator: 'Orchestrator', external_address: 'External address', watched: 'Watched' },
      columns: [
        {
          title: 'Signatures, 7 days',
          expr: participation('bridge_orchestrator_missing_batch_confirms', '7d'),
          unit: 'percentunit',
          decimals: 1,
        },
        {
          title: 'Signatures, 30 days',
          expr: participation('bridge_orchestrator_missing_batch_confirms', '30d'),
          unit: 'percentunit',
          decimals: 1,
        },
        {
          title: 'Votes, 7 days',
          expr: participation('bridge_orchestrator_missing_votes', '7d'),
          unit: 'percentunit',
          decimals: 1,
        },
        {
          title: 'Votes, 30 days',
          expr: participation('bridge_orchestrator_missing_votes', '30d'),
          unit: 'percentunit',
          decimals: 1,
        },
      ],
      noValue: 'no signer is selected',
    }),
    stateTimelinePanel({
      title: 'Unsigned batches',
      description:
        'Orange while the validator has not signed a live batch. A long bar is an orchestrator that is down.',
      unit: 'short',
      thresholds: orangeFromOne,
      series: [{ expr: latestBySigner('bridge_orchestrator_missing_batch_confirms'), legend: SIGNER }],
    }),
    stateTimelinePanel({
      title: 'Votes for the last observed event',
      description: 'Orange while the vote is missing. Empty when the state no longer holds the last event.',
      unit: 'short',
      thresholds: orangeFromOne,
      valueTexts: VOTES,
      noValue: 'the state does not hold the last event',
      series: [{ expr: latestBySigner('bridge_orchestrator_missing_votes'), legend: SIGNER }],
    }),
    stateTimelinePanel({
      title: 'Votes for losing claims',
      description:
        'Orange while the validator has voted for another claim of the last observed event than the observed one. Its node of the external chain is wrong, or behind a reorganization.',
      unit: 'short',
      thresholds: orangeFromOne,
      valueTexts: { '0': ['no', 'green'], '1': ['yes', 'orange'] },
      noValue: 'the state does not hold the last event',
      series: [{ expr: latestBySigner('bridge_orchestrator_dissenting_votes'), legend: SIGNER }],
    }),
    timeSeriesPanel({
      title: 'Power over time',
      description: 'Share of the power of the newest validator set. It ends when the validator leaves the set.',
      unit: 'percentunit',
      min: 0,
      width: 24,
      series: [{ expr: latestBySigner('bridge_orchestrator_power_ratio'), legend: SIGNER }],
    }),
  ],
};

export const validator: Dashboard = {
  uid: 'bridge-validator',
  title: 'Bridge / Validator',
  description:
    'Does my validator sign and vote, how reliably, and when would it be jailed? Shows the entries of watch; without any, choose signers above.',
  tags: ['bridge'],
  variables: [...commonVariables, beginningWith(watchedVariable, 'true'), signerVariable],
  rows: [now, history],
};
