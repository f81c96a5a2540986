import { mkdir, readdir, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import * as z from 'zod';
import { documentNames, type DocumentName } from '../document-types.js';
import { compress, writeAtomically } from '../files.js';
import { failureReasonNames } from '../http/failure-reasons.js';
import { tryParseJson } from '../text/error-text.js';
import { formatSize } from '../units.js';

/*
 * A recorded poll: `DIR/TARGET/DOCUMENT/YYYY-MM-DD/HHMMSS.mmmZ.json.gz`. The file is gzip of a header, which is a line
 * of JSON, and of the decoded response body. contributing/recordings.md describes the format, because other
 * programs can write such files too.
 */

export const FORMAT_VERSION = 1;

/** In UTC, such as 2026-01-02T03:04:05.678Z. */
const utcTime = z.iso.datetime();

/** The first line of a file. Unknown keys are ignored. */
const headerSchema = z
  .object(
    {
      version: z.literal(FORMAT_VERSION),
      target: z.string(),
      document: z.enum(documentNames),
      /** The end of the poll, with milliseconds, as in the name of the file. */
      time: utcTime,
      /** Hub height as in the response header, valid or not; absent without the header. */
      height: z.string().optional(),
      /** Absent for a contract, because the path may be an API key. */
      path: z.string().optional(),
      outcome: z.enum(['ok', ...failureReasonNames]),
      message: z.string().optional(),
      /** The call of a contract; the body has its result. */
      call: z.object({ to: z.string(), data: z.string(), block: z.string() }).readonly().optional(),
    },
    'is not a JSON object',
  )
  .readonly();

export type RecordingHeader = z.output<typeof headerSchema>;

export interface RecordedFile {
  readonly target: string;
  readonly document: DocumentName;
  /** The end of the poll, in milliseconds since 1970. */
  readonly timeMs: number;
  /** The path below the directory of the recording. */
  readonly path: string;
}

/** The path of a poll below the directory of the recording. */
export function formatPath({ target, document, time }: Pick<RecordingHeader, 'target' | 'document' | 'time'>): string {
  return [directoryName(target), document, time.slice(0, 10), `${time.slice(11).replaceAll(':', '')}.json.gz`].join(
    '/',
  );
}

/** A name with a dot at its beginning is that of an incomplete file, or of no recorded poll. */
const PATH = /^([^./][^/]*)\/([a-z_]+)\/(\d{4}-\d\d-\d\d)\/(\d\d)(\d\d)(\d\d\.\d{3}Z)\.json\.gz$/;

/**
 * The hour of a file, such as `2026-01-02/03`, also of an incomplete one; `undefined` if the path is not that of a
 * recorded poll.
 */
export function readHour(path: string): string | undefined {
  const [, , , day, hour] = PATH.exec(path.replace(/\/\.([^/]*)\.tmp$/, '/$1')) ?? [];
  return day && `${day}/${hour}`;
}

/** `undefined` if the path is not that of a recorded poll. */
export function fileAt(path: string): RecordedFile | undefined {
  const [, target = '', directory, day, hour, minute, second] = PATH.exec(path) ?? [];
  const document = documentNames.find((name) => name === directory);
  const time = `${day}T${hour}:${minute}:${second}`;
  const timeMs = Date.parse(time);
  if (document === undefined || Number.isNaN(timeMs) || new Date(timeMs).toISOString() !== time) return undefined;
  try {
    return { target: decodeURIComponent(target), document, timeMs, path };
  } catch {
    // Invalid percent-encoding.
    return undefined;
  }
}

/** The content of a file before compression. */
export function encodeRecording(header: RecordingHeader, body: Uint8Array = new Uint8Array()): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify(z.encode(headerSchema, header))}\n`), body]);
}

/** The body is empty for a poll without one. Throws if the content is not a recorded poll. */
export function decodeRecording(content: Buffer): { readonly header: RecordingHeader; readonly body: Buffer } {
  const end = content.indexOf('\n');
  if (end === -1) throw new Error('has no header line');
  const { data: header, error } = headerSchema.safeParse(tryParseJson(content.toString('utf8', 0, end)));
  const [issue] = error?.issues ?? [];
  if (header === undefined) throw new Error(`${['header', ...(issue?.path ?? [])].join('.')}: ${issue?.message}`);
  return { header, body: content.subarray(end + 1) };
}

/* The directory of recorded polls, which is bounded. */

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
      // A removed `root` is not created again, because it may be a volume that is not mounted.
      await stat(root);
      await mkdir(join(root, dirname(path)), { recursive: true });
      await writeAtomically(join(root, path), content);
      add(path, content.length);
    },
  };
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

/** A name of dots, such as `..`, would be another directory. */
function directoryName(targetName: string): string {
  return encodeURIComponent(targetName).replace(/^\.+/, (dots) => '%2E'.repeat(dots.length));
}
