import type { Instant } from '../../src/clock.js';
import type { DocumentName, LabelSettings, StepContext } from '../../src/document-types.js';
import { failure, type FailureReason } from '../../src/http/failure-reasons.js';
import type { Fetched, PollExecutor, ReceivedBody } from '../../src/poll/fetch.js';
import { readBody, readResponse } from '../../src/poll/read-response.js';
import type { Poll } from '../../src/poll/step.js';
import type { PollInput, PollJob } from '../../src/poll/jobs.js';

/** When a document is received if the test does not tell. */
export const START: Instant = { epochSeconds: 1_700_000_000, monotonicMs: 0 };

export const NO_LABELS: LabelSettings = { tokens: [], chains: {}, validators: [] };

/** The options of a target `t` with the defaults of the configuration. */
export const TARGET_OPTIONS = {
  target: 't',
  labels: NO_LABELS,
  maxSeries: 200,
  maxBodyBytes: Infinity,
  staleAfterMs: 300_000,
  maxValues: 2_000_000,
} as const;

interface Received extends Partial<Pick<ReceivedBody, 'sideInput' | 'source'>> {
  readonly height?: string | number | undefined;
  readonly at?: Instant;
}

/** A poll that has received a document. */
export function pollOf<Name extends DocumentName>(
  context: StepContext<Name>,
  json: unknown,
  { height, at = START, source = 'test', ...others }: Received = {},
): Poll<Name> {
  const bytes = Buffer.isBuffer(json) ? json : Buffer.from(JSON.stringify(json));
  const header = height === undefined ? undefined : String(height);
  return readBody({ bytes, source, height: header, receivedAt: at, ...others }, context);
}

const RESPONSE = { seconds: 0.05, release: () => undefined };

/** What a node has sent. */
export function fetchedBody(body: Omit<ReceivedBody, 'ok'>): Fetched {
  return { ...RESPONSE, outcome: { ok: true, ...body } };
}

export function failedFetch(reason: FailureReason, message: string): Fetched {
  return { ...RESPONSE, outcome: failure(reason, message) };
}

/** A poll of a node. */
export async function pollNode(
  executor: Pick<PollExecutor, 'fetch'>,
  job: PollJob,
  input: PollInput = {},
): Promise<Poll> {
  const fetched = await executor.fetch(job, input);
  const poll = readResponse(fetched, job.context);
  fetched.release();
  return poll;
}
