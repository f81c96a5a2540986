import { performance } from 'node:perf_hooks';
import { INVALID } from '../chain/fields.js';
import { secondsSince, type Moment } from '../clock.js';
import { maxHeapValues } from '../config/loader.js';
import type { FieldErrors } from '../chain/document.js';
import type { DocumentName, DocumentTypes, StepContext } from '../document-types.js';
import { documents } from '../documents.js';
import { remedies, type Failure, type PollError } from '../http/failure-reasons.js';
import { HEIGHT_FIELD, parseHeight } from '../http/response.js';
import type { InParts } from '../tasks.js';
import type { EndpointState } from './endpoint-state.js';
import { compressBody } from './kept-body.js';
import type { Received, ReceivedDocument } from './source.js';
import { step, type PollResult } from './step.js';

/* Reading the response of a poll, and the step with it, with the durations of both. */

export function* readPoll<Name extends DocumentName>(
  received: Received<Name>,
  { document }: StepContext<Name>,
  { clockOffset }: Pick<Moment, 'clockOffset'> = { clockOffset: 0 },
): InParts<PollResult<Name>> {
  const { seconds: fetch } = received;
  const fetched = fetch === undefined ? {} : { fetch };
  if (!received.ok) {
    return { outcome: failed(received.error), phaseSeconds: fetched, bodyBytes: received.body?.length };
  }
  const { bytes, source, receivedAt, additionalInput, servedPath, isAccepted } = received;
  const { value: read, seconds: decode } = yield* timed(readAndCompress(received, document, clockOffset));
  const phaseSeconds = fetch === undefined ? {} : { fetch, decode };
  const poll = { phaseSeconds, bodyBytes: bytes.length, source, servedPath, isAccepted };
  if (!read.ok) return { ...poll, outcome: read };
  const { content, compressed } = read;
  const height = parseHeight(received.height);
  const outcome = { ok: true, content, receivedAt, additionalInput, compressed } as const;
  if (height !== INVALID) return { ...poll, outcome: { ...outcome, errors: read.errors, height } };
  const errors = { ...read.errors, invalid: new Map([...read.errors.invalid, [HEIGHT_FIELD, 1] as const]) };
  return { ...poll, outcome: { ...outcome, errors, height: undefined } };
}

function* readAndCompress<Name extends DocumentName>(
  received: ReceivedDocument<Name>,
  document: Name,
  clockOffset: number,
) {
  const read = yield* readContent(received, document, clockOffset);
  if (!read.ok) return read;
  yield;
  return { ...read, compressed: compressBody(received.bytes) };
}

/** The content of a body, or the failure of a body that is not the document. */
function* readContent<Name extends DocumentName>(
  { bytes, source, receivedAt, additionalInput, failureText = '' }: ReceivedDocument<Name>,
  document: Name,
  clockOffset: number,
): InParts<
  { readonly ok: true; readonly content: DocumentTypes[Name]['content']; readonly errors: FieldErrors } | Failure
> {
  const read = yield* documents[document].read(bytes, {
    maxValues: maxHeapValues(),
    at: receivedAt,
    clockOffset,
    additionalInput,
  });
  if (!read.ok) {
    const remedy = read.isTruncated === true ? { remedy: remedies.truncated } : {};
    const error = { reason: read.reason, message: `${source}: ${read.message}`, ...remedy };
    return failed({ ...error, message: read.reason === 'too_large' ? error.message : error.message + failureText });
  }
  if (read.value !== undefined) return { ok: true, content: read.value, errors: read.errors };
  const message = `${source}: not a ${document} document: none of its fields is present`;
  return failed({ reason: 'schema', message: message + failureText });
}

function failed(error: PollError): Failure {
  return { ok: false, error };
}

export function* timedStep<Name extends DocumentName>(
  before: EndpointState,
  poll: PollResult<Name>,
  context: StepContext<Name>,
  now: Moment,
): InParts<EndpointState> {
  const { value: after, seconds: derive } = yield* timed(step(before, poll, context, now));
  const { lastPoll } = after;
  // A recorded poll has no durations.
  if (lastPoll?.ok !== true || poll.phaseSeconds.fetch === undefined) return after;
  return { ...after, lastPoll: { ...lastPoll, phaseSeconds: { ...lastPoll.phaseSeconds, derive } } };
}

/** Measures the parts, without what is done in between. */
function* timed<T>(parts: InParts<T>): InParts<{ readonly value: T; readonly seconds: number }> {
  let seconds = 0;
  const next = () => {
    const started = performance.now();
    const part = parts.next();
    seconds += secondsSince(started);
    return part;
  };
  let part = next();
  while (part.done !== true) {
    yield;
    part = next();
  }
  return { value: part.value, seconds };
}
