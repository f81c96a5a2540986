import { setImmediate as nextTurn } from 'node:timers/promises';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import type { DocumentName, DocumentTypes } from '../document-types.js';
import { documents, type Items } from '../documents.js';
import { MEBIBYTE } from '../units.js';
import type { EndpointState, Snapshot } from './endpoint-state.js';
import type { PollResult } from './step.js';

/*
 * The items of the pages are derived when somebody asks for a page, from the body of the last successful poll, which is kept compressed: in
 * most polls nobody does, and the document would take ten times the memory.
 */

/** The fastest quality: a module state of 1 MB becomes 0.1 MB in a millisecond. */
const COMPRESSION = { params: { [constants.BROTLI_PARAM_QUALITY]: 0 } };

export function compressBody(bytes: Buffer): Buffer {
  return brotliCompressSync(bytes, COMPRESSION);
}

/** All kept bodies together, compressed: those of 600 targets with documents of 1 MB. */
const MAX_KEPT_BYTES = 64 * MEBIBYTE;

/** The poll without the body of its document, if it would take too much memory beside those of the other endpoints. */
export function withinMemory(poll: PollResult, others: readonly EndpointState[]): PollResult {
  if (!poll.outcome.ok || poll.outcome.compressed === undefined) return poll;
  const otherBytes = others.reduce((sum, { success }) => sum + (success?.snapshot.kept?.body.length ?? 0), 0);
  if (otherBytes + poll.outcome.compressed.length <= MAX_KEPT_BYTES) return poll;
  return { ...poll, outcome: { ...poll.outcome, compressed: undefined } };
}

/** What the document of a snapshot is derived from; `undefined` if its body is not kept. */
export function keptInput<Name extends DocumentName>({
  document,
  kept,
}: Snapshot<Name>): DocumentTypes[Name]['input'] | undefined {
  if (kept === undefined) return undefined;
  const { body, context, maxValues } = kept;
  const read = documents[document].read(brotliDecompressSync(body), { ...context, maxValues });
  if (!read.ok || read.value === undefined) throw new Error(`the ${document} that was read cannot be read again`);
  return documents[document].input(read.value, context);
}

/** The items that were derived of a snapshot, until the next poll replaces it. */
const derived = new WeakMap<Snapshot, Items>();

/** The items of a snapshot; `undefined` if its body is not kept. */
export function itemsOf(snapshot: Snapshot): Items | undefined {
  const known = derived.get(snapshot);
  if (known !== undefined) return known;
  const items = deriveItems(snapshot);
  if (items !== undefined) derived.set(snapshot, items);
  return items;
}

/** Derives the items of all endpoints. In between, scrapes are answered. */
export async function prepareItems(states: readonly EndpointState[]): Promise<void> {
  for (const { success } of states) {
    if (success === undefined || derived.has(success.snapshot)) continue;
    itemsOf(success.snapshot);
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await nextTurn();
  }
}

function deriveItems<Name extends DocumentName>(snapshot: Snapshot<Name>): Items | undefined {
  const { document, kept, flow } = snapshot;
  const input = keptInput(snapshot);
  return kept && input && documents[document].items({ input, flow }, kept.context.labels);
}
