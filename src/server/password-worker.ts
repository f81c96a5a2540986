import { compareSync } from 'bcryptjs';
import { parentPort, workerData } from 'node:worker_threads';

/** The data of the thread. Its message is whether the password has the hash. */
export interface Login {
  readonly hash: string;
  readonly password: string;
}

const { hash, password } = workerData as Login;
parentPort?.postMessage(compareSync(password, hash));
