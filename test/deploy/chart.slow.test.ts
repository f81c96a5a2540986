import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runHere } from '../support/command-context.js';
import { packageJson, projectPath, readProjectFile } from '../support/project-files.js';
import { createTempFolder } from '../support/temp-folder.js';
import { hasTool, runTool } from '../support/tools.js';
import { byName, hasHelm, helm, parseManifests, render, renderText, sortedManifests, valuesFiles } from './helm.js';
import { hasKubeconform, schemaViolations } from './kubeconform.js';
import { exporterOf } from './rendered-exporter.js';

const isInstalled = hasHelm();
const folder = createTempFolder();

/** ConfigMaps and Secrets that the values files expect. */
const EXISTING = {
  'bridge-exporter-config': {
    'bridge.yaml': 'targets: [{name: a, bridge: {url: "https://a.example.org"}}]',
    'config.yml': 'targets: [{name: b, bridge: {url: "https://b.example.org"}}]',
  },
  'bridge-exporter-web': { 'web.yml': 'http_server_config: {}' },
  'node-credentials': { token: 'example' },
  certificates: { 'ca.crt': '' },
};

describe.skipIf(!isInstalled).each(valuesFiles)('the chart with %s', (file) => {
  it('passes helm lint', () => {
    const { status, stdout } = helm(['lint', '--strict', '--namespace=monitoring'], { files: [file] });
    expect(status, stdout).toBe(0);
  });

  it.skipIf(!hasTool('helm3', ['version']))('is rendered in the same way by Helm 3 and Helm 4', () => {
    expect(sortedManifests(file, 'helm3')).toEqual(sortedManifests(file, 'helm'));
  });

  it('has a configuration that the exporter accepts', async () => {
    const { args, env } = exporterOf(render({ files: [file] }), EXISTING);
    const { code, stderr } = await runHere(['--config.check', ...args], env);
    expect(code, stderr).toBe(0);
  });
});

it.skipIf(!isInstalled)('helm package includes the alerts and dashboards, and no values files of the tests', () => {
  const { status, output } = runTool('helm', [
    'package',
    projectPath('deploy/helm/bridge-exporter'),
    `--destination=${folder.path}`,
  ]);
  expect(status, output).toBe(0);
  const archive = join(folder.path, `bridge-exporter-${packageJson.version}.tgz`);
  const unpacked = join(folder.path, 'unpacked');
  mkdirSync(unpacked);
  expect(runTool('tar', ['--extract', `--file=${archive}`, `--directory=${unpacked}`]).status).toBe(0);
  const files = runTool('find', [unpacked, '-type', 'f', '-printf', '%P\n']).output.split('\n');
  expect(files).toEqual(expect.arrayContaining(['bridge-exporter/files/dashboards/validator.json']));
  expect(files.filter((name) => name.includes('/ci/'))).toEqual([]);
  const alerts = runTool('cat', [join(unpacked, 'bridge-exporter/files/alerts.json')]).output;
  expect(alerts).toBe(readProjectFile('mixin/alerts.json'));
});

describe.skipIf(!isInstalled || !hasTool('kustomize', ['version']))('kustomize build', () => {
  const build = (name: string): string => {
    const { status, output } = runTool('kustomize', [
      'build',
      '--enable-helm',
      projectPath(`deploy/kubernetes/${name}`),
    ]);
    expect(status, output).toBe(0);
    return output.slice(output.indexOf('apiVersion:'));
  };

  it.each(['single', 'sharded'])('renders what Helm renders with the values of %s, which is valid', async (name) => {
    const values = `../../kubernetes/${name}/values.yaml`;
    const text = build(name);
    expect(byName(parseManifests(text))).toEqual(byName(parseManifests(renderText({ files: [values] }))));
    if (hasKubeconform()) expect(schemaViolations([folder.write(`${name}.yaml`, text)])).toEqual([]);
    const { args, env } = exporterOf(parseManifests(text), EXISTING);
    const { code, stderr } = await runHere(['--config.check', ...args], env);
    expect(code, stderr).toBe(0);
  });
});
