import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { fileErrorText, systemErrorText } from '../text/system-error.js';
import { recordedFiles } from './directory.js';
import { decodeRecording, type RecordedFile, type RecordingHeader } from './recording-file.js';

/* Reads the recorded polls of all endpoints in the order of time, a few at a time, so that memory does not grow with their number. */

export interface RecordedPoll extends RecordedFile {
  readonly header: RecordingHeader;
  /** Empty for a poll without a body. */
  readonly body: Buffer;
}

export interface ReadOptions {
  /** The range in milliseconds since 1970, both ends included. */
  readonly fromMs: number;
  readonly toMs: number;
  /** By default all targets. */
  readonly target?: string | undefined;
  /** A larger body is not read. */
  readonly maxBodyBytes: number;
  /** Called for each file that cannot be read, and is left out. */
  readonly onProblem: (message: string) => void;
}

/** Files that are decompressed on the threads of Node.js while another file is decoded. */
const READ_AHEAD = 4;

const MAX_HEADER_BYTES = 64 * 1024;

/** The default of 16 KiB makes decompression of 1 MB 2.5 ms slower. */
const CHUNK_BYTES = 2 ** 19;

const decompress = promisify(gunzip);

/** Rejects if the directory cannot be listed. */
export async function* readRecording(
  root: string,
  { fromMs, toMs, target, maxBodyBytes, onProblem }: ReadOptions,
): AsyncGenerator<RecordedPoll> {
  const recorded = await recordedFiles(root).catch((error: unknown) => {
    throw new Error(`${fileErrorText(error)} — expected a directory that recorder or simulate --record has written`);
  });
  const files = recorded.filter(
    (file) => file.timeMs >= fromMs && file.timeMs <= toMs && (target === undefined || file.target === target),
  );
  for await (const read of mapAhead(files, async (file) => readRecordedPoll(root, file, maxBodyBytes))) {
    if ('problem' in read) onProblem(read.problem);
    else yield read;
  }
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
