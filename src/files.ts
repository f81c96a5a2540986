import { rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Logger } from 'pino';
import { createQueue, withinMs } from './tasks.js';
import { fileErrorText } from './text/error-text.js';
import { formatDuration } from './units.js';

/* Files that are written as a whole, and that are compressed, on a disk that may be slow or fail. */

/** Replaces a file as a whole: at any time, also after a crash of the machine, it has the old or the new content. */
export async function writeAtomically(
  path: string,
  content: string | Uint8Array,
  { mode }: { readonly mode?: number } = {},
): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.tmp`);
  // A process that was killed may have left it, with another mode.
  await rm(temporary, { force: true });
  try {
    await writeFile(temporary, content, { flag: 'wx', mode, flush: true });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
}

const gzipData = promisify(gzip);

/** Higher levels than 1 take several times as long, and save a tenth. */
export async function compress(data: string | Uint8Array): Promise<Buffer> {
  return gzipData(data, { level: 1 });
}

const CLOSE_MS = 3_000;

/** What the log says when tasks begin to fail, and when one succeeds again. */
interface DiskTexts {
  readonly failing: string;
  readonly succeeding: string;
}

/**
 * Runs tasks one after the other, so that a slow disk delays nothing else and occupies one thread of Node.js. A disk that
 * has not responded for `slowMs` has failed.
 */
export function createDisk(log: Pick<Logger, 'info' | 'warn'>, slowMs: number, { failing, succeeding }: DiskTexts) {
  const enqueue = createQueue();
  let failure: string | undefined;

  function fail(message: string): void {
    if (failure === undefined) log.warn(`${failing}: ${message}`);
    failure = message;
  }

  async function runNow(task: () => Promise<void>): Promise<boolean> {
    const timer = setInterval(() => fail(`the disk has not responded for ${formatDuration(slowMs)}`), slowMs);
    try {
      await task();
      if (failure !== undefined) log.info(succeeding);
      failure = undefined;
      return true;
    } catch (error) {
      fail(fileErrorText(error));
      return false;
    } finally {
      clearInterval(timer);
    }
  }

  return {
    /** Resolves with whether the task has succeeded. */
    run: async (task: () => Promise<void>): Promise<boolean> => enqueue(async () => runNow(task)),
    fail,
    /** Why the last task has failed; `undefined` when it has not. */
    failure: () => failure,
    /** Resolves when the tasks have ended, or after a few seconds. */
    close: async (): Promise<void> =>
      withinMs(
        CLOSE_MS,
        enqueue(async () => undefined),
      ),
  };
}
