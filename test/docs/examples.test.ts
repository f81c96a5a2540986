import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseInvocation } from '../../src/cli/invocation.js';
import { parseConfig } from '../../src/config/parser.js';
import { parseWebConfig } from '../../src/server/web-config.js';
import { check, hasTool } from '../support/tools.js';
import { blocksOf } from './pages.js';

/*
 * What pages give to copy is taken by the program it is for.
 */
const hasPromtool = hasTool('promtool');
const hasAmtool = hasTool('amtool');
const folder = mkdtempSync(join(tmpdir(), 'examples-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** What is wrong with a text, in the words of the program that reads it. */
type Reader = (yaml: string) => readonly string[];

function byTool(isThere: boolean, tool: string, ...args: readonly string[]): Reader {
  return (yaml) => {
    if (!isThere) return [];
    const file = join(folder, 'example.yml');
    writeFileSync(file, yaml);
    const { status, output } = check(tool, [...args, file], '');
    return status === 0 ? [] : [output];
  };
}

function byParser(
  parser: (text: string, source: string) => { ok: true } | { ok: false; problems: readonly string[] },
): Reader {
  return (yaml) => {
    const result = parser(yaml, 'example');
    return result.ok ? [] : result.problems;
  };
}

const config = byParser(parseConfig);
/** Keys of an endpoint, shown by themselves. */
const reach: Reader = (yaml) =>
  config(`targets:\n  - name: a\n    bridge:\n      url: https://a.example\n${yaml.replaceAll(/^/gm, '      ')}`);
const web = byParser(parseWebConfig);
const prometheus = byTool(hasPromtool, 'promtool', 'check', 'config', '--syntax-only');
const rules = byTool(hasPromtool, 'promtool', 'check', 'rules');
const alertmanager = byTool(hasAmtool, 'amtool', 'check-config');
/** Kubernetes, kustomize and compose: it is YAML; their files are tested where they are. */
const elsewhere: Reader = () => [];

/** Who reads a file with this key at the top. */
const readers: Readonly<Record<string, Reader>> = {
  poll: config,
  targets: config,
  basic_auth: reach,
  authorization: reach,
  http_headers: reach,
  tls_config: reach,
  proxy_url: reach,
  tls_server_config: web,
  basic_auth_users: web,
  global: prometheus,
  rule_files: prometheus,
  scrape_configs: prometheus,
  groups: rules,
  route: alertmanager,
  apiVersion: elsewhere,
  endpoints: elsewhere,
  resources: elsewhere,
  services: elsewhere,
};

describe('an example of YAML', () => {
  it.each(blocksOf('yaml'))('of $file is good: $code', ({ code }) => {
    const [key = ''] = Object.keys(parse(code) as object);
    const read = readers[key];
    if (read === undefined) throw new Error(`who reads a file that begins with ${key}? Name it in the table above`);
    expect(read(code)).toEqual([]);
  });
});

/** The commands of this program: `npm start -- --config.file=bridge.yaml`. */
const OURS =
  /^(?:[A-Z_]+=\S+ )*(?:npm (?:start|run (?:--silent )?(?<script>demo|simulate))|bridge-exporter|node dist\/main\.js)(?: --)?(?<args>(?: [^|>&]+)?)/;

const commands = blocksOf('sh').flatMap(({ file, code }) =>
  code
    .trimEnd()
    .split(/\n|&&(?= npm)/)
    .map((line) => ({ file, line: line.trim() })),
);

describe('a command', () => {
  it.each(commands.filter(({ line }) => OURS.test(line)))('of $file is understood: $line', ({ line }) => {
    const { script = '', args = '' } = OURS.exec(line)?.groups ?? {};
    const argv = `${script} ${args}`.split(' ').filter((word) => word !== '');
    const invocation = parseInvocation(argv, {});
    expect(invocation.command, JSON.stringify(invocation)).not.toBe('usage-error');
  });

  const othersTried = [
    // .ci/run
    /^npm (?:ci|test|run build)$/,
    // test/alerts/alerts.test.ts and test/e2e/alerting.test.ts
    /^prometheus(?:-alertmanager)? --config\.file=prometheus\/(?:prometheus|alertmanager)\.yml( --(?:storage|cluster)\S+)+$/,
    // the tests of compose.yaml
    /^docker compose up$/,
    // below
    /^node -e "/,
  ];

  it('of the README is tried somewhere', () => {
    const lines = commands.filter(({ file }) => file === 'README.md').map(({ line }) => line);
    expect(lines.filter((line) => ![OURS, ...othersTried].some((command) => command.test(line)))).toEqual([]);
  });

  it('of the README shows what a pager would get', async () => {
    const line = commands.find(({ line: other }) => other.startsWith('node -e'))?.line ?? '';
    const [, script = ''] = /^node -e "(.*)"$/.exec(line) ?? [];
    expect(script).toContain('.listen(9095)');
    const anyPort = `const server = ${script.replace('9095', "0, '127.0.0.1', () => console.log(server.address().port)")}`;
    const child = spawn(process.execPath, ['-e', anyPort], { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      const output = child.stdout[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
      const next = async (): Promise<string> => String((await output.next()).value);
      const answer = await fetch(`http://127.0.0.1:${Number(await next())}`, {
        method: 'POST',
        body: '{"page": true}',
      });
      expect(answer.status).toBe(200);
      expect(await next()).toBe('{"page": true}');
    } finally {
      child.kill();
    }
  });
});
