import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { endpointId } from '../engine/endpoint-state.js';
import { groupBy } from '../facts/grouping.js';
import { fileErrorText, systemErrorText } from '../text/error-text.js';
import { MEBIBYTE } from '../units.js';
import { recordedFiles } from './directory.js';
import { roundsIn, type LastBodies, type RecordedRound } from './query-lines.js';
import { decodeRecording, type RecordedFile, type RecordingHeader } from './recording-file.js';

/*
 * Reads the recorded exchanges of all endpoints in the order of time, a few files at a time, so that memory does not
 * grow with their number.
 */

export type RecordedExchange = RecordedPoll | RecordedAnswers;

export interface RecordedPoll extends Omit<RecordedFile, 'hasQueries'> {
  readonly header: RecordingHeader;
  /** Empty for a poll without a body. */
  readonly body: Buffer;
}

/** The answers to a query. */
export interface RecordedAnswers extends RecordedRound, Pick<RecordedFile, 'target' | 'document'> {}

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

/** The answers between two documents, which are some per minute. */
const MAX_QUERIES_BYTES = 64 * MEBIBYTE;

/** The default of 16 KiB makes decompression of 1 MB 2.5 ms slower. */
const CHUNK_BYTES = 2 ** 19;

const decompress = promisify(gunzip);

/** Rejects if the directory cannot be listed. */
export async function* readRecording(root: string, options: ReadOptions): AsyncGenerator<RecordedExchange> {
  const { fromMs, toMs, target, maxBodyBytes, onProblem } = options;
  const recorded = await recordedFiles(root).catch((error: unknown) => {
    throw new Error(`${fileErrorText(error)} — expected a directory that recorder or simulate --record has written`);
  });
  const files = recorded.filter(
    (file) => file.timeMs >= fromMs && file.timeMs <= toMs && (target === undefined || file.target === target),
  );
  const answers = groupBy(
    files.filter(({ hasQueries }) => hasQueries),
    endpointId,
  );
  /** The answers of each endpoint that are not passed on, with the next one. */
  const streams = await Promise.all(
    Array.from(answers.values(), async (endpointAnswers) => {
      const rounds = readAnswers(root, endpointAnswers, onProblem);
      return { rounds, next: await rounds.next() };
    }),
  );
  const polls = files.filter(({ hasQueries }) => !hasQueries);
  for await (const read of mapAhead(polls, async (file) => readRecordedPoll(root, file, maxBodyBytes))) {
    const before: RecordedAnswers[] = [];
    for (const stream of streams) {
      while (stream.next.done !== true && stream.next.value.timeMs <= read.timeMs) {
        before.push(stream.next.value);
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        stream.next = await stream.rounds.next();
      }
    }
    yield* before.toSorted((a, b) => a.timeMs - b.timeMs);
    if ('problem' in read) onProblem(read.problem);
    else yield read;
  }
}

/** The answers of an endpoint in the order of time. */
async function* readAnswers(
  root: string,
  files: readonly RecordedFile[],
  onProblem: ReadOptions['onProblem'],
): AsyncGenerator<RecordedAnswers, undefined> {
  let last: LastBodies | undefined;
  for (const { path: name, target, document } of files) {
    const path = join(root, name);
    try {
      // oxlint-disable-next-line no-await-in-loop -- a file can refer to the bodies of the one before
      const content = await decompress(await readFile(path), { maxOutputLength: MAX_QUERIES_BYTES });
      const read = roundsIn(content.toString(), last);
      last = read.last;
      yield* read.rounds.map((round) => ({ ...round, target, document }));
    } catch (error) {
      onProblem(`${path}: ${systemErrorText(error)}`);
    }
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
): Promise<RecordedPoll | (RecordedFile & { readonly problem: string })> {
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
    return { ...file, problem: `${path}: ${systemErrorText(error)}` };
  }
}
