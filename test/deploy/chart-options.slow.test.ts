import type { IPod } from 'kubernetes-models/v1/Pod';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { createAuthority } from '../support/certificates.js';
import { runHere } from '../support/command-context.js';
import { packageJson, projectNames, projectPath } from '../support/project-files.js';
import { createTempFolder } from '../support/temp-folder.js';
import { startTestExporter } from '../support/test-exporter.js';
import { runTool } from '../support/tools.js';
import { CHART, hasHelm, render, rendered, TARGETS, textOf, type Manifest } from './helm.js';
import { containerOf, findManifest } from './manifests.js';
import { exporterOf } from './rendered-exporter.js';

const isInstalled = hasHelm();
const authority = createAuthority();
const certificate = authority.issue('exporter', ['DNS:localhost', 'IP:127.0.0.1']);
const options = isInstalled ? rendered('pod-options') : [];

describe.skipIf(!isInstalled)('the options of the pod', () => {
  it('omit the rolling update with the strategy Recreate', () => {
    expect(findManifest(options, 'Deployment').spec?.strategy).toEqual({ type: 'Recreate' });
    expect(findManifest(render({ values: TARGETS }), 'Deployment').spec?.strategy).toEqual({
      rollingUpdate: { maxSurge: 1, maxUnavailable: 0 },
    });
  });

  it('take the registry of a parent chart for all images of the exporter', () => {
    const image = projectNames.image.replace(/^[^/]+/, 'mirror.example.org');
    const images = textOf('ci/pod-options-values.yaml').match(/(?<=image: ").*bridge-exporter.*(?=")/g);
    expect(new Set(images)).toEqual(new Set([`${image}:${packageJson.version}`]));
  });
});

describe.skipIf(!isInstalled)('the Service', () => {
  it('has an address by default, so that its port applies', () => {
    const service = findManifest(render({ values: { ...TARGETS, service: { port: 80 } } }), 'Service');
    expect(service.spec).toMatchObject({ type: 'ClusterIP', ports: [{ port: 80, targetPort: 'http' }] });
    expect(service.spec).not.toHaveProperty('clusterIP');
  });

  it('of shards is headless, with another name, because the address of a Service cannot be changed', () => {
    const sharded = findManifest(
      render({ values: { ...TARGETS, shards: 2, service: { type: 'NodePort' } } }),
      'Service',
    );
    expect(sharded.metadata?.name).toBe('bridge-exporter-shards');
    expect(sharded.spec).toMatchObject({ type: 'ClusterIP', clusterIP: 'None' });
  });
});

describe.skipIf(!isInstalled)('the NetworkPolicy', () => {
  it('permits DNS at all addresses, because servers on the node or of the cloud are outside of the cluster', () => {
    const ports = [53, 5353].flatMap((port) => ['UDP', 'TCP'].map((protocol) => ({ port, protocol })));
    const manifests = render({ values: { ...TARGETS, networkPolicy: { enabled: true } } });
    expect(findManifest(manifests, 'NetworkPolicy').spec?.egress?.[0]).toEqual({ ports });
  });
});

describe.skipIf(!isInstalled)('a probe', () => {
  it('can be replaced, so that the exporter can require client certificates', async () => {
    const manifests = rendered('client-certificates');
    const web = {
      'web.yml':
        'tls_server_config:\n  cert_file: tls.crt\n  key_file: tls.key\n  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: ca.crt\n',
      'tls.crt': certificate.cert,
      'tls.key': certificate.key,
      'ca.crt': authority.cert,
    };
    const { args, env } = exporterOf(manifests, { 'bridge-exporter-web': web });
    const daemon = await startTestExporter(args, env);
    const { livenessProbe, readinessProbe } = containerOf(manifests);
    const webConfig = args.find((argument) => argument.startsWith('--web.config.file=')) ?? '';
    for (const probe of [livenessProbe, readinessProbe]) {
      expect(Object.keys(probe ?? {}).toSorted()).toEqual(['exec', 'periodSeconds', 'timeoutSeconds']);
      const [node, main, ...command] = probe?.exec?.command ?? [];
      expect([node, main]).toEqual(['node', '/app/dist/main.js']);
      const flags = command.map((argument) => (argument.startsWith('--web.config.file=') ? webConfig : argument));
      const { port } = new URL(daemon.url);
      const { code, stderr } = await runHere([...flags, `--web.listen-address=127.0.0.1:${port}`]);
      expect(code, stderr).toBe(0);
    }
  });
});

describe.skipIf(!isInstalled)('the hooks', () => {
  const hookOf = (manifests: readonly Manifest[], kind: string): Manifest | undefined =>
    manifests.find(
      (manifest) => manifest.kind === kind && manifest.metadata.annotations?.['helm.sh/hook'] !== undefined,
    );

  it('test the Service with the command healthcheck', async () => {
    const pod = hookOf(options, 'Pod') as unknown as IPod;
    expect(pod.metadata?.annotations).toMatchObject({ 'helm.sh/hook': 'test' });
    const [container] = pod.spec?.containers ?? [];
    expect(container?.args).toEqual(['healthcheck', '--web.listen-address=bridge-exporter.monitoring.svc:80']);
    // The Service does not select this pod.
    const selector = findManifest(options, 'Service').spec?.selector ?? {};
    expect(pod.metadata?.labels).not.toMatchObject(selector);
    const daemon = await startTestExporter([], { BRIDGE_URL: 'http://127.0.0.1:9' });
    const { host } = new URL(daemon.url);
    const args = container?.args?.map((argument) => argument.replace(/=.*/, `=${host}`)) ?? [];
    expect((await runHere(args)).code).toBe(0);
  });

  it.each([
    ['valid', 'https://node.example.org', 0],
    ['invalid', 'node.example.org', 2],
  ])('check a configuration that is %s before the release has it', async (_title, url, expected) => {
    const config = { targets: [{ name: 'a', bridge: { url } }] };
    const manifests = render({ values: { config, configCheck: { enabled: true } } });
    const job = hookOf(manifests, 'Job');
    const secret = hookOf(manifests, 'Secret');
    const weight = (manifest: Manifest | undefined): number =>
      Number(manifest?.metadata.annotations?.['helm.sh/hook-weight']);
    expect(weight(secret)).toBeLessThan(weight(job));
    const { template } = (job?.spec ?? {}) as { template: IPod };
    const [container] = template.spec?.containers ?? [];
    const file = createTempFolder().write('bridge.yaml', secret?.stringData?.['bridge.yaml'] ?? '');
    const args = container?.args?.map((argument) => argument.replace('/etc/bridge-exporter/bridge.yaml', file)) ?? [];
    expect((await runHere(args)).code).toBe(expected);
  });
});

it.skipIf(!isInstalled)('the chart is a part of another chart, which can disable it', () => {
  const parent = createTempFolder();
  const dependency = { name: 'bridge-exporter', version: packageJson.version, condition: 'bridge-exporter.enabled' };
  parent.write(
    'Chart.yaml',
    stringify({ apiVersion: 'v2', name: 'parent', version: '1.0.0', dependencies: [dependency] }),
  );
  mkdirSync(join(parent.path, 'charts'));
  symlinkSync(projectPath(CHART), join(parent.path, 'charts/bridge-exporter'));
  const kinds = (enabled: boolean): string[] => {
    const values = { global: { imageRegistry: 'mirror.example.org' }, 'bridge-exporter': { ...TARGETS, enabled } };
    const file = parent.write('values.yaml', stringify(values));
    const { status, output } = runTool('helm', ['template', 'a', parent.path, '--values', file]);
    expect(status, output).toBe(0);
    if (enabled) expect(output).toContain('image: "mirror.example.org/');
    return output.match(/(?<=^kind: )\w+/gm) ?? [];
  };
  expect(kinds(true)).toContain('Deployment');
  expect(kinds(false)).toEqual([]);
});
