import { setImmediate as nextTurn } from 'node:timers/promises';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import { INVALID } from '../chain/fields.js';
import type { FieldErrors } from '../chain/document.js';
import type { Moment } from '../clock.js';
import { maxHeapValues } from '../config/loader.js';
import type { DocumentName, DocumentTypes, StepContext } from '../document-types.js';
import { documents, type Items } from '../documents.js';
import { remedies, type Failure, type PollError } from '../http/failure-reasons.js';
import { HEIGHT_FIELD, parseHeight } from '../http/response.js';
import { createFilter, type Filter } from '../items/item-list.js';
import { type InParts, runToEnd } from '../tasks.js';
import type { EndpointState, Snapshot } from './endpoint-state.js';
import type { Received, ReceivedDocument } from './source.js';
import type { PollResult } from './step.js';

/** Reads the response of a poll. */
export function* readPoll<Name extends DocumentName>(
  received: Received<Name>,
  { document }: StepContext<Name>,
  { clockOffset }: Pick<Moment, 'clockOffset'> = { clockOffset: 0 },
): InParts<PollResult<Name>> {
  const { seconds: fetch } = received;
  const phaseSeconds = fetch === undefined ? {} : { fetch };
  if (!received.ok) return { outcome: failed(received.error), phaseSeconds, bodyBytes: received.body?.length };
  const { bytes, source, receivedAt, additionalInput, servedPath, isAccepted } = received;
  const read = yield* readContent(received, document, clockOffset);
  const poll = { phaseSeconds, bodyBytes: bytes.length, source, servedPath, isAccepted };
  if (!read.ok) return { ...poll, outcome: read };
  yield;
  const { content } = read;
  const height = parseHeight(received.height);
  const outcome = { ok: true, content, receivedAt, additionalInput, compressed: compressBody(bytes) } as const;
  if (height !== INVALID) return { ...poll, outcome: { ...outcome, errors: read.errors, height } };
  const errors = { ...read.errors, invalid: new Map([...read.errors.invalid, [HEIGHT_FIELD, 1] as const]) };
  return { ...poll, outcome: { ...outcome, errors, height: undefined } };
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

/*
 * The items of the pages are derived when a page is requested, which is rare, from the body of the last successful
 * poll. It is kept compressed: the document would take ten times the memory.
 */

/** The fastest quality: a module state of 1 MB becomes 0.1 MB in a millisecond. */
const COMPRESSION = { params: { [constants.BROTLI_PARAM_QUALITY]: 0 } };

export function compressBody(bytes: Buffer): Buffer {
  return brotliCompressSync(bytes, COMPRESSION);
}

/** The input of the facts of a snapshot. */
export function keptInput<Name extends DocumentName>({ document, kept }: Snapshot<Name>): DocumentTypes[Name]['input'] {
  const { body, context } = kept;
  const read = runToEnd(documents[document].read(brotliDecompressSync(body), context));
  if (!read.ok || read.value === undefined) throw new Error(`the ${document} that was read cannot be read again`);
  return documents[document].input(read.value, context);
}

/** The items of a snapshot that were derived last, with their filter, until the next poll replaces it. */
const derived = new WeakMap<Snapshot, { readonly query: string; readonly items: Items }>();

/** The items of a snapshot that match a text, by default all. */
export function getItems(snapshot: Snapshot, query = ''): Items {
  const cached = derived.get(snapshot);
  if (cached?.query === query) return cached.items;
  const items = deriveItems(snapshot, createFilter(query));
  derived.set(snapshot, { query, items });
  return items;
}

/** Derives the items of several endpoints, and yields to scrapes in between. */
export async function prepareItems(states: readonly EndpointState[], query?: string): Promise<void> {
  for (const { lastSuccess } of states) {
    if (lastSuccess === undefined) continue;
    getItems(lastSuccess.snapshot, query);
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await nextTurn();
  }
}

function deriveItems<Name extends DocumentName>(snapshot: Snapshot<Name>, filter?: Filter): Items {
  const { document, flow } = snapshot;
  return documents[document].items({ input: keptInput(snapshot), flow }, filter);
}
