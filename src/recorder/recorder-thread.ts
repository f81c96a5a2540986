import type { Worker } from 'node:worker_threads';
import type { RecorderSettings } from '../config/config.js';
import { startWorker } from '../program-files.js';
import { formatSize } from '../settings/units.js';
import type { RecordingHeader } from './recording-file.js';

export interface RecorderWorkerData {
  readonly directory: string;
  readonly maxBytes: number;
}

export interface RecorderRequest {
  readonly header: RecordingHeader;
  /** Empty for a poll without a body. */
  readonly body: Uint8Array;
}

/** After the start, and after every request: the size of all recordings, or why the request failed. */
export type RecorderReply = { readonly bytes: number } | { readonly problem: string };

export interface RecorderThread {
  /** Takes a copy of the body. Returns why the poll cannot be recorded, or `undefined`; what fails later is reported as a reply. */
  readonly record: (header: RecordingHeader, body: Uint8Array) => string | undefined;
  /** Writes what is waiting, for a few seconds. */
  readonly close: () => Promise<void>;
}

interface ThreadEvents {
  readonly onReply: (reply: RecorderReply, isStart: boolean) => void;
}

/** Bodies that wait for the disk take memory. A larger one is accepted when it is the only one. */
const MAX_WAITING_BYTES = 64 * 2 ** 20;
const MAX_WAITING = 1000;

const CLOSE_MS = 3_000;

/** Records on a worker thread: a slow disk delays neither a poll nor a scrape. */
export function startRecorderThread(
  { directory, maxBytes }: RecorderWorkerData & Partial<RecorderSettings>,
  { onReply }: ThreadEvents,
): RecorderThread {
  /** Sizes of the requests without a reply; the first one is being written. */
  let waiting: number[] = [];
  let isClosed = false;
  let onIdle = (): void => undefined;
  let worker: Worker | undefined = startThread();

  function startThread(): Worker {
    const workerData: RecorderWorkerData = { directory, maxBytes };
    const started = startWorker(new URL('./recorder-worker.js', import.meta.url), { workerData });
    let isStarted = false;
    let cause: Error | undefined;
    started.on('message', (reply: RecorderReply) => {
      if (isStarted) waiting.shift();
      onReply(reply, !isStarted);
      isStarted = true;
      if (waiting.length === 0) onIdle();
    });
    started.on('error', (error) => {
      cause = error;
    });
    started.on('exit', () => {
      worker = undefined;
      if (isClosed) return;
      const lost = waiting;
      waiting = [];
      const problem = `the thread of the recorder ended: ${cause?.message ?? 'without an error'}`;
      lost.forEach(() => onReply({ problem }, false));
    });
    return started;
  }

  return {
    record: (header, body) => {
      const waitingBytes = waiting.reduce((sum, bytes) => sum + bytes, 0);
      if (waiting.length > 0 && (waiting.length >= MAX_WAITING || waitingBytes + body.length > MAX_WAITING_BYTES)) {
        return `the disk is too slow: ${waiting.length} responses of ${formatSize(waitingBytes)} wait to be written`;
      }
      worker ??= startThread();
      waiting.push(body.length);
      // The memory of the body is reused by the next poll.
      const copy = new Uint8Array(body);
      worker.postMessage({ header, body: copy } satisfies RecorderRequest, [copy.buffer]);
      return undefined;
    },
    close: async () => {
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        onIdle = resolve;
        timer = setTimeout(resolve, CLOSE_MS);
        if (waiting.length === 0) resolve();
      });
      clearTimeout(timer);
      isClosed = true;
      await worker?.terminate();
    },
  };
}
