import { Worker } from 'node:worker_threads';
import type { PollError } from '../http/errors.js';
import type { NamesJob, NamesResult } from './fetch-names.js';
import type { PollExecutor, PollJob, PollResult } from './poll.js';

/** `workerData` of the thread. */
export interface WorkerOptions {
  readonly userAgent: string;
}

export type WorkerTask = { readonly poll: PollJob } | { readonly names: NamesJob };

export interface WorkerRequest {
  readonly id: number;
  readonly task: WorkerTask;
}

/** `reading` is the path of a body that is going to be decoded, to identify a document that exhausts the memory of the thread. */
export type WorkerMessage =
  | { readonly ready: true }
  | { readonly id: number; readonly reading: string }
  | { readonly id: number; readonly result: PollResult | NamesResult };

interface PendingTask {
  readonly task: WorkerTask;
  readonly resolve: (result: PollResult | NamesResult) => void;
  readonly fail: (error: PollError) => void;
  /** The path of the body that the thread decodes; `undefined` while it is fetched. */
  reading: string | undefined;
  attempts: number;
}

/** With V8's default of 48 MB, 40 targets of 1 MB every 2 s take 242 instead of 216 MiB; a poll of 10 MB takes 10 % less time. */
const YOUNG_GENERATION_MB = 12;

/** Attempts of a task whose thread ended for an unknown reason: the first one and one repetition. */
const MAX_ATTEMPTS = 2;

/**
 * Polls on a worker thread, because parsing a document of some megabytes would delay every scrape on the main thread. When a
 * document exhausts the heap of the thread, its poll fails, the thread is replaced, and the other polls are repeated.
 */
export function startThreadExecutor(maxHeapMb: number, userAgent: string): PollExecutor {
  const pending = new Map<number, PendingTask>();
  let lastId = 0;
  let isClosed = false;
  let worker = startWorker();

  function startWorker(): Worker {
    const started = new Worker(new URL('./worker.js', import.meta.url), {
      workerData: { userAgent } satisfies WorkerOptions,
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMb, maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    });
    let isReady = false;
    let cause: Error | undefined;
    started.on('message', (message: WorkerMessage) => {
      if ('ready' in message) isReady = true;
      else receive(message);
    });
    started.on('error', (error) => {
      cause = error;
    });
    started.on('exit', () => {
      if (isClosed) return;
      // Without this check, a thread that cannot start would be replaced forever.
      if (!isReady) throw cause ?? new Error('the worker thread does not start');
      replaceWorker(cause);
    });
    return started;
  }

  function receive(message: Exclude<WorkerMessage, { ready: true }>): void {
    const task = pending.get(message.id);
    if (task === undefined) return;
    if ('reading' in message) task.reading = message.reading;
    else {
      pending.delete(message.id);
      task.resolve(message.result);
    }
  }

  function replaceWorker(cause: Error | undefined): void {
    worker = startWorker();
    const isCulpritKnown = [...pending.values()].some(({ reading }) => reading !== undefined);
    for (const [id, task] of pending) {
      if (!isCulpritKnown) task.attempts += 1;
      if (task.reading !== undefined || task.attempts > MAX_ATTEMPTS) {
        pending.delete(id);
        task.fail(threadError(cause, task, maxHeapMb));
      } else {
        send(id, task);
      }
    }
  }

  function send(id: number, { task }: PendingTask): void {
    worker.postMessage({ id, task } satisfies WorkerRequest);
  }

  function run(task: Pick<PendingTask, 'task' | 'resolve' | 'fail'>): void {
    lastId += 1;
    const pendingTask: PendingTask = { ...task, reading: undefined, attempts: 1 };
    pending.set(lastId, pendingTask);
    send(lastId, pendingTask);
  }

  return {
    poll: (job) =>
      new Promise((resolve) => {
        run({
          task: { poll: job },
          // The result of a poll is that of its task.
          resolve: (result) => resolve(result as PollResult),
          fail: (error) => resolve({ outcome: { ok: false, error }, phaseSeconds: {} }),
        });
      }),
    fetchNames: (job) =>
      new Promise((resolve) => {
        run({
          task: { names: job },
          resolve: (result) => resolve(result as NamesResult),
          fail: (error) => resolve({ ok: false, error }),
        });
      }),
    close: async () => {
      isClosed = true;
      await worker.terminate();
    },
  };
}

function threadError(cause: Error | undefined, { reading }: PendingTask, maxHeapMb: number): PollError {
  const isOutOfMemory = cause !== undefined && 'code' in cause && cause.code === 'ERR_WORKER_OUT_OF_MEMORY';
  if (reading !== undefined && isOutOfMemory) {
    const message = `${reading}: reading the document needs more than ${maxHeapMb} MiB of memory`;
    return { reason: 'too_large', message };
  }
  return { reason: 'internal', message: `worker thread ended: ${cause?.message ?? 'without an error'}` };
}
