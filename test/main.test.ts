import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { runExporter } from './support/processes.js';

const folder = mkdtempSync(join(tmpdir(), 'main-'));
const body = join(folder, 'body.json');
const config = join(folder, 'bridge.yaml');
const hook = new URL('support/record-imports.mjs', import.meta.url).href;
const registerHook = `data:text/javascript,import{register}from'node:module';register('${hook}')`;

writeFileSync(body, '{"state":{"last_observed_nonce":"7"}}');
writeFileSync(config, 'targets: [{name: a, bridge: {url: "http://127.0.0.1:1"}}]');
afterAll(() => rmSync(folder, { recursive: true }));

/** Names of the npm packages that the built program imports. */
async function importedPackages(args: readonly string[], exitCode: number): Promise<string[]> {
  const file = join(folder, `${args.join(' ').replaceAll(/\W/g, '_')}.txt`);
  const { code, stderr } = await runExporter(args, { NODE_OPTIONS: `--import="${registerHook}"`, IMPORTS_FILE: file });
  expect(code, stderr).toBe(exitCode);
  const urls = readFileSync(file, 'utf8').split('\n');
  expect(urls.some((url) => url.endsWith('/dist/cli/flags.js'))).toBe(true);
  return [...new Set(urls.flatMap((url) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? []))].toSorted();
}

// Loading all packages of the daemon takes several times as long as starting Node.js.
test.each([
  ['--version', [], 0, []],
  ['--help', [], 0, []],
  ['once --help', [], 0, []],
  ['replay --help', [], 0, []],
  ['simulate --help', [], 0, []],
  ['demo --help', [], 0, []],
  ['--unknown', [], 2, []],
  ['replay', ['--bridge', body], 0, ['yaml', 'zod']],
  ['--config.check', ['--config.file', config], 0, ['yaml', 'zod']],
  ['once', ['--config.file', config], 1, ['undici', 'yaml', 'zod']],
])('bridge-exporter %s imports only the packages it needs', async (command, flags, exitCode, packages) => {
  const args = [...command.split(' '), ...flags];
  expect(await importedPackages(args, exitCode)).toEqual(packages);
});
