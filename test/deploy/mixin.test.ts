import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Rule } from '../support/alert-rules.js';
import { projectPath, readProjectFile, readProjectYaml } from '../support/project-files.js';
import { createTempFolder } from '../support/temp-folder.js';
import { hasTool, runTool } from '../support/tools.js';

/* The mixin as `jb install …/mixin` vendors it: only its folder. */

const folder = createTempFolder();
cpSync(projectPath('mixin'), join(folder.path, 'vendor/mixin'), { recursive: true });

interface Mixin {
  readonly prometheusAlerts: { readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[] };
  readonly grafanaDashboards: Readonly<Record<string, unknown>>;
}

const CPP = projectPath('.ci/bin/jsonnet-cpp/bin/python');
const CPP_SCRIPT = 'import _jsonnet, sys; print(_jsonnet.evaluate_file(sys.argv[1]))';

/** An empty selector leaves braces. */
const withoutEmptyMatchers = (mixin: Mixin): Mixin =>
  JSON.parse(JSON.stringify(mixin), (key, value: unknown) =>
    key === 'expr' && typeof value === 'string' ? value.replaceAll('{}', '') : value,
  ) as Mixin;

const OTHER = `{
  prometheusAlerts+:: { groups+: [{ name: 'other', rules: [{ alert: 'Other', expr: 'vector(1)' }] }] },
  grafanaDashboards+:: { 'other.json': {} },
}`;

describe.each<[implementation: string, isInstalled: () => boolean, command: readonly string[]]>([
  ['go-jsonnet', () => hasTool('jsonnet'), ['jsonnet']],
  ['the jsonnet of C++', () => hasTool(CPP, ['-c', 'import _jsonnet']), [CPP, '-c', CPP_SCRIPT]],
])('the mixin, by %s,', (_name, isInstalled, [program = '', ...args]) => {
  /** Of an expression in which `mixin` is the mixin. */
  function evaluate(expression: string): Mixin {
    const code = `local mixin = import 'vendor/mixin/mixin.libsonnet'; local all = ${expression};
      { prometheusAlerts: all.prometheusAlerts, grafanaDashboards: all.grafanaDashboards }`;
    const { status, output } = runTool(program, [...args, folder.write('main.jsonnet', code)]);
    expect(status, output.slice(0, 500)).toBe(0);
    return withoutEmptyMatchers(JSON.parse(output) as Mixin);
  }
  const rulesOf = ({ prometheusAlerts: { groups } }: Mixin): readonly Rule[] => groups.flatMap(({ rules }) => rules);

  it.skipIf(!isInstalled())('has the shipped alerts and dashboards, beside those of mixins before and after it', () => {
    const alerts = readProjectYaml('prometheus/alerts.yml') as Mixin['prometheusAlerts'];
    const names = readdirSync(projectPath('grafana/dashboards')).filter((name) => name.endsWith('.json'));
    const dashboards = Object.fromEntries(
      names.map((name) => [name, JSON.parse(readProjectFile(`grafana/dashboards/${name}`)) as unknown]),
    );
    const other = { name: 'other', rules: [{ alert: 'Other', expr: 'vector(1)' }] };
    const groupsOf = (expression: string) => evaluate(expression).prometheusAlerts.groups;
    expect(evaluate('mixin')).toEqual({ prometheusAlerts: alerts, grafanaDashboards: dashboards });
    expect(groupsOf(`mixin + ${OTHER}`)).toEqual([...alerts.groups, other]);
    expect(groupsOf(`${OTHER} + mixin`)).toEqual([other, ...alerts.groups]);
    expect(Object.keys(evaluate(`${OTHER} + mixin`).grafanaDashboards)).toEqual([...names, 'other.json'].toSorted());
  });

  it.skipIf(!isInstalled())('has the labels, addresses and alerts of its configuration', () => {
    const configured = evaluate(`mixin + {
      _config+:: {
        selector: 'job="bridge"',
        clusterLabel: 'k8s_cluster',
        severities+: { critical: 'page' },
        runbookURLPattern: 'https://wiki.example.org/%s',
        grafanaUrl: 'https://grafana.example.org',
        disabledAlerts: ['BridgeWatchdog'],
      },
    }`);
    const rules = rulesOf(configured);
    expect(rules.map(({ alert }) => alert)).not.toContain('BridgeWatchdog');
    expect(configured.prometheusAlerts.groups.map(({ name }) => name)).not.toContain('bridge-watchdog');
    for (const { alert = '', labels, annotations } of rules) {
      expect(labels?.['severity'] ?? '', alert).not.toMatch(/^critical$/);
      expect(annotations).toMatchObject({
        runbook_url: `https://wiki.example.org/${alert.toLowerCase()}`,
        dashboard_url: expect.stringMatching(/^https:\/\/grafana\.example\.org\/d\//) as unknown,
      });
    }
    const stale = rules.find(({ alert }) => alert === 'BridgeSnapshotStale');
    expect(stale?.expr).toBe(
      `time() - bridge_problem_due_timestamp_seconds{job="bridge",problem="BridgeSnapshotStale"} >= 0
unless on (k8s_cluster, target, document) (time() - bridge_exporter_last_success_timestamp_seconds{job="bridge",} <= 600
  unless on (k8s_cluster, namespace, job, instance, target, document) time() - bridge_problem_due_timestamp_seconds{job="bridge",problem="BridgeSnapshotStale"} >= 0)`,
    );
    expect(stale?.annotations?.['description']).toContain('k8s_cluster=%q');
    expect(stale?.labels).toEqual({
      severity: '{{ if eq $labels.severity "critical" }}page{{ else }}{{ $labels.severity }}{{ end }}',
    });
    expect(JSON.stringify(rules)).not.toMatch(/%\(|\bcluster=%|\$labels\.cluster\b|\((?:[a-z_]+, )*cluster[,)]/);
    if (hasTool('promtool')) {
      const file = folder.write('rules.json', JSON.stringify(configured.prometheusAlerts));
      const { status, output } = runTool('promtool', ['check', 'rules', file]);
      expect(status, output).toBe(0);
    }
    const dashboards = JSON.stringify(configured.grafanaDashboards);
    expect(dashboards).toContain('max by (k8s_cluster, target)');
    expect(dashboards).toContain('{job=\\"bridge\\",k8s_cluster=~\\"$cluster\\"');
    expect(dashboards).toContain('severity=\\"page\\"');
    expect(dashboards).not.toMatch(/\bby \(cluster\b|\bcluster=~|%\(|severity=\\"critical\\"/);
  });
});
