#!/usr/bin/env -S node --max-semi-space-size=16 --no-allocation-site-pretenuring --heap-growing-percent=60
import type { Signals } from './program.js';

/*
 * Handles signals, from before the program is loaded, which takes several times as long as starting Node.js. The
 * default action of all of them is to end the process.
 */

const early = new Set<NodeJS.Signals>();
let stop = (signal: NodeJS.Signals): unknown => early.add(signal);
let reload = (): unknown => early.add('SIGHUP');

process.on('SIGTERM', (signal) => stop(signal));
process.on('SIGINT', (signal) => stop(signal));
// The daemon, which runs without a command, reloads its configuration on SIGHUP. Other commands keep the action that
// they were started with: `nohup` makes them ignore the signal.
if (process.argv[2]?.startsWith('-') ?? true) process.on('SIGHUP', () => reload());

function useDefaults(): void {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.removeAllListeners(signal);
}

const signals: Signals = {
  endAtOnce: () => {
    stop = () => process.exit();
    if (early.has('SIGTERM') || early.has('SIGINT')) process.exit();
  },
  useDefaults: () => {
    useDefaults();
    for (const signal of early) process.kill(process.pid, signal);
  },
  waitForStopSignal: async () =>
    new Promise((resolve) => {
      stop = (signal) => {
        stop = () => process.exit();
        resolve(signal);
      };
    }),
  onReloadSignal: (listener) => {
    reload = listener;
    if (early.has('SIGHUP')) listener();
  },
};

void import('./program.js').then(async ({ run }) => run(signals));
