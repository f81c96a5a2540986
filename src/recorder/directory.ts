import {
  closeSync,
  fdatasyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { formatSize } from '../settings/units.js';
import {
  directoryName,
  encodeRecording,
  fileNameOf,
  isDay,
  TEMPORARY_SUFFIX,
  timeOf,
  type RecordingHeader,
} from './recording-file.js';

/*
 * The directory of the recordings. Calls block, because they are made on a thread of their own: asynchronous ones of a slow disk
 * would occupy the threads that the rest of the process shares.
 */

export interface RecordingDirectory {
  /** Writes a poll and deletes the oldest ones above the limit. Throws if the poll is not recorded. */
  readonly write: (header: RecordingHeader, body: Uint8Array) => void;
  /** The size of all recorded polls. */
  readonly bytes: () => number;
}

/** Higher levels take several times as long, and save a tenth. */
const GZIP_LEVEL = 1;

/** Left by a process that was killed while it wrote. A younger one may be of another process. */
const ABANDONED_MS = 10 * 60_000;

interface StoredFile {
  readonly path: string;
  readonly timeMs: number;
  readonly bytes: number;
}

/** Adds up what is in the directory. Throws if it cannot be used. */
export function openDirectory(
  root: string,
  maxBytes: number,
  { sync = true }: { readonly sync?: boolean } = {},
): RecordingDirectory {
  removeAbandoned(root);
  let totalBytes = sizeOf(root);
  /** The files of the oldest day, oldest last. */
  let oldest: StoredFile[] = [];

  /** Deletes the oldest files until there is space. */
  function makeSpace(neededBytes: number): void {
    if (neededBytes > maxBytes) {
      throw new Error(
        `a response of ${formatSize(neededBytes)} is larger than ${formatSize(maxBytes)} (recorder.max_size)`,
      );
    }
    while (totalBytes + neededBytes > maxBytes) {
      if (oldest.length === 0) {
        // Others may have deleted files meanwhile.
        totalBytes = sizeOf(root);
        oldest = oldestDay(root);
      }
      const file = oldest.pop();
      if (file === undefined || totalBytes + neededBytes <= maxBytes) return;
      rmSync(file.path, { force: true });
      totalBytes = Math.max(0, totalBytes - file.bytes);
      if (oldest.length === 0) removeIfEmpty(dirname(file.path));
    }
  }

  return {
    bytes: () => totalBytes,
    write: (header, body) => {
      // A removed directory is not created again: it may be a volume that is not mounted.
      statSync(root);
      const content = gzipSync(encodeRecording(header, body), { level: GZIP_LEVEL });
      makeSpace(content.length);
      const { day, name } = fileNameOf(header.time);
      const directory = join(root, directoryName(header.target), directoryName(header.document), day);
      mkdirSync(directory, { recursive: true });
      writeWhole(directory, name, content, sync);
      totalBytes += content.length;
    },
  };
}

/** A file with the final name is complete, also after a crash of the process or of the machine. */
function writeWhole(directory: string, name: string, content: Uint8Array, sync: boolean): void {
  const temporary = join(directory, `.${name}${TEMPORARY_SUFFIX}`);
  try {
    const file = openSync(temporary, 'w');
    try {
      for (let written = 0; written < content.length;) written += writeSync(file, content, written);
      if (sync) fdatasyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, join(directory, name));
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** The directories in a directory. Symbolic links are not followed: what they lead to is not ours to delete. */
function directoriesIn(path: string): string[] {
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    .map(({ name }) => join(path, name));
}

/** The directories of all days of all endpoints. */
function daysOf(root: string): string[] {
  return directoriesIn(root)
    .flatMap(directoriesIn)
    .flatMap(directoriesIn)
    .filter((path) => isDay(basename(path)));
}

/** The recorded polls of a day. Other files are neither counted nor deleted. */
function filesOf(directory: string): StoredFile[] {
  return readdirSync(directory).flatMap((name) => {
    const timeMs = timeOf(basename(directory), name);
    const path = join(directory, name);
    const stats = timeMs === undefined ? undefined : statSync(path, { throwIfNoEntry: false });
    return timeMs === undefined || !stats?.isFile() ? [] : [{ path, timeMs, bytes: stats.size }];
  });
}

/** The files of the oldest day that has some, oldest last. */
function oldestDay(root: string): StoredFile[] {
  const days = daysOf(root).toSorted((a, b) => (basename(a) < basename(b) ? -1 : 1));
  for (const path of days) {
    const files = days.filter((other) => basename(other) === basename(path)).flatMap(filesOf);
    if (files.length > 0) return files.toSorted((a, b) => b.timeMs - a.timeMs);
    removeIfEmpty(path);
  }
  return [];
}

function sizeOf(root: string): number {
  return daysOf(root)
    .flatMap(filesOf)
    .reduce((sum, { bytes }) => sum + bytes, 0);
}

function removeAbandoned(root: string): void {
  for (const directory of daysOf(root)) {
    for (const name of readdirSync(directory)) {
      if (!name.startsWith('.') || !name.endsWith(TEMPORARY_SUFFIX)) continue;
      if (timeOf(basename(directory), name.slice(1, -TEMPORARY_SUFFIX.length)) === undefined) continue;
      const path = join(directory, name);
      const stats = statSync(path, { throwIfNoEntry: false });
      if (stats !== undefined && Date.now() - stats.mtimeMs > ABANDONED_MS) rmSync(path, { force: true });
    }
  }
}

/** A directory with other files stays. */
function removeIfEmpty(directory: string): void {
  if (readdirSync(directory).length === 0) rmdirSync(directory);
}
