import { OUTDATED_SECONDS } from '../../src/problems/polls.js';
import { DRIFT_RATIO } from '../../src/problems/relay.js';
import { commonVariables, exporterUrlVariable, pendingItemsLink } from './filters.js';
import {
  type Column,
  type Dashboard,
  graph,
  type Row,
  seriesVariable,
  table,
  timeline,
  type ValueTexts,
} from './grafana.js';
import { problemColumn, problemTable } from './problem-table.js';
import { CLUSTER, ageOf, FILTERS, latest, lowest, ofCurrentNode, orNothing, type Selection } from './queries.js';

/*
 * Own validators are those of the setting watch, also when they are jailed and in no validator set. All others are in the collapsed rows.
 */

type Whose = 'own' | 'all';

const SIGNER = `{{${CLUSTER}}} {{target}} {{signer}}`;
const SELECTED = 'orchestrator=~"$orchestrator"';
const BY_SIGNER = { by: ['orchestrator'], where: [SELECTED] } as const;
/** The color of what is normal for some minutes. */
const YELLOW_FROM_ONE = [
  ['transparent', null],
  ['yellow', 1],
] as const;
const VOTES: ValueTexts = { '0': ['voted', 'green'], '1': ['missing', 'yellow'] };

/**
 * One series with the value 1 for each orchestrator. The label `signer` is its name, or its shortened address without one. `topk` selects one
 * series where replicas export different names.
 */
export function signerInfo(whose: Whose, selection: Pick<Selection, 'within'> = {}): string {
  const names = { ...selection, by: ['orchestrator', 'name'] };
  const isOwn = whose === 'own';
  const members = latest('bridge_orchestrator_info', {
    ...names,
    where: [SELECTED, ...(isOwn ? ['watched="true"'] : [])],
  });
  const watched = latest('bridge_watched_orchestrator_info', { ...names, where: [SELECTED] });
  const info = isOwn ? `${members} or on (${CLUSTER}, target, orchestrator) ${watched}` : members;
  const withAddress = `label_replace(${info}, "signer", "$1…$2", "orchestrator", "(.{0,12}).*?(.{0,6})")`;
  return `topk by (${CLUSTER}, target, orchestrator) (1, label_replace(${withAddress}, "signer", "$1", "name", "(.+)"))`;
}

/** With the label `signer`. */
export function withSigner(whose: Whose, expr: string): string {
  return `(${expr}) * on (${CLUSTER}, target, orchestrator) group_left (signer) ${signerInfo(whose)}`;
}

const bySigner = (whose: Whose, metric: string): string => withSigner(whose, latest(metric, BY_SIGNER));

/** The age of the document, also for own validators of which nothing else is known, because the data of their target is outdated. */
export function ageOfOwnData(): string {
  const present = signerInfo('own');
  const known = `${present} or ${signerInfo('own', { within: '1d' })} unless on (${CLUSTER}, target) ${present}`;
  const age = ageOf('bridge_exporter_last_success_timestamp_seconds', { where: ['document="module_state"'] });
  return `max by (${CLUSTER}, target, orchestrator, signer) (${known}) * on (${CLUSTER}, target) group_left () (${age})`;
}

/** Until the first deadline of whatever kind, after which the validator is jailed. */
export function secondsToSign(whose: Whose): string {
  const deadlines = lowest('bridge_orchestrator_confirm_deadline_height', BY_SIGNER);
  const blocks = `${deadlines} - on (${CLUSTER}, target) group_left () ${latest('bridge_height')}`;
  const age = ageOf('bridge_exporter_last_success_timestamp_seconds', { where: ['document="module_state"'] });
  const ofDocument = `(${blocks}) * on (${CLUSTER}, target) group_left () ${latest('bridge_block_time_seconds')}`;
  return ofCurrentNode(withSigner(whose, `${ofDocument} - on (${CLUSTER}, target) group_left () (${age})`));
}

/** In whole coins, if the decimals of the hub coin are configured, else in smallest units. */
function inHubCoins(expr: string): string {
  const coin = latest('bridge_params_info', { by: ['hub_coin_erc20_contract'] });
  const contract = `label_replace(${coin}, "token_contract", "$1", "hub_coin_erc20_contract", "(.+)")`;
  const decimals = `${latest('bridge_token_decimals', { by: ['token_contract'] })} * on (${CLUSTER}, target, token_contract) ${contract}`;
  return `${expr} / on (${CLUSTER}, target) group_left () (10 ^ max by (${CLUSTER}, target) (${decimals})) or ${expr}`;
}

const BALANCE = inHubCoins(latest('bridge_watched_orchestrator_balance_amount', BY_SIGNER));

/** The share of the blocks that a validator may miss; absent where it may miss none. */
export const MISSED_BLOCKS = `${latest('bridge_watched_validator_missed_blocks', BY_SIGNER)} / on (${CLUSTER}, target) group_left () (${latest('bridge_signed_blocks_window_blocks')} * (1 - ${latest('bridge_min_signed_per_window_ratio')}) > 0)`;

/** The share of the time range in which nothing was missing. */
function participation(metric: string): string {
  const isMissing = `(${latest(metric, BY_SIGNER)} > bool 0)`;
  return withSigner('own', `1 - avg_over_time(${isMissing}[$__range:1m])`);
}

const late = (whose: Whose): readonly Column[] => [
  { title: 'Power', expr: bySigner(whose, 'bridge_orchestrator_power_ratio'), unit: 'percentunit', decimals: 2 },
  {
    title: 'Batches due',
    expr: ofCurrentNode(bySigner(whose, 'bridge_orchestrator_missing_batch_confirms')),
    unit: 'short',
    thresholds: YELLOW_FROM_ONE,
  },
  {
    title: 'Sets due',
    expr: ofCurrentNode(bySigner(whose, 'bridge_orchestrator_missing_valset_confirms')),
    unit: 'short',
    thresholds: YELLOW_FROM_ONE,
  },
  {
    title: 'Sign within',
    expr: orNothing(
      secondsToSign(whose),
      ['orchestrator'],
      ofCurrentNode(bySigner(whose, 'bridge_orchestrator_power_ratio')),
    ),
    unit: 'dtdurations',
    decimals: 1,
    texts: { '-1': ['not due', 'transparent'] },
  },
  {
    title: 'Last event',
    expr: ofCurrentNode(bySigner(whose, 'bridge_orchestrator_missing_vote')),
    unit: 'none',
    texts: VOTES,
  },
];

const own: Row = {
  title: 'Own validators',
  panels: [
    table({
      title: 'Own validators',
      description:
        'Do my validators sign and vote, by when do they have to, and do they have funds? After a deadline the validator is jailed. Some missing signatures and votes are normal for minutes. A dash: not known, because it is in no validator set, the node is behind or the data is outdated, as its age says. Due: not signed yet. Behind: events that its last claim is behind. Balance in hub coins, in smallest units if their decimals are not configured.',
      noValue: 'no validator of watch is known; Late validators has the others',
      height: 6,
      labels: { target: 'Target', signer: 'Validator' },
      lastLabels: { orchestrator: 'Orchestrator', [CLUSTER]: 'Cluster' },
      links: { Validator: [pendingItemsLink] },
      widths: { Validator: 140, Orchestrator: 125, 'Sign within': 150 },
      columns: [
        {
          ...problemColumn([], ''),
          expr: withSigner('own', problemColumn(['orchestrator'], ofCurrentNode(signerInfo('own')), SELECTED).expr),
        },
        {
          title: 'Status',
          expr: withSigner(
            'own',
            `2 * ${latest('bridge_watched_validator_jailed', BY_SIGNER)} > 0 or ${latest('bridge_watched_validator_bonded', BY_SIGNER)}`,
          ),
          unit: 'none',
          texts: { '0': ['not active', 'orange'], '1': ['active', 'transparent'], '2': ['jailed', 'red'] },
        },
        {
          title: 'Data age',
          expr: ageOfOwnData(),
          unit: 'dtdhms',
          thresholds: [
            ['transparent', null],
            ['red', OUTDATED_SECONDS],
          ],
        },
        ...late('own'),
        {
          title: 'Behind',
          expr: ofCurrentNode(
            withSigner(
              'own',
              `clamp_min(- ${latest('bridge_watched_validator_last_event_nonce', BY_SIGNER)} + on (${CLUSTER}, target) group_left () ${latest('bridge_last_observed_nonce')}, 0)`,
            ),
          ),
          unit: 'short',
          thresholds: YELLOW_FROM_ONE,
        },
        { title: 'Balance', expr: withSigner('own', BALANCE), unit: 'short', decimals: 1 },
      ],
    }),
    problemTable(
      {
        title: 'Problems of own validators',
        description:
          'What is wrong with an entry of watch, and since when? Here is also one that is in no validator set.',
        noValue: 'no problem of an own validator, if the data is current',
        height: 6,
      },
      'problem=~"BridgeWatched.+|BridgeOrchestrator.+"',
      'watched!="false"',
    ),
    timeline({
      title: 'Unsigned batches and validator sets',
      description: 'When was a signature missing? A short bar is normal; a long one is an orchestrator that is down.',
      noValue: 'no validator of watch is in the validator set',
      unit: 'short',
      thresholds: YELLOW_FROM_ONE,
      texts: { '0': ['signed', 'green'] },
      series: [
        { expr: bySigner('own', 'bridge_orchestrator_missing_batch_confirms'), legend: `${SIGNER} batches` },
        { expr: bySigner('own', 'bridge_orchestrator_missing_valset_confirms'), legend: `${SIGNER} sets` },
      ],
    }),
    timeline({
      title: 'Votes for the last observed event',
      description:
        'When was a vote missing, or for a claim that lost? A long bar is an oracle that is down or behind; a vote for another claim is a wrong node of the external chain.',
      noValue: 'the state does not hold the last event',
      unit: 'short',
      texts: { ...VOTES, '2': ['voted for another claim', 'orange'] },
      series: [
        {
          expr: withSigner(
            'own',
            `2 * ${latest('bridge_orchestrator_dissenting_vote', BY_SIGNER)} > 0 or ${latest('bridge_orchestrator_missing_vote', BY_SIGNER)}`,
          ),
          legend: SIGNER,
        },
      ],
    }),
    graph({
      title: 'Time left to sign',
      description:
        'How long do own validators still have, before they are jailed? Estimated with the block time in use.',
      noValue: 'nothing is due, the node is behind, or the data is outdated',
      unit: 'dtdhms',
      min: 0,
      series: [{ expr: secondsToSign('own'), legend: SIGNER }],
    }),
    graph({
      title: 'Missed blocks',
      description:
        'How many blocks of the hub have own validators missed, of those that they may miss before they are jailed? The number falls when blocks leave the window.',
      noValue: 'the node does not serve the slashing module, or a validator may miss no block',
      unit: 'percentunit',
      min: 0,
      series: [{ expr: withSigner('own', MISSED_BLOCKS), legend: SIGNER }],
    }),
    graph({
      title: 'Funds',
      description:
        'How long do the funds of the orchestrators last? In hub coins, in smallest units if their decimals are not configured. The dashed line is watch_min_balance.',
      noValue: 'the node does not say the balance',
      unit: 'short',
      min: 0,
      series: [
        { expr: withSigner('own', BALANCE), legend: SIGNER },
        {
          expr: inHubCoins(latest('bridge_watched_orchestrator_balance_limit_amount')),
          legend: `{{${CLUSTER}}} {{target}} limit`,
          isReference: true,
        },
      ],
    }),
  ],
};

const reliability: Row = {
  title: 'Reliability of own validators',
  isCollapsed: true,
  panels: [
    table({
      title: 'Participation',
      description:
        'How reliably do own validators sign and vote? Share of the selected time range in which nothing was missing; a running orchestrator signs within a minute or two.',
      noValue: 'no validator of watch is in the validator set',
      width: 12,
      labels: { target: 'Target', signer: 'Validator' },
      lastLabels: { orchestrator: 'Orchestrator', [CLUSTER]: 'Cluster' },
      columns: [
        {
          title: 'Batches',
          expr: participation('bridge_orchestrator_missing_batch_confirms'),
          unit: 'percentunit',
          decimals: 1,
        },
        {
          title: 'Sets',
          expr: participation('bridge_orchestrator_missing_valset_confirms'),
          unit: 'percentunit',
          decimals: 1,
        },
        { title: 'Votes', expr: participation('bridge_orchestrator_missing_vote'), unit: 'percentunit', decimals: 1 },
      ],
    }),
    graph({
      title: 'Power',
      description: 'How does the power of own validators change? A line ends when the validator leaves the set.',
      noValue: 'no validator of watch is in the validator set',
      unit: 'percentunit',
      min: 0,
      series: [{ expr: bySigner('own', 'bridge_orchestrator_power_ratio'), legend: SIGNER }],
    }),
  ],
};

const MISSING = [
  'bridge_orchestrator_missing_batch_confirms',
  'bridge_orchestrator_missing_valset_confirms',
  'bridge_orchestrator_missing_vote',
] as const;

const ofLate = (expr: string): string =>
  `(${expr}) and on (${CLUSTER}, target, orchestrator) (${MISSING.map((metric) => `${latest(metric, BY_SIGNER)} > 0`).join(' or ')})`;

const powerMissing = (metric: string): string =>
  `sum by (${CLUSTER}, target) (${latest('bridge_orchestrator_power_ratio', BY_SIGNER)} and on (${CLUSTER}, target, orchestrator) ${latest(metric, BY_SIGNER)} > 0)`;

const lateRow: Row = {
  title: 'Late validators',
  panels: [
    table({
      title: 'Late validators',
      description:
        'Who has not signed or voted, with how much power, and by when do they have to? Ask their operators whether the orchestrator runs, has funds and reaches its nodes. Some are normal for minutes.',
      noValue: 'everybody has signed and voted, if the data is current',
      height: 10,
      labels: { target: 'Target', signer: 'Validator' },
      lastLabels: { orchestrator: 'Orchestrator', [CLUSTER]: 'Cluster' },
      links: { Validator: [pendingItemsLink] },
      widths: { Validator: 150, Orchestrator: 190, 'Sign within': 170 },
      columns: late('all').map((column) => ({ ...column, expr: ofLate(column.expr) })),
      sortBy: [{ column: 'Power', isDescending: true }],
    }),
  ],
};

const all: Row = {
  title: 'All validators',
  isCollapsed: true,
  panels: [
    graph({
      title: 'Power of late validators',
      description:
        'Is so much power late that nothing can be relayed or observed? Above the dashed line, what all of them have not signed cannot be relayed.',
      noValue: 'nobody is late',
      unit: 'percentunit',
      min: 0,
      max: 1,
      series: [
        { expr: powerMissing(MISSING[0]), legend: `{{${CLUSTER}}} {{target}} batches` },
        { expr: powerMissing(MISSING[1]), legend: `{{${CLUSTER}}} {{target}} validator sets` },
        { expr: powerMissing(MISSING[2]), legend: `{{${CLUSTER}}} {{target}} last event` },
        {
          expr: `1 - ${latest('bridge_power_threshold_ratio')}`,
          legend: `{{${CLUSTER}}} {{target}} may be late`,
          isReference: true,
        },
      ],
    }),
    graph({
      title: 'First deadlines',
      description: 'Who is jailed next, and when? The ten validators with the least time left to sign.',
      noValue: 'nothing is due, or the node is behind',
      unit: 'dtdhms',
      min: 0,
      series: [{ expr: `bottomk(10, ${secondsToSign('all')})`, legend: SIGNER }],
    }),
    timeline({
      title: 'Unsigned batches by validator',
      description:
        'Who is down, and is it one or many? The 15 validators that missed the most in the time range. Simultaneous bars of many are a batch that they reject, or a common outage.',
      noValue: 'nobody has missed a batch',
      unit: 'short',
      height: 11,
      thresholds: YELLOW_FROM_ONE,
      texts: { '0': ['signed', 'green'] },
      series: [
        {
          // `@ end()` selects the same ones at each point of the graph.
          expr: `${bySigner('all', MISSING[0])} and on (${CLUSTER}, target, orchestrator) topk(15, max by (${CLUSTER}, target, orchestrator) (avg_over_time(${MISSING[0]}{${FILTERS}, ${SELECTED}}[$__range] @ end())) > 0)`,
          legend: SIGNER,
        },
      ],
    }),
    graph({
      title: 'Votes for the next event',
      description:
        'Will the next event be observed? Share of the power that has voted for its leading claim; 66 % are needed.',
      noValue: 'no event is pending',
      unit: 'percentunit',
      height: 11,
      min: 0,
      max: 1,
      thresholds: [
        ['text', null],
        ['orange', 0.66],
      ],
      series: [{ expr: latest('bridge_next_event_voted_power_ratio'), legend: `{{${CLUSTER}}} {{target}}` }],
    }),
    graph({
      title: 'Validator set in the contract',
      description:
        'Does the contract have the present validators? Sum of the differences in power to the newest set. From 68 % on, those in the contract can no longer sign anything.',
      noValue: 'the node sends no validator sets',
      unit: 'percentunit',
      min: 0,
      thresholds: [
        ['text', null],
        ['orange', DRIFT_RATIO],
      ],
      series: [{ expr: latest('bridge_valset_power_drift_ratio'), legend: `{{${CLUSTER}}} {{target}}` }],
    }),
    graph({
      title: 'Validator sets not relayed',
      description: 'Do new validator sets reach the contract? A number that only rises needs a relayer.',
      noValue: 'the node sends no validator sets',
      unit: 'short',
      min: 0,
      series: [
        { expr: latest('bridge_unrelayed_valsets'), legend: `{{${CLUSTER}}} {{target}} not relayed` },
        { expr: latest('bridge_unrelayed_valsets_below_threshold'), legend: `{{${CLUSTER}}} {{target}} unsigned` },
      ],
    }),
  ],
};

/** Shows the names and selects by address. Prometheus returns the labels in alphabetical order. */
const signerVariable = seriesVariable(
  'orchestrator',
  'Validator',
  signerInfo('all').replaceAll(`, ${SELECTED}`, ''),
  '/orchestrator="(?<value>[^"]+)".*signer="(?<text>[^"]+)"/',
);

export const validator: Dashboard = {
  uid: 'bridge-validator',
  title: 'Bridge / Validator',
  description: 'Do my validators sign and vote, by when do they have to, and do they have funds? Who else is late?',
  variables: [...commonVariables, signerVariable, exporterUrlVariable],
  rows: [own, lateRow, reliability, all],
};
