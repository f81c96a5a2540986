import { cpSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { DCLinter } from 'dclint';
import { afterAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { run } from '../support/processes.js';
import { check, hasTool } from '../support/tools.js';
import { composed, mountsOf, type Service } from './compose.js';
import { isThere, pathOf, read, readYaml } from './files.js';

const hasPromtool = hasTool('promtool');
const hasAmtool = hasTool('amtool');
const folder = mkdtempSync(join(tmpdir(), 'compose-'));
const { services, volumes } = composed();
const entries = Object.entries(services);
const mounts = entries.flatMap(([, service]) => mountsOf(service));

afterAll(() => rmSync(folder, { recursive: true }));

/** Our services stand in the order of the data's path, and keys as they read best. */
const rules = { 'service-keys-order': 0, 'services-alphabetical-order': 0, 'top-level-properties-order': 0 } as const;

/** Its own types are lost on the way. */
interface Linted {
  readonly messages: readonly { readonly rule: string; readonly message: string }[];
}

/** What the linter says; the specification's schema comes first, and is not to be switched off. */
function remarks(text: string): string[] {
  const file = join(folder, 'compose.yaml');
  writeFileSync(file, text);
  const linter = new DCLinter({ rules, quiet: false, debug: false, exclude: [] });
  const results: readonly Linted[] = linter.lintFiles([file], false);
  return results.flatMap(({ messages }) => messages.map(({ rule, message }) => `${rule}: ${message}`));
}

describe('compose.yaml', () => {
  it('is one to the specification, and to a linter', () => {
    expect(remarks(read('compose.yaml'))).toEqual([]);
  });

  it.each([
    ['an unknown key', 'mem_limit: 1g', 'memory_limit: 1g', /invalid-schema: .*additional properties/i],
    ['a wrong type', 'restart: unless-stopped', 'restart: [unless-stopped]', /invalid-schema: .*must be string/i],
    [
      'a version that may change',
      'prom/prometheus:v3.13.2',
      'prom/prometheus:latest',
      /^service-image-require-explicit-tag/,
    ],
    ['a port for everybody', '127.0.0.1:9090:9090', '9090:9090', /^no-unbound-port-interfaces/],
  ])('would not pass with %s', (_what, right, wrong, remark) => {
    const text = read('compose.yaml');
    expect(text).toContain(right);
    expect(remarks(text.replace(right, wrong))).toContainEqual(expect.stringMatching(remark));
  });

  it.each(entries)('confines %s, pins it and asks how it is', (_name, service) => {
    expect(service).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      mem_limit: expect.stringMatching(/^\d+[mg]$/),
    });
    for (const port of service.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:(\d+):\1$/);
    if (service.build === undefined) {
      expect(service.image).toMatch(/:v?\d+\.\d+\.\d+$/);
      expect(service.healthcheck?.test[0]).toBe('CMD');
    } else {
      expect(read('Dockerfile')).toMatch(/^HEALTHCHECK /m);
    }
  });

  it('mounts files there are, none to be written, and keeps what is written in volumes there are', () => {
    expect(mounts.filter(({ source }) => !isThere(source))).toEqual([]);
    expect(mounts.filter(({ mode }) => mode !== 'ro')).toEqual([]);
    const named = entries.flatMap(([, service]) => service.volumes ?? []).filter((volume) => !volume.startsWith('./'));
    expect(named.map((volume) => volume.replace(/:.*/, '')).toSorted()).toEqual(Object.keys(volumes).toSorted());
  });

  it.each(mounts.flatMap(({ source }) => filesIn(source)))('mounts %s, which parses', (file) => {
    expect(parse(read(file), { merge: true })).toBeTypeOf('object');
  });

  it('takes both documents from the simulator, or with one variable from a node', async () => {
    const urls = { simulator: 'http://simulator:1317', node: 'https://node.example.org' };
    for (const [env, url] of [[{}, urls.simulator] as const, [{ NODE_URL: urls.node }, urls.node] as const]) {
      const { code, stdout } = await run(['--config.check'], composed(env).services['exporter']?.environment);
      expect(code).toBe(0);
      const [target] = (parse(stdout) as { targets: { bridge: object; crosschain: object }[] }).targets;
      expect(target).toMatchObject({ bridge: { url }, crosschain: { url, window: '500' } });
    }
  });
});

describe('the override of docs/deployment.md', () => {
  it('has the exporter read a file in place of the variables', async () => {
    const [, snippet = ''] = /```yaml\n(services:\n[^`]+)```/.exec(read('docs/deployment.md')) ?? [];
    const override = (parse(snippet) as { services: { exporter: Service } }).services.exporter;
    const [{ target, mode } = { target: '', mode: '' }] = mountsOf(override);
    expect({ target, mode }).toEqual({ target: override.environment?.['CONFIG_FILE'], mode: 'ro' });

    const file = join(folder, 'bridge.yaml');
    writeFileSync(file, 'targets: [{name: own, bridge: {url: "https://node.example.org", dialect: peggy}}]');
    const merged = { ...services['exporter']?.environment, ...override.environment, CONFIG_FILE: file };
    const { code, stdout } = await run(['--config.check'], merged);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('dialect: peggy') });
  });
});

describe('Prometheus of compose.yaml', () => {
  it('has the example, with the names of the services', async () => {
    const example = read('prometheus/prometheus.yml');
    const settings = example.slice(example.indexOf('global:'));
    const named = settings.replaceAll(/localhost:(\d+)/g, (_all, port: string) => `${serviceAt(port)}:${port}`);
    await expect(
      `# prometheus.yml of compose.yaml. Written from prometheus/prometheus.yml by \`npm test -- -u\`.\n\n${named}`,
    ).toMatchFileSnapshot('../../deploy/compose/prometheus.yml');
  });

  it.skipIf(!hasPromtool)('finds a configuration and rules', () => {
    const at = laidOut('prometheus');
    const { status, output } = check('promtool', ['check', 'config', join(at, 'prometheus.yml')], '');
    expect({ status, output }).toEqual({ status: 0, output: expect.stringMatching(/SUCCESS: \d+ rules found/) });
  });
});

describe('Alertmanager of compose.yaml', () => {
  it.skipIf(!hasAmtool)('finds a configuration', () => {
    expect(check('amtool', ['check-config', join(laidOut('alertmanager'), 'alertmanager.yml')], '').status).toBe(0);
  });
});

describe('Grafana of compose.yaml', () => {
  const targets = mountsOf(services['grafana'] ?? {}).map(({ target }) => target);

  it('asks the Prometheus beside it', () => {
    const { datasources } = readYaml('grafana/provisioning/datasources/prometheus.yml') as {
      datasources: { url: string }[];
    };
    expect(datasources.map(({ url }) => url)).toEqual([`http://${serviceAt('9090')}:9090`]);
  });

  it('finds the dashboards where they are mounted, and opens one of them', () => {
    const { providers } = readYaml('grafana/provisioning/dashboards/bridge-exporter.yml') as {
      providers: { options: { path: string } }[];
    };
    for (const { options } of providers) expect(targets).toContain(options.path);
    const home = services['grafana']?.environment?.['GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH'] ?? '';
    expect(home.startsWith(`${providers[0]?.options.path}/`)).toBe(true);
    expect(isThere(`grafana/dashboards/${basename(home)}`)).toBe(true);
  });
});

/** The service that publishes the port. */
function serviceAt(port: string): string {
  const [name] = entries.find(([, { ports = [] }]) => ports.some((text) => text.endsWith(`:${port}`))) ?? [];
  if (name === undefined) throw new Error(`no service publishes ${port}`);
  return name;
}

/** The files of a service beside each other, as they are in its container. */
function laidOut(service: string): string {
  const at = join(folder, service);
  for (const { source, target } of mountsOf(services[service] ?? {}))
    cpSync(pathOf(source), join(at, basename(target)));
  return at;
}

function filesIn(source: string): string[] {
  if (!statSync(pathOf(source), { throwIfNoEntry: false })?.isDirectory()) return [source];
  return readdirSync(pathOf(source)).map((name) => `${source}/${name}`);
}
