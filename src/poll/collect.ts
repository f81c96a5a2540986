import { performance } from 'node:perf_hooks';
import type { Client, FetchLimits } from '../http/client.js';
import type { Numeral } from '../json/decimal.js';
import type { ChainError } from '../http/errors.js';
import type { Problems } from '../json/shape.js';
import type { BridgeSettings, CrosschainSettings } from '../config/config.js';
import type { Reach } from '../config/http-client-config.js';
import {
  moduleStateDocument,
  rateLimiterInputDocument,
  type About,
  type Document,
  type LabelSettings,
} from '../documents.js';
import { escapeLabelValue } from '../metrics/text-format.js';
import { render, type FamilyLines } from '../metrics/render.js';
import type { Items } from '../pending/items.js';

/** All that is needed to read a document. Plain data: it crosses to the collect thread. */
export type Reading = ReadingBase &
  (
    | { readonly document: 'module_state'; readonly settings: BridgeSettings }
    | { readonly document: 'rate_limiter_input'; readonly settings: CrosschainSettings }
  );

export interface ReadingBase {
  readonly target: string;
  readonly labels: LabelSettings;
  readonly maxSeries: number;
}

/** All that one poll needs. */
export interface Job {
  readonly url: string;
  readonly reach?: Reach;
  readonly limits: FetchLimits;
  readonly reading: Reading;
}

/** What one poll gave. Plain data as well; the document itself never crosses, as copying it costs more than parsing it. */
export interface Outcome {
  readonly result: Snapshot | Failed;
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
  readonly problems: Problems;
}

export interface Failed {
  readonly ok: false;
  readonly error: ChainError;
}

/** Fetches the document of a job and derives its series. `onBody` is called before the reading that takes memory and time. */
export async function collect(job: Job, client: Client, onBody: () => void = () => undefined): Promise<Outcome> {
  const url = new URL(job.url);
  const started = performance.now();
  const answer = await client.fetch(url, job.limits, job.reach);
  const seconds = { fetch: secondsSince(started) };
  if (!answer.ok) return { result: answer, seconds };
  onBody();
  try {
    const read = readBody(job.reading, url.pathname, answer.body.bytes, answer.height);
    return { ...read, seconds: { ...seconds, ...read.seconds } };
  } finally {
    answer.body.release();
  }
}

/** The part of a poll after the network, which is also what `replay` does with a file. `source` names it in messages. */
export function readBody(reading: Reading, source: string, body: Buffer, height: Numeral | undefined): Outcome {
  switch (reading.document) {
    case 'module_state':
      return derive(moduleStateDocument, { ...reading, height }, reading, source, body);
    case 'rate_limiter_input':
      return derive(rateLimiterInputDocument, { ...reading, height }, reading, source, body);
  }
}

function derive<Settings, Input>(
  document: Document<Settings, Input>,
  about: About<Settings>,
  { target, maxSeries }: ReadingBase,
  source: string,
  body: Buffer,
): Outcome {
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

function failed(reason: ChainError['reason'], message: string): Failed {
  return { ok: false, error: { reason, message } };
}

function secondsSince(started: number): number {
  return (performance.now() - started) / 1000;
}
