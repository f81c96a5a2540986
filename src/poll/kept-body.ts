import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import { documents, type DocumentName, type InputOf } from '../documents.js';
import type { EndpointState } from './endpoint-state.js';
import type { Poll } from './poll.js';
import { inputOf, type Snapshot } from './step.js';

/* The bodies of the last successful polls, which are kept for the items of the pages. */

/** The fastest quality: a module state of 1 MB becomes 0.1 MB in a millisecond. */
const COMPRESSION = { params: { [constants.BROTLI_PARAM_QUALITY]: 0 } };

export function compressBody(bytes: Buffer): Buffer {
  return brotliCompressSync(bytes, COMPRESSION);
}

/** All kept bodies together, compressed: those of 600 targets with documents of 1 MB. */
const MAX_KEPT_BYTES = 64 * 2 ** 20;

/** The poll without the body of its document, if it would take too much memory beside those of the other endpoints. */
export function withinMemory(poll: Poll, others: readonly EndpointState[]): Poll {
  if (!poll.outcome.ok || poll.outcome.compressed === undefined) return poll;
  const otherBytes = others.reduce((sum, { success }) => sum + (success?.snapshot.kept?.body.length ?? 0), 0);
  if (otherBytes + poll.outcome.compressed.length <= MAX_KEPT_BYTES) return poll;
  return { ...poll, outcome: { ...poll.outcome, compressed: undefined } };
}

/** What the document of a snapshot is derived from; `undefined` if its body is not kept. */
export function keptInput<Name extends DocumentName>({ document, kept }: Snapshot<Name>): InputOf[Name] | undefined {
  if (kept === undefined) return undefined;
  const { body, context, received } = kept;
  const read = documents[document].read(brotliDecompressSync(body), { ...received, maxValues: context.maxValues });
  if (!read.ok || read.value === undefined) throw new Error(`the ${document} that was read cannot be read again`);
  return inputOf(read.value, received, context);
}
