import { performance } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import { DOCUMENT_HEAP_SHARE } from '../config/memory-limits.js';
import { documents, type DocumentName } from '../documents.js';
import { renderCumulative } from '../flow/cumulative-family.js';
import type { BufferedBody } from '../http/body.js';
import { failure, type Failure } from '../http/failure-reasons.js';
import { HEIGHT_FIELD, parseHeight } from '../http/height-header.js';
import { INVALID } from '../json/field.js';
import { renderFamilies } from '../metrics/render-families.js';
import { formatTargetLabels } from '../metrics/text-format.js';
import { nodeQueryOf } from '../sources/node-queries.js';
import type { QueryPage } from '../sources/node-query.js';
import { clock, type Instant } from '../clock.js';
import { readNamesPage, type NamesPage } from './validator-names.js';
import type { DecodeOptions, Snapshot } from './poll.js';

/** Decodes response bodies: on a worker thread in the daemon (decoder-thread.ts), on the calling thread in `once`. */
export interface Decoder {
  /** Takes the body and releases it: its bytes must not be used afterwards. Fails when the thread ends. */
  readonly decode: <Task extends DecodeTask>(task: Task, body: BufferedBody) => Promise<DecodedOf<Task>>;
  readonly close: () => Promise<void>;
}

/** What a body is. Plain data, sent to the worker thread. */
export type DecodeTask = DocumentTask | NamesPageTask | QueryTask;

/** A page of validator names. */
interface NamesPageTask {
  /** Host and path, or the name of a file; at the beginning of error messages. */
  readonly source: string;
}

/** A page of the response to a query. */
interface QueryTask extends NamesPageTask {
  readonly query: string;
}

interface DocumentTask {
  readonly source: string;
  readonly options: DecodeOptions;
  /** Hub height, as the response header has it; `undefined` without one. */
  readonly height: string | undefined;
  /** When the response was received, by the clocks of the thread that fetched it. */
  readonly at: Instant;
}

/** A decoded body. */
export interface Decoded<Value> {
  readonly outcome: Value | Failure;
  /** Duration of each completed phase. */
  readonly phaseSeconds: Partial<Record<Phase, number>>;
  readonly bodyBytes?: number;
}

export type Phase = 'fetch' | 'decode' | 'derive';

export type DecodedOf<Task extends DecodeTask> = Decoded<
  Task extends DocumentTask ? Snapshot : Task extends QueryTask ? QueryPage : NamesPage
>;

export function decode(task: DecodeTask, body: Buffer): Decoded<Snapshot | NamesPage | QueryPage> {
  if ('options' in task) return decodeDocument(task.options, task.source, body, task.height, task.at);
  if ('query' in task) return { outcome: nodeQueryOf(task.query).read(task.source, body), phaseSeconds: {} };
  return { outcome: readNamesPage(task.source, body), phaseSeconds: {} };
}

/** Decodes on the calling thread. */
export const inlineDecoder: Decoder = {
  decode: async <Task extends DecodeTask>(task: Task, body: BufferedBody) => {
    try {
      // TypeScript does not relate the type of the result to that of the task.
      return decode(task, body.bytes) as DecodedOf<Task>;
    } finally {
      body.release();
    }
  },
  close: async () => undefined,
};

/** Memory budget of a decoded document on this thread. The rest of the heap is for deriving families and for garbage. */
const documentBudgetBytes = Math.floor(getHeapStatistics().heap_size_limit * DOCUMENT_HEAP_SHARE);

/** Decodes a document, then derives and formats its families. Error messages begin with `source`: host and path, or a file name. */
export function decodeDocument<Name extends DocumentName>(
  {
    document,
    settings,
    target,
    targetLabels,
    labels,
    maxSeries,
    staleAfterMs,
    omitsItems = false,
    previous,
    flow: previousFlow,
    sideInput,
  }: DecodeOptions<Name>,
  source: string,
  body: Buffer,
  heightHeader: string | undefined,
  at: Instant = clock(),
): Decoded<Snapshot<Name>> {
  const { read, families, items, hubHeight, observations, flow: flowDefinition } = documents[document];
  const bodyBytes = body.length;
  const parsedHeight = parseHeight(heightHeader);
  const height = parsedHeight === INVALID ? undefined : parsedHeight;
  const decodeStarted = performance.now();
  const decoded = read(body, { settings, labels, height, at, previous, sideInput }, documentBudgetBytes);
  const phaseSeconds = { decode: secondsSince(decodeStarted) };
  if (!decoded.ok)
    return { outcome: failure(decoded.reason, `${source}: ${decoded.message}`), phaseSeconds, bodyBytes };
  const { value: input, problems } = decoded;
  if (parsedHeight === INVALID) problems.invalid.set(HEIGHT_FIELD, 1);
  if (input === undefined) {
    const message = `${source}: not a ${document} document: none of its fields is present`;
    return { outcome: failure('schema', message), phaseSeconds, bodyBytes };
  }
  const deriveStarted = performance.now();
  const flow = flowDefinition.track(previousFlow ?? flowDefinition.initial, input, { staleAfterMs, maxSeries });
  const fixedLabels = formatTargetLabels(target, targetLabels);
  const snapshot: Snapshot<Name> = {
    ok: true,
    document,
    families: [
      ...renderFamilies(families, input, fixedLabels, maxSeries),
      ...renderFamilies(flowDefinition.gauges, { input, flow }, fixedLabels, maxSeries),
    ],
    itemsJson: omitsItems ? '' : JSON.stringify(items({ input, flow })),
    height: hubHeight(input),
    problems,
    observations: observations(input),
    flow,
    cumulative: renderCumulative(flowDefinition.families, flow, fixedLabels, maxSeries),
  };
  return { outcome: snapshot, phaseSeconds: { ...phaseSeconds, derive: secondsSince(deriveStarted) }, bodyBytes };
}

function secondsSince(started: number): number {
  return (performance.now() - started) / 1000;
}
