import { performance } from 'node:perf_hooks';
import { INVALID } from '../chain/field.js';
import type { DocumentName, StepContext } from '../document-types.js';
import { documents } from '../documents.js';
import type { Failure, PollError } from '../http/failure-reasons.js';
import { HEIGHT_FIELD, parseHeight } from '../http/height-header.js';
import type { Fetched, ReceivedBody } from './fetch.js';
import { compressBody } from './kept-body.js';
import { secondsSince } from './phases.js';
import type { Poll } from './step.js';

/* How the response to the request of a document is read. */

/** Reads a response. */
export function readResponse<Name extends DocumentName>(
  { outcome, seconds }: Fetched,
  context: StepContext<Name>,
): Poll<Name> {
  if (!outcome.ok) return { outcome, phaseSeconds: { fetch: seconds } };
  const poll = readBody(outcome, context);
  return { ...poll, phaseSeconds: { fetch: seconds, ...poll.phaseSeconds } };
}

/** Reads a response body. */
export function readBody<Name extends DocumentName>(
  { bytes, source, height: header, receivedAt, sideInput, foundPath, otherDocument = failed }: Omit<ReceivedBody, 'ok'>,
  { document, maxValues }: StepContext<Name>,
): Poll<Name> {
  const started = performance.now();
  const read = documents[document].read(bytes, { maxValues, at: receivedAt, sideInput });
  const { isDense = false } = read;
  const compressed = read.ok ? compressBody(bytes) : undefined;
  const poll = { phaseSeconds: { decode: secondsSince(started) }, bodyBytes: bytes.length, source, isDense, foundPath };
  if (!read.ok) {
    const error = { reason: read.reason, message: `${source}: ${read.message}` };
    return { ...poll, outcome: read.reason === 'too_large' ? failed(error) : otherDocument(error) };
  }
  const { value: content } = read;
  if (content === undefined) {
    const message = `${source}: not a ${document} document: none of its fields is present`;
    return { ...poll, outcome: otherDocument({ reason: 'schema', message }) };
  }
  const height = parseHeight(header);
  const outcome = { ok: true, content, receivedAt, sideInput, compressed } as const;
  if (height !== INVALID) return { ...poll, outcome: { ...outcome, errors: read.errors, height } };
  const errors = { ...read.errors, invalid: new Map([...read.errors.invalid, [HEIGHT_FIELD, 1] as const]) };
  return { ...poll, outcome: { ...outcome, errors, height: undefined } };
}

function failed(error: PollError): Failure {
  return { ok: false, error };
}
