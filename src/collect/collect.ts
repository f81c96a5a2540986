import { performance } from 'node:perf_hooks';
import type { Client, FetchLimits } from '../chain/client.js';
import type { Digits } from '../chain/decimal.js';
import { quoted, type ChainError } from '../chain/error.js';
import { noProblems, type Problems } from '../chain/schema.js';
import type { BridgeSettings, CrosschainSettings } from '../config.js';
import {
  moduleStateDocument,
  rateLimiterInputDocument,
  type About,
  type Document,
  type LabelSettings,
} from '../documents.js';
import { escapeLabelValue } from '../metrics/text-format.js';
import { render, type FamilyLines } from '../metrics/render.js';

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
  readonly height: Digits | undefined;
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
  const answer = await client.fetch(url, job.limits);
  const seconds = { fetch: secondsSince(started) };
  if (!answer.ok) return { result: answer, seconds };
  onBody();
  const read = readBody(job.reading, url.pathname, answer.body, answer.height);
  return { ...read, seconds: { ...seconds, ...read.seconds } };
}

/** The part of a poll after the network, which is also what `replay` does with a file. `source` names it in messages. */
export function readBody(reading: Reading, source: string, body: Buffer, height: Digits | undefined): Outcome {
  const bodyBytes = body.length;
  const started = performance.now();
  const decoded = decode(body);
  const seconds = { decode: secondsSince(started) };
  if ('problem' in decoded) {
    return { result: failed('not_json', `${source} ${decoded.problem}`), seconds, bodyBytes };
  }
  const derivingFrom = performance.now();
  const result = derive(reading, source, decoded.json, height);
  return { result, seconds: { ...seconds, derive: secondsSince(derivingFrom) }, bodyBytes };
}

function decode(body: Buffer): { readonly json: unknown } | { readonly problem: string } {
  if (body.length === 0) return { problem: 'has an empty body' };
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    return { problem: 'is not valid UTF-8' };
  }
  try {
    return { json: JSON.parse(text) };
  } catch (thrown) {
    return { problem: `is not JSON: ${quoted(thrown instanceof Error ? thrown.message : String(thrown))}` };
  }
}

function derive(reading: Reading, source: string, json: unknown, height: Digits | undefined): Snapshot | Failed {
  switch (reading.document) {
    case 'module_state':
      return deriveFrom(moduleStateDocument, { ...reading, height }, reading, source, json);
    case 'rate_limiter_input':
      return deriveFrom(rateLimiterInputDocument, { ...reading, height }, reading, source, json);
  }
}

function deriveFrom<Settings, Input>(
  document: Document<Settings, Input>,
  about: About<Settings>,
  { target, maxSeries }: ReadingBase,
  source: string,
  json: unknown,
): Snapshot | Failed {
  const problems = noProblems();
  const input = document.read(json, about, problems);
  if (input === undefined) {
    return failed('schema', `${source} is JSON, but none of the fields of ${document.name} is in it`);
  }
  const labels = `target="${escapeLabelValue(target)}"`;
  const families = render(document.families, input, labels, maxSeries);
  return { ok: true, families, height: document.heightOf(input), problems };
}

function failed(reason: ChainError['reason'], message: string): Failed {
  return { ok: false, error: { reason, message } };
}

function secondsSince(started: number): number {
  return (performance.now() - started) / 1000;
}
