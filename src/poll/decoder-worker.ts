import { parentPort } from 'node:worker_threads';
import { decode } from './decode.js';
import type { DecoderMessage, DecoderRequest } from './decoder-thread.js';

/* The worker thread: decodes one body after the other, and returns the memory of the body with what is decoded. */

const port = parentPort;
if (port === null) throw new Error('decoder-worker.js runs only as a worker thread');

const send = (message: DecoderMessage, transferred: readonly ArrayBuffer[] = []): void =>
  port.postMessage(message, transferred);

port.on('message', ({ task, memory, length }: DecoderRequest) => {
  send({ decoded: decode(task, Buffer.from(memory, 0, length)), memory }, [memory]);
});
send('ready');
