/** The daemon that is published, in a process of its own, with a configuration file. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { NODE_FLAGS } from './processes.mjs';
import { sleep } from './statistics.mjs';

export const MAIN = fileURLToPath(new URL('../../dist/package/dist/main.js', import.meta.url));

/** `before`: a command that runs the daemon, such as one that limits it. */
export async function startDaemon(config, before = []) {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const file = join(folder, 'bridge.yaml');
  // JSON is YAML.
  writeFileSync(file, JSON.stringify(config));
  const startedAt = performance.now();
  const own = [process.execPath, ...NODE_FLAGS, MAIN, `--config.file=${file}`, '--web.listen-address=127.0.0.1:0'];
  const [command, ...args] = [...before, ...own];
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const url = await new Promise((resolve, reject) => {
    const lines = [];
    child.once('exit', () => reject(new Error(`the daemon does not start: ${lines.join(' ')}`)));
    createInterface(child.stderr).on('line', (line) => {
      const match = /serving (?<url>http:\/\/[^/]+)/.exec(line);
      if (match !== null) resolve(match.groups.url);
      else if (lines.length < 20) lines.push(line);
    });
  });
  const metrics = async () => (await fetch(`${url}/metrics`)).text();
  return {
    url,
    startedAt,
    metrics,
    /** The sum of all series of a metric. */
    sum: async (name) => valuesOf(await metrics(), name).reduce((total, value) => total + value, 0),
    untilReady: async () => {
      while (!(await fetch(`${url}/-/ready`)).ok) await sleep(5);
    },
    usage: () => usageOf(child.pid),
    close: async () => {
      child.kill();
      await exited;
      rmSync(folder, { recursive: true });
    },
  };
}

const TICKS_PER_SECOND = 100;

/** Memory and CPU time of a process, from /proc. */
export function usageOf(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kib = (name) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]);
  // The program name in parentheses may contain spaces. User and system time are fields 12 and 13 after it.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return {
    residentMiB: kib('VmRSS') / 1024,
    peakMiB: kib('VmHWM') / 1024,
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND,
  };
}

/** The values of all series of a metric. */
export function valuesOf(text, name) {
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .map((line) => Number(line.slice(line.lastIndexOf(' ') + 1)));
}
