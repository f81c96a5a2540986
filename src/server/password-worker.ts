import { compareSync } from 'bcryptjs';
import { parentPort, workerData } from 'node:worker_threads';

/** The input of the thread. The thread posts whether the password matches the hash. */
export interface Login {
  readonly hash: string;
  readonly password: string;
}

const { hash, password } = workerData as Login;
parentPort?.postMessage(compareSync(password, hash));
