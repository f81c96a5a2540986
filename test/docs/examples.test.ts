import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { parseConfig } from '../support/config.js';
import { parseYaml, validate as validateData } from '../../src/config/yaml.js';
import { webSchema } from '../../src/server/web-config.js';
import { createTestContext, parseHere } from '../support/command-context.js';
import { hasHelm, helm } from '../deploy/helm.js';
import { projectPath, readProjectFile } from '../support/project-files.js';
import { createTempFolder } from '../support/temp-folder.js';
import { hasTool, runTool } from '../support/tools.js';
import { waitUntil } from '../support/wait-for.js';
import { blocksOf } from './pages.js';

/*
 * The examples in the documentation are valid for the programs that read them.
 */
const hasPromtool = hasTool('promtool');
const hasAmtool = hasTool('amtool');
const isHelmInstalled = hasHelm();
const folder = createTempFolder();

/** Returns the problems that the program reports. */
type Validator = (yaml: string) => readonly string[];

function byTool(isInstalled: boolean, tool: string, ...args: readonly string[]): Validator {
  return (yaml) => {
    if (!isInstalled) return [];
    const { status, output } = runTool(tool, [...args, folder.write('example.yml', yaml)]);
    return status === 0 ? [] : [output];
  };
}

function byParser(
  parser: (text: string, source: string) => { ok: true } | { ok: false; problems: readonly string[] },
): Validator {
  return (yaml) => {
    const result = parser(yaml, 'example');
    return result.ok ? [] : result.problems;
  };
}

const config = byParser(parseConfig);
/** Settings of an endpoint without the rest of the file. */
const endpoint: Validator = (yaml) =>
  config(`targets:\n  - name: a\n    bridge:\n      url: https://a.example\n${yaml.replaceAll(/^/gm, '      ')}`);
const web = byParser((text, source) => {
  const yaml = parseYaml(text, source);
  return yaml.ok ? validateData(webSchema, yaml.data, yaml.label) : yaml;
});
const prometheusConfig = ['check', 'config', '--syntax-only'];
const withoutKubernetes = byTool(hasPromtool, 'promtool', ...prometheusConfig);
/** Debian builds Prometheus without the discovery of Kubernetes. */
const withKubernetes = byTool(hasTool('promtool-newest'), 'promtool-newest', ...prometheusConfig);
const prometheus: Validator = (yaml) =>
  (yaml.includes('kubernetes_sd_configs') ? withKubernetes : withoutKubernetes)(yaml);
const rules = byTool(hasPromtool, 'promtool', 'check', 'rules');
/** Unit tests of rules, with the rules of the project. */
const ruleTests: Validator = (yaml) =>
  byTool(hasPromtool, 'promtool', 'test', 'rules')(yaml.replace('[prometheus/', `[${projectPath('prometheus')}/`));
const alertmanager = byTool(hasAmtool, 'amtool', 'check-config');
/** Values of the Helm chart, with a target if there is none. */
const helmValues: Validator = (yaml) => {
  if (!isHelmInstalled) return [];
  const values = parse(yaml) as object;
  const defaults = { config: { targets: [{ name: 'a', bridge: { url: 'https://a.example' } }] } };
  const { status, stderr } = helm(['template', 'bridge-exporter'], { values: { ...defaults, ...values } });
  return status === 0 ? [] : [stderr];
};
/** Kubernetes, Grafana, Docker Compose and Sloth: test/deploy checks the files in the project. */
const yamlOnly: Validator = () => [];

/** The validators by top-level key. */
const validators: readonly (readonly [keys: RegExp, Validator])[] = [
  [/^(?:poll|targets)$/, config],
  [/^(?:recorder|problems)$/, (yaml) => config(`targets: [{name: a, bridge: {url: "https://a.example"}}]\n${yaml}`)],
  [/^(?:basic_auth|authorization|http_headers|tls_config|proxy_url|proxy_from_environment)$/, endpoint],
  [/^(?:tls_server_config|basic_auth_users)$/, web],
  [/^(?:global|rule_files|scrape_configs)$/, prometheus],
  [/^evaluation_interval$/, ruleTests],
  [/^groups$/, rules],
  [/^route$/, alertmanager],
  [/^(?:config|secrets|shards|persistence|serviceMonitor|prometheusRule)$/, helmValues],
  [/^(?:apiVersion|version|endpoints|resources|services|grafana)$/, yamlOnly],
];

describe('a YAML example', () => {
  it.each(blocksOf('yaml'))('in $file is valid: $code', ({ code }) => {
    const [key = ''] = Object.keys(parse(code) as object);
    const [, validate] = validators.find(([keys]) => keys.test(key)) ?? [];
    if (validate === undefined) throw new Error(`there is no validator for the top-level key ${key}`);
    expect(validate(code)).toEqual([]);
  });
});

/** Matches commands of this program, such as `npm start -- --config.file=bridge.yaml`. */
const EXPORTER_COMMAND =
  /^(?:[A-Z_]+=\S+ )*(?:npm (?:start|run (?:--silent )?(?<script>demo|simulate))|bridge-exporter|node dist\/main\.js)(?: --)?(?<args>(?: [^|>&]+)?)/;

const commands = blocksOf('sh').flatMap(({ file, code }) =>
  code
    .trimEnd()
    .split(/\n|&&(?= npm)/)
    .map((line) => ({ file, line: line.trim() })),
);

describe('a shell example', () => {
  it.each(blocksOf('sh'))('in $file is valid for bash: $code', ({ code }) => {
    expect(runTool('bash', ['-n'], code)).toEqual({ status: 0, output: '' });
  });

  it.skipIf(!hasPromtool)('in docs/alerts.md that edits the rules leaves them valid', () => {
    const rulesFile = folder.write('alerts.yml', readProjectFile('prometheus/alerts.yml'));
    const edits = blocksOf('sh').filter(({ file, code }) => file === 'docs/alerts.md' && code.startsWith('sed -i'));
    expect(edits).toHaveLength(1);
    for (const { code } of edits) {
      expect(runTool('sh', ['-ec', `cd ${folder.path}\n${code}`])).toEqual({ status: 0, output: '' });
    }
    const rulesText = readFileSync(rulesFile, 'utf8');
    expect(rulesText).toContain('dashboard_url: https://grafana.example.org/d/');
    expect(rulesText).not.toContain('dashboard_url: /d/');
    expect(rulesText).not.toContain('docs/runbook.md');
    expect(runTool('promtool', ['check', 'rules', rulesFile])).toMatchObject({ status: 0 });
  });

  it('in the runbook uses variables that the preparation sets', () => {
    const scripts = blocksOf('sh').flatMap(({ file, code }) => (file === 'docs/runbook.md' ? code : []));
    const set = new Set(scripts.flatMap((code) => Array.from(code.matchAll(/^([A-Z_]+)=/gm), ([, name = '']) => name)));
    const used = scripts.flatMap((code) => Array.from(code.matchAll(/\$([A-Z_]+)/g), ([, name = '']) => name));
    expect(used.length).toBeGreaterThan(50);
    expect(used.filter((name) => !set.has(name))).toEqual([]);
  });
});

describe('a command', () => {
  it.each(commands.filter(({ line }) => EXPORTER_COMMAND.test(line)))(
    'in $file has valid arguments: $line',
    async ({ line }) => {
      const { script = '', args = '' } = EXPORTER_COMMAND.exec(line)?.groups ?? {};
      const argv = `${script} ${args}`.split(' ').filter((word) => word !== '');
      const context = createTestContext();
      expect(await parseHere(argv, {}, context), context.stderr.join('\n')).not.toBe(2);
    },
  );

  it('in docs/alerts.md starts a webhook that prints notifications', async () => {
    const line = commands.find(({ line: other }) => other.startsWith('node -e'))?.line ?? '';
    const [, script = ''] = /^node -e "(.*)"$/.exec(line) ?? [];
    expect(script).toContain('.listen(9095)');
    const anyPort = `const server = ${script.replace('9095', "0, '127.0.0.1', () => console.log(server.address().port)")}`;
    const child = spawn(process.execPath, ['-e', anyPort], { stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => {
      child.kill();
    });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += String(chunk)));
    await waitUntil(() => output.endsWith('\n'));
    const url = `http://127.0.0.1:${Number(output)}`;
    expect((await fetch(url, { method: 'POST', body: '{"page": true}' })).status).toBe(200);
    await waitUntil(() => output.endsWith('\n{"page": true}'));
  });
});
