import { hashSync } from 'bcryptjs';
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { get } from '../support/http.js';
import { startProcess } from '../support/processes.js';
import { packageJson, projectPath } from '../support/project-files.js';
import { createTempFolder } from '../support/temp-folder.js';
import { startTestSimulator } from '../support/test-simulator.js';
import { runTool } from '../support/tools.js';
import { waitUntil } from '../support/wait-for.js';

/*
 * The single executable of a release, built with the Node.js that runs the tests.
 */

const image = createTempFolder();
const folder = createTempFolder().path;
const program = join(folder, 'bridge-exporter');
const REVISION = 'e'.repeat(40);

beforeAll(() => {
  mkdirSync(join(image.path, 'usr/local/bin'), { recursive: true });
  symlinkSync(process.execPath, join(image.path, 'usr/local/bin/node'));
  image.write('usr/local/LICENSE', 'Node.js');
  const env = { ...process.env, REVISION };
  execFileSync(process.execPath, [projectPath('packaging/executable.mjs'), image.path, folder], { env, stdio: 'pipe' });
});

describe('the single executable', () => {
  it('knows its version and its revision, and needs no other file', () => {
    expect(runTool(program, ['--version'])).toEqual({
      status: 0,
      output: `bridge-exporter ${packageJson.version} (revision ${REVISION}, node ${process.versions.node})\n`,
    });
  });

  it('polls, records, checks passwords on a thread of its own, and serves the script of the pages', async () => {
    const simulator = await startTestSimulator();
    onTestFinished(async () => simulator.close());
    const files = createTempFolder();
    const web = files.write('web.yml', `basic_auth_users: {prometheus: ${hashSync('secret', 4)}}\n`);
    const config = files.write(
      'bridge.yml',
      `targets: [{name: a, bridge: {url: "${simulator.url}"}}]\nrecorder: {directory: recording}\n`,
    );
    const flags = ['--web.listen-address=127.0.0.1:0', `--web.config.file=${web}`, '--log.format=pretty'];
    const daemon = startProcess(program, flags, { env: { CONFIG_FILE: config } });
    onTestFinished(async () => void (await daemon.stop()));
    const [, url = ''] = /serving (http:\S+)\/metrics/.exec(await daemon.printed(/serving/)) ?? [];
    expect((await get(`${url}/metrics`)).status).toBe(401);
    const headers = { authorization: `Basic ${Buffer.from('prometheus:secret').toString('base64')}` };
    const metrics = async (): Promise<string> => (await get(`${url}/metrics`, { headers })).text;
    await waitUntil(async () => (await metrics()).includes('bridge_height{target='));
    await waitUntil(async () => /bridge_exporter_recordings_total [1-9]/.test(await metrics()));
    expect((await get(`${url}/`, { headers })).text).toMatch(/<script type="module">[^]{500,}<\/script>/);
    expect((await daemon.stop()).code).toBe(0);
  });
});
