import { parentPort, workerData } from 'node:worker_threads';
import { createClient } from '../http/client.js';
import { collect } from './collect.js';
import { giveWay } from './thread-priority.js';
import { createRest } from './idle-collection.js';
import type { WorkerMessage, WorkerOptions, WorkerRequest } from './thread-collector.js';

/** The collect thread: jobs in, outcomes out, several fetches under way at once and one document read at a time. */
const port = parentPort;
if (port === null) throw new Error('worker.js runs as a worker thread only');

giveWay();

const { userAgent }: WorkerOptions = workerData;
const client = createClient(userAgent);
const rest = createRest();
const send = (message: WorkerMessage): void => port.postMessage(message);

async function answer({ id, job }: WorkerRequest): Promise<void> {
  rest.workBegins();
  const outcome = await collect(job, client, () => send({ id, reading: true }));
  send({ id, outcome });
  rest.workEnds();
}

port.on('message', (question: WorkerRequest) => void answer(question));
send({ ready: true });
