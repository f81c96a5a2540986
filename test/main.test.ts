import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runExporter } from './support/processes.js';
import { createTempFolder } from './support/temp-folder.js';

const folder = createTempFolder();
const config = folder.write('bridge.yaml', 'targets: [{name: a, bridge: {url: "http://127.0.0.1:1"}}]');
const external = '{url: "http://127.0.0.1:1", external: {url: "http://127.0.0.1:1"}}';
const withExternal = folder.write('external.yaml', `targets: [{name: a, bridge: ${external}}]`);
const hook = new URL('support/record-imports.mjs', import.meta.url).href;
const registerHook = `data:text/javascript,import{register}from'node:module';register('${hook}')`;

/** Names of the npm packages that the built program imports. */
async function importedPackages(args: readonly string[], exitCode: number): Promise<string[]> {
  const file = join(folder.path, `${args.join(' ').replaceAll(/\W/g, '_')}.txt`);
  const { code, stderr } = await runExporter(args, { NODE_OPTIONS: `--import="${registerHook}"`, IMPORTS_FILE: file });
  expect(code, stderr).toBe(exitCode);
  const urls = readFileSync(file, 'utf8').split('\n');
  expect(urls.some((url) => url.endsWith('/dist/commands/flags.js'))).toBe(true);
  return [...new Set(urls.flatMap((url) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? []))].toSorted();
}

// Loading all packages of the daemon takes several times as long as starting Node.js.
test.each([
  ['--version', [], 0, ['commander']],
  ['--config.check', ['--config.file', config], 0, ['@noble/hashes', '@scure/base', 'commander', 'yaml', 'zod']],
  [
    'once --summary',
    ['--config.file', withExternal],
    1,
    ['@noble/hashes', '@scure/base', 'commander', 'undici', 'yaml', 'zod'],
  ],
])('bridge-exporter %s imports only the packages it needs', async (command, flags, exitCode, packages) => {
  const args = [...command.split(' '), ...flags];
  expect(await importedPackages(args, exitCode)).toEqual(packages);
});
