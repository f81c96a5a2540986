import { hashSync } from 'bcryptjs';
import { expect } from 'vitest';
import { get } from '../support/http.js';
import { startProcess } from '../support/processes.js';
import { createTempFolder } from '../support/temp-folder.js';
import { startTestSimulator } from '../support/test-simulator.js';
import { waitUntil } from '../support/wait-for.js';

/**
 * Expects a packaged program to poll, to record, to check passwords on a thread of its own, and to serve the script of the pages. Returns
 * its exit code.
 */
export async function runAsDaemon(command: string, args: readonly string[] = []): Promise<number | null> {
  const simulator = await startTestSimulator();
  const { write } = createTempFolder();
  const config = write(
    'bridge.yml',
    `targets: [{name: a, bridge: {url: "${simulator.url}"}}]\nrecorder: {directory: recording}\n`,
  );
  const web = write('web.yml', `basic_auth_users: {prometheus: ${hashSync('secret', 4)}}\n`);
  const flags = ['--web.listen-address=127.0.0.1:0', `--web.config.file=${web}`, '--log.format=pretty'];
  const daemon = startProcess(command, [...args, ...flags], { env: { CONFIG_FILE: config } });
  const [, url = ''] = /serving (http:\S+)\/metrics/.exec(await daemon.printed(/serving/)) ?? [];
  expect((await get(`${url}/metrics`)).status).toBe(401);
  const headers = { authorization: `Basic ${Buffer.from('prometheus:secret').toString('base64')}` };
  const metrics = async (): Promise<string> => (await get(`${url}/metrics`, { headers })).text;
  await waitUntil(async () => (await metrics()).includes('bridge_height{target='));
  await waitUntil(async () => /bridge_exporter_recordings_total [1-9]/.test(await metrics()));
  expect((await get(`${url}/`, { headers })).text).toMatch(/<script type="module">[^]{500,}<\/script>/);
  return (await daemon.stop()).code;
}
