import { mkdir, open, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { formatSize } from '../config/units.js';
import { compress } from '../gzip.js';
import {
  directoryName,
  encodeRecording,
  fileNameOf,
  isDay,
  TEMPORARY_SUFFIX,
  timeOf,
  type RecordingHeader,
} from './recording-file.js';

export interface RecordingDirectory {
  /** Writes a poll and deletes the oldest ones above the limit. Rejects if the poll is not recorded. The next call waits for the one before. */
  readonly write: (header: RecordingHeader, body: Uint8Array) => Promise<void>;
  /** The size of all recorded polls. */
  readonly bytes: () => number;
}

/** Left by a process that was killed while it wrote. A younger one may be of another process. */
const ABANDONED_MS = 10 * 60_000;

interface StoredFile {
  readonly path: string;
  readonly timeMs: number;
  readonly bytes: number;
}

/** Adds up what is in the directory. Rejects if it cannot be used. */
export async function openDirectory(
  root: string,
  maxBytes: number,
  { sync = true }: { readonly sync?: boolean } = {},
): Promise<RecordingDirectory> {
  await removeAbandoned(root);
  let totalBytes = await sizeOf(root);
  /** The files of the oldest day, oldest last. */
  let oldest: StoredFile[] = [];

  /** Deletes the oldest files until there is space. */
  async function makeSpace(neededBytes: number): Promise<void> {
    if (neededBytes > maxBytes) {
      throw new Error(
        `a response of ${formatSize(neededBytes)} is larger than ${formatSize(maxBytes)} (recorder.max_size)`,
      );
    }
    /* oxlint-disable no-await-in-loop -- one file after the other, until there is space */
    while (totalBytes + neededBytes > maxBytes) {
      if (oldest.length === 0) {
        // Others may have deleted files meanwhile.
        totalBytes = await sizeOf(root);
        oldest = await oldestDay(root);
      }
      const file = oldest.pop();
      if (file === undefined || totalBytes + neededBytes <= maxBytes) return;
      await rm(file.path, { force: true });
      totalBytes = Math.max(0, totalBytes - file.bytes);
      if (oldest.length === 0) await removeIfEmpty(dirname(file.path));
    }
    /* oxlint-enable no-await-in-loop */
  }

  return {
    bytes: () => totalBytes,
    write: async (header, body) => {
      const content = await compress(encodeRecording(header, body));
      await makeSpace(content.length);
      const { day, name } = fileNameOf(header.time);
      const directory = join(root, directoryName(header.target), directoryName(header.document), day);
      // A removed directory is not created again: it may be a volume that is not mounted.
      await stat(root);
      await mkdir(directory, { recursive: true });
      await writeWhole(directory, name, content, sync);
      totalBytes += content.length;
    },
  };
}

/** A file with the final name is complete, also after a crash of the process or of the machine. */
async function writeWhole(directory: string, name: string, content: Uint8Array, sync: boolean): Promise<void> {
  const temporary = join(directory, `.${name}${TEMPORARY_SUFFIX}`);
  try {
    const file = await open(temporary, 'w');
    try {
      await file.writeFile(content);
      if (sync) await file.datasync();
    } finally {
      await file.close();
    }
    await rename(temporary, join(directory, name));
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** The names of the directories in a directory. Symbolic links are not followed: what they lead to is not ours to delete. */
export async function directoriesIn(path: string): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true });
  return entries
    .flatMap((entry) => (entry.isDirectory() && !entry.name.startsWith('.') ? [entry.name] : []))
    .toSorted();
}

async function directoriesInAll(paths: readonly string[]): Promise<string[]> {
  const found = paths.map(async (path) => (await directoriesIn(path)).map((name) => join(path, name)));
  return (await Promise.all(found)).flat();
}

/** The directories of all days of all endpoints. */
async function daysOf(root: string): Promise<string[]> {
  const days = await directoriesInAll(await directoriesInAll(await directoriesInAll([root])));
  return days.filter((path) => isDay(basename(path)));
}

/** The recorded polls of a day. Other files are neither counted nor deleted. */
async function filesOf(directory: string): Promise<StoredFile[]> {
  const files = (await readdir(directory)).map(async (name): Promise<StoredFile[]> => {
    const timeMs = timeOf(basename(directory), name);
    if (timeMs === undefined) return [];
    const path = join(directory, name);
    const stats = await statIfThere(path);
    return stats?.isFile() ? [{ path, timeMs, bytes: stats.size }] : [];
  });
  return (await Promise.all(files)).flat();
}

async function filesOfAll(directories: readonly string[]): Promise<StoredFile[]> {
  return (await Promise.all(directories.map(filesOf))).flat();
}

/** `undefined` for a file that another process has deleted meanwhile. */
async function statIfThere(path: string) {
  try {
    return await stat(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** The files of the oldest day that has some, oldest last. */
async function oldestDay(root: string): Promise<StoredFile[]> {
  const days = (await daysOf(root)).toSorted((a, b) => (basename(a) < basename(b) ? -1 : 1));
  for (const path of days) {
    // oxlint-disable-next-line no-await-in-loop -- usually the first one has files
    const files = await filesOfAll(days.filter((other) => basename(other) === basename(path)));
    if (files.length > 0) return files.toSorted((a, b) => b.timeMs - a.timeMs);
    // oxlint-disable-next-line no-await-in-loop -- as above
    await removeIfEmpty(path);
  }
  return [];
}

async function sizeOf(root: string): Promise<number> {
  const files = await filesOfAll(await daysOf(root));
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}

async function removeAbandoned(root: string): Promise<void> {
  for (const directory of await daysOf(root)) {
    // oxlint-disable-next-line no-await-in-loop -- a few directories, once
    for (const name of await readdir(directory)) {
      if (!name.startsWith('.') || !name.endsWith(TEMPORARY_SUFFIX)) continue;
      if (timeOf(basename(directory), name.slice(1, -TEMPORARY_SUFFIX.length)) === undefined) continue;
      const path = join(directory, name);
      // oxlint-disable-next-line no-await-in-loop -- as above
      const stats = await statIfThere(path);
      // oxlint-disable-next-line no-await-in-loop -- as above
      if (stats !== undefined && Date.now() - stats.mtimeMs > ABANDONED_MS) await rm(path, { force: true });
    }
  }
}

/** A directory with other files stays. */
async function removeIfEmpty(directory: string): Promise<void> {
  if ((await readdir(directory)).length === 0) await rmdir(directory);
}
