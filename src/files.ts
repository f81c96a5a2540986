import { readFileSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { getAsset, isSea } from 'node:sea';
import { promisify } from 'node:util';
import { Worker, type WorkerOptions } from 'node:worker_threads';
import { gzip } from 'node:zlib';

/* Files that are written as a whole, that are compressed, and that are installed with the program. */

interface WriteOptions {
  readonly mode?: number;
  /** Whether the file survives a crash of the machine. */
  readonly sync?: boolean;
}

/** Replaces a file as a whole: at any time, also after a crash of the process, it has the old or the new content. */
export async function writeAtomically(
  path: string,
  content: string | Uint8Array,
  { mode, sync = true }: WriteOptions = {},
): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.tmp`);
  // A process that was killed may have left it, with another mode.
  await rm(temporary, { force: true });
  try {
    await writeFile(temporary, content, { flag: 'wx', mode, flush: sync });
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

/**
 * A file that is installed with the program. A single executable has it as an asset, by its name without the folder.
 */
export function readProgramFile(url: URL): string {
  return isSea() ? getAsset(basename(url.pathname), 'utf8') : readFileSync(url, 'utf8');
}

/** A thread from a file that is installed with the program; of a single executable, from its text. */
export function startWorker(url: URL, options: WorkerOptions = {}): Worker {
  return isSea() ? new Worker(readProgramFile(url), { ...options, eval: true }) : new Worker(url, options);
}
