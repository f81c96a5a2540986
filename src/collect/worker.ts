import { existsSync, readdirSync } from 'node:fs';
import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { createClient } from '../chain/client.js';
import { USER_AGENT } from '../version.js';
import { collect } from './collect.js';
import type { FromThread, ToThread } from './thread.js';

/** The collect thread: jobs in, outcomes out, several fetches under way at once and one document read at a time. */
const port = parentPort;
if (port === null) throw new Error('worker.js runs as a worker thread only');

/** Before a poll, which can wait, comes a scrape, which cannot. */
const NICENESS = 10;
/** Of Linux; elsewhere a priority is that of the whole process. */
const THREADS = '/proc/self/task';
if (existsSync(THREADS)) giveWay();

const client = createClient(USER_AGENT);
const send = (message: FromThread): void => port.postMessage(message);

port.on('message', ({ id, job }: ToThread) => {
  void collect(job, client, () => send({ id, reading: true })).then((outcome) => send({ id, outcome }));
});
send({ ready: true });

/** This thread, and those on which V8 collects and compiles beside it: all of the process but the one that answers scrapes. */
function giveWay(): void {
  for (const thread of readdirSync(THREADS).map(Number)) {
    if (thread === process.pid) continue;
    try {
      setPriority(thread, NICENESS);
    } catch {
      // It has ended meanwhile.
    }
  }
}
