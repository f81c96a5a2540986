import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { readProjectFile, readProjectYaml } from '../support/project-files.js';
import { createTempFolder } from '../support/temp-folder.js';
import { hasTool, runTool } from '../support/tools.js';
import { FOLDER } from './kustomize.js';
import { findManifest, service, serviceMonitor, single } from './manifests.js';

const folder = createTempFolder();

describe('the ServiceMonitor', () => {
  it('selects the Service and its port', () => {
    expect(serviceMonitor.spec.selector.matchLabels).toEqual(service.metadata?.labels);
    expect(serviceMonitor.spec.endpoints.map(({ port }) => port)).toEqual(service.spec?.ports?.map(({ name }) => name));
  });
});

describe('the PrometheusRule', () => {
  it('contains prometheus/alerts.yml with its comments', async () => {
    const alerts = readProjectFile('prometheus/alerts.yml');
    const groups = alerts
      .slice(alerts.indexOf('groups:'))
      // An expression has to be a string or an integer in Kubernetes.
      .replaceAll(/expr: (\d+\.\d+)$/gm, "expr: '$1'")
      .replaceAll(/^(?=.)/gm, '  ');
    const manifest = `# Generated from prometheus/alerts.yml by \`npm test -- -u\`. That file explains how the alerts work.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: bridge-exporter
  labels:
    app.kubernetes.io/name: bridge-exporter
    # Add the labels that the ruleSelector of your Prometheus requires, such as
    # release: kube-prometheus-stack
spec:
${groups}`;
    await expect(manifest).toMatchFileSnapshot(`../../${FOLDER}/operator/prometheusrule.yaml`);
  });

  it.skipIf(!hasTool('promtool'))('is equivalent to prometheus/alerts.yml for Prometheus', () => {
    const rule = findManifest(single, 'PrometheusRule');
    const withStringExpressions = (value: unknown): unknown =>
      JSON.parse(JSON.stringify(value), (key, inner: unknown) => (key === 'expr' ? String(inner) : inner));
    expect(withStringExpressions(rule.spec)).toEqual(withStringExpressions(readProjectYaml('prometheus/alerts.yml')));
    const file = folder.write('rules.yaml', stringify(rule.spec));
    expect(runTool('promtool', ['check', 'rules', file]).status).toBe(0);
  });
});
