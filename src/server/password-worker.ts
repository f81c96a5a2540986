import { parentPort } from 'node:worker_threads';
import { isPasswordOf } from './password.js';
import type { PasswordCheckResponse, PasswordCheckRequest } from './password-thread.js';

/** The password thread: one question after the other. */
const port = parentPort;
if (port === null) throw new Error('password-worker.js runs as a worker thread only');

port.on('message', ({ id, hash, password }: PasswordCheckRequest) => {
  port.postMessage({ id, isRight: isPasswordOf(hash, password) } satisfies PasswordCheckResponse);
});
