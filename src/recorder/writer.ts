import { mkdir } from 'node:fs/promises';
import type { Logger } from 'pino';
import type { Instant } from '../clock.js';
import type { RecorderSettings } from '../config/config.js';
import { formatSize } from '../config/units.js';
import { createQueue } from '../queue.js';
import { fileErrorText } from '../text/system-error.js';
import { openDirectory, type RecordingDirectory } from './directory.js';
import type { RecordingHeader } from './recording-file.js';

/* Writes recorded polls one after the other: a slow disk delays neither a poll nor a scrape, and occupies one thread of Node.js. */

/** Numbers of polls since the start of the process, which all its writers count. */
export interface WriterCounts {
  recorded: number;
  failed: number;
}

export interface WriterStatus extends Readonly<WriterCounts> {
  /** The size of all recordings; `undefined` before they were added up. */
  readonly bytes: number | undefined;
  /** Why recording fails; `undefined` if the last attempt succeeded. */
  readonly failure: { readonly since: Instant; readonly message: string } | undefined;
}

export interface RecordingWriter {
  /** Writes a poll when those before are written. What fails is counted, and logged once for a series of failures. */
  readonly record: (header: RecordingHeader, body: Uint8Array) => void;
  readonly status: () => WriterStatus;
  /** Resolves when all that is waiting is written. */
  readonly close: () => Promise<void>;
}

export type WriterSettings = Pick<RecorderSettings, 'max_size'> & { readonly directory: string };

/** Bodies that wait for the disk take memory. A larger one is accepted when it is the only one. */
const MAX_WAITING_BYTES = 64 * 2 ** 20;
const MAX_WAITING = 1000;

/** Writes after the writer of the same directory before, whose files it would not know. */
export function startWriter(
  { directory: root, max_size: maxBytes }: WriterSettings,
  log: Pick<Logger, 'info' | 'warn'>,
  now: () => Instant,
  counts: WriterCounts,
  closedBefore: Promise<unknown> = Promise.resolve(),
): RecordingWriter {
  const enqueue = createQueue();
  let status: Pick<WriterStatus, 'bytes' | 'failure'> = { bytes: undefined, failure: undefined };
  let waiting = 0;
  let waitingBytes = 0;
  let directory: RecordingDirectory | undefined;

  function fail(message: string, polls: number): void {
    if (status.failure === undefined) log.warn(`polls cannot be recorded: ${message}`);
    const since = status.failure?.since ?? now();
    counts.failed += polls;
    status = { ...status, failure: { since, message } };
  }

  /** The directory is opened again after a failure: another volume may be mounted there. */
  async function attempt(polls: number, action: (opened: RecordingDirectory) => Promise<void>): Promise<void> {
    try {
      directory ??= await openDirectory(root, maxBytes);
      await action(directory);
      if (status.failure !== undefined) log.info('polls are recorded again');
      counts.recorded += polls;
      status = { bytes: directory.bytes(), failure: undefined };
    } catch (error) {
      directory = undefined;
      fail(fileErrorText(error), polls);
    }
  }

  void enqueue(async () => {
    await closedBefore;
    // Only once: when the directory disappears later, it may be a volume that is not mounted. Opening it fails with the same reason.
    await mkdir(root, { recursive: true }).catch(() => undefined);
    await attempt(0, async () => undefined);
  });

  return {
    record: (header, body) => {
      if (waiting > 0 && (waiting >= MAX_WAITING || waitingBytes + body.length > MAX_WAITING_BYTES)) {
        fail(`the disk is too slow: ${waiting} responses of ${formatSize(waitingBytes)} wait to be written`, 1);
        return;
      }
      waiting += 1;
      waitingBytes += body.length;
      void enqueue(async () => {
        await attempt(1, async (opened) => opened.write(header, body));
        waiting -= 1;
        waitingBytes -= body.length;
      });
    },
    status: () => ({ ...counts, ...status }),
    close: async () => enqueue(async () => undefined),
  };
}
