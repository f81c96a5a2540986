import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { families } from '../../src/exposition/exposition.js';
import { ENDPOINT_LABELS, endpointFamilies } from '../../src/exposition/endpoint-metrics.js';
import { check, hasTool } from '../support/tools.js';
import { read, readYaml } from './files.js';
import { FOLDER } from './kustomize.js';
import { find, service, serviceMonitor, single } from './manifests.js';

const folder = mkdtempSync(join(tmpdir(), 'operator-'));

afterAll(() => rmSync(folder, { recursive: true }));

describe('the ServiceMonitor', () => {
  it('finds the Service and its port', () => {
    expect(serviceMonitor.spec.selector.matchLabels).toEqual(service.metadata?.labels);
    expect(serviceMonitor.spec.endpoints.map(({ port }) => port)).toEqual(service.spec?.ports?.map(({ name }) => name));
  });

  it('leaves every label of ours as it is', () => {
    // What the operator puts on each series; Prometheus would rename ours of the same name.
    const ofOperator = ['namespace', 'service', 'pod', 'container', 'endpoint', 'job', 'instance'];
    const ours = new Set([
      'target',
      ...ENDPOINT_LABELS,
      ...families.flatMap(({ labels }) => labels),
      ...endpointFamilies.flatMap(({ labels }) => labels),
    ]);
    const [endpoint] = serviceMonitor.spec.endpoints;
    const dropped = endpoint?.relabelings?.filter(({ action }) => action === 'labeldrop').map(({ regex }) => regex);
    expect(ofOperator.filter((label) => ours.has(label))).toEqual(dropped);
  });
});

describe('the PrometheusRule', () => {
  it('has the alerts of prometheus/alerts.yml, comments included', async () => {
    const alerts = read('prometheus/alerts.yml');
    const groups = alerts
      .slice(alerts.indexOf('groups:'))
      // Kubernetes takes texts and whole numbers.
      .replaceAll(/expr: (\d+\.\d+)$/gm, "expr: '$1'")
      .replaceAll(/^(?=.)/gm, '  ');
    const written = `# Written from prometheus/alerts.yml by \`npm test -- -u\`; how the alerts are built is said there.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: bridge-exporter
  labels:
    app.kubernetes.io/name: bridge-exporter
    # And what your Prometheus selects by (ruleSelector), such as
    # release: kube-prometheus-stack
spec:
${groups}`;
    await expect(written).toMatchFileSnapshot(`../../${FOLDER}/operator/prometheusrule.yaml`);
  });

  it.skipIf(!hasTool('promtool'))('is read by Prometheus as the alerts are', () => {
    const rule = find(single, 'PrometheusRule');
    const asTexts = (value: unknown): unknown =>
      JSON.parse(JSON.stringify(value), (key, inner: unknown) => (key === 'expr' ? String(inner) : inner));
    expect(asTexts(rule.spec)).toEqual(asTexts(readYaml('prometheus/alerts.yml')));
    const file = join(folder, 'rules.yaml');
    writeFileSync(file, stringify(rule.spec));
    expect(check('promtool', ['check', 'rules', file], '').status).toBe(0);
  });
});
