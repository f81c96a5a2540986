import { parentPort } from 'node:worker_threads';
import { decode } from './decode.js';
import type { DecoderMessage, DecoderRequest } from './decoder-thread.js';

/* The worker thread: decodes one body after the other. */

const port = parentPort;
if (port === null) throw new Error('decoder-worker.js runs only as a worker thread');

const send = (message: DecoderMessage): void => port.postMessage(message);

port.on('message', ({ task, memory, length }: DecoderRequest) => {
  send(decode(task, Buffer.from(memory, 0, length)));
});
send('ready');
