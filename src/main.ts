#!/usr/bin/env node
import type { Signals } from './program.js';

/*
 * Handles signals, from before the program is loaded, which takes several times as long as starting Node.js. The default action of all of
 * them is to end the process.
 */

const early = new Set<NodeJS.Signals>();
let stop = (signal: NodeJS.Signals): unknown => early.add(signal);
let reload = (): unknown => early.add('SIGHUP');

process.on('SIGTERM', (signal) => stop(signal));
process.on('SIGINT', (signal) => stop(signal));
// Without a command, the daemon runs, which reloads its configuration. For other commands, `nohup` may have changed the default.
if (process.argv[2]?.startsWith('-') ?? true) process.on('SIGHUP', () => reload());

const endAtOnce = (): never => process.exit(0);

const signals: Signals = {
  endAtOnce: () => {
    stop = endAtOnce;
    if (early.has('SIGTERM') || early.has('SIGINT')) endAtOnce();
  },
  useDefaults: () => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.removeAllListeners(signal);
    for (const signal of early) process.kill(process.pid, signal);
  },
  waitForStopSignal: async () =>
    new Promise((resolve) => {
      stop = (signal) => {
        stop = endAtOnce;
        resolve(signal);
      };
    }),
  onReloadSignal: (listener) => {
    reload = listener;
    if (early.has('SIGHUP')) listener();
  },
};

/** How often the parent process is checked. */
const PARENT_CHECK_MS = 500;

// npx sends SIGTERM to the shell that runs the command, and the shell does not pass it on.
if (process.env['npm_command'] === 'exec') {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, PARENT_CHECK_MS);
  timer.unref();
}

void import('./program.js').then(async ({ run }) => run(signals));
