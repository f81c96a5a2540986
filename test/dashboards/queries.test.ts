import { describe, expect, it } from 'vitest';
import { createTempFolder } from '../support/temp-folder.js';
import { hasTool, runTool } from '../support/tools.js';
import { substituteVariables } from './dashboard-files.js';
import { latest, latestBySigner, secondsWithSameOldestTransfer } from '../../grafana/source/queries.js';

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
  /** The values at intervals of 5 s; by default one. */
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

function signer(name: string, watched: string): string {
  return `{target="t", orchestrator="${ADDRESS}", external_address="0x1", signer="${name}", watched="${watched}"}`;
}

const EXPORTER = 'job="j", instance="i"';
const named = member(EXPORTER, { name: 'Example One', watched: 'true' });

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
    title: 'the time with the same oldest transfer starts with its first sample',
    expr: secondsWithSameOldestTransfer,
    series: { [`bridge_oldest_pending_transfer_id{${EXPORTER}, target="t"}`]: '1x5 2x12' },
    evalTime: '90s',
    samples: { '{target="t"}': 60 },
  },
  {
    title: 'the time with the same oldest transfer is 0 when it has just changed',
    expr: secondsWithSameOldestTransfer,
    series: { [`bridge_oldest_pending_transfer_id{${EXPORTER}, target="t"}`]: '1x12 2' },
    evalTime: '65s',
    samples: { '{target="t"}': 0 },
  },
];

describe.skipIf(!hasTool('promtool'))('in the dashboards', () => {
  const folder = createTempFolder();

  it.each(cases)('$title', ({ expr, variables, series, samples, evalTime = '0s' }) => {
    const test = {
      interval: '5s',
      input_series: Object.entries(series).map(([name, value]) => ({ series: name, values: `${value}` })),
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
