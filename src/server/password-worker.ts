import { parentPort } from 'node:worker_threads';
import { matchesHash, type VerifyRequest } from './password-thread.js';

/** The thread of `createPasswordThread`. */
const port = parentPort;
if (port === null) throw new Error('password-worker.js runs as a worker thread only');

port.on('message', ({ hash, password }: VerifyRequest) => {
  port.postMessage(matchesHash(hash, password));
});
