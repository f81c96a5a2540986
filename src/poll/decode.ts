import { performance } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import { DOCUMENT_HEAP_SHARE } from '../config/memory.js';
import { documents, type DocumentName } from '../documents.js';
import type { BufferedBody } from '../http/body.js';
import { failure, type Failure } from '../http/failure-reasons.js';
import type { Numeral } from '../json/numeral.js';
import { renderFamilies } from '../metrics/render-families.js';
import { formatTargetLabels } from '../metrics/text-format.js';
import { readNamesPage, type NamesPage } from './validator-names.js';
import type { PollResult, ProcessingOptions, Snapshot } from './poll.js';

/** Decodes response bodies: on a worker thread in the daemon (decoder-thread.ts), on the calling thread in `once`. */
export interface Decoder {
  /** Takes the body and releases it: its bytes must not be used afterwards. Fails when the thread ends. */
  readonly decode: <Task extends DecodeTask>(task: Task, body: BufferedBody) => Promise<Decoded<Task>>;
  readonly close: () => Promise<void>;
}

/** What a body is. Plain data, sent to the worker thread. `name` is the path, at the beginning of error messages. */
export type DecodeTask = DocumentTask | NamesTask;

interface DocumentTask {
  readonly name: string;
  readonly processing: ProcessingOptions;
  /** Of the response header; `undefined` without one. */
  readonly height: Numeral | undefined;
}

interface NamesTask {
  readonly name: string;
  readonly processing: 'validator names';
}

export type Decoded<Task extends DecodeTask = DecodeTask> =
  (Task extends DocumentTask ? { readonly ok: true; readonly result: PollResult } : NamesPage) | Failure;

export function decode(task: DecodeTask, body: Buffer): Decoded {
  if (task.processing === 'validator names') return readNamesPage(task.name, body);
  return { ok: true, result: processBody(task.processing, task.name, body, task.height) };
}

/** Decodes on the calling thread. */
export const inlineDecoder: Decoder = {
  decode: async <Task extends DecodeTask>(task: Task, body: BufferedBody) => {
    try {
      // What is decoded is that of the task.
      return decode(task, body.bytes) as Decoded<Task>;
    } finally {
      body.release();
    }
  },
  close: async () => undefined,
};

/** Memory budget of a decoded document on this thread. The rest of the heap is for deriving families and for garbage. */
const documentBudgetBytes = Math.floor(getHeapStatistics().heap_size_limit * DOCUMENT_HEAP_SHARE);

/**
 * The part of a poll after the fetch: decodes a response body, derives and formats the families. Error messages begin with `name`,
 * which is a path or a file name.
 */
export function processBody<Name extends DocumentName>(
  { document, settings, target, targetLabels, labels, maxSeries }: ProcessingOptions<Name>,
  name: string,
  body: Buffer,
  height: Numeral | undefined,
): PollResult {
  const { read, families, items, hubHeight } = documents[document];
  const bodyBytes = body.length;
  const decodeStarted = performance.now();
  const decoded = read(body, { settings, labels, height }, documentBudgetBytes);
  const seconds = { decode: secondsSince(decodeStarted) };
  if (!decoded.ok) {
    return { outcome: failure(decoded.reason, `${name}: ${decoded.message}`), phaseSeconds: seconds, bodyBytes };
  }
  const { value: input, problems } = decoded;
  if (input === undefined) {
    const message = `${name}: not a ${document} document: none of its fields is present`;
    return { outcome: failure('schema', message), phaseSeconds: seconds, bodyBytes };
  }
  const deriveStarted = performance.now();
  const snapshot: Snapshot = {
    ok: true,
    families: renderFamilies(families, input, formatTargetLabels(target, targetLabels), maxSeries),
    itemsJson: JSON.stringify(items(input)),
    height: hubHeight(input),
    problems,
  };
  return { outcome: snapshot, phaseSeconds: { ...seconds, derive: secondsSince(deriveStarted) }, bodyBytes };
}

function secondsSince(started: number): number {
  return (performance.now() - started) / 1000;
}
