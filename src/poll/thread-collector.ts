import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';
import type { Job, PollResult } from './collect.js';
import type { Collector } from './collector.js';
import { letMainGoFirst } from './thread-priority.js';
import { createRest } from './idle-collection.js';
import type { PollError } from '../http/errors.js';

/** `workerData` of the thread. */
export interface WorkerOptions {
  readonly userAgent: string;
}

export interface WorkerRequest {
  readonly id: number;
  readonly job: Job;
}

/** `reading` says whose document is being read, so that one too large for the thread's memory can be named. */
export type WorkerMessage =
  | { readonly ready: true }
  | { readonly id: number; readonly reading: true }
  | { readonly id: number; readonly outcome: PollResult };

interface Pending {
  readonly job: Job;
  readonly settle: (outcome: PollResult) => void;
  reading: boolean;
  attempts: number;
}

/** Memory of the young: so much that most documents are read, derived from and gone before it is collected. */
const YOUNG_GENERATION_MB = 48;
const LEAST_YOUNG_GENERATION_MB = 16;
/** Small beside the heap, which would otherwise be that much larger than it is meant to be. */
const YOUNG_SHARE_OF_HEAP = 1 / 8;
/** What V8 makes of it: new objects fill one of the three. */
const SEMI_SPACES = 3;

/** Memory in use below which V8 does not go through everything: what fetching takes outside the heap counts as well. */
const LEAST_COLLECTED_MB = 192;
const LEAST_COLLECTED_SHARE_OF_HEAP = 1 / 4;

/**
 * How much more is in use before V8 goes through everything again. By itself it would do so at each large document, and with what
 * it throws away goes the compiled code of every function that is made anew for each document, to be compiled once more.
 */
const GROWN_PERCENT = 300;

/** When it is not known whose document broke the thread, every poll under way is tried once more, on the next one. */
const MAX_ATTEMPTS = 2;

/**
 * Collects on a thread of its own, since parsing some tens of megabytes would stop every scrape meanwhile. When a document
 * breaks the thread's memory limit, that poll fails, the thread is replaced and every other poll goes on.
 */
export function startThreadCollector(maxHeapMb: number, userAgent: string): Collector {
  const pending = new Map<number, Pending>();
  const rest = createRest();
  let lastId = 0;
  let closed = false;
  letMainGoFirst();
  let worker = startWorker();

  function startWorker(): Worker {
    const young = Math.min(YOUNG_GENERATION_MB, Math.max(LEAST_YOUNG_GENERATION_MB, maxHeapMb * YOUNG_SHARE_OF_HEAP));
    fitCollectorFor(young, Math.min(LEAST_COLLECTED_MB, maxHeapMb * LEAST_COLLECTED_SHARE_OF_HEAP));
    const started = new Worker(new URL('./worker.js', import.meta.url), {
      workerData: { userAgent } satisfies WorkerOptions,
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMb, maxYoungGenerationSizeMb: young },
    });
    let ready = false;
    let fault: Error | undefined;
    started.on('message', (message: WorkerMessage) => {
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

  function receive(message: Exclude<WorkerMessage, { ready: true }>): void {
    const entry = pending.get(message.id);
    if (entry === undefined) return;
    if ('reading' in message) {
      entry.reading = true;
      return;
    }
    end(message.id, entry, message.outcome);
  }

  function end(id: number, entry: Pending, outcome: PollResult): void {
    pending.delete(id);
    entry.settle(outcome);
    rest.workEnds();
  }

  function replace(fault: Error | undefined): void {
    worker = startWorker();
    const isCulpritKnown = [...pending.values()].some(({ reading }) => reading);
    for (const [id, entry] of pending) {
      if (!isCulpritKnown) entry.attempts += 1;
      if (entry.reading || entry.attempts > MAX_ATTEMPTS) {
        end(id, entry, { result: { ok: false, error: brokenBy(fault, entry.reading, maxHeapMb) }, seconds: {} });
      } else {
        post(id, entry);
      }
    }
  }

  function post(id: number, { job }: Pending): void {
    worker.postMessage({ id, job } satisfies WorkerRequest);
  }

  return {
    collect: (job) =>
      new Promise((settle) => {
        const entry: Pending = { job, settle, reading: false, attempts: 1 };
        lastId += 1;
        rest.workBegins();
        pending.set(lastId, entry);
        post(lastId, entry);
      }),
    close: async () => {
      closed = true;
      rest.close();
      await worker.terminate();
    },
  };
}

/**
 * V8 starts with little memory for what is new, and then makes rows among what is old, because they live as long as their document:
 * from there they are only collected together with everything else, which it otherwise does at each large document. All this makes a
 * poll of 10 MB take half as long again. It is said to V8 as a whole: of what runs already only the growth
 * changes, and the main thread gives that back at rest.
 */
function fitCollectorFor(youngMb: number, leastCollectedMb: number): void {
  setFlagsFromString(`--min-semi-space-size=${Math.floor(youngMb / SEMI_SPACES)}`);
  setFlagsFromString(`--initial-heap-size=${Math.floor(leastCollectedMb)}`);
  setFlagsFromString('--no-allocation-site-pretenuring');
  setFlagsFromString(`--heap-growing-percent=${GROWN_PERCENT}`);
}

function brokenBy(fault: Error | undefined, isReading: boolean, maxHeapMb: number): PollError {
  if (isReading && fault !== undefined && 'code' in fault && fault.code === 'ERR_WORKER_OUT_OF_MEMORY') {
    return { reason: 'too_large', message: `reading the document took more than ${maxHeapMb} MiB of memory` };
  }
  return { reason: 'internal', message: `the collect thread ended: ${fault?.message ?? 'without an error'}` };
}
