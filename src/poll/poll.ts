import { performance } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import type { BridgeSettings, CrosschainSettings } from '../config/config.js';
import type { HttpClientConfig } from '../config/http-client-config.js';
import { DOCUMENT_HEAP_SHARE } from '../config/memory.js';
import {
  moduleStateDocument,
  rateLimiterInputDocument,
  type DocumentDefinition,
  type LabelSettings,
} from '../documents.js';
import type { Client, FetchLimits } from '../http/client.js';
import type { FailureReason, PollError } from '../http/errors.js';
import type { Numeral } from '../json/numeral.js';
import type { FieldProblems } from '../json/shapes.js';
import { renderFamilies, type FamilyLines } from '../metrics/render-families.js';
import { escapeLabelValue } from '../metrics/text-format.js';
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
  readonly labels: LabelSettings;
  readonly maxSeries: number;
}

/** One endpoint to poll. */
export interface PollJob {
  readonly url: string;
  readonly httpClient?: HttpClientConfig;
  readonly limits: FetchLimits;
  readonly processing: ProcessingOptions;
  /** Where the names of the validators are read from, if at all. */
  readonly names?: NamesJob;
}

/** The result of one poll. Plain data, sent back by the worker thread; the document itself stays there. */
export interface PollResult {
  readonly outcome: Snapshot | FailedPoll;
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

/** Polls an endpoint once: fetches its document and derives the families. Calls `onBody` when the response body is complete. */
export async function poll(job: PollJob, client: Client, onBody: () => void = () => undefined): Promise<PollResult> {
  const url = new URL(job.url);
  const started = performance.now();
  const fetched = await client.fetch(url, job.limits, job.httpClient);
  const seconds = { fetch: secondsSince(started) };
  if (!fetched.ok) return { outcome: fetched, phaseSeconds: seconds };
  onBody();
  try {
    const result = processBody(job.processing, url.pathname, fetched.body.bytes, fetched.height);
    return { ...result, phaseSeconds: { ...seconds, ...result.phaseSeconds } };
  } finally {
    fetched.body.release();
  }
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
  { target, labels, maxSeries }: ProcessingOptionsBase,
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
  const families = renderFamilies(definition.families, input, `target="${escapeLabelValue(target)}"`, maxSeries);
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
