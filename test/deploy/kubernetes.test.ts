import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { request } from 'undici';
import { afterAll, describe, expect, it } from 'vitest';
import { run, start } from '../support/processes.js';
import { packageJson, read } from './files.js';
import { allFiles, FOLDER, namedFiles } from './kustomize.js';
import { containerOf, deployment, find, service, sharded, single, statefulSet } from './manifests.js';

const folder = mkdtempSync(join(tmpdir(), 'kubernetes-'));

afterAll(() => rmSync(folder, { recursive: true }));

describe('the kustomizations', () => {
  it('name every file, and none that is not there', () => {
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

  it('is selected by all that is for it', () => {
    const policy = find(manifests, 'NetworkPolicy');
    const selectors = [
      workload.spec?.selector.matchLabels,
      find(manifests, 'Service').spec?.selector,
      policy.spec?.podSelector.matchLabels,
      ...(kind === 'StatefulSet' ? [find(manifests, 'PodDisruptionBudget').spec?.selector?.matchLabels] : []),
    ];
    for (const selector of selectors) expect(selector).toEqual(labels);
    expect(Object.keys(labels)).toHaveLength(1);
  });

  it('is reached by one port, by its name', async () => {
    expect(container.ports).toEqual([{ name: 'http', containerPort: 10_917 }]);
    expect(service.spec?.ports).toEqual([{ name: 'http', port: 10_917, targetPort: 'http' }]);
    const policy = find(manifests, 'NetworkPolicy');
    expect(policy.spec?.ingress?.flatMap(({ ports }) => ports)).toEqual([{ port: 'http' }]);
    expect(read('docs/configuration.md')).toContain('| `:10917` |');
  });

  it('is asked for paths that answer', async () => {
    const daemon = await start([], { BRIDGE_URL: 'http://127.0.0.1:9' });
    const probes = [container.livenessProbe, container.readinessProbe].map((probe) => probe?.httpGet);
    expect(probes.map((probe) => probe?.port)).toEqual(['http', 'http']);
    for (const probe of probes) {
      const { statusCode, body } = await request(daemon.url + (probe?.path ?? ''));
      await body.dump();
      expect([200, 503]).toContain(statusCode);
    }
    await daemon.stop();
  });

  it('keeps to the restricted standard of Kubernetes', () => {
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

  it('mounts volumes there are, with the configuration where the program is told to look', () => {
    const volumes = pod?.spec?.volumes ?? [];
    expect(mounts.map(({ name }) => name)).toEqual(volumes.map(({ name }) => name));
    const [config] = mounts;
    const generated = find(manifests, 'ConfigMap');
    expect(volumes[0]?.configMap?.name).toBe(generated.metadata?.name);
    const files = Object.keys(generated.data ?? {}).map((file) => `--config.file=${config?.mountPath}/${file}`);
    expect(container.args).toEqual(files);
  });

  it('runs the image of this version', () => {
    expect(container.image).toBe(`ghcr.io/bridge-exporter/bridge-exporter:${packageJson.version}`);
  });
});

describe('the configuration', () => {
  const text = find(single, 'ConfigMap').data?.['bridge.yaml'] ?? '';

  async function checked(content: string) {
    const file = join(folder, 'bridge.yaml');
    writeFileSync(file, content);
    return run(['--config.check', `--config.file=${file}`]);
  }

  it('is one the program takes', async () => {
    expect(await checked(text)).toMatchObject({ code: 0, stderr: '' });
  });

  it('may name a file of the Secret, where it is mounted', async () => {
    const withToken = text.replace('# authorization:', 'authorization:');
    const [, file = ''] = /credentials_file: (\S+)/.exec(withToken) ?? [];
    const secrets = containerOf(deployment).volumeMounts?.find(({ name }) => name === 'secrets');
    expect(dirname(file)).toBe(secrets?.mountPath);
    writeFileSync(join(folder, 'node-token'), 'token');
    const { code, stdout } = await checked(withToken.replace(file, join(folder, 'node-token')));
    expect(code).toBe(0);
    expect(stdout).toContain('credentials_file');
  });
});
