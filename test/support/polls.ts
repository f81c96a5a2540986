import type { Instant } from '../../src/clock.js';
import type { DocumentName, LabelSettings, StepContext } from '../../src/document-types.js';
import { failure, type FailureReason } from '../../src/http/failure-reasons.js';
import type { PollExecutor, Received, ReceivedDocument } from '../../src/poll/fetch.js';
import { readPoll } from '../../src/poll/read-poll.js';
import type { PollResult } from '../../src/poll/step.js';
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
} as const;

interface Sent<Name extends DocumentName> extends Partial<Pick<ReceivedDocument<Name>, 'otherAnswers' | 'source'>> {
  readonly height?: string | number | undefined;
  readonly at?: Instant;
}

/** A poll that has received a document. */
export function pollOf<Name extends DocumentName>(
  context: StepContext<Name>,
  json: unknown,
  { height, at = START, source = 'test', ...others }: Sent<Name> = {},
): PollResult<Name> {
  const bytes = Buffer.isBuffer(json) ? json : Buffer.from(JSON.stringify(json));
  const header = height === undefined ? undefined : String(height);
  return readPoll({ ok: true, bytes, source, height: header, receivedAt: at, ...others }, context);
}

/** What a node has sent. */
export function fetchedBody(body: Omit<ReceivedDocument, 'ok'>): Received {
  return { seconds: 0.05, ok: true, ...body };
}

export function failedFetch(reason: FailureReason, message: string): Received {
  return { seconds: 0.05, ...failure(reason, message) };
}

/** A poll of a node. */
export async function pollNode(
  executor: Pick<PollExecutor, 'fetch'>,
  job: PollJob,
  input: PollInput = {},
): Promise<PollResult> {
  const received = await executor.fetch(job, input);
  const poll = readPoll(received, job.context);
  received.release?.();
  return poll;
}
