import { performance } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import type { DocumentPath } from '../chain/dialects.js';
import type { BridgeSettings, CrosschainSettings, TargetLabels } from '../config/config.js';
import type { HttpClientConfig } from '../config/http-client-config.js';
import { DOCUMENT_HEAP_SHARE } from '../config/memory.js';
import {
  moduleStateDocument,
  rateLimiterInputDocument,
  type DocumentDefinition,
  type LabelSettings,
} from '../documents.js';
import type { Client, FetchedDocument, FetchLimits } from '../http/client.js';
import { isUnknownPath } from '../http/error-response.js';
import type { FailureReason, PollError } from '../http/errors.js';
import type { Numeral } from '../json/numeral.js';
import type { FieldProblems } from '../json/shapes.js';
import { renderFamilies, type FamilyLines } from '../metrics/render-families.js';
import { formatTargetLabels } from '../metrics/text-format.js';
import type { Items } from '../pending/items.js';
import type { NamesJob, NamesResult } from './fetch-names.js';

/** Which document a body is, and the settings to derive its families with. Plain data, sent to the worker thread. */
export type ProcessingOptions = ProcessingOptionsBase &
  (
    | { readonly document: 'module_state'; readonly settings: BridgeSettings }
    | { readonly document: 'rate_limiter_input'; readonly settings: CrosschainSettings }
  );

export interface ProcessingOptionsBase {
  readonly target: string;
  readonly targetLabels?: TargetLabels;
  readonly labels: LabelSettings;
  readonly maxSeries: number;
}

/** One endpoint to poll. */
export interface PollJob {
  readonly baseUrl: string;
  /** Requested in this order, until the node knows one. */
  readonly paths: readonly DocumentPath[];
  /** Appended to each path: empty, or beginning with a question mark. */
  readonly query: string;
  readonly httpClient?: HttpClientConfig;
  readonly limits: FetchLimits;
  readonly processing: ProcessingOptions;
  /** Where the names of the validators are read from, if at all. */
  readonly names?: NamesJob;
}

/** The result of one poll. Plain data, sent back by the worker thread; the document itself stays there. */
export interface PollResult {
  readonly outcome: Snapshot | FailedPoll;
  /** Where the document was found; only after a success, and not for a recorded body. */
  readonly foundAt?: DocumentPath;
  /** Duration of each completed phase. */
  readonly phaseSeconds: Partial<Record<Phase, number>>;
  readonly bodyBytes?: number;
}

export type Phase = 'fetch' | 'decode' | 'derive';

/** What a successful poll exports. */
export interface Snapshot {
  readonly ok: true;
  readonly families: readonly FamilyLines[];
  /** Items for `/pending`, a bounded number. */
  readonly items: Items;
  readonly height: Numeral | undefined;
  readonly problems: FieldProblems;
}

export interface FailedPoll {
  readonly ok: false;
  readonly error: PollError;
}

/** Memory budget of a decoded document on this thread. The rest of the heap is for deriving families and for garbage. */
const documentBudgetBytes = Math.floor(getHeapStatistics().heap_size_limit * DOCUMENT_HEAP_SHARE);

/**
 * Polls an endpoint once: fetches its document and derives the families. Calls `onBody` with the path when the response body is
 * complete.
 */
export async function poll(
  job: PollJob,
  client: Client,
  onBody: (path: string) => void = () => undefined,
): Promise<PollResult> {
  const started = performance.now();
  const fetched = await fetchFirstKnownPath(job, client);
  const seconds = { fetch: secondsSince(started) };
  if (!fetched.ok) return { outcome: fetched, phaseSeconds: seconds };
  const { path, foundAt, body, height } = fetched;
  onBody(path);
  try {
    const result = processBody(job.processing, path, body.bytes, height);
    const phaseSeconds = { ...seconds, ...result.phaseSeconds };
    return { ...result, phaseSeconds, ...(result.outcome.ok && { foundAt }) };
  } finally {
    body.release();
  }
}

interface FoundDocument extends FetchedDocument {
  readonly foundAt: DocumentPath;
  /** With that of the base URL. */
  readonly path: string;
}

/** Requests the paths in turn until the node responds to one with another status than those of an unknown path. */
async function fetchFirstKnownPath(
  { baseUrl, paths, query, limits, httpClient }: PollJob,
  client: Client,
): Promise<FoundDocument | FailedPoll> {
  const started = performance.now();
  const messages: string[] = [];
  for (const foundAt of paths) {
    const url = new URL(baseUrl + foundAt.path + query);
    const elapsedMs = performance.now() - started;
    // oxlint-disable-next-line no-await-in-loop -- a path is requested only if the node does not know the one before
    const fetched = await client.fetch(url, { ...limits, elapsedMs }, httpClient);
    if (fetched.ok) return { ...fetched, foundAt, path: url.pathname };
    if (!isUnknownPath(fetched.statusCode)) return { ok: false, error: fetched.error };
    messages.push(fetched.error.message);
  }
  return failed('status', messages.join('; '));
}

/**
 * The part of a poll after the fetch: decodes a response body, derives and formats the families. Also used by `replay`. Error
 * messages begin with `name`, which is a path or a file name.
 */
export function processBody(
  processing: ProcessingOptions,
  name: string,
  body: Buffer,
  height: Numeral | undefined,
): PollResult {
  switch (processing.document) {
    case 'module_state':
      return decodeAndDerive(moduleStateDocument, processing.settings, processing, name, body, height);
    case 'rate_limiter_input':
      return decodeAndDerive(rateLimiterInputDocument, processing.settings, processing, name, body, height);
  }
}

function decodeAndDerive<Settings, Input>(
  definition: DocumentDefinition<Settings, Input>,
  settings: Settings,
  { target, targetLabels, labels, maxSeries }: ProcessingOptionsBase,
  name: string,
  body: Buffer,
  height: Numeral | undefined,
): PollResult {
  const bodyBytes = body.length;
  const decodeStarted = performance.now();
  const read = definition.read(body, { settings, labels, height }, documentBudgetBytes);
  const seconds = { decode: secondsSince(decodeStarted) };
  if (!read.ok) return { outcome: failed(read.reason, `${name}: ${read.message}`), phaseSeconds: seconds, bodyBytes };
  const { value: input, problems } = read;
  if (input === undefined) {
    const message = `${name}: not a ${definition.name} document: none of its fields is present`;
    return { outcome: failed('schema', message), phaseSeconds: seconds, bodyBytes };
  }
  const deriveStarted = performance.now();
  const families = renderFamilies(definition.families, input, formatTargetLabels(target, targetLabels), maxSeries);
  const items = definition.items(input);
  const result: Snapshot = { ok: true, families, items, height: definition.hubHeight(input), problems };
  return { outcome: result, phaseSeconds: { ...seconds, derive: secondsSince(deriveStarted) }, bodyBytes };
}

function failed(reason: FailureReason, message: string): FailedPoll {
  return { ok: false, error: { reason, message } };
}

function secondsSince(started: number): number {
  return (performance.now() - started) / 1000;
}

/** Executes polls: on a worker thread in the daemon (thread-executor.ts), on the calling thread in `once` (inline-executor.ts). */
export interface PollExecutor {
  readonly poll: (job: PollJob) => Promise<PollResult>;
  readonly fetchNames: (job: NamesJob) => Promise<NamesResult>;
  readonly close: () => Promise<void>;
}
