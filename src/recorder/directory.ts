import { mkdir, readdir, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join, parse, relative, resolve } from 'node:path';
import { writeAtomically } from '../atomic-write.js';
import { documentNames } from '../documents.js';
import { compress } from '../gzip.js';
import { errorCode } from '../text/system-error.js';
import { MINUTE_MS, formatSize } from '../units.js';
import {
  encodeRecording,
  fileAt,
  pathOf,
  queriesPathOf,
  type RecordedFile,
  type RecordingHeader,
} from './recording-file.js';

export interface RecordingDirectory {
  /**
   * Writes a poll with the answers to queries before it, and deletes the oldest files above the limit. Rejects if the poll is not recorded. Calls must
   * not overlap.
   */
  readonly write: (header: RecordingHeader, body: Uint8Array, queryLines?: string) => Promise<void>;
  /** The size of all recorded polls. */
  readonly bytes: () => number;
}

/** Adds up the recorded polls. Rejects if the directory cannot be used. */
export async function openDirectory(
  root: string,
  maxBytes: number,
  { sync = true }: { readonly sync?: boolean } = {},
): Promise<RecordingDirectory> {
  const paths = await pathsIn(root);
  await removeAbandoned(root, paths);
  /** The sizes of the files by path, oldest first. */
  const sizes = new Map(
    await Promise.all(
      sortedFiles(paths).map(async ({ path }) => [path, (await statIfThere(join(root, path)))?.size ?? 0] as const),
    ),
  );
  let totalBytes = Array.from(sizes.values()).reduce((sum, bytes) => sum + bytes, 0);

  function forget(path: string): void {
    totalBytes -= sizes.get(path) ?? 0;
    sizes.delete(path);
  }

  /** Deletes the oldest files until there is space, and days without files. */
  async function makeSpace(neededBytes: number): Promise<void> {
    if (neededBytes > maxBytes) {
      throw new Error(
        `a response of ${formatSize(neededBytes)} is larger than ${formatSize(maxBytes)} (recorder.max_size)`,
      );
    }
    for (const path of sizes.keys()) {
      if (totalBytes + neededBytes <= maxBytes) return;
      // oxlint-disable-next-line no-await-in-loop -- one file after the other, until there is space
      await rm(join(root, path), { force: true });
      forget(path);
      // oxlint-disable-next-line no-await-in-loop -- as above; a directory with other files stays
      await rmdir(dirname(join(root, path))).catch(() => undefined);
    }
  }

  async function writeFile(path: string, data: string | Uint8Array): Promise<void> {
    const content = await compress(data);
    await makeSpace(content.length);
    await makeFolders(root, dirname(path));
    await writeAtomically(join(root, path), content, { sync });
    forget(path);
    sizes.set(path, content.length);
    totalBytes += content.length;
  }

  return {
    bytes: () => totalBytes,
    write: async (header, body, queryLines = '') => {
      if (queryLines !== '') await writeFile(queriesPathOf(header), queryLines);
      await writeFile(pathOf(header), encodeRecording(header, body));
    },
  };
}

/** Makes the directory of a recording. The recursive `mkdir` of Node.js never ends in file systems such as /proc. */
export async function makeDirectory(path: string): Promise<void> {
  const absolute = resolve(path);
  const { root } = parse(absolute);
  await makeFolders(root, relative(root, absolute));
}

/** Makes folders in `root`, one by one: a removed `root` is not created again, because it may be a volume that is not mounted. */
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
  return sortedFiles(await pathsIn(root));
}

function sortedFiles(paths: readonly string[]): RecordedFile[] {
  const rankOf = ({ document }: RecordedFile): number => documentNames.indexOf(document);
  // At the same time, the module state precedes the contract that is compared with it.
  return paths
    .flatMap((path) => fileAt(path) ?? [])
    .toSorted((a, b) => a.timeMs - b.timeMs || a.target.localeCompare(b.target) || rankOf(a) - rankOf(b));
}

/** The paths of all files below a directory. Symbolic links are not followed, because files elsewhere must not be deleted. */
async function pathsIn(root: string): Promise<string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  return entries.flatMap((entry) => (entry.isFile() ? relative(root, join(entry.parentPath, entry.name)) : []));
}

/** `undefined` for a file that another process has deleted meanwhile. */
async function statIfThere(path: string) {
  try {
    return await stat(path);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Another process may be writing a younger file. */
const ABANDONED_MS = 10 * MINUTE_MS;

/** Deletes the incomplete files of processes that were killed. */
async function removeAbandoned(root: string, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const [, directory, name] = /^(.*\/)\.([^/]+)\.tmp$/.exec(path) ?? [];
    if (directory === undefined || fileAt(`${directory}${name}`) === undefined) continue;
    // oxlint-disable-next-line no-await-in-loop -- a few files, once
    const stats = await statIfThere(join(root, path));
    const isAbandoned = stats !== undefined && Date.now() - stats.mtimeMs > ABANDONED_MS;
    // oxlint-disable-next-line no-await-in-loop -- as above
    if (isAbandoned) await rm(join(root, path), { force: true });
  }
}
