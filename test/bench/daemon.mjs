/** The built program as it is run: a configuration file and a process. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

/** What the image sets. */
const DOCKERFILE = readFileSync(new URL('../../Dockerfile', import.meta.url), 'utf8');
const environment = Object.fromEntries(
  [...DOCKERFILE.matchAll(/^ENV (\w+)=(\S+)$/gm)].map(([, name, value]) => [name, value]),
);

/** Started, with its address; `usage` reads what it takes of the machine from /proc. */
export async function startDaemon(config) {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const file = join(folder, 'bridge.yaml');
  // JSON is YAML.
  const write = (changed) => writeFileSync(file, JSON.stringify(changed));
  write(config);
  const startedAt = performance.now();
  const child = spawn(process.execPath, [MAIN, `--config.file=${file}`, '--web.listen-address=127.0.0.1:0'], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const url = await new Promise((resolve, reject) => {
    const said = [];
    child.once('exit', () => reject(new Error(`the daemon does not start: ${said.join(' ')}`)));
    createInterface(child.stderr).on('line', (line) => {
      said.push(line);
      const address = /serving (?<url>http:\/\/[^/]+)/.exec(line)?.groups?.url;
      if (address !== undefined) resolve(address);
    });
  });
  return {
    url,
    startedAt,
    metrics: async () => (await fetch(`${url}/metrics`)).text(),
    untilReady: async () => {
      while (!(await fetch(`${url}/-/ready`)).ok) await new Promise((resolve) => setTimeout(resolve, 5));
    },
    reload: (changed) => {
      write(changed);
      child.kill('SIGHUP');
    },
    usage: () => usageOf(child.pid),
    pause: () => child.kill('SIGSTOP'),
    goOn: () => child.kill('SIGCONT'),
    close: async () => {
      child.kill();
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}

const TICKS_PER_SECOND = 100;

export function usageOf(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kib = (name) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]);
  // The name of the program, in brackets, may hold spaces; the times are the 12th and 13th field after it.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return {
    residentMiB: kib('VmRSS') / 1024,
    peakMiB: kib('VmHWM') / 1024,
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND,
  };
}

/** The value of every series of a family, by line. */
export function seriesOf(text, name) {
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .map((line) => Number(line.slice(line.lastIndexOf(' ') + 1)));
}
