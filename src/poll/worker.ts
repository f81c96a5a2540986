import { parentPort, workerData } from 'node:worker_threads';
import { createClient } from '../http/client.js';
import { poll } from './poll.js';
import type { WorkerMessage, WorkerOptions, WorkerRequest } from './thread-executor.js';

/* The worker thread: receives jobs and sends results. Fetches run concurrently; documents are read one at a time. */

const port = parentPort;
if (port === null) throw new Error('worker.js runs only as a worker thread');

const { userAgent }: WorkerOptions = workerData;
const client = createClient(userAgent);
const send = (message: WorkerMessage): void => port.postMessage(message);

async function handle({ id, job }: WorkerRequest): Promise<void> {
  const result = await poll(job, client, () => send({ id, reading: true }));
  send({ id, result });
}

port.on('message', (request: WorkerRequest) => void handle(request));
send({ ready: true });
