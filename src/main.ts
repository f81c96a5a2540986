#!/usr/bin/env node
import type { EarlySignals } from './program.js';

/*
 * Handles signals before the program is loaded, which takes several times as long as starting Node.js. The default action of all of them
 * is to end the process.
 */

const received: EarlySignals['received'] = new Set();
const remember: EarlySignals['remember'] = (signal) => void received.add(signal);

process.on('SIGTERM', remember);
process.on('SIGINT', remember);
// Without a command, the daemon runs, which reloads its configuration. For other commands, `nohup` may have changed the default.
if (process.argv[2]?.startsWith('-') ?? true) process.on('SIGHUP', remember);

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

void import('./program.js').then(async ({ run }) => run({ received, remember }));
