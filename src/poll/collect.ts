import { performance } from 'node:perf_hooks';
import type { Client, FetchLimits } from '../http/client.js';
import type { Numeral } from '../json/decimal.js';
import type { PollError } from '../http/errors.js';
import type { FieldProblems } from '../json/shape.js';
import type { BridgeSettings, CrosschainSettings } from '../config/config.js';
import type { HttpClientConfig } from '../config/http-client-config.js';
import {
  moduleStateDocument,
  rateLimiterInputDocument,
  type DocumentContext,
  type Document,
  type LabelSettings,
} from '../documents.js';
import { escapeLabelValue } from '../metrics/text-format.js';
import { render, type FamilyLines } from '../metrics/render.js';
import type { Items } from '../pending/items.js';

/** All that is needed to read a document. Plain data: it crosses to the collect thread. */
export type DocumentSource = DocumentSourceBase &
  (
    | { readonly document: 'module_state'; readonly settings: BridgeSettings }
    | { readonly document: 'rate_limiter_input'; readonly settings: CrosschainSettings }
  );

export interface DocumentSourceBase {
  readonly target: string;
  readonly labels: LabelSettings;
  readonly maxSeries: number;
}

/** All that one poll needs. */
export interface Job {
  readonly url: string;
  readonly httpClient?: HttpClientConfig;
  readonly limits: FetchLimits;
  readonly source: DocumentSource;
}

/** What one poll gave. Plain data as well; the document itself never crosses, as copying it costs more than parsing it. */
export interface PollResult {
  readonly result: Snapshot | FailedPoll;
  /** Seconds of each phase that was finished. */
  readonly seconds: Partial<Record<Phase, number>>;
  readonly bodyBytes?: number;
}

export type Phase = 'fetch' | 'decode' | 'derive';

export interface Snapshot {
  readonly ok: true;
  readonly families: readonly FamilyLines[];
  /** For `/pending`; bounded, so that the threads do not copy a document after all. */
  readonly items: Items;
  readonly height: Numeral | undefined;
  readonly problems: FieldProblems;
}

export interface FailedPoll {
  readonly ok: false;
  readonly error: PollError;
}

/** Fetches the document of a job and derives its series. `onBody` is called before the reading that takes memory and time. */
export async function collect(job: Job, client: Client, onBody: () => void = () => undefined): Promise<PollResult> {
  const url = new URL(job.url);
  const started = performance.now();
  const answer = await client.fetch(url, job.limits, job.httpClient);
  const seconds = { fetch: secondsSince(started) };
  if (!answer.ok) return { result: answer, seconds };
  onBody();
  try {
    const read = readBody(job.source, url.pathname, answer.body.bytes, answer.height);
    return { ...read, seconds: { ...seconds, ...read.seconds } };
  } finally {
    answer.body.release();
  }
}

/** The part of a poll after the network, which is also what `replay` does with a file. `source` names it in messages. */
export function readBody(
  reading: DocumentSource,
  source: string,
  body: Buffer,
  height: Numeral | undefined,
): PollResult {
  switch (reading.document) {
    case 'module_state':
      return derive(moduleStateDocument, { ...reading, height }, reading, source, body);
    case 'rate_limiter_input':
      return derive(rateLimiterInputDocument, { ...reading, height }, reading, source, body);
  }
}

function derive<Settings, Input>(
  document: Document<Settings, Input>,
  about: DocumentContext<Settings>,
  { target, maxSeries }: DocumentSourceBase,
  source: string,
  body: Buffer,
): PollResult {
  const bodyBytes = body.length;
  const started = performance.now();
  const read = document.read(body, about);
  const seconds = { decode: secondsSince(started) };
  if (!read.ok) return { result: failed(read.error.reason, `${source} ${read.error.message}`), seconds, bodyBytes };
  const { document: input, problems } = read;
  if (input === undefined) {
    const message = `${source} is JSON, but none of the fields of ${document.name} is in it`;
    return { result: failed('schema', message), seconds, bodyBytes };
  }
  const derivingFrom = performance.now();
  const families = render(document.families, input, `target="${escapeLabelValue(target)}"`, maxSeries);
  const items = document.items(input);
  const result: Snapshot = { ok: true, families, items, height: document.heightOf(input), problems };
  return { result, seconds: { ...seconds, derive: secondsSince(derivingFrom) }, bodyBytes };
}

function failed(reason: PollError['reason'], message: string): FailedPoll {
  return { ok: false, error: { reason, message } };
}

function secondsSince(started: number): number {
  return (performance.now() - started) / 1000;
}
