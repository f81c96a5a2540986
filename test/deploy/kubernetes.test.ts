import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { get } from '../support/http.js';
import { runExporter, startDaemon } from '../support/processes.js';
import { packageJson, readProjectFile } from '../support/project-files.js';
import { createTempFolder } from '../support/temp-folder.js';
import { allFiles, FOLDER, namedFiles } from './kustomize.js';
import { containerOf, deployment, findManifest, service, sharded, single, statefulSet } from './manifests.js';

const folder = createTempFolder();

describe('the kustomizations', () => {
  it('include every manifest, and no missing file', () => {
    const named = ['single', 'sharded'].flatMap((variant) => namedFiles(`${FOLDER}/${variant}`));
    expect([...new Set(named)].toSorted()).toEqual(allFiles().toSorted());
  });
});

describe.each([
  ['Deployment', single, deployment],
  ['StatefulSet', sharded, statefulSet],
])('the %s', (kind, manifests, workload) => {
  const container = containerOf(workload);
  const pod = workload.spec?.template;
  const labels = pod?.metadata?.labels ?? {};
  const mounts = container.volumeMounts ?? [];

  it('is selected by its Service, NetworkPolicy and PodDisruptionBudget', () => {
    const policy = findManifest(manifests, 'NetworkPolicy');
    const selectors = [
      workload.spec?.selector.matchLabels,
      findManifest(manifests, 'Service').spec?.selector,
      policy.spec?.podSelector.matchLabels,
      ...(kind === 'StatefulSet' ? [findManifest(manifests, 'PodDisruptionBudget').spec?.selector?.matchLabels] : []),
    ];
    for (const selector of selectors) expect(selector).toEqual(labels);
    expect(Object.keys(labels)).toHaveLength(1);
  });

  it('exposes one named port', async () => {
    expect(container.ports).toEqual([{ name: 'http', containerPort: 10_917 }]);
    expect(service.spec?.ports).toEqual([{ name: 'http', port: 10_917, targetPort: 'http' }]);
    const policy = findManifest(manifests, 'NetworkPolicy');
    expect(policy.spec?.ingress?.flatMap(({ ports }) => ports)).toEqual([{ port: 'http' }]);
    expect(readProjectFile('docs/configuration.md')).toContain('| `:10917` |');
  });

  it('has probes with paths that the exporter serves', async () => {
    const daemon = await startDaemon([], { BRIDGE_URL: 'http://127.0.0.1:9' });
    const probes = [container.livenessProbe, container.readinessProbe].map((probe) => probe?.httpGet);
    expect(probes.map((probe) => probe?.port)).toEqual(['http', 'http']);
    for (const probe of probes) {
      const { status } = await get(daemon.url + (probe?.path ?? ''));
      expect([200, 503]).toContain(status);
    }
    await daemon.stop();
  });

  it('complies with the restricted Pod Security Standard', () => {
    expect(pod?.spec).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });

  it('mounts every volume, and the configuration at the path of --config.file', () => {
    const volumes = pod?.spec?.volumes ?? [];
    expect(mounts.map(({ name }) => name)).toEqual(volumes.map(({ name }) => name));
    const [config] = mounts;
    const generated = findManifest(manifests, 'ConfigMap');
    expect(volumes[0]?.configMap?.name).toBe(generated.metadata?.name);
    const files = Object.keys(generated.data ?? {}).map((file) => `--config.file=${config?.mountPath}/${file}`);
    expect(container.args).toEqual(files);
  });

  it('runs the image of the current version', () => {
    expect(container.image).toBe(`ghcr.io/bridge-exporter/bridge-exporter:${packageJson.version}`);
  });
});

describe('the ConfigMap', () => {
  const text = findManifest(single, 'ConfigMap').data?.['bridge.yaml'] ?? '';

  const checkConfig = async (content: string) =>
    runExporter(['--config.check', `--config.file=${folder.write('bridge.yaml', content)}`]);

  it('contains a valid configuration', async () => {
    expect(await checkConfig(text)).toMatchObject({ code: 0, stderr: '' });
  });

  it('can refer to a file of the mounted Secret', async () => {
    const withToken = text.replace('# authorization:', 'authorization:');
    const [, file = ''] = /credentials_file: (\S+)/.exec(withToken) ?? [];
    const secrets = containerOf(deployment).volumeMounts?.find(({ name }) => name === 'secrets');
    expect(dirname(file)).toBe(secrets?.mountPath);
    const token = folder.write('node-token', 'token');
    const { code, stdout } = await checkConfig(withToken.replace(file, token));
    expect(code).toBe(0);
    expect(stdout).toContain('credentials_file');
  });
});
