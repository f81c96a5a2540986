#!/usr/bin/env -S node --max-semi-space-size=16 --no-allocation-site-pretenuring --heap-growing-percent=60
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { parseCommandLine } from './commands/command-line.js';
import { fileErrorText, systemErrorText } from './text/error-text.js';

/* The process: command line, signals, output and exit codes. */

/** The version in package.json, which is next to both `src` and `dist`. */
function readVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}

/** The commit that was built. `npm run build` writes it next to this file; the file is empty in a build outside git. */
function readRevision(): string {
  return readFileSync(new URL('revision', import.meta.url), 'utf8').trim() || 'unknown';
}

/** Without a container limit, `constrainedMemory` returns 0 or more than the memory of the machine. */
function memoryLimit(): number {
  const constrained = process.constrainedMemory();
  return constrained > 0 && constrained < totalmem() ? constrained : Infinity;
}

/** The time for what is printed when a server ends. Its reader may have stalled. */
const FLUSH_MS = 1_000;

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
async function run(): Promise<void> {
  process.stdout.on('error', stdoutFailed);
  process.stderr.on('error', stderrFailed);
  const print = (text: string): void => void process.stdout.write(text);
  const build = { version: readVersion(), revision: readRevision(), nodeVersion: process.versions.node };
  const version = `bridge-exporter ${build.version} (revision ${build.revision}, node ${build.nodeVersion})`;
  // An empty variable counts as unset.
  for (const [name, value] of Object.entries(process.env)) if (value === '') delete process.env[name];
  const env = { ...process.env };
  // Node.js would warn that connections are insecure, although all of ours set whether certificates are verified.
  delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
  const invocation = parseCommandLine(process.argv.slice(2), version, { print, printError });
  if (typeof invocation === 'number') {
    process.exitCode = invocation;
    return;
  }
  const signals = { areHandled: false };
  try {
    process.exitCode = await invocation.run({
      env,
      // Opened on first use.
      get stdin() {
        return process.stdin;
      },
      standardError: process.stderr,
      build,
      memoryBytes: memoryLimit(),
      print,
      write: async (text) => {
        if (!process.stdout.write(text)) await once(process.stdout, 'drain');
      },
      printError,
      handleStopSignals: () => {
        signals.areHandled = true;
        let stop = (_signal: NodeJS.Signals): void => process.exit();
        for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, (signal) => stop(signal));
        return async () =>
          new Promise((resolve) => {
            stop = (signal) => {
              stop = () => process.exit();
              resolve(signal);
            };
          });
      },
      onReloadSignal: (reload) => process.on('SIGHUP', reload),
    });
  } catch (error) {
    printError(`bridge-exporter: ${fileErrorText(error)}`);
    process.exitCode = 1;
  }
  if (signals.areHandled) setTimeout(() => process.exit(), FLUSH_MS).unref();
}

await run();
