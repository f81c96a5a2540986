import { Worker } from 'node:worker_threads';
import type { Job, Outcome } from './collect.js';
import type { Collector } from './collector.js';
import type { ChainError } from '../chain/error.js';

export interface ToThread {
  readonly id: number;
  readonly job: Job;
}

/** `reading` says whose document is being read, so that one too large for the thread's memory can be named. */
export type FromThread =
  | { readonly ready: true }
  | { readonly id: number; readonly reading: true }
  | { readonly id: number; readonly outcome: Outcome };

interface Pending {
  readonly job: Job;
  readonly settle: (outcome: Outcome) => void;
  reading: boolean;
  attempts: number;
}

/** Small beside the heap, which would otherwise be a third larger than it is meant to be. */
const YOUNG_GENERATION_MB = 16;

/** When it is not known whose document broke the thread, every poll under way is tried once more, on the next one. */
const MAX_ATTEMPTS = 2;

/**
 * Collects on a thread of its own, since parsing some tens of megabytes would stop every scrape meanwhile. When a document
 * breaks the thread's memory limit, that poll fails, the thread is replaced and every other poll goes on.
 */
export function startThreadCollector(maxHeapMb: number): Collector {
  const pending = new Map<number, Pending>();
  let lastId = 0;
  let closed = false;
  let worker = startWorker();

  function startWorker(): Worker {
    const started = new Worker(new URL('./worker.js', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMb, maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    });
    let ready = false;
    let fault: Error | undefined;
    started.on('message', (message: FromThread) => {
      if ('ready' in message) ready = true;
      else receive(message);
    });
    started.on('error', (error) => {
      fault = error;
    });
    started.on('exit', () => {
      if (closed) return;
      // Replacing a thread that cannot even start would go on for ever.
      if (!ready) throw fault ?? new Error('the collect thread does not start');
      replace(fault);
    });
    return started;
  }

  function receive(message: Exclude<FromThread, { ready: true }>): void {
    const entry = pending.get(message.id);
    if (entry === undefined) return;
    if ('reading' in message) {
      entry.reading = true;
      return;
    }
    pending.delete(message.id);
    entry.settle(message.outcome);
  }

  function replace(fault: Error | undefined): void {
    worker = startWorker();
    const isCulpritKnown = [...pending.values()].some(({ reading }) => reading);
    for (const [id, entry] of pending) {
      if (!isCulpritKnown) entry.attempts += 1;
      if (entry.reading || entry.attempts > MAX_ATTEMPTS) {
        pending.delete(id);
        entry.settle({ result: { ok: false, error: brokenBy(fault, entry.reading, maxHeapMb) }, seconds: {} });
      } else {
        post(id, entry);
      }
    }
  }

  function post(id: number, { job }: Pending): void {
    worker.postMessage({ id, job } satisfies ToThread);
  }

  return {
    collect: (job) =>
      new Promise((settle) => {
        const entry: Pending = { job, settle, reading: false, attempts: 1 };
        lastId += 1;
        pending.set(lastId, entry);
        post(lastId, entry);
      }),
    close: async () => {
      closed = true;
      await worker.terminate();
    },
  };
}

function brokenBy(fault: Error | undefined, isReading: boolean, maxHeapMb: number): ChainError {
  if (isReading && fault !== undefined && 'code' in fault && fault.code === 'ERR_WORKER_OUT_OF_MEMORY') {
    return { reason: 'too_large', message: `reading the document took more than ${maxHeapMb} MiB of memory` };
  }
  return { reason: 'internal', message: `the collect thread ended: ${fault?.message ?? 'without an error'}` };
}
