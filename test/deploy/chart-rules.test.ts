import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { alertRules, ruleGroups, type Rule } from '../support/alert-rules.js';
import { readProjectFile } from '../support/project-files.js';
import { createTempFolder } from '../support/temp-folder.js';
import { hasTool, runTool } from '../support/tools.js';
import { hasHelm, render, rendered, TARGETS } from './helm.js';
import { findManifest } from './manifests.js';

/* What the chart has of the alerts and the dashboards. */

const isInstalled = hasHelm();
const hasPromtool = hasTool('promtool');
const folder = createTempFolder();

describe.skipIf(!isInstalled)('the PrometheusRule', () => {
  const groupsOf = (name: string) => findManifest(rendered(name), 'PrometheusRule').spec.groups;
  const rulesOf = (name: string): Rule[] => groupsOf(name).flatMap(({ rules }) => rules);
  /** An expression has to be a string in Kubernetes. */
  const withStrings = (rules: readonly Rule[]) => rules.map((rule) => ({ ...rule, expr: String(rule.expr) }));

  it('contains the groups of prometheus/alerts.yml', () => {
    const expected = ruleGroups.map((group) => ({ ...group, rules: withStrings(group.rules) }));
    // The chart fills in an empty selector, which leaves braces.
    const groups = groupsOf('sharded').map((group) => ({
      ...group,
      rules: group.rules.map((rule) => ({ ...rule, expr: String(rule.expr).replaceAll('{}', '') })),
    }));
    expect(groups).toEqual(expected);
    expect(JSON.stringify(expected)).toContain('{{ $labels.target }}');
  });

  it.skipIf(!hasPromtool).each(['sharded', 'kube-prometheus-stack', 'rules'])(
    'of %s is valid for Prometheus',
    (name) => {
      const file = folder.write('rules.json', JSON.stringify({ groups: groupsOf(name) }));
      const { status, output } = runTool('promtool', ['check', 'rules', file]);
      expect(status, output).toBe(0);
    },
  );

  const shippedOf = (name: string): Rule[] => alertRules.filter(({ alert }) => alert === name);
  const ownOf = (name: string): Rule[] => rulesOf('rules').filter(({ alert }) => alert === name);
  const exprsOf = (rules: readonly Rule[]): string[] => rules.map(({ expr }) => String(expr));

  it('omits disabled alerts and groups without rules, and appends groups', () => {
    const omitted = new Set(['BridgeWatchdog', 'BridgeParamsChanged']);
    const alerts = rulesOf('rules').map(({ alert }) => alert);
    expect(alerts).toEqual([
      ...alertRules.map(({ alert }) => alert).filter((name) => !omitted.has(name)),
      'TooManyTargets',
    ]);
    expect(groupsOf('rules').map(({ name }) => name)).toEqual([
      ...ruleGroups.map(({ name }) => name).filter((name) => name !== 'bridge-watchdog'),
      'own',
    ]);
  });

  it('leaves limits to the configuration of the exporter', () => {
    expect(exprsOf(ownOf('BridgeBatchUnsigned'))).toEqual(exprsOf(shippedOf('BridgeBatchUnsigned')));
    const config = parse(findManifest(rendered('rules'), 'ConfigMap').data?.['bridge.yaml'] ?? '') as unknown;
    expect(config).toMatchObject({ problems: { BridgeBatchUnsigned: { after: '45m' } } });
  });

  it('changes the duration of an alert', () => {
    expect(shippedOf('BridgeExporterDown').map((rule) => rule.for)).toEqual(['10m']);
    expect(ownOf('BridgeExporterDown').map((rule) => rule.for)).toEqual(['20m']);
  });

  it('renames the label cluster in expressions and in what texts query', () => {
    const expressions = exprsOf(rulesOf('rules')).join('\n');
    expect(expressions).toContain('on (k8s_cluster, namespace, job, instance)');
    expect(expressions).not.toMatch(/\bcluster\b/);
    const queried = rulesOf('rules').flatMap(({ annotations = {}, labels = {} }) => [
      ...Object.values(annotations),
      ...Object.values(labels),
    ]);
    const renamed = queried.filter((text) => /k8s_cluster=%.*\$labels\.k8s_cluster\b/.test(text));
    expect(renamed).toHaveLength(queried.filter((text) => text.includes('| query')).length);
    expect(renamed.length).toBeGreaterThan(80);
    expect(queried.join('\n')).not.toMatch(/\bcluster=|\$labels\.cluster\b/);
  });

  it('adds labels and annotations to all rules, and replaces the addresses of the runbook and of Grafana', () => {
    for (const { labels, annotations } of rulesOf('rules').filter(({ alert }) => alert !== 'TooManyTargets')) {
      expect(labels).toMatchObject({ team: 'bridge' });
      expect(annotations).toMatchObject({
        slack_channel: '#bridge',
        summary: expect.any(String),
        runbook_url: expect.stringMatching(/^https:\/\/wiki\.example\.org\/runbooks\/bridge#[a-z]+$/),
      });
      expect(annotations?.['dashboard_url'] ?? 'https://grafana.example.org/d/').toMatch(
        /^https:\/\/grafana\.example\.org\/d\//,
      );
    }
  });
});

it.skipIf(!isInstalled)('the dashboards have the label of clusters that the alerts have', () => {
  const values = { ...TARGETS, dashboards: { enabled: true }, prometheusRule: { clusterLabel: 'k8s_cluster' } };
  const texts = render({ values }).flatMap(({ metadata, data = {} }) =>
    metadata.labels?.['grafana_dashboard'] ? Object.values(data) : [],
  );
  expect(texts).toHaveLength(4);
  for (const text of texts) {
    expect(text).toContain('k8s_cluster=~');
    expect(text).not.toMatch(/\bby \(cluster\b|\bcluster=~|%\(/);
  }
});

it.skipIf(!isInstalled)('the dashboards are those of the project, with the label of the sidecar', () => {
  const maps = rendered('kube-prometheus-stack').filter(({ metadata }) => metadata.labels?.['grafana_dashboard']);
  const files = maps.flatMap(({ data = {} }) => Object.entries(data));
  expect(files.map(([name]) => name)).toEqual([
    'bridge-overview.json',
    'cross-chain.json',
    'exporter.json',
    'validator.json',
  ]);
  for (const [name, content] of files) {
    expect(JSON.parse(content)).toEqual(JSON.parse(readProjectFile(`grafana/dashboards/${name}`)));
  }
  expect(maps.map(({ metadata }) => metadata.annotations)).toEqual(maps.map(() => ({ grafana_folder: 'Bridge' })));
});
