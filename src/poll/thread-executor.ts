import { Worker } from 'node:worker_threads';
import type { PollError } from '../http/errors.js';
import type { PollExecutor, PollJob, PollResult } from './poll.js';

/** `workerData` of the thread. */
export interface WorkerOptions {
  readonly userAgent: string;
}

export interface WorkerRequest {
  readonly id: number;
  readonly job: PollJob;
}

/** `reading` is sent before a body is decoded, to identify a document that exhausts the memory of the thread. */
export type WorkerMessage =
  | { readonly ready: true }
  | { readonly id: number; readonly reading: true }
  | { readonly id: number; readonly result: PollResult };

interface PendingPoll {
  readonly job: PollJob;
  readonly resolve: (result: PollResult) => void;
  isReading: boolean;
  attempts: number;
}

/** With V8's default of 48 MB, 40 targets of 1 MB every 2 s take 242 instead of 216 MiB; a poll of 10 MB takes 10 % less time. */
const YOUNG_GENERATION_MB = 12;

/** Attempts of a poll whose thread ended for an unknown reason: the first one and one repetition. */
const MAX_ATTEMPTS = 2;

/**
 * Polls on a worker thread, because parsing a document of some megabytes would delay every scrape on the main thread. When a
 * document exhausts the heap of the thread, its poll fails, the thread is replaced, and the other polls are repeated.
 */
export function startThreadExecutor(maxHeapMb: number, userAgent: string): PollExecutor {
  const pending = new Map<number, PendingPoll>();
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
    const poll = pending.get(message.id);
    if (poll === undefined) return;
    if ('reading' in message) poll.isReading = true;
    else settle(message.id, poll, message.result);
  }

  function settle(id: number, poll: PendingPoll, result: PollResult): void {
    pending.delete(id);
    poll.resolve(result);
  }

  function replaceWorker(cause: Error | undefined): void {
    worker = startWorker();
    const isCulpritKnown = [...pending.values()].some(({ isReading }) => isReading);
    for (const [id, poll] of pending) {
      if (!isCulpritKnown) poll.attempts += 1;
      if (poll.isReading || poll.attempts > MAX_ATTEMPTS) {
        settle(id, poll, { outcome: { ok: false, error: threadError(cause, poll, maxHeapMb) }, phaseSeconds: {} });
      } else {
        send(id, poll);
      }
    }
  }

  function send(id: number, { job }: PendingPoll): void {
    worker.postMessage({ id, job } satisfies WorkerRequest);
  }

  return {
    poll: (job) =>
      new Promise((resolve) => {
        lastId += 1;
        const poll: PendingPoll = { job, resolve, isReading: false, attempts: 1 };
        pending.set(lastId, poll);
        send(lastId, poll);
      }),
    close: async () => {
      isClosed = true;
      await worker.terminate();
    },
  };
}

function threadError(cause: Error | undefined, { job, isReading }: PendingPoll, maxHeapMb: number): PollError {
  if (isReading && cause !== undefined && 'code' in cause && cause.code === 'ERR_WORKER_OUT_OF_MEMORY') {
    const message = `${new URL(job.url).pathname}: reading the document needs more than ${maxHeapMb} MiB of memory`;
    return { reason: 'too_large', message };
  }
  return { reason: 'internal', message: `worker thread ended: ${cause?.message ?? 'without an error'}` };
}
