import type { Worker } from 'node:worker_threads';
import type { BufferedBody } from '../http/body.js';
import { failure, type Failure } from '../http/failure-reasons.js';
import { startWorker } from '../program-files.js';
import type { DecodedOf, Decoder, DecodeTask } from './decode.js';

export interface DecoderRequest {
  readonly task: DecodeTask;
  readonly memory: ArrayBuffer;
  /** Number of bytes of the body in the memory. */
  readonly length: number;
}

export type DecoderMessage = 'ready' | { readonly decoded: DecodedOf<DecodeTask>; readonly memory: ArrayBuffer };

/** With V8's default of 48 MB, 40 targets of 1 MB every 2 s take 242 instead of 216 MiB; a poll of 10 MB takes 10 % less time. */
const YOUNG_GENERATION_MB = 12;

interface QueuedBody {
  readonly task: DecodeTask;
  readonly body: BufferedBody;
  readonly resolve: (decoded: DecodedOf<DecodeTask>) => void;
}

/**
 * Decodes on a worker thread, because decoding a document of some megabytes would delay every scrape on the main thread. Bodies are
 * decoded one at a time, so the one that exhausts the heap of the thread is known: its poll fails, and the thread is replaced.
 */
export function startDecoderThread(maxHeapMb: number): Decoder {
  /** The first one is being decoded. */
  const queue: QueuedBody[] = [];
  let isClosed = false;
  let worker = startThread();

  function startThread(): Worker {
    const started = startWorker(new URL('./decoder-worker.js', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMb, maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    });
    let isReady = false;
    let cause: Error | undefined;
    started.on('message', (message: DecoderMessage) => {
      if (message === 'ready') isReady = true;
      else endFirst(message.decoded, message.memory);
    });
    started.on('error', (error) => {
      cause = error;
    });
    started.on('exit', () => {
      if (isClosed) return;
      // Without this check, a thread that cannot start would be replaced forever.
      if (!isReady) throw cause ?? new Error('the worker thread does not start');
      worker = startThread();
      const [first] = queue;
      if (first !== undefined)
        endFirst({ outcome: threadFailure(cause, first.task.source, maxHeapMb), phaseSeconds: {} }, undefined);
    });
    return started;
  }

  function sendFirst(): void {
    const [first] = queue;
    if (first === undefined) return;
    const { buffer: memory, length } = first.body.bytes;
    // Transferred and not copied: a copy of a large body takes as much memory again.
    worker.postMessage({ task: first.task, memory, length } satisfies DecoderRequest, [memory]);
  }

  function endFirst(decoded: DecodedOf<DecodeTask>, memory: ArrayBuffer | undefined): void {
    const ended = queue.shift();
    sendFirst();
    ended?.body.release(memory);
    ended?.resolve(decoded);
  }

  return {
    decode: (task, body) =>
      new Promise((resolve) => {
        // TypeScript does not relate the type of the result to that of the task.
        queue.push({ task, body, resolve: resolve as QueuedBody['resolve'] });
        if (queue.length === 1) sendFirst();
      }),
    close: async () => {
      isClosed = true;
      await worker.terminate();
    },
  };
}

function threadFailure(cause: Error | undefined, source: string, maxHeapMb: number): Failure {
  const isOutOfMemory = cause !== undefined && 'code' in cause && cause.code === 'ERR_WORKER_OUT_OF_MEMORY';
  return isOutOfMemory
    ? failure('too_large', `${source}: reading the document needs more than ${maxHeapMb} MiB of memory`)
    : failure('internal', `${source}: worker thread ended: ${cause?.message ?? 'without an error'}`);
}
