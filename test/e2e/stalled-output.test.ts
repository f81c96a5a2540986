import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { atEnd } from '../support/at-end.js';
import { get } from '../support/http.js';
import { MAIN } from '../support/processes.js';
import { createTempFolder } from '../support/temp-folder.js';
import { hasTool } from '../support/tools.js';
import { waitFor, waitUntil } from '../support/wait-for.js';

/*
 * A reader of standard error that stalls: a pipe, and a terminal as of a container with `tty: true`.
 */
const folder = createTempFolder();
const targets = 'targets: [{name: a, bridge: {url: "http://127.0.0.1:1"}}]';
/** Each reload of this configuration logs a line of 58 kB. */
const invalid = Array.from({ length: 300 }, (_, index) => `${'k'.repeat(1_000)}${index}: 1`).join('\n');

interface Stalled {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly url: string;
  /** What was read. */
  readonly text: () => string;
  readonly resume: () => void;
}

/** Starts a daemon, and reads its log until it serves. The first line of a shell is its process id. */
async function startStalled(command: string, args: readonly string[], output: 'stdout' | 'stderr'): Promise<Stalled> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  atEnd(() => child.kill('SIGKILL'));
  const stream = child[output];
  let text = '';
  stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const found = await waitFor(
    () => /serving (https?:\/\/[^/]+)/.exec(text),
    (match) => match !== null,
  );
  stream.pause();
  const pid = Number(/^pid (\d+)/.exec(text)?.[1] ?? child.pid);
  return {
    child,
    pid,
    url: found?.[1] ?? '',
    text: () => text,
    resume: () => stream.resume(),
  };
}

async function metric(url: string, name: string): Promise<number> {
  const { text } = await get(`${url}/metrics`);
  return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(text)?.[1]);
}

const DROPPED = 'bridge_exporter_log_lines_dropped_total';

/** Reloads the invalid configuration until lines are dropped. */
async function fill({ url, pid }: Stalled): Promise<number> {
  const before = await metric(url, DROPPED);
  return waitFor(
    async () => {
      process.kill(pid, 'SIGHUP');
      return metric(url, DROPPED);
    },
    (count) => count > before + 2,
  );
}

describe('a daemon whose standard error is not read', () => {
  const flags = (name: string): readonly string[] => {
    const config = folder.write(name, `poll: {interval: 1s, timeout: 1s}\n${targets}`);
    return [MAIN, `--config.file=${config}`, '--web.listen-address=127.0.0.1:0'];
  };

  it('polls and serves, counts the dropped lines, and reports them once it is read again', async () => {
    const args = flags('pipe.yml');
    const daemon = await startStalled(process.execPath, args, 'stderr');
    folder.write('pipe.yml', invalid);
    expect(await metric(daemon.url, DROPPED)).toBe(0);
    await fill(daemon);
    expect((await get(`${daemon.url}/-/healthy`)).status).toBe(200);
    const polls = await metric(daemon.url, 'bridge_exporter_polls_total');
    await waitUntil(async () => (await metric(daemon.url, 'bridge_exporter_polls_total')) > polls);
    daemon.resume();
    await waitUntil(() => daemon.text().includes('dropped lines of the log'));
    const line =
      daemon
        .text()
        .split('\n')
        .find((text) => text.includes('dropped lines of the log')) ?? '';
    expect(JSON.parse(line)).toMatchObject({
      level: 'warn',
      lines: await metric(daemon.url, DROPPED),
      msg: 'dropped lines of the log: standard error was not read',
    });
  });

  /** Fills the pipe or terminal, sends SIGTERM, and returns the exit code and the milliseconds until the exit. */
  const stop = async (daemon: Stalled, config: string): Promise<{ code: number | null; ms: number }> => {
    folder.write(config, invalid);
    await fill(daemon);
    const began = performance.now();
    process.kill(daemon.pid, 'SIGTERM');
    await waitUntil(async () =>
      get(`${daemon.url}/-/healthy`).then(
        () => false,
        () => true,
      ),
    );
    const exited = daemon.child.exitCode === null ? once(daemon.child, 'exit') : undefined;
    // `script` ends when its own output is read.
    if (daemon.pid !== daemon.child.pid) daemon.resume();
    await exited;
    return { code: daemon.child.exitCode, ms: performance.now() - began };
  };

  it('ends within seconds after SIGTERM', async () => {
    const { code, ms } = await stop(await startStalled(process.execPath, flags('stop.yml'), 'stderr'), 'stop.yml');
    expect(code).toBe(0);
    expect(ms).toBeLessThan(8_000);
  });

  it.skipIf(!hasTool('script'))('ends within seconds after SIGTERM when it is a terminal', async () => {
    const shell = `echo pid $$; exec ${[process.execPath, ...flags('terminal.yml')].join(' ')}`;
    const daemon = await startStalled('script', ['-qec', shell, '/dev/null'], 'stdout');
    const { code, ms } = await stop(daemon, 'terminal.yml');
    expect(code).toBe(0);
    expect(ms).toBeLessThan(8_000);
  });
});
