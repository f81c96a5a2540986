import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { atEnd } from './at-end.js';
import { projectPath } from './project-files.js';

/** Below the time limit of a test, so that the output is reported instead. */
const PRINT_TIMEOUT_MS = 50_000;

/** The built program. */
export const MAIN = projectPath('dist/main.js');

export interface ProcessResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the built program until it exits, with this text on its standard input. */
export async function runExporter(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  input = '',
): Promise<ProcessResult> {
  return new Promise((resolve) => {
    const options = { env: { ...cleanEnvironment(), ...env }, maxBuffer: 64 * 1024 * 1024, timeout: 50_000 };
    const { stdin } = execFile(process.execPath, [MAIN, ...args], options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
      resolve({ code, stdout, stderr });
    });
    // The program can exit, or close its standard input, before it has read everything.
    stdin?.on('error', () => undefined);
    stdin?.end(input);
  });
}

export interface RunningProcess {
  readonly child: ChildProcess;
  /** The lines printed so far. */
  readonly stdout: readonly string[];
  readonly stderr: readonly string[];
  /** Resolves with the first line of either stream that matches, now or later. Rejects when the process exits first, or after 50 s. */
  readonly printed: (pattern: RegExp) => Promise<string>;
  /** Sends the signal, SIGTERM by default, and waits for the exit. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<{ code: number | null; ms: number }>;
}

interface ProcessOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Makes the process the leader of a process group. */
  readonly detached?: boolean;
}

/** Starts a program, until the end of the tests. */
export function startProcess(
  command: string,
  args: readonly string[],
  { env = {}, ...options }: ProcessOptions = {},
): RunningProcess {
  const child = spawn(command, args, {
    ...options,
    env: { ...cleanEnvironment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr]: [string[], string[]] = [[], []];
  const onLine = new Set<() => void>();
  for (const [stream, lines] of [[child.stdout, stdout] as const, [child.stderr, stderr] as const]) {
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line);
      for (const check of onLine) check();
    });
  }
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    if (child.exitCode !== null || child.signalCode !== null) return { code: child.exitCode, ms: 0 };
    const began = performance.now();
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
    return { code: child.exitCode, ms: performance.now() - began };
  };
  atEnd(async () => stop('SIGKILL'));
  return {
    child,
    stdout,
    stderr,
    printed: (pattern) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          const line = [...stdout, ...stderr].find((text) => pattern.test(text));
          if (line === undefined) return;
          onLine.delete(check);
          clearTimeout(timer);
          resolve(line);
        };
        const fail = (problem: string): void => {
          onLine.delete(check);
          clearTimeout(timer);
          reject(new Error(`${problem}:\n${[...stdout, ...stderr].join('\n')}`));
        };
        const timer = setTimeout(() => fail(`${command} has not printed ${pattern}`), PRINT_TIMEOUT_MS);
        onLine.add(check);
        child.once('error', ({ message }) => fail(message));
        child.once('exit', (code) => fail(`${command} exited with ${code}`));
        check();
      }),
    stop,
  };
}

export interface Daemon extends Pick<RunningProcess, 'child' | 'stop'> {
  /** The lines of the log so far. */
  readonly log: readonly string[];
  /** Resolves with the first line of the log that matches, now or later. */
  readonly logged: (pattern: RegExp) => Promise<string>;
  /** The base address of its web server. */
  readonly url: string;
}

/** Starts the built program as a daemon on a free port, and waits until it serves. */
export async function startDaemon(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Daemon> {
  const flags = ['--web.listen-address=127.0.0.1:0', ...args];
  const started = startProcess(process.execPath, [MAIN, ...flags], { env });
  const { child, stop, stderr: log, printed: logged } = started;
  const line = await logged(/serving https?:/);
  const url = /serving (https?:\/\/[^/]+)/.exec(line)?.[1];
  if (url === undefined) throw new Error(`no address in ${line}`);
  return { child, stop, log, logged, url };
}

/** The environment without the variables that configure the exporter. */
function cleanEnvironment(): Record<string, string> {
  const ours = /^(BRIDGE_|CROSSCHAIN_|TARGET_|POLL_|CONFIG_|WEB_|LOG_|STATE_|TARGETS_|NODE_OPTIONS$)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !ours.test(name))) as Record<string, string>;
}
