import type { IPod } from 'kubernetes-models/v1/Pod';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { scrape } from '../support/http.js';
import { runHere } from '../support/command-context.js';
import { packageJson, projectNames, readProjectFile, readProjectYaml } from '../support/project-files.js';
import { createTempFolder } from '../support/temp-folder.js';
import { startTestExporter } from '../support/test-exporter.js';
import { startTestSimulator } from '../support/test-simulator.js';
import { waitUntil } from '../support/wait-for.js';
import { CHART, hasHelm, parseManifests, render, rendered, TARGETS, textOf, valuesFiles } from './helm.js';
import { hasKubeconform, schemaViolations } from './kubeconform.js';
import { containerOf, findManifest, podOf } from './manifests.js';
import { exporterOf } from './rendered-exporter.js';

const isInstalled = hasHelm();
const folder = createTempFolder();

/** Of a Service, the labels themselves. */
interface Selector {
  readonly matchLabels?: object;
}

describe.skipIf(!isInstalled || !hasKubeconform())('the manifests of the chart', () => {
  it('are valid for every values file, without unknown keys', () => {
    const files = valuesFiles.map((file) => folder.write(file.replace('/', '-'), textOf(file)));
    expect(schemaViolations(files)).toEqual([]);
  });
});

describe.skipIf(!isInstalled).each(valuesFiles)('the pod of %s', (file) => {
  const manifests = isInstalled ? parseManifests(textOf(file)) : [];
  const labels = (): Readonly<Record<string, string>> => podOf(manifests).metadata?.labels ?? {};

  it('complies with the restricted Pod Security Standard, as those of hooks', () => {
    const pods = manifests.flatMap(({ kind, spec }) => {
      const { template } = (spec ?? {}) as { readonly template?: IPod };
      return kind === 'Pod' ? [spec as NonNullable<IPod['spec']>] : (template?.spec ?? []);
    });
    expect(pods).toContainEqual(podOf(manifests).spec);
    const securityContext = {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    };
    for (const pod of pods) {
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      });
      expect(pod.containers[0]?.securityContext).toEqual(securityContext);
    }
  });

  it('is selected by every selector', () => {
    const selectors = manifests.flatMap(({ kind, spec }) => {
      const { selector, podSelector } = (spec ?? {}) as Record<'selector' | 'podSelector', Selector | undefined>;
      if (kind === 'Service') return [selector];
      return [selector, podSelector].flatMap((value) => value?.matchLabels ?? []);
    });
    expect(selectors.length).toBeGreaterThanOrEqual(2);
    for (const selector of selectors) expect(labels()).toMatchObject(selector as object);
  });

  it('mounts every volume as a folder, because Kubernetes does not update single files', () => {
    const mounts = containerOf(manifests).volumeMounts ?? [];
    expect(mounts.map(({ name }) => name)).toEqual((podOf(manifests).spec?.volumes ?? []).map(({ name }) => name));
    expect(mounts.filter(({ subPath }) => subPath !== undefined)).toEqual([]);
    expect(mounts.filter(({ readOnly }) => readOnly !== true)).toEqual([
      { name: 'state', mountPath: '/var/lib/bridge-exporter' },
    ]);
  });
});

interface Leaf {
  readonly path: readonly string[];
  readonly value: string | number;
}

/** The texts and numbers in values. */
function leavesOf(value: unknown, path: readonly string[] = []): readonly Leaf[] {
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([key, inner]) => leavesOf(inner, [...path, key]));
  }
  const isTemplate = typeof value === 'string' && value.includes('{{');
  return (typeof value === 'string' && !isTemplate) || typeof value === 'number' ? [{ path, value }] : [];
}

/** Values that become a text, or are below another key in manifests. */
const ELSEWHERE = /^(?:config|extraConfigFiles|serviceAccount\.name)\b/;

it.skipIf(!isInstalled).each(valuesFiles)('every value of %s is in the manifests, below its own key', (file) => {
  const text = JSON.stringify(parseManifests(textOf(file)));
  const missing = leavesOf(readProjectYaml(`${CHART}/${file}`)).filter(({ path, value }) => {
    const key = `${JSON.stringify(path.at(-1))}:`;
    if (text.includes(key) && !ELSEWHERE.test(path.join('.'))) return !text.includes(key + JSON.stringify(value));
    return !text.includes(JSON.stringify(String(value)).slice(1, -1));
  });
  expect(missing).toEqual([]);
});

describe.skipIf(!isInstalled)('the Deployment', () => {
  it('runs the exporter with its configuration and probes', async () => {
    const simulator = await startTestSimulator();
    const values = {
      config: {
        targets: [{ name: 'demo', bridge: { url: simulator.url }, crosschain: { url: simulator.url, window: 500 } }],
      },
    };
    const manifests = render({ values });
    const { args, env } = exporterOf(manifests);
    const daemon = await startTestExporter(args, env);
    const { image, readinessProbe, livenessProbe, ports } = containerOf(manifests);
    for (const probe of [readinessProbe, livenessProbe]) {
      const url = daemon.url + (probe?.httpGet?.path ?? '');
      await waitUntil(async () => (await fetch(url)).status === 200);
    }
    expect(await scrape(daemon)).toContain(`bridge_height{target="demo"} ${simulator.model.height}`);
    expect(image).toBe(`${projectNames.image}:${packageJson.version}`);
    expect(ports).toEqual([{ name: 'http', containerPort: 10_917 }]);
    expect(readProjectFile('docs/configuration.md')).toContain('| `:10917` |');
  });

  it.each([
    ['an emptyDir by default', undefined, { emptyDir: {} }],
    ['an existing claim', { enabled: true, existingClaimName: 'own' }, { persistentVolumeClaim: { claimName: 'own' } }],
  ])('keeps the state file in %s', (_title, persistence, volume) => {
    const manifests = render({ values: { ...TARGETS, ...(persistence && { persistence }) } });
    expect(containerOf(manifests).args).toContain('--state.file=/var/lib/bridge-exporter/state.json');
    expect(podOf(manifests).spec?.volumes).toContainEqual({ name: 'state', ...volume });
    expect(manifests.map(({ kind }) => kind)).not.toContain('PersistentVolumeClaim');
  });

  it('keeps the state file in a claim of the release, which one pod at a time can write', () => {
    const manifests = render({ values: { ...TARGETS, persistence: { enabled: true, storageClassName: 'fast' } } });
    const claim = findManifest(manifests, 'PersistentVolumeClaim');
    expect(claim.spec).toEqual({
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'fast',
      resources: { requests: { storage: '1Gi' } },
    });
    expect(podOf(manifests).spec).toMatchObject({
      volumes: expect.arrayContaining([
        { name: 'state', persistentVolumeClaim: { claimName: 'bridge-exporter' } },
      ]) as unknown,
      securityContext: { fsGroup: 1000, runAsNonRoot: true },
    });
    expect(findManifest(manifests, 'Deployment').spec?.strategy).toEqual({ type: 'Recreate' });
  });

  it('keeps the state file of each shard in a claim of its own', () => {
    const manifests = render({ values: { ...TARGETS, shards: 2, persistence: { enabled: true } } });
    const { spec } = findManifest(manifests, 'StatefulSet');
    expect(spec?.volumeClaimTemplates?.map(({ metadata }) => metadata?.name)).toEqual(['state']);
    expect(spec?.template.spec?.volumes?.map(({ name }) => name)).not.toContain('state');
    expect(manifests.map(({ kind }) => kind)).not.toContain('PersistentVolumeClaim');
  });

  it('reloads changes of the configuration, and restarts for them on request only', () => {
    const manifests = render({ values: TARGETS });
    expect(containerOf(manifests).args).toContain('--config.auto-reload-interval=30s');
    expect(podOf(manifests).metadata?.annotations).toBeUndefined();
    const [checksum, same, other] = ['a', 'a', 'b'].map((host) => {
      const config = { targets: [{ name: 'a', bridge: { url: `https://${host}.example.org` } }] };
      const { metadata } = podOf(render({ values: { config, restartOnConfigChange: true } }));
      return metadata?.annotations?.['checksum/config'];
    });
    expect(checksum).toMatch(/^[0-9a-f]{64}$/);
    expect(same).toBe(checksum);
    expect(other).not.toBe(checksum);
  });

  it('keeps a configuration that is passed as text, with its comments and indentation', () => {
    const config =
      '  # The first line is indented.\n  targets: [{name: a, crosschain: {url: "https://a.example.org", rate: 1e18}}]\n';
    expect(findManifest(render({ values: { config } }), 'ConfigMap').data).toEqual({ 'bridge.yaml': config });
  });

  it('mounts an existing Secret or ConfigMap instead of creating one', () => {
    const secret = rendered('existing-secret');
    expect(podOf(secret).spec?.volumes).toContainEqual({
      name: 'config',
      secret: { secretName: 'bridge-exporter-config' },
    });
    expect(containerOf(secret).args).toContain('--config.file=/etc/bridge-exporter/config.yml');
    const configMap = rendered('existing-configmap');
    expect(podOf(configMap).spec?.volumes).toContainEqual({
      name: 'config',
      configMap: { name: 'bridge-exporter-config' },
    });
    for (const manifests of [secret, configMap]) {
      expect(manifests.filter(({ kind }) => kind === 'ConfigMap' || kind === 'Secret')).toEqual([]);
    }
  });

  it('uses HTTPS for probes and scrapes with TLS', () => {
    const manifests = rendered('tls');
    const { args, livenessProbe, readinessProbe } = containerOf(manifests);
    expect([livenessProbe, readinessProbe].map((probe) => probe?.httpGet?.scheme)).toEqual(['HTTPS', 'HTTPS']);
    expect(args).toContain('--web.config.file=/etc/bridge-exporter-web/web.yml');
    expect(findManifest(manifests, 'ServiceMonitor').spec.endpoints[0]).toMatchObject({
      scheme: 'https',
      basicAuth: { username: { name: 'scraper', key: 'username' } },
      tlsConfig: { serverName: 'bridge-exporter' },
    });
  });
});

describe.skipIf(!isInstalled)('the StatefulSet of 200 targets in four shards', () => {
  const names = Array.from({ length: 200 }, (_, index) => `chain-${index}`);
  const targets = names.map((name) => {
    const authorization = `authorization: {credentials_file: /run/secrets/node-credentials/${name}}`;
    return `  - {name: ${name}, bridge: {url: "https://${name}.example.org", ${authorization}}}`;
  });
  const file = folder.write('bridge.yaml', `targets:\n${targets.join('\n')}\n`);
  const manifests = isInstalled
    ? render({ files: ['ci/sharded-values.yaml'], flags: [`--set-file=config=${file}`] })
    : [];

  it('has the same pods as a Deployment, except for the number of the shard', () => {
    const single = render({ files: ['ci/sharded-values.yaml'], values: { shards: 1 } });
    const { env, ...others } = containerOf(manifests);
    expect(others).toEqual(containerOf(single));
    expect(env).toEqual([
      { name: 'POD_INDEX', valueFrom: { fieldRef: { fieldPath: "metadata.labels['apps.kubernetes.io/pod-index']" } } },
      { name: 'TARGETS_SHARD', value: '$(POD_INDEX)/4' },
    ]);
    expect({ ...podOf(manifests).spec, containers: [] }).toEqual({ ...podOf(single).spec, containers: [] });
  });

  it('polls every target in exactly one pod, with its credentials', async () => {
    const { spec } = findManifest(manifests, 'StatefulSet');
    expect(spec?.replicas).toBe(4);
    const credentials = Object.fromEntries(names.map((name) => [name, `token of ${name}`]));
    const polled: string[] = [];
    for (let ordinal = 0; ordinal < 4; ordinal += 1) {
      const index = (spec?.ordinals?.start ?? 0) + ordinal;
      const { args, env } = exporterOf(manifests, { 'node-credentials': credentials }, index);
      const { code, stdout, stderr } = await runHere(['--config.check', ...args], env);
      expect(code, stderr).toBe(0);
      polled.push(...(parse(stdout) as { targets: { name: string }[] }).targets.map(({ name }) => name));
    }
    expect(polled.toSorted()).toEqual(names.toSorted());
  });

  it('has a headless Service and evicts one pod at a time', () => {
    const service = findManifest(manifests, 'Service');
    expect(service.spec?.clusterIP).toBe('None');
    expect(findManifest(manifests, 'StatefulSet').spec?.serviceName).toBe(service.metadata?.name);
    expect(findManifest(manifests, 'PodDisruptionBudget').spec).toMatchObject({ maxUnavailable: 1 });
  });
});

describe.skipIf(!isInstalled)('the ServiceMonitor', () => {
  const dropPod = { action: 'labeldrop', regex: 'pod' };

  it.each([
    ['a Deployment by its release', 'kube-prometheus-stack', { replacement: 'bridge-exporter' }],
    ['shards by their pods', 'sharded', { sourceLabels: ['__meta_kubernetes_pod_name'] }],
  ])('names %s', (_title, name, label) => {
    const [endpoint] = findManifest(rendered(name), 'ServiceMonitor').spec.endpoints;
    expect(endpoint).toEqual({
      port: 'http',
      path: '/metrics',
      interval: '30s',
      relabelings: [{ ...label, targetLabel: 'instance' }, dropPod],
    });
  });

  it('finds the Service in another namespace', () => {
    expect(findManifest(rendered('names'), 'ServiceMonitor').spec.namespaceSelector).toEqual({
      matchNames: ['bridges'],
    });
  });
});

it.skipIf(!isInstalled)('the NetworkPolicy admits the namespace of the release by default', () => {
  const manifests = render({ values: { ...TARGETS, networkPolicy: { enabled: true, restrictEgress: false } } });
  expect(findManifest(manifests, 'NetworkPolicy').spec).toMatchObject({
    policyTypes: ['Ingress'],
    ingress: [{ from: [{ podSelector: {} }] }],
  });
});

it.skipIf(!isInstalled)('the Ingress leads to the Service, which leads to the exporter', () => {
  const manifests = rendered('ingress');
  const backend = { service: { name: 'bridge-exporter', port: { name: 'http' } } };
  for (const { http } of findManifest(manifests, 'Ingress').spec?.rules ?? []) {
    expect(http?.paths).toEqual([{ path: '/', pathType: 'Prefix', backend }]);
  }
  expect(findManifest(manifests, 'Service').spec).toMatchObject({
    type: 'ClusterIP',
    ports: [{ name: 'http', port: 10_917, targetPort: 'http' }],
  });
});

it.skipIf(!isInstalled)('names, namespaces and labels can be changed', () => {
  const manifests = rendered('names');
  const monitoring = new Set(['ServiceMonitor', 'PrometheusRule']);
  for (const { kind, metadata } of manifests) {
    const isDashboard = metadata.labels?.['grafana_dashboard'] !== undefined;
    expect(metadata.namespace).toBe(monitoring.has(kind) || isDashboard ? 'monitoring' : 'bridges');
    const name = kind === 'Pod' ? 'bridges-test' : 'bridges';
    expect(metadata.labels).toMatchObject({ team: 'bridge', 'app.kubernetes.io/name': name });
    if (kind === 'ServiceAccount') expect(metadata.name).toBe('bridges');
    else expect(metadata.name).toMatch(/^bridges-mainnet/);
  }
  expect(podOf(manifests).spec).toMatchObject({
    serviceAccountName: 'bridges',
    imagePullSecrets: [{ name: 'registry' }],
  });
});
