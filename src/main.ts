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

/**
 * Requests to the threads of Node.js that can take forever: of files, on a disk that does not respond, and of host
 * names.
 */
const ON_THREADS = new Set(['FSReqPromise', 'FSReqCallback', 'FileHandleCloseReq', 'GetAddrInfoReqWrap']);
const THREADS_MS = 1_000;
const CHECK_MS = 50;

/** Ends the process. `process.exit` waits for the threads of Node.js, so a signal ends it when they are blocked. */
function end(waitMs = THREADS_MS): void {
  if (!process.getActiveResourcesInfo().some((name) => ON_THREADS.has(name))) process.exit();
  if (waitMs > 0) {
    setTimeout(end, CHECK_MS, waitMs - CHECK_MS);
    return;
  }
  useDefaults();
  // After SIGKILL, a service manager starts the process again; SIGTERM does not count as a failure.
  process.kill(process.pid, process.exitCode ? 'SIGKILL' : 'SIGTERM');
}

const signals: Signals = {
  end,
  endAtOnce: () => {
    stop = () => end();
    if (early.has('SIGTERM') || early.has('SIGINT')) end();
  },
  useDefaults: () => {
    useDefaults();
    for (const signal of early) process.kill(process.pid, signal);
  },
  waitForStopSignal: async () =>
    new Promise((resolve) => {
      stop = (signal) => {
        stop = () => end();
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
