import { performance } from 'node:perf_hooks';
import type { DocumentPath } from '../chain/dialects.js';
import type { FieldErrors } from '../chain/document.js';
import { INVALID } from '../chain/field.js';
import type { Numeral } from '../chain/numeral.js';
import type { Instant } from '../clock.js';
import type { EndpointUrl } from '../config/urls.js';
import type { DocumentName, DocumentTypes, StepContext } from '../document-types.js';
import { documents, type SideInput } from '../documents.js';
import { failure, statusRemedies, type Failure, type PollError } from '../http/failure-reasons.js';
import { HEIGHT_FIELD, parseHeight } from '../http/height-header.js';
import { isJsonRpc, portHint, withHint } from '../http/port-hints.js';
import { errorText } from '../text/error-text.js';
import type { KnownEndpoint } from './endpoint-state.js';
import { secondsSince, type Fetched, type ReceivedBody } from './fetch.js';
import { compressBody } from './kept-body.js';
import { step } from './step.js';

/* What one poll has found: a response is read, then the step is taken with it. Both are measured. */

/** A document that was read. */
export interface PolledDocument<Name extends DocumentName = DocumentName> {
  readonly ok: true;
  readonly content: DocumentTypes[Name]['content'];
  readonly errors: FieldErrors;
  /** Hub height from the response header; `undefined` without one. */
  readonly height: Numeral | undefined;
  readonly receivedAt: Instant;
  readonly sideInput?: SideInput | undefined;
  /** The body, compressed by `compressBody`; `undefined` if it is not kept. */
  readonly compressed: Buffer | undefined;
}

export type Phase = 'fetch' | 'decode' | 'derive';

/** What one poll has found. */
export interface Poll<Name extends DocumentName = DocumentName> {
  readonly outcome: PolledDocument<Name> | Failure;
  /** Duration of each phase that has ended. */
  readonly phaseSeconds: Partial<Record<Phase, number>>;
  readonly bodyBytes?: number | undefined;
  /** Whether the body has so many values for its size that it is hostile. */
  readonly isDense?: boolean;
  /** Whether the last poll of another document of the target has succeeded. */
  readonly isOtherServed?: boolean;
  /** Where the document was found; only after a success, and not for a recorded body. */
  readonly foundPath?: DocumentPath | undefined;
  /** Host and path of the document, or the name of its file; at the beginning of messages. */
  readonly source?: string | undefined;
}

/** Reads the document that was fetched. */
export function readFetched<Name extends DocumentName>(
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

/** A step whose duration is measured. */
export function timedStep<Name extends DocumentName>(
  before: KnownEndpoint,
  poll: Poll<Name>,
  context: StepContext<Name>,
  at: Instant,
): KnownEndpoint {
  const started = performance.now();
  const after = step(before, poll, context, at);
  const { last } = after.state;
  if (last?.ok !== true) return after;
  const phaseSeconds = { ...last.phaseSeconds, derive: secondsSince(started) };
  return { ...after, state: { ...after.state, last: { ...last, phaseSeconds } } };
}
