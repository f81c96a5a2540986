import { mkdir, readdir, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join, parse, relative, resolve } from 'node:path';
import { documentNames } from '../document-types.js';
import { compress, writeAtomically } from '../files.js';
import { errorCode } from '../text/error-text.js';
import { formatSize } from '../units.js';
import {
  encodeRecording,
  fileAt,
  readHour,
  formatPath,
  type RecordedFile,
  type RecordingHeader,
} from './recording-file.js';

export interface RecordingDirectory {
  /**
   * Writes a poll, and before it deletes the oldest hours above the limit. Rejects if the poll is not recorded. Calls
   * must not overlap.
   */
  readonly write: (header: RecordingHeader, body: Uint8Array, maxBytes: number) => Promise<void>;
  /** The size of all recorded polls. */
  readonly bytes: () => number;
}

/** Adds up the recorded polls. Rejects if the directory cannot be used. */
export async function openDirectory(root: string): Promise<RecordingDirectory> {
  /** The bytes of each hour. */
  const hours = new Map<string, number>();
  const add = (path: string, bytes: number): void => {
    const hour = readHour(path);
    if (hour !== undefined) hours.set(hour, (hours.get(hour) ?? 0) + bytes);
  };
  const bytesUsed = (): number => Array.from(hours.values()).reduce((sum, bytes) => sum + bytes, 0);
  // Another process may have deleted a file meanwhile.
  const readSize = async (path: string): Promise<number> =>
    (await stat(join(root, path)).catch(() => undefined))?.size ?? 0;
  await Promise.all((await pathsIn(root)).map(async (path) => add(path, await readSize(path))));

  /** Deletes the oldest hours until there is space, and days without files. */
  async function makeSpace(neededBytes: number, maxBytes: number): Promise<void> {
    if (neededBytes > maxBytes) {
      const [size, limit] = [formatSize(neededBytes), formatSize(maxBytes)];
      throw new Error(`a response of ${size} is larger than ${limit} (recorder.max_size)`);
    }
    const oldest = new Set<string | undefined>();
    let bytes = bytesUsed() + neededBytes;
    for (const hour of Array.from(hours.keys()).toSorted()) {
      if (bytes <= maxBytes) break;
      oldest.add(hour);
      bytes -= hours.get(hour) ?? 0;
    }
    if (oldest.size === 0) return;
    for (const path of await pathsIn(root)) {
      if (!oldest.has(readHour(path))) continue;
      // oxlint-disable-next-line no-await-in-loop -- one file after the other, beside polls
      await rm(join(root, path), { force: true });
      // oxlint-disable-next-line no-await-in-loop -- as above; a directory with other files stays
      await rmdir(dirname(join(root, path))).catch(() => undefined);
    }
    for (const hour of oldest) if (hour !== undefined) hours.delete(hour);
  }

  return {
    bytes: bytesUsed,
    write: async (header, body, maxBytes) => {
      const content = await compress(encodeRecording(header, body));
      await makeSpace(content.length, maxBytes);
      const path = formatPath(header);
      await makeFolders(root, dirname(path));
      await writeAtomically(join(root, path), content);
      add(path, content.length);
    },
  };
}

/**
 * Makes a directory, with those above it. The recursive `mkdir` of Node.js never ends in file systems such as /proc.
 */
export async function makeDirectory(path: string): Promise<void> {
  const absolute = resolve(path);
  const { root } = parse(absolute);
  await makeFolders(root, relative(root, absolute));
}

/**
 * Makes folders in `root`, one by one: a removed `root` is not created again, because it may be a volume that is not
 * mounted.
 */
async function makeFolders(root: string, path: string): Promise<void> {
  const names = path.split('/');
  for (const depth of names.keys()) {
    try {
      // oxlint-disable-next-line no-await-in-loop -- each is in the one before
      await mkdir(join(root, ...names.slice(0, depth + 1)));
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
    }
  }
}

/** The recorded polls in a directory, in the order of time, without other files. */
export async function recordedFiles(root: string): Promise<RecordedFile[]> {
  const rankFile = ({ document }: RecordedFile): number => documentNames.indexOf(document);
  // At the same time, the module state precedes the contract that is compared with it.
  return (await pathsIn(root))
    .flatMap((path) => fileAt(path) ?? [])
    .toSorted((a, b) => a.timeMs - b.timeMs || a.target.localeCompare(b.target) || rankFile(a) - rankFile(b));
}

/**
 * The paths of all files below a directory. Symbolic links are not followed, because files elsewhere must not be
 * deleted.
 */
async function pathsIn(root: string): Promise<string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  return entries.flatMap((entry) => (entry.isFile() ? relative(root, join(entry.parentPath, entry.name)) : []));
}
