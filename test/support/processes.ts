import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

export const MAIN = new URL('../../dist/main.js', import.meta.url).pathname;

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the built program to its end, as a user would. */
export async function run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  return new Promise((resolve) => {
    const options = { env: { ...cleanEnvironment(), ...env }, maxBuffer: 64 * 1024 * 1024, timeout: 50_000 };
    execFile(process.execPath, [MAIN, ...args], options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
      resolve({ code, stdout, stderr });
    });
  });
}

export interface Running {
  readonly child: ChildProcess;
  /** Lines of standard error so far: the log. */
  readonly log: readonly string[];
  /** Base address it serves on, from the log. */
  readonly url: string;
  /** Resolves with the next or an earlier line that matches. */
  readonly logged: (pattern: RegExp) => Promise<string>;
  /** Sends the signal and waits for the end. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<{ code: number | null; ms: number }>;
}

/** Starts the built daemon on a free port and waits until it serves. */
export async function start(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Running> {
  const child = spawn(process.execPath, [MAIN, '--web.listen-address=127.0.0.1:0', ...args], {
    env: { ...cleanEnvironment(), ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const log: string[] = [];
  const waiting = new Set<() => void>();
  createInterface({ input: child.stderr }).on('line', (line) => {
    log.push(line);
    for (const look of waiting) look();
  });
  const logged = (pattern: RegExp): Promise<string> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const line = log.find((text) => pattern.test(text));
        if (line === undefined) return;
        waiting.delete(look);
        resolve(line);
      };
      waiting.add(look);
      child.once('exit', (code) => reject(new Error(`ended with ${code}: ${log.join('\n')}`)));
      look();
    });
  const line = await logged(/serving https?:/);
  const url = /serving (https?:\/\/[^/]+)/.exec(line)?.[1];
  if (url === undefined) throw new Error(`no address in ${line}`);
  return {
    child,
    log,
    url,
    logged,
    stop: async (signal = 'SIGTERM') => {
      if (child.exitCode !== null || child.signalCode !== null) return { code: child.exitCode, ms: 0 };
      const began = performance.now();
      const exited = once(child, 'exit');
      child.kill(signal);
      await exited;
      return { code: child.exitCode, ms: performance.now() - began };
    },
  };
}

/** The environment without what would configure the exporter. */
function cleanEnvironment(): Record<string, string> {
  const own = /^(BRIDGE_|CROSSCHAIN_|TARGET_|POLL_|CONFIG_|WEB_|LOG_|TARGETS_|NODE_OPTIONS$)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !own.test(name))) as Record<string, string>;
}
