import { describe, expect, it } from 'vitest';
import { descriptions, type Schema } from '../../packaging/generate/chart.js';
import { packageJson, readProjectFile, readProjectYaml } from '../support/project-files.js';
import { CHART, hasHelm, problemsOf, render, valuesFiles } from './helm.js';
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

const TARGETS = { config: { targets: [{ name: 'injective', bridge: { url: 'https://node.example.org' } }] } };

const withTargets = (others: object): object => ({ ...TARGETS, ...others });
const problem = (after: unknown) => ({ BridgeBatchUnsigned: { after } });

describe.skipIf(!hasHelm())('the chart rejects', () => {
  it.each<[invalid: object, message: string]>([
    // By the schema.
    [{ serviceMonitor: { enable: true } }, "at '/serviceMonitor': additional properties 'enable' not allowed"],
    [{ autoReloadInterval: '30' }, "at '/autoReloadInterval': '30' does not match"],
    [
      { prometheusRule: { alerts: { BridgeExporterDown: { for: '30' } } } },
      "at '/prometheusRule/alerts/BridgeExporterDown/for': '30' does not match",
    ],
    // Routes and inhibitions compare the severity.
    [
      { problems: { BridgeBacklogHigh: { severity: 'info' } } },
      "at '/problems/BridgeBacklogHigh': additional properties 'severity' not allowed",
    ],
    [
      { prometheusRule: { clusterLabel: 'k8s-cluster' } },
      "at '/prometheusRule/clusterLabel': 'k8s-cluster' does not match",
    ],
    // Helm would round the number, and write it as 1e+21.
    [
      { config: { targets: [{ name: 'a', crosschain: { rate: 1e18 } }] } },
      "at '/config/targets/0/crosschain/rate': got number, want string",
    ],
    [
      { config: { targets: [{ name: 'a', bridge: { watch_min_balance: 1e21 } }] } },
      "at '/config/targets/0/bridge/watch_min_balance': got number, want string",
    ],
    [
      { config: { tokens: [{ contract: '0x', min_batch_fee: 5 }] } },
      "at '/config/tokens/0/min_batch_fee': got number, want string",
    ],
    [
      { config: { targets: [{ bridge: { watch: [1e21] } }] } },
      "at '/config/targets/0/bridge/watch/0': got number, want string",
    ],
    [
      { config: { targets: [{ crosschain: { ignore: { indexes: [0x1f] } } }] } },
      "at '/config/targets/0/crosschain/ignore/indexes/0': got number, want string",
    ],
    [
      { config: { targets: [{ crosschain: { window: 1e16 } }] } },
      "at '/config/targets/0/crosschain/window': maximum: got",
    ],
    [
      { config: { targets: [{ crosschain: { hub_chain_ids: [7000, 1e16] } }] } },
      "at '/config/targets/0/crosschain/hub_chain_ids/1': maximum: got",
    ],
    [{ config: { targets: [{ labels: { team: 1e21 } }] } }, "at '/config/targets/0/labels/team': maximum: got"],
    // By the templates.
    [{}, 'config is empty: set config.targets, --set-file config=bridge.yaml, configExisting'],
    [{ config: { poll: {} } }, 'config has no targets'],
    ...['configExistingSecretName', 'configExistingConfigMapName'].map((name): [object, string] => [
      withTargets({ [name]: 'own' }),
      `config is set together with ${name}: remove one of them`,
    ]),
    [
      { configExistingConfigMapName: 'own', configExistingSecretName: 'own' },
      'configExistingConfigMapName and configExistingSecretName are both set',
    ],
    [withTargets({ replicas: 2, shards: 2 }), 'replicas and shards are both above 1'],
    [withTargets({ shards: 2, ingress: { enabled: true } }), 'ingress.enabled requires shards: 1'],
    [withTargets({ ingress: { enabled: true } }), 'ingress.hosts is empty'],
    [
      withTargets({ serviceMonitor: { enabled: true }, podMonitor: { enabled: true } }),
      'every pod would be scraped twice',
    ],
    [withTargets({ webConfig: { tls: true } }), 'webConfig.tls requires webConfig.existingSecret'],
    [
      withTargets({ problems: { BridgeBatchUnsinged: { after: '45m' } } }),
      'problems.BridgeBatchUnsinged: no such problem; the problems are BridgeSnapshotStale, ',
    ],
    ...['45', 45, '1m1h', '', '-5m', '500ms'].map((after): [object, string] => [
      withTargets({ problems: problem(after) }),
      `problems.BridgeBatchUnsigned.after: ${JSON.stringify(after)} is no duration such as 90s, 45m, 1h30m, 2d or 1w`,
    ]),
    [
      withTargets({ problems: { BridgeExporterDown: { after: '5m' } } }),
      'problems.BridgeExporterDown: it is no problem, set prometheusRule.alerts.BridgeExporterDown; the problems are ',
    ],
    [
      withTargets({ prometheusRule: { alerts: { BridgeWachdog: { enabled: false } } } }),
      'prometheusRule.alerts.BridgeWachdog: no such alert; the alerts that are no problems are BridgeExporterAbsent, ',
    ],
    [
      withTargets({ prometheusRule: { alerts: { BridgeBacklogHigh: { enabled: false } } } }),
      'prometheusRule.alerts.BridgeBacklogHigh: it is a problem, set problems.BridgeBacklogHigh; the alerts that are ',
    ],
    ...[
      { ...TARGETS.config, problems: problem('45m') },
      'targets: []\nproblems: {BridgeBatchUnsigned: {after: 45m}}',
    ].map((config): [object, string] => [{ config }, 'config.problems is in the wrong place: set the value problems']),
    [
      { config: '{targets: []}', problems: problem('45m') },
      'problems cannot be appended to the text of config: its keys have to be on lines of their own',
    ],
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

  it('every error at once', () => {
    const message = problemsOf({ values: { replicas: 2, shards: 2 } });
    expect(message).toContain('\n- config is empty');
    expect(message).toContain('\n- replicas and shards');
  });
});

it('the values files of the chart are at least twelve and have a comment each', () => {
  expect(valuesFiles.length).toBeGreaterThanOrEqual(12);
  expect(valuesFiles.filter((file) => !readProjectFile(`${CHART}/${file}`).startsWith('# '))).toEqual([]);
});
