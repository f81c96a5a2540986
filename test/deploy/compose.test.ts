import { DCLinter } from 'dclint';
import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { runHere } from '../support/command-context.js';
import {
  projectNames,
  packageJson,
  projectFileExists,
  projectPath,
  readProjectFile,
  readProjectYaml,
} from '../support/project-files.js';
import { createTempFolder } from '../support/temp-folder.js';
import { interpolatedCompose, mountsOf } from './compose.js';

const folder = createTempFolder();
const { services, volumes } = interpolatedCompose();
const entries = Object.entries(services);
const mounts = entries.flatMap(([, service]) => mountsOf(service));

/** The order of services and keys follows readability. */
const rules = { 'service-keys-order': 0, 'services-alphabetical-order': 0, 'top-level-properties-order': 0 } as const;

/** The types of the linter are not exported. */
interface LintResult {
  readonly messages: readonly { readonly rule: string; readonly message: string }[];
}

/** The problems that the linter reports, including violations of the schema of the specification. */
function lint(text: string): string[] {
  const file = folder.write('compose.yaml', text);
  const linter = new DCLinter({ rules, quiet: false, debug: false, exclude: [] });
  const results: readonly LintResult[] = linter.lintFiles([file], false);
  return results.flatMap(({ messages }) => messages.map(({ rule, message }) => `${rule}: ${message}`));
}

describe('compose.yaml', () => {
  it('is valid by the specification and a linter', () => {
    expect(lint(readProjectFile('compose.yaml'))).toEqual([]);
  });

  it.each(entries)('restricts %s, pins its version and checks its health', (_name, service) => {
    expect(service).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      mem_limit: expect.stringMatching(/^\d+[mg]$/),
    });
    for (const port of service.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:(\d+):\1$/);
    expect(service.image).toMatch(/:v?\d+\.\d+\.\d+(?:-dev|-rc\.\d+)?$/);
    if (service.build === undefined) {
      expect(service.healthcheck?.test[0]).toBe('CMD');
    } else {
      expect(readProjectFile('Dockerfile')).toMatch(/^HEALTHCHECK /m);
    }
  });

  it('runs the current version of the exporter, or builds it if its image cannot be pulled', () => {
    const own = entries.filter(([, service]) => service.build !== undefined);
    expect(own.map(([name]) => name)).toEqual(['simulator', 'exporter']);
    for (const [, service] of own) {
      expect(service).toMatchObject({
        image: `${projectNames.image}:${packageJson.version}`,
        build: '.',
      });
      expect(service.pull_policy).toBe('missing');
    }
  });

  it('keeps the state file in a volume', () => {
    const exporter = services['exporter'];
    expect(exporter?.environment).toMatchObject({ STATE_FILE: '/var/lib/bridge-exporter/state.json' });
    expect(exporter?.volumes).toContain('exporter:/var/lib/bridge-exporter');
  });

  it('mounts existing files read-only and defines all volumes', () => {
    expect(mounts.filter(({ source }) => !projectFileExists(source))).toEqual([]);
    expect(mounts.filter(({ mode }) => mode !== 'ro')).toEqual([]);
    const named = entries.flatMap(([, service]) => service.volumes ?? []).filter((volume) => !volume.startsWith('./'));
    expect(named.map((volume) => volume.replace(/:.*/, '')).toSorted()).toEqual(Object.keys(volumes).toSorted());
  });

  it('starts the simulator unless CONFIG names a configuration', () => {
    const profilesOf = (env: Readonly<Record<string, string>>): unknown =>
      interpolatedCompose(env).services['simulator']?.profiles;
    // Docker Compose enables the profiles of COMPOSE_PROFILES, separated by commas: without any, the one with an empty name.
    expect(profilesOf({})).toEqual(['']);
    expect(profilesOf({ CONFIG: '' })).toEqual(['']);
    expect(profilesOf({ CONFIG: './bridge.yaml' })).toEqual(['unused']);
  });

  it('polls the simulator, or the targets of the file that CONFIG names', async () => {
    const configOf = async (env: Readonly<Record<string, string>>): Promise<unknown> => {
      const exporter = interpolatedCompose(env).services['exporter'] ?? {};
      const mount = mountsOf(exporter).find(({ target }) => target === exporter.environment?.['CONFIG_FILE']);
      const environment = { ...exporter.environment, CONFIG_FILE: projectPath(mount?.source ?? '') };
      const { code, stdout, stderr } = await runHere(['--config.check'], environment);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      return (parse(stdout) as { targets: unknown[] }).targets[0];
    };
    const simulator = { url: 'http://simulator:1317', dialect: 'auto' };
    expect(await configOf({})).toMatchObject({ bridge: simulator, crosschain: simulator });
    const zetaChain = await configOf({ CONFIG: './examples/zetachain.yml' });
    expect(zetaChain).toMatchObject({ name: 'zetachain' });
    expect(zetaChain).not.toHaveProperty('bridge');
  });
});

describe('Grafana in compose.yaml', () => {
  const targets = mountsOf(services['grafana'] ?? {}).map(({ target }) => target);

  it('queries the Prometheus of compose.yaml', () => {
    const { datasources } = readProjectYaml('grafana/provisioning/datasources/prometheus.yml') as {
      datasources: { url: string }[];
    };
    expect(datasources.map(({ url }) => url)).toEqual([`http://${serviceAt('9090')}:9090`]);
  });

  it('loads the mounted dashboards, and has one of them as its home', () => {
    const { providers } = readProjectYaml('grafana/provisioning/dashboards/bridge-exporter.yml') as {
      providers: { options: { path: string } }[];
    };
    for (const { options } of providers) expect(targets).toContain(options.path);
    const home = services['grafana']?.environment?.['GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH'] ?? '';
    expect(home.startsWith(`${providers[0]?.options.path}/`)).toBe(true);
    expect(projectFileExists(`grafana/dashboards/${basename(home)}`)).toBe(true);
  });
});

/** The service that publishes this port. */
function serviceAt(port: string): string {
  const [name] = entries.find(([, { ports = [] }]) => ports.some((text) => text.endsWith(`:${port}`))) ?? [];
  if (name === undefined) throw new Error(`no service publishes ${port}`);
  return name;
}
