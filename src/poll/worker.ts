import { parentPort, workerData } from 'node:worker_threads';
import { createClient } from '../http/client.js';
import { fetchNames } from './fetch-names.js';
import { poll } from './poll.js';
import type { WorkerMessage, WorkerOptions, WorkerRequest } from './thread-executor.js';

/* The worker thread: receives jobs and sends results. Fetches run concurrently; documents are read one at a time. */

const port = parentPort;
if (port === null) throw new Error('worker.js runs only as a worker thread');

const { userAgent }: WorkerOptions = workerData;
const client = createClient(userAgent);
const send = (message: WorkerMessage): void => port.postMessage(message);

async function handle({ id, task }: WorkerRequest): Promise<void> {
  const onBody = (path: string): void => send({ id, reading: path });
  const result = 'poll' in task ? await poll(task.poll, client, onBody) : await fetchNames(task.names, client, onBody);
  send({ id, result });
}

port.on('message', (request: WorkerRequest) => void handle(request));
send({ ready: true });
