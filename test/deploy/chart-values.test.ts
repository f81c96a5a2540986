import { describe, expect, it } from 'vitest';
import { descriptions, type Schema } from '../../packaging/generate/chart.js';
import { packageJson, readProjectYaml } from '../support/project-files.js';
import { CHART, hasHelm, problemsOf, render, TARGETS } from './helm.js';
import { findManifest } from './manifests.js';

const schema = readProjectYaml(`${CHART}/values.schema.json`) as Schema;
const values = readProjectYaml(`${CHART}/values.yaml`) as Readonly<Record<string, unknown>>;

/** The paths of all values, and those of mappings that may have any keys. */
function pathsOf(value: unknown, rules: Schema | undefined, path = ''): string[] {
  if (rules?.additionalProperties !== false || typeof value !== 'object' || value === null) return [path];
  return Object.entries(value).flatMap(([key, inner]) =>
    pathsOf(inner, rules.properties?.[key], path === '' ? key : `${path}.${key}`),
  );
}

function schemaPaths(rules: Schema, path = ''): string[] {
  if (rules.additionalProperties !== false || rules.properties === undefined) return [path];
  return Object.entries(rules.properties).flatMap(([key, inner]) =>
    schemaPaths(inner, path === '' ? key : `${path}.${key}`),
  );
}

describe('the values of the chart', () => {
  it('are the properties of the schema', () => {
    const paths = pathsOf(values, schema);
    expect(paths.length).toBeGreaterThan(80);
    // Helm passes `global` of a parent chart.
    expect(schemaPaths(schema).filter((path) => path !== 'global')).toEqual(paths);
  });

  it('are all described', () => {
    const texts = descriptions();
    expect(pathsOf(values, schema).filter((path) => !texts.has(path))).toEqual([]);
  });

  it('are those of the current version of the program', () => {
    expect(readProjectYaml(`${CHART}/Chart.yaml`)).toMatchObject({
      version: packageJson.version,
      appVersion: packageJson.version,
    });
  });
});

describe.skipIf(!hasHelm())('the chart rejects', () => {
  it('what the schema does not allow, all at once', () => {
    const message = problemsOf({
      values: {
        serviceMonitor: { enable: true },
        autoReloadInterval: '30',
        prometheusRule: { clusterLabel: 'k8s-cluster', alerts: { BridgeExporterDown: { for: '30' } } },
        // Helm would round the numbers, and write them as 1e+21.
        config: {
          targets: [
            { name: 'a', bridge: { watch_min_balance: 1e21, watch: [1e21] }, labels: { team: 1e21 } },
            {
              name: 'b',
              crosschain: { rate: 1e18, window: 1e16, hub_chain_ids: [7000, 1e16], ignore: { indexes: [0x1f] } },
            },
          ],
          tokens: [{ contract: '0x', min_batch_fee: 5 }],
        },
      },
    });
    for (const expected of [
      "'/serviceMonitor': additional properties 'enable' not allowed",
      "'/autoReloadInterval': '30' does not match",
      "'/prometheusRule/clusterLabel': 'k8s-cluster' does not match",
      "'/prometheusRule/alerts/BridgeExporterDown/for': '30' does not match",
      "'/config/targets/0/bridge/watch_min_balance': got number, want string",
      "'/config/targets/0/bridge/watch/0': got number, want string",
      "'/config/targets/0/labels/team': maximum: got",
      "'/config/targets/1/crosschain/rate': got number, want string",
      "'/config/targets/1/crosschain/window': maximum: got",
      "'/config/targets/1/crosschain/hub_chain_ids/1': maximum: got",
      "'/config/targets/1/crosschain/ignore/indexes/0': got number, want string",
      "'/config/tokens/0/min_batch_fee': got number, want string",
    ]) {
      expect(message).toContain(`at ${expected}`);
    }
  });

  it('what contradicts, all at once', () => {
    const message = problemsOf({
      values: {
        ...TARGETS,
        configExistingConfigMapName: 'own',
        configExistingSecretName: 'own',
        replicas: 2,
        shards: 2,
        persistence: { enabled: true, existingClaimName: 'own' },
        ingress: { enabled: true },
        route: { enabled: true },
        serviceMonitor: { enabled: true },
        podMonitor: { enabled: true },
        webConfig: { tls: true },
        prometheusRule: { alerts: { BridgeWachdog: { enabled: false } } },
      },
    });
    for (const expected of [
      'config is set together with configExistingSecretName: remove one of them',
      'configExistingConfigMapName and configExistingSecretName are both set',
      'replicas and shards are both above 1',
      'persistence.enabled requires replicas: 1',
      'persistence.existingClaimName requires persistence.enabled, and shards: 1',
      'ingress.enabled requires shards: 1',
      'ingress.hosts is empty',
      'route.enabled requires shards: 1',
      'route.parentRefs is empty',
      'serviceMonitor.enabled and podMonitor.enabled are both set, so that every pod would be scraped twice',
      'webConfig.tls requires webConfig.existingSecret',
      'prometheusRule.alerts.BridgeWachdog: no such alert; the alerts are BridgeExporterAbsent, ',
    ]) {
      expect(message).toContain(`\n- ${expected}`);
    }
  });

  it.each<[invalid: object, message: string]>([
    [{}, 'config is empty: set config.targets, --set-file config=bridge.yaml, configExisting'],
    [{ config: { poll: {} } }, 'config has no targets'],
    [{ ...TARGETS, configExistingConfigMapName: 'own' }, 'config is set together with configExistingConfigMapName'],
  ])('%j', (invalid, message) => {
    expect(problemsOf({ values: invalid })).toContain(message);
  });

  it('shards before Kubernetes 1.28', () => {
    const flags = ['--kube-version=1.27.0'];
    expect(problemsOf({ values: { ...TARGETS, shards: 2 }, flags })).toContain(
      'shards above 1 require Kubernetes 1.28',
    );
    expect(findManifest(render({ values: TARGETS, flags }), 'Deployment').spec?.replicas).toBe(1);
  });
});
