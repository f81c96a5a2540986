import { hashSync } from 'bcryptjs';
import { cpSync, existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { get } from '../support/http.js';
import { startProcess } from '../support/processes.js';
import { packageJson, projectPath, readProjectFile } from '../support/project-files.js';
import { createTempFolder } from '../support/temp-folder.js';
import { startTestSimulator } from '../support/test-simulator.js';
import { runTool } from '../support/tools.js';
import { waitUntil } from '../support/wait-for.js';

/*
 * The package that npm publishes, built, packed and installed without a registry.
 */

const bundle = createTempFolder().path;
const installation = createTempFolder().path;
const REVISION = 'f'.repeat(40);
const program = join(installation, 'node_modules/.bin/bridge-exporter');
const isPacked = (path: string): boolean => existsSync(join(installation, 'node_modules', packageJson.name, path));

function run(command: string, ...args: readonly string[]): string {
  const { status, output } = runTool(command, args);
  if (status !== 0) throw new Error(output);
  return output;
}

beforeAll(() => {
  run('env', `REVISION=${REVISION}`, process.execPath, projectPath('packaging/bundle.mjs'), bundle);
  const tarball = run(
    'npm',
    'pack',
    '--silent',
    '--loglevel=silent',
    `--pack-destination=${installation}`,
    bundle,
  ).trim();
  // No registry has to be reachable.
  run('npm', 'install', '--offline', '--silent', `--prefix=${installation}`, join(installation, tarball));
});

describe('the bundle', () => {
  it('has no dependencies', () => {
    expect(readdirSync(join(installation, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual([
      packageJson.name,
    ]);
    expect(JSON.parse(readFileSync(join(bundle, 'package.json'), 'utf8'))).toEqual({
      ...(JSON.parse(readProjectFile('package.json')) as object),
      scripts: undefined,
      files: undefined,
      dependencies: undefined,
      devDependencies: undefined,
      prettier: undefined,
    });
  });

  it('knows its version and its revision', () => {
    expect(run(process.execPath, program, '--version')).toBe(
      `bridge-exporter ${packageJson.version} (revision ${REVISION}, node ${process.versions.node})\n`,
    );
  });

  it('starts Node.js with flags for its memory', () => {
    expect(readFileSync(program, 'utf8').split('\n', 1)).toEqual([
      '#!/usr/bin/env -S node --max-semi-space-size=16 --no-allocation-site-pretenuring --heap-growing-percent=60',
    ]);
    expect(run(program, '--version')).toContain('bridge-exporter ');
  });

  it('polls, records, checks passwords on a thread of its own, and serves the script of the pages', async () => {
    const simulator = await startTestSimulator();
    const { write } = createTempFolder();
    const config = write(
      'bridge.yml',
      `targets: [{name: a, bridge: {url: "${simulator.url}"}}]\nrecorder: {directory: recording}\n`,
    );
    const web = write('web.yml', `basic_auth_users: {prometheus: ${hashSync('secret', 4)}}\n`);
    const flags = ['--web.listen-address=127.0.0.1:0', `--web.config.file=${web}`, '--log.format=pretty'];
    const daemon = startProcess(process.execPath, [program, ...flags], { env: { CONFIG_FILE: config } });
    const [, url = ''] = /serving (http:\S+)\/metrics/.exec(await daemon.printed(/serving/)) ?? [];
    expect((await get(`${url}/metrics`)).status).toBe(401);
    const headers = { authorization: `Basic ${Buffer.from('prometheus:secret').toString('base64')}` };
    const metrics = async (): Promise<string> => (await get(`${url}/metrics`, { headers })).text;
    await waitUntil(async () => (await metrics()).includes('bridge_height{target='));
    await waitUntil(async () => /bridge_exporter_recordings_total [1-9]/.test(await metrics()));
    expect((await get(`${url}/`, { headers })).text).toMatch(/<script type="module">[^]{500,}<\/script>/);
    expect((await daemon.stop()).code).toBe(0);
  });

  it('is a small download', () => {
    const names = readdirSync(join(bundle, 'dist')).filter((name) => name.endsWith('.js'));
    const files = names.map((name) => readFileSync(join(bundle, 'dist', name)));
    expect(gzipSync(Buffer.concat(files)).length).toBeLessThan(930_000);
  });

  it('contains the license of every package in it', () => {
    const text = readFileSync(join(bundle, 'THIRD-PARTY-LICENSES'), 'utf8');
    const sections = text.split(`${'-'.repeat(80)}\n`).map((section) => section.trim());
    const names = Object.keys(packageJson.dependencies);
    for (const name of names) expect(text).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(`, 'm'));
    expect(sections.length).toBeGreaterThan(names.length);
    // Some packages contain no license file; their name and license are listed.
    const withoutText = sections.filter((section) => section.split('\n').length < 5);
    expect(withoutText.map((section) => section.split(' ')[0])).toEqual([]);
  });

  it('contains every file that the README links to', () => {
    const links = Array.from(readProjectFile('README.md').matchAll(/\]\(([^()\s]+)\)/g), ([, link = '']) => link);
    const paths = links.filter((link) => !/^[a-z]+:|^#/.test(link)).map((link) => link.replace(/[#?].*/, ''));
    expect(paths.length).toBeGreaterThan(10);
    expect(paths.filter((path) => !isPacked(path))).toEqual([]);
  });

  it('contains the files that compose.yaml mounts', () => {
    const mounts = Array.from(readProjectFile('compose.yaml').matchAll(/- \.\/([^:\s]+):/g), ([, path = '']) => path);
    expect(mounts.length).toBeGreaterThan(4);
    expect(mounts.filter((path) => !isPacked(path))).toEqual([]);
  });

  it('contains the program and its revision, and neither sources nor tests', () => {
    expect(Object.values(packageJson.bin).filter((path) => !isPacked(path))).toEqual([]);
    expect(['dist/revision', 'THIRD-PARTY-LICENSES'].filter((path) => !isPacked(path))).toEqual([]);
    expect(['src', 'test', 'grafana/source', 'packaging', '.ci', '.github', 'node_modules'].filter(isPacked)).toEqual(
      [],
    );
  });
});

it('the bundle of the image is built from what the Dockerfile copies', () => {
  const { path } = createTempFolder();
  const copied = readProjectFile('Dockerfile').match(/(?<=^COPY )(?!--).*(?= \S+$)/gm) ?? [];
  for (const file of copied.join(' ').split(' ')) cpSync(projectPath(file), join(path, file), { recursive: true });
  symlinkSync(projectPath('node_modules'), join(path, 'node_modules'));
  run(
    'env',
    '-C',
    path,
    `REVISION=${REVISION}`,
    process.execPath,
    'packaging/bundle.mjs',
    join(path, 'app'),
    '--program',
  );
  const files = ['THIRD-PARTY-LICENSES', 'dist', 'package.json', 'sbom.cdx.json'];
  expect(readdirSync(join(path, 'app')).toSorted()).toEqual(files);
  expect(run(process.execPath, join(path, 'app/dist/main.js'), '--version')).toContain(`(revision ${REVISION}, `);
});

it('the project cannot be published without the bundle', () => {
  const { status, output } = runTool('npm', ['publish', '--dry-run', projectPath('.')]);
  expect(status).toBe(1);
  expect(output).toContain('Publish the bundle instead');
});
