import { performance } from 'node:perf_hooks';
import { INVALID } from '../chain/field.js';
import type { EndpointUrl } from '../config/urls.js';
import type { DocumentName, StepContext } from '../document-types.js';
import { documents } from '../documents.js';
import { failure, statusRemedies, type Failure, type PollError } from '../http/failure-reasons.js';
import { HEIGHT_FIELD, parseHeight } from '../http/height-header.js';
import { isJsonRpc, portHint, withHint } from '../http/port-hints.js';
import { errorText } from '../text/error-text.js';
import type { Fetched, ReceivedBody } from './fetch.js';
import { compressBody } from './kept-body.js';
import { secondsSince } from './phases.js';
import type { Poll } from './step.js';

/* How the response to the request of a document is read. */

/** Reads a response. */
export function readResponse<Name extends DocumentName>(
  { outcome: received, seconds, foundPath, url, clean }: Fetched,
  context: StepContext<Name>,
): Poll<Name> {
  if (!received.ok) return { outcome: received, phaseSeconds: { fetch: seconds } };
  const poll = readBody(received, context);
  const phaseSeconds = { fetch: seconds, ...poll.phaseSeconds };
  if (poll.outcome.ok) return { ...poll, phaseSeconds, foundPath };
  const { error } = poll.outcome;
  // The answers of a contract are no document at a path.
  const isOther = foundPath !== undefined && (error.reason === 'schema' || error.reason === 'not_json');
  const outcome = isOther ? otherDocument(error, url, received.bytes, clean) : poll.outcome;
  return { ...poll, outcome, phaseSeconds };
}

/** A body that is not the document is short, if it is an error with status 200. */
const ERROR_BYTES = 4096;

/** The failure of a response that is not the document, with what the server says instead. */
function otherDocument(error: PollError, url: EndpointUrl, body: Buffer, clean: (text: string) => string): Failure {
  const start = body.subarray(0, ERROR_BYTES).toString();
  const text = errorText(start);
  const hint = portHint(url, isJsonRpc(start) ? 'json-rpc' : undefined);
  if (text === undefined) return withHint(error, hint);
  const remedy = error.reason === 'schema' ? { remedy: statusRemedies.errorDocument } : {};
  return withHint({ ...error, ...remedy, message: `${error.message}: ${clean(text)}` }, hint);
}

/** Reads a response body. */
export function readBody<Name extends DocumentName>(
  { bytes, source, height: header, receivedAt, sideInput }: Omit<ReceivedBody, 'ok'>,
  { document, maxValues }: StepContext<Name>,
): Poll<Name> {
  const started = performance.now();
  const read = documents[document].read(bytes, { maxValues, at: receivedAt, sideInput });
  const { isDense = false } = read;
  const compressed = read.ok ? compressBody(bytes) : undefined;
  const poll = { phaseSeconds: { decode: secondsSince(started) }, bodyBytes: bytes.length, source, isDense };
  if (!read.ok) return { ...poll, outcome: failure(read.reason, `${source}: ${read.message}`) };
  const { value: content } = read;
  if (content === undefined) {
    const message = `${source}: not a ${document} document: none of its fields is present`;
    return { ...poll, outcome: failure('schema', message) };
  }
  const height = parseHeight(header);
  const outcome = { ok: true, content, receivedAt, sideInput, compressed } as const;
  if (height !== INVALID) return { ...poll, outcome: { ...outcome, errors: read.errors, height } };
  const errors = { ...read.errors, invalid: new Map([...read.errors.invalid, [HEIGHT_FIELD, 1] as const]) };
  return { ...poll, outcome: { ...outcome, errors, height: undefined } };
}
