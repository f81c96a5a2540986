import { compareSync } from 'bcryptjs';
import { parentPort, workerData } from 'node:worker_threads';

/** What the thread is started with. It sends back whether it is the password of the hash. */
export interface Login {
  readonly hash: string;
  readonly password: string;
}

const { hash, password } = workerData as Login;
parentPort?.postMessage(compareSync(password, hash));
