import { once } from 'node:events';
import { totalmem } from 'node:os';
import { type Invocation, parseCommandLine } from './commands/command-line.js';
import type { CommandContext } from './commands/context.js';
import { readProgramFile } from './program-files.js';
import { fileErrorText, systemErrorText } from './text/system-error.js';

/* The process: command line, signals, output and exit codes. */

/** The version in package.json, which is next to both `src` and `dist`. */
function readVersion(): string {
  const text = readProgramFile(new URL('../package.json', import.meta.url));
  return (JSON.parse(text) as { readonly version: string }).version;
}

/** The commit that was built. `npm run build` writes it next to this file; the file is empty in a build outside git. */
function readRevision(): string {
  return readProgramFile(new URL('revision', import.meta.url)).trim() || 'unknown';
}

/** Without a container limit, `constrainedMemory` returns 0 or more than the memory of the machine. */
function memoryLimit(): number {
  const constrained = process.constrainedMemory();
  return constrained > 0 && constrained < totalmem() ? constrained : Infinity;
}

/** Signals that arrive before `run` handles them. */
export interface EarlySignals {
  readonly received: Set<NodeJS.Signals>;
  /** The listener of these signals. */
  readonly remember: (signal: NodeJS.Signals) => void;
}

type SignalHandlers = Partial<Record<'SIGTERM' | 'SIGINT' | 'SIGHUP', () => void>>;

/** Replaces the listener of early signals. A signal without a handler has its default action again. */
function handleSignals({ received, remember }: EarlySignals, handlers: SignalHandlers): void {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    const handler = handlers[signal];
    // Before the early listener is removed: without a listener, a signal ends the process.
    if (handler) process.on(signal, handler);
    process.off(signal, remember);
    if (!received.has(signal)) continue;
    if (handler) handler();
    else process.kill(process.pid, signal);
  }
}

type Stop = (signal: NodeJS.Signals) => void;

const exitAtOnce: Stop = () => process.exit(0);

/** The signals of a command. A server ends with 0 at any time. Once it waits for the signal, it closes its resources first. */
function commandSignals(
  { command, isServer }: Invocation,
  early: EarlySignals,
): Pick<CommandContext, 'waitForStopSignal' | 'onReloadSignal'> {
  let stop = exitAtOnce;
  let isReloadRequested = false;
  let reload = (): void => {
    isReloadRequested = true;
  };
  handleSignals(early, {
    ...(isServer && { SIGTERM: () => stop('SIGTERM'), SIGINT: () => stop('SIGINT') }),
    ...(isServer && command === 'daemon' && { SIGHUP: () => reload() }),
  });
  return {
    waitForStopSignal: () =>
      new Promise((resolve) => {
        stop = (signal) => {
          stop = exitAtOnce;
          resolve(signal);
        };
      }),
    onReloadSignal: (listener) => {
      reload = listener;
      if (isReloadRequested) listener();
    },
  };
}

function printError(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** As with `head`, the reader can close its end before everything is printed, which is no failure. */
function stdoutFailed(error: NodeJS.ErrnoException): never {
  if (error.code === 'EPIPE') process.exit();
  printError(`bridge-exporter: cannot write to standard output: ${systemErrorText(error)}`);
  process.exit(1);
}

/** The failure cannot be reported. The exit code makes a service manager start the daemon again. */
function stderrFailed(): never {
  process.exit(1);
}

// The exit code is set instead of calling process.exit, so that all output is flushed.
export async function run(early: EarlySignals): Promise<void> {
  process.stdout.on('error', stdoutFailed);
  process.stderr.on('error', stderrFailed);
  const print = (text: string): void => void process.stdout.write(text);
  const build = { version: readVersion(), revision: readRevision(), nodeVersion: process.versions.node };
  const version = `bridge-exporter ${build.version} (revision ${build.revision}, node ${build.nodeVersion})`;
  // An empty variable counts as unset.
  for (const [name, value] of Object.entries(process.env)) if (value === '') delete process.env[name];
  try {
    const invocation = await parseCommandLine(process.argv.slice(2), version, { print, printError });
    if (typeof invocation === 'number') {
      handleSignals(early, {});
      process.exitCode = invocation;
      return;
    }
    process.exitCode = await invocation.run({
      env: process.env,
      // Opened on first use.
      get stdin() {
        return process.stdin;
      },
      build,
      memoryBytes: memoryLimit(),
      print,
      write: async (text) => {
        if (!process.stdout.write(text)) await once(process.stdout, 'drain');
      },
      printError,
      logFailed: stderrFailed,
      showProgress: (line = '') => {
        if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${line}`);
      },
      isTerminal: process.stderr.isTTY,
      ...commandSignals(invocation, early),
    });
  } catch (error) {
    printError(`bridge-exporter: ${fileErrorText(error)}`);
    process.exitCode = 1;
  }
}
