import { performance } from 'node:perf_hooks';
import { INVALID } from '../chain/field.js';
import { secondsSince, type Instant } from '../clock.js';
import { maxHeapValues } from '../config/memory-limits.js';
import type { DocumentName, StepContext } from '../document-types.js';
import { documents } from '../documents.js';
import type { Failure, PollError } from '../http/failure-reasons.js';
import { HEIGHT_FIELD, parseHeight } from '../http/height-header.js';
import type { EndpointState } from './endpoint-state.js';
import type { Received } from './fetch.js';
import { compressBody } from './kept-body.js';
import { step, type PollResult } from './step.js';

/* Reading the response of a poll, and the step with it, with the durations of both. */

export function readPoll<Name extends DocumentName>(
  received: Received<Name>,
  { document }: StepContext<Name>,
): PollResult<Name> {
  const { seconds } = received;
  const fetched = seconds === undefined ? {} : { fetch: seconds };
  if (!received.ok) return { outcome: failed(received.error), phaseSeconds: fetched };
  const { bytes, source, receivedAt, otherAnswers, foundPath, failureWithServerText = failed } = received;
  const started = performance.now();
  const read = documents[document].read(bytes, { maxValues: maxHeapValues(), at: receivedAt, otherAnswers });
  const compressed = read.ok ? compressBody(bytes) : undefined;
  const phaseSeconds = { ...fetched, decode: secondsSince(started) };
  const poll = { phaseSeconds, bodyBytes: bytes.length, source, foundPath };
  if (!read.ok) {
    const error = { reason: read.reason, message: `${source}: ${read.message}` };
    return { ...poll, outcome: read.reason === 'too_large' ? failed(error) : failureWithServerText(error) };
  }
  const { value: content } = read;
  if (content === undefined) {
    const message = `${source}: not a ${document} document: none of its fields is present`;
    return { ...poll, outcome: failureWithServerText({ reason: 'schema', message }) };
  }
  const height = parseHeight(received.height);
  const outcome = { ok: true, content, receivedAt, otherAnswers, compressed } as const;
  if (height !== INVALID) return { ...poll, outcome: { ...outcome, errors: read.errors, height } };
  const errors = { ...read.errors, invalid: new Map([...read.errors.invalid, [HEIGHT_FIELD, 1] as const]) };
  return { ...poll, outcome: { ...outcome, errors, height: undefined } };
}

function failed(error: PollError): Failure {
  return { ok: false, error };
}

export function timedStep<Name extends DocumentName>(
  before: EndpointState,
  poll: PollResult<Name>,
  context: StepContext<Name>,
  at: Instant,
): EndpointState {
  const started = performance.now();
  const after = step(before, poll, context, at);
  const { lastPoll } = after;
  if (lastPoll?.ok !== true) return after;
  return {
    ...after,
    lastPoll: { ...lastPoll, phaseSeconds: { ...lastPoll.phaseSeconds, derive: secondsSince(started) } },
  };
}
