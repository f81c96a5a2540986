import { setImmediate as nextTurn } from 'node:timers/promises';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import type { DocumentName, DocumentTypes } from '../document-types.js';
import { documents, type Items } from '../documents.js';
import { runToEnd } from '../parts.js';
import { MEBIBYTE } from '../units.js';
import type { EndpointState, Snapshot } from './endpoint-state.js';
import type { PollResult } from './step.js';
import { createFilter, type Filter } from '../items/item-list.js';

/*
 * The items of the pages are derived when a page is requested, which is rare, from the body of the last successful
 * poll. It is kept compressed: the document would take ten times the memory.
 */

/** The fastest quality: a module state of 1 MB becomes 0.1 MB in a millisecond. */
const COMPRESSION = { params: { [constants.BROTLI_PARAM_QUALITY]: 0 } };

export function compressBody(bytes: Buffer): Buffer {
  return brotliCompressSync(bytes, COMPRESSION);
}

/** Maximum of all kept bodies together, compressed: enough for 600 targets with documents of 1 MB. */
const MAX_KEPT_BYTES = 64 * MEBIBYTE;

/** The poll, without its body if the kept bodies of all endpoints would take too much memory. */
export function withinMemory(poll: PollResult, others: readonly EndpointState[]): PollResult {
  if (!poll.outcome.ok || poll.outcome.compressed === undefined) return poll;
  const otherBytes = others.reduce((sum, { lastSuccess }) => sum + (lastSuccess?.snapshot.kept?.body.length ?? 0), 0);
  if (otherBytes + poll.outcome.compressed.length <= MAX_KEPT_BYTES) return poll;
  return { ...poll, outcome: { ...poll.outcome, compressed: undefined } };
}

/** The input of the facts of a snapshot; `undefined` if its body is not kept. */
export function keptInput<Name extends DocumentName>({
  document,
  kept,
}: Snapshot<Name>): DocumentTypes[Name]['input'] | undefined {
  if (kept === undefined) return undefined;
  const { body, context } = kept;
  const read = runToEnd(documents[document].read(brotliDecompressSync(body), context));
  if (!read.ok || read.value === undefined) throw new Error(`the ${document} that was read cannot be read again`);
  return documents[document].input(read.value, context);
}

/** The items of a snapshot that were derived last, with their filter, until the next poll replaces it. */
const derived = new WeakMap<Snapshot, { readonly query: string; readonly items: Items }>();

/** The items of a snapshot that match a text, by default all; `undefined` if its body is not kept. */
export function getItems(snapshot: Snapshot, query = ''): Items | undefined {
  const cached = derived.get(snapshot);
  if (cached?.query === query) return cached.items;
  const items = deriveItems(snapshot, createFilter(query));
  if (items !== undefined) derived.set(snapshot, { query, items });
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

function deriveItems<Name extends DocumentName>(snapshot: Snapshot<Name>, filter?: Filter): Items | undefined {
  const { document, kept, flow } = snapshot;
  const input = keptInput(snapshot);
  return kept && input && documents[document].items({ input, flow }, kept.context.names, filter);
}
