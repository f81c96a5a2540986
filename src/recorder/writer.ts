import { mkdir } from 'node:fs/promises';
import { createQueue, withinMs } from '../queue.js';
import { formatSize } from '../config/units.js';
import { openDirectory, type RecordingDirectory } from './directory.js';
import type { RecordingHeader } from './recording-file.js';
import { fileErrorText } from '../text/system-error.js';

/* Writes recorded polls one after the other: a slow disk delays neither a poll nor a scrape, and occupies one thread of Node.js. */

/** The size of all recordings, or why it failed; sent after the start and after every poll. */
export type WriterReply = { readonly bytes: number } | { readonly problem: string };

export interface RecordingWriter {
  /** Returns why the poll cannot be recorded, or `undefined`; what fails later is reported as a reply. */
  readonly record: (header: RecordingHeader, body: Uint8Array) => string | undefined;
  /** Writes what is waiting, for a few seconds. */
  readonly close: () => Promise<void>;
}

export interface WriterOptions {
  readonly directory: string;
  readonly maxBytes: number;
  readonly onReply: (reply: WriterReply, isStart: boolean) => void;
}

/** Bodies that wait for the disk take memory. A larger one is accepted when it is the only one. */
const MAX_WAITING_BYTES = 64 * 2 ** 20;
const MAX_WAITING = 1000;

const CLOSE_MS = 3_000;

export function startWriter({ directory: root, maxBytes, onReply }: WriterOptions): RecordingWriter {
  const enqueue = createQueue();
  let waiting = 0;
  let waitingBytes = 0;
  let isClosed = false;
  let directory: RecordingDirectory | undefined;

  /** The directory is opened again after a failure: another volume may be mounted there. */
  async function attempt(action: (opened: RecordingDirectory) => Promise<void>, isStart: boolean): Promise<void> {
    if (isClosed) return;
    let reply: WriterReply;
    try {
      directory ??= await openDirectory(root, maxBytes);
      await action(directory);
      reply = { bytes: directory.bytes() };
    } catch (error) {
      directory = undefined;
      reply = { problem: fileErrorText(error) };
    }
    onReply(reply, isStart);
  }

  void enqueue(async () => {
    // Only once: when the directory disappears later, it may be a volume that is not mounted. Opening it fails with the same reason.
    await mkdir(root, { recursive: true }).catch(() => undefined);
    await attempt(async () => undefined, true);
  });

  return {
    record: (header, body) => {
      if (waiting > 0 && (waiting >= MAX_WAITING || waitingBytes + body.length > MAX_WAITING_BYTES)) {
        return `the disk is too slow: ${waiting} responses of ${formatSize(waitingBytes)} wait to be written`;
      }
      waiting += 1;
      waitingBytes += body.length;
      void enqueue(async () => {
        await attempt(async (opened) => opened.write(header, body), false);
        waiting -= 1;
        waitingBytes -= body.length;
      });
      return undefined;
    },
    close: async () => {
      await withinMs(
        CLOSE_MS,
        enqueue(async () => undefined),
      );
      isClosed = true;
    },
  };
}
