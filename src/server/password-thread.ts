import { hashSync } from 'bcryptjs';
import { timingSafeEqual } from 'node:crypto';
import type { Worker } from 'node:worker_threads';
import { startWorker } from '../program-files.js';
import type { VerifyPassword } from './authentication.js';

/* Verifies passwords on a thread of its own (password-worker.ts). */

/** Algorithm, cost and salt at the start of a bcrypt hash. */
const SALT_LENGTH = 29;

/** Blocks for 0.1 s and more. bcrypt uses the first 72 bytes of a password. */
export function matchesHash(hash: string, password: string): boolean {
  const computed = hashSync(password, hash.slice(0, SALT_LENGTH));
  // bcryptjs returns the salt in canonical form, so only the rest is comparable.
  return timingSafeEqual(Buffer.from(computed.slice(SALT_LENGTH)), Buffer.from(hash.slice(SALT_LENGTH)));
}

export interface PasswordThread {
  readonly verify: VerifyPassword;
  readonly close: () => Promise<void>;
}

/** What the thread receives for each password; it sends back whether the password is valid, in the same order. */
export interface VerifyRequest {
  readonly hash: string;
  readonly password: string;
}

interface PendingRequest {
  readonly resolve: (isValid: boolean) => void;
  readonly reject: (error: Error) => void;
}

/** Starts the thread for the first password. */
export function createPasswordThread(): PasswordThread {
  let pending: PendingRequest[] = [];
  let worker: Worker | undefined;

  function start(): Worker {
    const started = startWorker(new URL('./password-worker.js', import.meta.url));
    started.on('message', (isValid: boolean) => pending.shift()?.resolve(isValid));
    let fault = new Error('the password thread ended');
    started.on('error', (error) => {
      fault = error;
    });
    started.on('exit', () => {
      worker = undefined;
      for (const { reject } of pending) reject(fault);
      pending = [];
    });
    return started;
  }

  return {
    verify: (hash, password) =>
      new Promise((resolve, reject) => {
        worker ??= start();
        pending.push({ resolve, reject });
        worker.postMessage({ hash, password } satisfies VerifyRequest);
      }),
    close: async () => {
      await worker?.terminate();
    },
  };
}
