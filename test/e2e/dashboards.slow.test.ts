import { expect, it } from 'vitest';
import {
  dashboardFiles,
  queriesOf,
  substituteVariables,
  type FieldDefaults,
  type Panel,
  type Target,
} from '../dashboards/dashboard-files.js';
import { STEP_SECONDS, startRecordedPrometheus, type RecordedTarget } from '../dashboards/recorded-prometheus.js';
import { parsePromql } from '../dashboards/promql.js';
import { changedInput, changedState, type Phase } from '../problems/recording.js';
import { createTempFolder } from '../support/temp-folder.js';
import { describeIf, hasTool } from '../support/tools.js';

/*
 * Every query of every dashboard in a Prometheus with an hour of simulated targets, one of which is healthy and one of which never responds.
 */

const healthy: Phase = { minutes: 30 };

const recorded: readonly RecordedTarget[] = [
  { name: 'healthy', phases: [healthy] },
  { name: 'down', phases: [{ minutes: 30, bridge: { fails: 'connect' }, crosschain: { fails: 'connect' } }] },
  { name: 'unsigned-batch', phases: [healthy, { minutes: 60, scenario: 'unsigned-batch' }] },
  { name: 'silent-signer', phases: [healthy, { minutes: 70, scenario: 'silent-signer' }] },
  { name: 'stalled-oracle', phases: [healthy, { minutes: 40, scenario: 'stalled-oracle' }] },
  { name: 'valset-drift', phases: [healthy, { minutes: 60, scenario: 'valset-drift' }] },
  { name: 'missed-cctxs', phases: [healthy, { minutes: 60, scenario: 'missed-cctxs' }] },
  { name: 'truncated', phases: [healthy, { minutes: 20, scenario: 'truncated' }] },
  {
    name: 'another-version',
    phases: [
      healthy,
      {
        minutes: 12,
        bridge: changedState(() => ({ last_outgoing_pool_id: [] })),
        crosschain: changedInput(({ cctxs_pending: cctxs }) => ({
          cctxs_pending: cctxs.map((cctx) => ({ ...cctx, cctx_status: { ...cctx.cctx_status, status: 'New' } })),
        })),
        queries: (_path, response) => ({ ...response, status: 500 }),
      },
    ],
    options: { maxSeries: 10 },
  },
  {
    name: 'rolled-back',
    phases: [healthy, { minutes: 2, bridge: { respond: (body) => body, height: (height) => height - 100 } }],
  },
];

interface Query {
  readonly where: string;
  readonly panel: Panel;
  readonly target: Target;
}

const queries: readonly Query[] = dashboardFiles.flatMap(({ name, panels }) =>
  panels.flatMap((panel) =>
    (panel.targets ?? []).map((target) => ({ where: `${name}: ${panel.title} ${target.refId}`, panel, target })),
  ),
);

/** The options of the field of a column. */
function fieldOf({ fieldConfig, transformations = [], targets = [] }: Panel, { refId }: Target) {
  const names = Object.entries(transformations.find(({ id }) => id === 'organize')?.options.renameByName ?? {});
  const value = targets.length === 1 ? 'Value' : `Value #${refId}`;
  const title = names.find(([name]) => name === value)?.[1];
  const properties = fieldConfig?.overrides.filter(({ matcher }) => matcher.options === title);
  return Object.fromEntries((properties ?? []).flatMap((own) => own.properties.map(({ id, value: set }) => [id, set])));
}

/** The color of a value by its mapping, else by its thresholds. */
function colorOf(value: number, { mappings = [], thresholds }: FieldDefaults): string | undefined {
  const mapping = mappings.find(({ type, options }) => type === 'value' && options[value] !== undefined);
  const reached = thresholds?.steps.filter(({ value: from }) => from === null || value >= from);
  return mapping === undefined ? reached?.at(-1)?.color : mapping.options[value]?.color;
}

describeIf(hasTool('prometheus'), 'the queries of the dashboards', async () => {
  const prometheus = await startRecordedPrometheus(createTempFolder(), recorded);

  /** All values that a panel shows of a target. */
  async function valuesOf({ target: { expr, instant } }: Query, target = '.*'): Promise<readonly number[]> {
    const { from, to } = prometheus;
    const query = substituteVariables(expr, { target, __range: `${to - from}s`, __rate_interval: '4m' });
    if (instant) return (await prometheus.query(query, to)).map(({ value }) => Number(value[1]));
    const series = await prometheus.queryRange(query, { from, to, step: STEP_SECONDS });
    return series.flatMap(({ values }) => values.map(([, value]) => Number(value)));
  }

  it.each(queries)('return data in some of the targets: $where', async (query) => {
    const values = await valuesOf(query);
    expect(values.some(Number.isFinite)).toBe(true);
  });

  it.each(dashboardFiles)('return data for the variables and annotations of $name', async (file) => {
    const others = queriesOf(file).filter(({ where }) => /: (?:variable|annotation) /.test(where));
    for (const { where, expr } of others) {
      expect((await prometheus.query(substituteVariables(expr), prometheus.to)).length, where).toBeGreaterThan(0);
    }
  });

  it('show neither red nor orange on a healthy bridge', async () => {
    for (const query of queries.filter(({ panel }) => panel.type !== 'timeseries')) {
      const { panel, target, where } = query;
      const field = panel.type === 'table' ? fieldOf(panel, target) : panel.fieldConfig!.defaults;
      const colors = new Set((await valuesOf(query, 'healthy')).map((value) => colorOf(value, field)));
      expect([where, colors.has('red') || colors.has('orange')]).toEqual([where, false]);
    }
  });

  it('show nothing of a target that has never responded, except its polls and alerts', async () => {
    const ofChain = queries.filter(({ target: { expr } }) =>
      parsePromql(substituteVariables(expr)).selectors.every(
        ({ metric }) => !/^(?:ALERTS|process_|nodejs_|bridge_exporter_)/.test(metric),
      ),
    );
    expect(ofChain.length).toBeGreaterThan(60);
    for (const query of ofChain) expect([query.where, await valuesOf(query, 'down')]).toEqual([query.where, []]);
  });
});
