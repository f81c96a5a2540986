import { once } from 'node:events';
import { spawn } from 'node:child_process';
import { expect, it } from 'vitest';
import { atEnd } from '../support/at-end.js';
import { get } from '../support/http.js';
import { MAIN } from '../support/processes.js';
import { createTempFolder } from '../support/temp-folder.js';
import { waitFor, waitUntil } from '../support/wait-for.js';

/*
 * A daemon whose standard error is a pipe that is not read.
 */
const folder = createTempFolder();
const targets = 'targets: [{name: a, bridge: {url: "http://127.0.0.1:1"}}]';
/** Each reload of this configuration logs a line of 58 kB, so 40 of them are more than the pipe and the daemon keep. */
const invalid = Array.from({ length: 300 }, (_, index) => `${'k'.repeat(1_000)}${index}: 1`).join('\n');
const RELOADS = 40;

/** Starts a daemon, reads its log until it serves, and fills the pipe. */
async function startStalled(name: string) {
  const config = folder.write(name, `poll: {interval: 1s, timeout: 1s}\n${targets}`);
  const args = [MAIN, `--config.file=${config}`, '--web.enable-lifecycle', '--web.listen-address=127.0.0.1:0'];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  atEnd(() => child.kill('SIGKILL'));
  let text = '';
  child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const found = await waitFor(
    () => /serving (https?:\/\/[^/]+)/.exec(text),
    (match) => match !== null,
  );
  const url = found?.[1] ?? '';
  child.stderr.pause();
  folder.write(name, invalid);
  for (let reload = 0; reload < RELOADS; reload += 1) await fetch(`${url}/-/reload`, { method: 'POST' });
  return { child, url, text: () => text };
}

async function countPolls(url: string): Promise<number> {
  const { text } = await get(`${url}/metrics`);
  return Number(/^bridge_exporter_polls_total\{.*\} (\d+)$/m.exec(text)?.[1]);
}

it('a daemon whose log is not read polls and serves, and reports dropped lines once it is read again', async () => {
  const { child, url, text } = await startStalled('pipe.yml');
  expect((await get(`${url}/-/healthy`)).status).toBe(200);
  const polls = await countPolls(url);
  await waitUntil(async () => (await countPolls(url)) > polls);
  child.stderr.resume();
  await waitUntil(() => /"lines":[1-9]\d*,"msg":"dropped lines of the log: standard error was not read"/.test(text()));
});

it('a daemon whose log is not read ends within seconds after SIGTERM', async () => {
  const { child } = await startStalled('stop.yml');
  const began = performance.now();
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  expect(await exit).toEqual([0, null]);
  expect(performance.now() - began).toBeLessThan(8_000);
});
