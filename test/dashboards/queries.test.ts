import { describe, expect, it } from 'vitest';
import { createTempFolder } from '../support/temp-folder.js';
import { hasTool, runTool } from '../support/tools.js';
import { substituteVariables } from './dashboard-files.js';
import {
  blocksToJailing,
  lasting,
  latest,
  latestBySigner,
  PROBLEM,
  problemAge,
  problemSeverity,
  problemStartMs,
  tooOldByChain,
} from '../../grafana/source/queries.js';

/*
 * The shared expressions, evaluated by promtool on series with the labels of common setups.
 */

const UNFILTERED = latest('bridge_batches');
const POWER = latestBySigner('bridge_orchestrator_power_ratio');
const ADDRESS = 'inj1qy352eufqy352eufqy352eufqy352euf4wq9ed';

interface Case {
  readonly title: string;
  readonly expr: string;
  readonly variables?: Readonly<Record<string, string>>;
  readonly series: Readonly<Record<string, number>>;
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

function signer(name: string, watched: string): string {
  return `{target="t", orchestrator="${ADDRESS}", external_address="0x1", signer="${name}", watched="${watched}"}`;
}

const EXPORTER = 'job="j", instance="i"';
const named = member(EXPORTER, { name: 'Example One', watched: 'true' });

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
  [`ALERTS{${EXPORTER}, alertname="A", alertstate="firing", document="module_state", target="t", ${labels}}`]: 1,
});
const tooOldOf = (severity: string, chainId: string): string =>
  startOf(severity, `problem="CrosschainOldestPendingTooOld", chain_id="${chainId}"`);
const limitOf = (chainId: string, chain: string): Readonly<Record<string, number>> => ({
  [`crosschain_age_limit_seconds{${EXPORTER}, target="t", chain_id="${chainId}", chain="${chain}"}`]: 1800,
});

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
    samples: { [signer('Example One', 'true')]: 0.5 },
  },
  {
    title: 'a signer without a name is shown by shortened address',
    expr: POWER,
    series: member(EXPORTER, { name: '', watched: 'false' }),
    samples: { [signer('inj1qy352euf…4wq9ed', 'false')]: 0.5 },
  },
  {
    title: 'the variable selects signers that are watched',
    expr: POWER,
    variables: { watched: 'true' },
    series: named,
    samples: { [signer('Example One', 'true')]: 0.5 },
  },
  {
    title: 'the variable excludes signers that are not watched',
    expr: POWER,
    variables: { watched: 'true' },
    series: member(EXPORTER, { name: 'Example One', watched: 'false' }),
    samples: {},
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
    title: 'a problem has its worst severity, and 10 more when an alert fires',
    expr: problemSeverity(['problem']),
    series: { ...unsigned, ...stuck, ...alertOf(stuckWarning) },
    evalTime: '15m',
    samples: {
      '{target="t", problem="BridgeBatchUnsigned"}': 3,
      // The alert of the critical one does not fire yet.
      '{target="t", problem="BridgeBacklogStuck"}': 12,
    },
  },
  {
    title: 'an alert without a problem, or about one that is not judged, is no problem',
    expr: problemSeverity(['problem']),
    series: {
      [`ALERTS{${EXPORTER}, alertname="BridgeEndpointDown", alertstate="firing", severity="warning", target="t"}`]: 1,
      [`ALERTS{${EXPORTER}, alertname="BridgeProblemUnjudged", alertstate="firing", severity="warning", target="t", problem="BridgeBatchUnsigned"}`]: 1,
    },
    samples: {},
  },
  {
    title: 'a problem is as old as its first severity, by subject, in any of two exporters',
    expr: problemAge(),
    series: { ...unsigned, ...stuck, [startOf('critical', TOKEN, 'job="j", instance="i2"')]: 120 },
    evalTime: '15m',
    samples: {
      '{target="t", problem="BridgeBatchUnsigned"}': 60,
      '{target="t", problem="BridgeBacklogStuck", token_contract="0xaa"}': 840,
    },
  },
  {
    title: 'a problem that has just begun is left out until its alert fires',
    expr: lasting(problemAge()),
    series: { ...unsigned, ...stuck },
    evalTime: '15m',
    samples: { '{target="t", problem="BridgeBacklogStuck", token_contract="0xaa"}': 840 },
  },
  {
    title: 'a problem that has just begun is shown when its alert fires',
    expr: lasting(problemSeverity(PROBLEM)),
    series: { ...unsigned, ...alertOf('severity="critical", problem="BridgeBatchUnsigned"') },
    evalTime: '15m',
    samples: { '{target="t", problem="BridgeBatchUnsigned"}': 13 },
  },
  {
    title: 'an annotation is at the start of a problem that has lasted',
    expr: problemStartMs,
    series: { ...unsigned, [startOf('warning', TOKEN)]: 60 },
    evalTime: '15m',
    samples: { '{target="t", problem="BridgeBacklogStuck", severity="warning", token_contract="0xaa"}': 60_000 },
  },
  {
    title: 'a chain is too old as a warning, and then as a critical problem',
    expr: tooOldByChain(),
    series: {
      ...limitOf('1', 'ethereum'),
      ...limitOf('56', 'bsc'),
      ...limitOf('8332', 'bitcoin'),
      [tooOldOf('warning', '1')]: 1,
      [tooOldOf('warning', '56')]: 1,
      [tooOldOf('critical', '56')]: 1,
    },
    samples: {
      '{target="t", chain_id="1", chain="ethereum"}': 1,
      '{target="t", chain_id="56", chain="bsc"}': 2,
      '{target="t", chain_id="8332", chain="bitcoin"}': 0,
    },
  },
  {
    title: 'a signer is jailed for a batch and for a validator set',
    expr: blocksToJailing(),
    series: {
      ...named,
      [deadlineOf('batch')]: 105,
      [deadlineOf('valset')]: 120,
      [`bridge_height{${EXPORTER}, target="t"}`]: 100,
    },
    samples: {
      [signer('Example One', 'true').replace('}', ', confirms="batch"}')]: 5,
      [signer('Example One', 'true').replace('}', ', confirms="valset"}')]: 20,
    },
  },
];

describe.skipIf(!hasTool('promtool'))('in the dashboards', () => {
  const folder = createTempFolder();

  it.each(cases)('$title', ({ expr, variables, series, samples, evalTime = '0s' }) => {
    const test = {
      interval: '5s',
      // For as long as the time of the evaluation.
      input_series: Object.entries(series).map(([name, value]) => ({ series: name, values: `${value}x180` })),
      promql_expr_test: [
        {
          expr: substituteVariables(expr, variables),
          eval_time: evalTime,
          exp_samples: Object.entries(samples).map(([labels, value]) => ({ labels, value })),
        },
      ],
    };
    // JSON is YAML.
    const file = folder.write('test.yml', JSON.stringify({ evaluation_interval: '5s', tests: [test] }));
    const { status, output } = runTool('promtool', ['test', 'rules', file]);
    expect(status, output).toBe(0);
  });
});
