import { Worker } from 'node:worker_threads';

export interface PasswordCheckRequest {
  readonly id: number;
  readonly hash: string;
  readonly password: string;
}

export interface PasswordCheckResponse {
  readonly id: number;
  readonly isRight: boolean;
}

export type PasswordCheck = (hash: string, password: string) => Promise<boolean>;

export interface PasswordThread {
  readonly check: PasswordCheck;
  readonly close: () => Promise<void>;
}

interface Waiting {
  readonly resolve: (isRight: boolean) => void;
  readonly reject: (error: Error) => void;
}

/** Checks passwords on a thread that starts with the first of them, since each would stop every scrape meanwhile. */
export function createPasswordThread(): PasswordThread {
  const waiting = new Map<number, Waiting>();
  let worker: Worker | undefined;
  let lastId = 0;

  function start(): Worker {
    const started = new Worker(new URL('./password-worker.js', import.meta.url));
    started.on('message', ({ id, isRight }: PasswordCheckResponse) => {
      waiting.get(id)?.resolve(isRight);
      waiting.delete(id);
    });
    let fault = new Error('the password thread ended');
    started.on('error', (error) => {
      fault = error;
    });
    started.on('exit', () => {
      worker = undefined;
      for (const { reject } of waiting.values()) reject(fault);
      waiting.clear();
    });
    return started;
  }

  return {
    check: (hash, password) =>
      new Promise((resolve, reject) => {
        worker ??= start();
        lastId += 1;
        waiting.set(lastId, { resolve, reject });
        worker.postMessage({ id: lastId, hash, password } satisfies PasswordCheckRequest);
      }),
    close: async () => {
      await worker?.terminate();
    },
  };
}
