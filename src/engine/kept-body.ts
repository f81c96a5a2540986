import { setImmediate as nextTurn } from 'node:timers/promises';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import type { DocumentName, DocumentTypes } from '../document-types.js';
import { documents, type Items } from '../documents.js';
import { runToEnd } from '../tasks.js';
import type { EndpointState, Snapshot } from './endpoint-state.js';
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
