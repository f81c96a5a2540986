import { beforeAll, describe, expect, it } from 'vitest';
import { createTempFolder } from '../support/temp-folder.js';
import { hasTool, runTool } from '../support/tools.js';
import { substituteVariables } from './dashboard-files.js';
import { lookaheadUsed } from '../../grafana/source/cross-chain.js';
import { problemColumn } from '../../grafana/source/problem-table.js';
import { exporterAlertStarts, problemStartMs, problemStarts, worst } from '../../grafana/source/problems.js';
import { fillDefaults, latest, ofCurrentData, orNothing } from '../../grafana/source/queries.js';
import { ageOfOwnData, MISSED_BLOCKS, secondsToSign, withSigner } from '../../grafana/source/validator.js';

/*
 * The shared expressions, evaluated by promtool on series with the labels of common setups.
 */

const folder = createTempFolder();

const UNFILTERED = latest('bridge_batches');
const POWER = withSigner('all', latest('bridge_orchestrator_power_ratio', { by: ['orchestrator'] }));
const OWN_POWER = withSigner('own', latest('bridge_orchestrator_power_ratio', { by: ['orchestrator'] }));
const ADDRESS = 'inj1qy352eufqy352eufqy352eufqy352euf4wq9ed';

interface Case {
  readonly title: string;
  readonly expr: string;
  readonly variables?: Readonly<Record<string, string>>;
  /** The values of promtool, or one for all times. */
  readonly series: Readonly<Record<string, number | string>>;
  readonly evalTime?: string;
  readonly samples: Readonly<Record<string, number>>;
}

function member(labels: string, info: { name: string; watched: string }): Readonly<Record<string, number>> {
  const own = `${labels}, target="t", orchestrator="${ADDRESS}", external_address="0x1"`;
  return {
    [`bridge_orchestrator_power_ratio{${own}}`]: 0.5,
    [`bridge_orchestrator_info{${own}, validator="v", name="${info.name}", watched="${info.watched}"}`]: 1,
  };
}

const signer = (name: string): string => `{target="t", orchestrator="${ADDRESS}", signer="${name}"}`;

const EXPORTER = 'job="j", instance="i"';
const named = member(EXPORTER, { name: 'Example One', watched: 'true' });

/** A problem of two series. */
function problemOf(
  id: string,
  severity: string,
  start: number,
  { exporter = EXPORTER, hiddenBy = '' } = {},
): Readonly<Record<string, number>> {
  const labels = `${exporter}, target="t", document="module_state", problem="BridgeTest", severity="${severity}", id="${id}"`;
  return {
    [`bridge_problem_start_timestamp_seconds{${labels}}`]: start,
    [`bridge_problem_info{${labels}, summary="it is wrong", action="Repair it.", hidden_by="${hiddenBy}"}`]: 1,
  };
}

const rowOf = (id: string, severity: string): string =>
  `{target="t", problem="BridgeTest", severity="${severity}", id="${id}", summary="it is wrong", action="Repair it."}`;

const deadlineOf = (kind: string): string =>
  `bridge_orchestrator_confirm_deadline_height{${EXPORTER}, target="t", orchestrator="${ADDRESS}", external_address="0x1", confirms="${kind}"}`;

const START = 'bridge_problem_start_timestamp_seconds';
const TOKEN = 'problem="BridgeBacklogStuck", token_contract="0xaa"';
const stuckWarning = `severity="warning", ${TOKEN}`;
const startOf = (severity: string, subject: string, exporter = EXPORTER): string =>
  `${START}{${exporter}, target="t", document="module_state", severity="${severity}", ${subject}}`;
const unsigned = { [startOf('critical', 'problem="BridgeBatchUnsigned"')]: 840 };
const stuck = { [startOf('warning', TOKEN)]: 60, [startOf('critical', TOKEN)]: 180 };
const alertOf = (labels: string): Readonly<Record<string, number>> => ({
  [`ALERTS{${EXPORTER}, alertstate="firing", document="module_state", target="t", ${labels}}`]: 1,
});
const node = (seconds: number, isSyncing: 0 | 1): Readonly<Record<string, number>> => ({
  [`bridge_node_block_timestamp_seconds{${EXPORTER}, target="t", document="module_state"}`]: seconds,
  [`bridge_node_syncing{${EXPORTER}, target="t", document="module_state"}`]: isSyncing,
});
const noncesOf = (chainId: string, missed: number, pending: number, lookahead: number) => {
  const labels = `{${EXPORTER}, target="t", chain_id="${chainId}"}`;
  return {
    [`crosschain_lowest_missed_nonce${labels}`]: missed,
    [`crosschain_highest_pending_nonce${labels}`]: pending,
    [`crosschain_schedule_lookahead_nonces${labels}`]: lookahead,
  };
};
const LAST_SUCCESS = 'bridge_exporter_last_success_timestamp_seconds';
const deadlines = {
  ...named,
  [deadlineOf('batch')]: 105,
  [deadlineOf('valset')]: 120,
  [`bridge_height{${EXPORTER}, target="t"}`]: 100,
  [`bridge_block_time_seconds{${EXPORTER}, target="t"}`]: 2,
  [`${LAST_SUCCESS}{${EXPORTER}, target="t", document="module_state"}`]: 0,
};

const cases: readonly Case[] = [
  {
    title: 'All includes series without the labels cluster and namespace',
    expr: UNFILTERED,
    series: { [`bridge_batches{${EXPORTER}, target="t"}`]: 3 },
    samples: { '{target="t"}': 3 },
  },
  {
    title: 'equal targets of two clusters are separate',
    expr: UNFILTERED,
    series: {
      [`bridge_batches{${EXPORTER}, cluster="c1", target="t"}`]: 1,
      [`bridge_batches{${EXPORTER}, cluster="c2", target="t"}`]: 2,
    },
    samples: { '{cluster="c1", target="t"}': 1, '{cluster="c2", target="t"}': 2 },
  },
  {
    title: 'the variables select by cluster, namespace, job and instance',
    expr: UNFILTERED,
    variables: { cluster: 'c1', namespace: 'n1', job: 'j1', instance: 'i1' },
    series: {
      'bridge_batches{job="j1", instance="i1", namespace="n1", cluster="c1", target="t"}': 1,
      'bridge_batches{job="j1", instance="i1", namespace="n1", cluster="c2", target="t"}': 2,
      'bridge_batches{job="j1", instance="i1", namespace="n2", cluster="c1", target="t"}': 3,
      'bridge_batches{job="j2", instance="i1", namespace="n1", cluster="c1", target="t"}': 4,
      'bridge_batches{job="j1", instance="i2", namespace="n1", cluster="c1", target="t"}': 5,
    },
    samples: { '{cluster="c1", target="t"}': 1 },
  },
  {
    title: 'the replicas of an exporter have one value',
    expr: UNFILTERED,
    series: {
      'bridge_batches{job="j", instance="i1", target="t"}': 1,
      'bridge_batches{job="j", instance="i2", target="t"}': 2,
    },
    samples: { '{target="t"}': 2 },
  },
  {
    title: 'a signer with a name is shown by name',
    expr: POWER,
    series: named,
    samples: { [signer('Example One')]: 0.5 },
  },
  {
    title: 'a signer without a name is shown by shortened address',
    expr: POWER,
    series: member(EXPORTER, { name: '', watched: 'false' }),
    samples: { [signer('inj1qy352euf…4wq9ed')]: 0.5 },
  },
  {
    title: 'own validators are those that are watched',
    expr: OWN_POWER,
    series: named,
    samples: { [signer('Example One')]: 0.5 },
  },
  {
    title: 'others are no own validators',
    expr: OWN_POWER,
    series: member(EXPORTER, { name: 'Example One', watched: 'false' }),
    samples: {},
  },
  {
    title: 'an own validator that is in no validator set has a name',
    expr: withSigner('own', latest('bridge_watched_validator_jailed', { by: ['orchestrator'] })),
    series: {
      [`bridge_watched_validator_jailed{${EXPORTER}, target="t", orchestrator="${ADDRESS}", name="Example One"}`]: 1,
      [`bridge_watched_orchestrator_info{${EXPORTER}, target="t", orchestrator="${ADDRESS}", name="Example One"}`]: 1,
    },
    samples: { [signer('Example One')]: 1 },
  },
  {
    title: 'the missed blocks of an own validator are a share of those that it may miss',
    expr: withSigner('own', MISSED_BLOCKS),
    series: {
      [`bridge_watched_validator_missed_blocks{${EXPORTER}, target="t", orchestrator="${ADDRESS}", name="Example One"}`]: 50,
      [`bridge_watched_orchestrator_info{${EXPORTER}, target="t", orchestrator="${ADDRESS}", name="Example One"}`]: 1,
      [`bridge_signed_blocks_window_blocks{${EXPORTER}, target="t"}`]: 1000,
      [`bridge_min_signed_per_window_ratio{${EXPORTER}, target="t"}`]: 0.5,
    },
    samples: { [signer('Example One')]: 0.1 },
  },
  {
    title: 'an own validator whose data is outdated has the age of the data',
    expr: ageOfOwnData(),
    series: {
      [`bridge_orchestrator_info{${EXPORTER}, target="t", orchestrator="${ADDRESS}", name="Example One", watched="true"}`]:
        '1x5 stale',
      [`bridge_exporter_last_success_timestamp_seconds{${EXPORTER}, target="t", document="module_state"}`]: 300,
    },
    evalTime: '20m',
    samples: { [signer('Example One')]: 900 },
  },
  {
    title: 'replicas that export different names of a signer have one value',
    // Which name is selected is undefined.
    expr: `count by (target, orchestrator) (${POWER})`,
    series: {
      ...member('job="j", instance="i1"', { name: 'Example One', watched: 'true' }),
      ...member('job="j", instance="i2"', { name: '', watched: 'true' }),
    },
    samples: { [`{target="t", orchestrator="${ADDRESS}"}`]: 1 },
  },
  {
    title: 'a problem is soon critical until its alert fires, and the worst counts',
    expr: worst(['problem']),
    series: { ...unsigned, ...stuck, ...alertOf(`alertname="BridgeBacklogStuck", ${stuckWarning}`) },
    evalTime: '25m',
    samples: { '{target="t", problem="BridgeBatchUnsigned"}': 1, '{target="t", problem="BridgeBacklogStuck"}': 2 },
  },
  {
    title: 'an alert on the exporter or its data is a problem, too',
    expr: worst(['problem']),
    series: alertOf('alertname="BridgeSnapshotStale", severity="critical"'),
    samples: { '{target="t", problem="BridgeSnapshotStale"}': 3 },
  },
  {
    title: 'the watchdog is no problem',
    expr: worst(['problem']),
    series: alertOf('alertname="BridgeWatchdog", severity="none"'),
    samples: {},
  },
  {
    title: 'a problem is a row with its texts, once for two exporters, with the first start',
    expr: problemStarts(),
    series: {
      ...problemOf('aa', 'critical', 180),
      ...problemOf('aa', 'critical', 120, { exporter: 'job="j", instance="i2"' }),
      ...alertOf('alertname="BridgeTest", severity="critical", id="aa"'),
    },
    evalTime: '25m',
    samples: { [rowOf('aa', 'critical')]: 120 },
  },
  {
    title: 'a problem whose alert does not fire is soon critical, when it has lasted',
    expr: problemStarts(),
    series: { ...problemOf('aa', 'critical', 180), ...problemOf('bb', 'warning', 1400) },
    evalTime: '25m',
    samples: { [rowOf('aa', 'critical soon')]: 180 },
  },
  {
    title: 'a problem that has just begun is a row when its alert fires',
    expr: problemStarts(),
    series: {
      ...problemOf('aa', 'critical', 1400),
      ...alertOf('alertname="BridgeTest", severity="critical", id="aa"'),
    },
    evalTime: '25m',
    samples: { [rowOf('aa', 'critical')]: 1400 },
  },
  {
    title: 'what follows from another problem is no row',
    expr: problemStarts(),
    series: {
      ...problemOf('aa', 'critical', 180),
      ...problemOf('bb', 'warning', 120, { hiddenBy: 'BridgeTest' }),
      ...alertOf('alertname="BridgeTest", severity="critical", id="aa"'),
      ...alertOf('alertname="BridgeTest", severity="warning", id="bb"'),
    },
    evalTime: '25m',
    samples: { [rowOf('aa', 'critical')]: 180 },
  },
  {
    title: 'an alert on the exporter is a row without texts while it fires',
    expr: exporterAlertStarts,
    series: {
      ...alertOf('alertname="BridgeExporterDown", severity="warning"'),
      [`ALERTS_FOR_STATE{${EXPORTER}, document="module_state", target="t", alertname="BridgeExporterDown", severity="warning"}`]: 30,
      [`ALERTS_FOR_STATE{${EXPORTER}, target="t", alertname="BridgeExporterAbsent", severity="critical"}`]: 40,
    },
    samples: { '{target="t", severity="warning", problem="BridgeExporterDown"}': 30 },
  },
  {
    title: 'an annotation is at the start of a problem that has lasted',
    expr: problemStartMs,
    series: { ...unsigned, [startOf('warning', TOKEN)]: 60 },
    evalTime: '15m',
    samples: { '{target="t", problem="BridgeBacklogStuck", severity="warning", token_contract="0xaa"}': 60_000 },
  },
  {
    title: 'a signer has until the first deadline of whatever kind',
    expr: secondsToSign('own'),
    series: { ...deadlines, ...node(0, 0) },
    samples: { [signer('Example One')]: 10 },
  },
  {
    title: 'the time to sign runs on between two polls',
    expr: secondsToSign('own'),
    series: { ...deadlines, ...node(0, 0) },
    evalTime: '4s',
    samples: { [signer('Example One')]: 6 },
  },
  {
    title: 'the time to sign is absent when the data is outdated, however late it is withdrawn',
    expr: secondsToSign('own'),
    series: deadlines,
    evalTime: '20m',
    samples: {},
  },
  {
    title: 'the queue is absent when the data is outdated',
    expr: ofCurrentData(latest('bridge_unbatched_transfers'), 'module_state'),
    series: { ...deadlines, [`bridge_unbatched_transfers{${EXPORTER}, target="t"}`]: 7 },
    evalTime: '20m',
    samples: {},
  },
  {
    title: 'nothing is -1, and what is not known is absent',
    expr: orNothing(latest('a', { by: ['b'] }), ['b'], latest('known', { by: ['b'] })),
    series: Object.fromEntries(
      ['a{b="1", ', 'known{b="1", ', 'known{b="2", '].map((name) => [`${name}${EXPORTER}, target="t"}`, 7]),
    ),
    samples: { '{target="t", b="1"}': 7, '{target="t", b="2"}': -1 },
  },
  {
    title: 'no problem of a bridge is 0',
    expr: problemColumn([], latest('bridge_exporter_up')).expr,
    series: {
      ...unsigned,
      ...Object.fromEntries(['t', 'u'].map((name) => [`bridge_exporter_up{${EXPORTER}, target="${name}"}`, 1])),
    },
    evalTime: '25m',
    samples: { '{target="t"}': 1, '{target="u"}': 0 },
  },
  {
    title: 'the time to sign is there while a node with a new block says that it is catching up',
    expr: secondsToSign('own'),
    series: { ...deadlines, ...node(0, 1) },
    samples: { [signer('Example One')]: 10 },
  },
  {
    title: 'the time to sign is absent when the newest block is old',
    expr: secondsToSign('own'),
    series: { ...deadlines, ...node(0, 0) },
    evalTime: '6m',
    samples: {},
  },
  {
    title: 'the time to sign is there when the node says nothing of its blocks',
    expr: secondsToSign('own'),
    series: deadlines,
    samples: { [signer('Example One')]: 10 },
  },
  {
    title: 'the lookahead of a chain is used up by nonces above a missed one, but not on Bitcoin',
    expr: lookaheadUsed,
    series: { ...noncesOf('1', 100, 145, 60), ...noncesOf('8332', 100, 700, 60) },
    samples: { '{target="t", chain_id="1"}': 0.75 },
  },
];

/** The file of a case for promtool. JSON is YAML. */
function fileOf({ expr, variables, series, samples, evalTime = '0s' }: Case, index: number): string {
  const test = {
    interval: '5s',
    // For as long as the time of the evaluation.
    input_series: Object.entries(series).map(([name, value]) => ({
      series: name,
      values: typeof value === 'number' ? `${value}x300` : value,
    })),
    promql_expr_test: [
      {
        expr: substituteVariables(fillDefaults(expr), variables),
        eval_time: evalTime,
        exp_samples: Object.entries(samples).map(([labels, value]) => ({ labels, value })),
      },
    ],
  };
  return folder.write(`case-${index}.yml`, JSON.stringify({ evaluation_interval: '5s', tests: [test] }));
}

describe.skipIf(!hasTool('promtool'))('in the dashboards', () => {
  /** What promtool says of each file. */
  let results: readonly string[] = [];

  beforeAll(() => {
    const { output } = runTool('promtool', ['test', 'rules', ...cases.map(fileOf)]);
    results = output.split(/^Unit Testing: /m).slice(1);
  });

  it.each(cases.map((one, index) => ({ ...one, index })))('$title', ({ index }) => {
    expect(results[index]).toMatch(new RegExp(`case-${index}\\.yml\\s+SUCCESS`));
  });
});
