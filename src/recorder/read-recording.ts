import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { count } from '../text/format.js';
import { fileErrorText, systemErrorText } from '../text/error-text.js';
import { DAY_MS } from '../units.js';
import { decodeRecording, recordedFiles, type RecordedFile, type RecordingHeader } from './directory.js';

/*
 * Reads the recorded polls of all endpoints in the order of time, a few files at a time, so that memory does not grow
 * with their number.
 */

export interface RecordedPoll extends RecordedFile {
  readonly header: RecordingHeader;
  /** Empty for a poll without a body. */
  readonly body: Buffer;
}

interface ReadOptions {
  /** The range in milliseconds since 1970, both ends included. */
  readonly fromMs: number;
  readonly toMs: number;
  /** By default all targets. */
  readonly target?: string | undefined;
  /** A larger body is not read. */
  readonly maxBodyBytes: number;
  /** Called for what cannot be read, and is left out. */
  readonly onProblem: (message: string) => void;
}

/** Files that are decompressed on the threads of Node.js while another file is decoded. */
const READ_AHEAD = 4;

const MAX_HEADER_BYTES = 64 * 1024;

/** The default of 16 KiB makes decompression of 1 MB 2.5 ms slower. */
const CHUNK_BYTES = 2 ** 19;

const decompress = promisify(gunzip);

/** Rejects if the directory cannot be listed. */
export async function* readRecording(root: string, options: ReadOptions): AsyncGenerator<RecordedPoll> {
  const { fromMs, toMs, target, maxBodyBytes, onProblem } = options;
  const recorded = await recordedFiles(root).catch((error: unknown) => {
    throw new Error(`${fileErrorText(error)} — expected a directory that the recorder has written`);
  });
  const selected = recorded.filter(
    (file) => file.timeMs >= fromMs && file.timeMs <= toMs && (target === undefined || file.target === target),
  );
  const files = withoutWrongClock(selected, onProblem);
  for await (const read of mapAhead(files, async (file) => readRecordedPoll(root, file, maxBodyBytes))) {
    if ('problem' in read) onProblem(read.problem);
    else yield read;
  }
}

const MAX_PAUSE_MS = 30 * DAY_MS;
/** A part with a smaller share of the polls of the longest part can be of a wrong clock. */
const MAX_WRONG_SHARE = 0.1;

/**
 * The files, without parts of few polls that are months apart from the others, as of a machine whose clock is set only
 * after its start: a problem in such a part would last for months.
 */
function withoutWrongClock(
  files: readonly RecordedFile[],
  onProblem: ReadOptions['onProblem'],
): readonly RecordedFile[] {
  const parts: RecordedFile[][] = [];
  for (const file of files) {
    const last = parts.at(-1);
    if (last === undefined || file.timeMs - (last.at(-1)?.timeMs ?? 0) > MAX_PAUSE_MS) parts.push([file]);
    else last.push(file);
  }
  const longest = Math.max(...parts.map(({ length }) => length));
  return parts.flatMap((part) => {
    const [{ timeMs, path } = { timeMs: 0, path: '' }] = part;
    if (part.length >= longest * MAX_WRONG_SHARE) return part;
    const polls = `${count(part.length, 'recorded poll')} from ${new Date(timeMs).toISOString()} on (${path})`;
    onProblem(`${polls}, months from all others as of a wrong clock, left out; --from and --to select them`);
    return [];
  });
}

/** Maps entries in their order, the next few of them in advance. */
async function* mapAhead<From, To>(entries: readonly From[], map: (entry: From) => Promise<To>): AsyncGenerator<To> {
  const started: Promise<To>[] = [];
  for (const entry of entries) {
    started.push(map(entry));
    if (started.length > READ_AHEAD) yield* started.splice(0, 1);
  }
  yield* started;
}

async function readRecordedPoll(
  root: string,
  file: RecordedFile,
  maxBodyBytes: number,
): Promise<RecordedPoll | { readonly problem: string }> {
  const path = join(root, file.path);
  try {
    const content = await decompress(await readFile(path), {
      maxOutputLength: maxBodyBytes + MAX_HEADER_BYTES,
      chunkSize: CHUNK_BYTES,
    });
    const { header, body } = decodeRecording(content);
    const { target, document, timeMs } = file;
    if (header.target !== target || header.document !== document || Date.parse(header.time) !== timeMs) {
      throw new Error('the header is that of another target, document or time');
    }
    if (document === 'external_contract' && header.outcome === 'ok' && header.call === undefined) {
      throw new Error('the header has no call, as before the contract was read by Multicall3');
    }
    return { ...file, path, header, body };
  } catch (error) {
    return { problem: `${path}: ${systemErrorText(error)}` };
  }
}
