#!/usr/bin/env node
import { once } from 'node:events';
import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { parseInvocation } from './cli/invocation.js';
import { type CommandContext, type ExitCode, printProblems, seeHelp } from './commands/context.js';
import { readProgramFile } from './program-files.js';

/*
 * The process: command line, signals and exit codes. A command is imported when it runs, because loading the modules of
 * the daemon takes several times as long as starting Node.js.
 */

async function main(context: CommandContext): Promise<ExitCode> {
  const invocation = parseInvocation(process.argv.slice(2), context.env);
  switch (invocation.command) {
    case 'help':
      return (await import('./commands/help.js')).printHelp(invocation.about, context);
    case 'version':
      return printVersion(context);
    case 'usage-error':
      return printProblems(context, [...invocation.problems, seeHelp(invocation.about)]);
    case 'daemon':
      return (await import('./commands/daemon.js')).runDaemon(invocation, context);
    case 'once':
      return (await import('./commands/once.js')).runOnce(invocation, context);
    case 'replay':
      return (await import('./commands/replay.js')).runReplay(invocation, context);
    case 'simulate':
      return (await import('./commands/simulate.js')).runSimulate(invocation, context);
    case 'demo':
      return (await import('./commands/demo.js')).runDemo(invocation, context);
    case 'healthcheck':
      return (await import('./commands/healthcheck.js')).runHealthcheck(invocation, context);
  }
}

function printVersion({ build: { version, revision, nodeVersion }, print }: CommandContext): ExitCode {
  print(`bridge-exporter ${version} (revision ${revision}, node ${nodeVersion})\n`);
  return 0;
}

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

/** How often the parent process is checked. */
const PARENT_CHECK_MS = 500;

function waitForStopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    // npx sends SIGTERM to the shell that runs the command, and the shell does not pass it on.
    if (process.env['npm_command'] === 'exec') {
      const parent = process.ppid;
      const timer = setInterval(() => {
        if (process.ppid !== parent) resolve('SIGTERM');
      }, PARENT_CHECK_MS);
      timer.unref();
    }
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.once(signal, () => {
        resolve(signal);
        process.once(signal, () => process.exit(1));
      });
    }
  });
}

function printError(line: string): void {
  process.stderr.write(`${line}\n`);
}

// As `head` does, the reader can close its end before everything is printed.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

// The exit code is set instead of calling process.exit, so that all output is flushed.
async function run(): Promise<void> {
  try {
    process.exitCode = await main({
      env: process.env,
      // Opened on first use.
      get stdin() {
        return process.stdin;
      },
      build: { version: readVersion(), revision: readRevision(), nodeVersion: process.versions.node },
      memory: { bytes: memoryLimit(), heapBytes: getHeapStatistics().heap_size_limit },
      print: (text) => void process.stdout.write(text),
      write: async (text) => {
        if (!process.stdout.write(text)) await once(process.stdout, 'drain');
      },
      printError,
      showProgress: (line = '') => {
        if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${line}`);
      },
      isTerminal: process.stderr.isTTY,
      waitForStopSignal,
      onReloadSignal: (reload) => void process.on('SIGHUP', reload),
    });
  } catch (error) {
    printError(`bridge-exporter: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  }
}

// Not awaited: a single executable is a CommonJS module.
void run();
