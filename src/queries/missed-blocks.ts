import type { Instant } from '../clock.js';
import { MINUTE_SECONDS } from '../units.js';

/* What successive answers about the signatures of a validator of the hub prove. */

/** The missed blocks in an answer. */
export interface MissedCount {
  /** The time of the document before the answer. */
  readonly at: Instant;
  /** Within the window of the slashing module; jailing begins it anew. */
  readonly missed: number;
  /** The hub height of the answer; `undefined` if the response does not have it. */
  readonly height: number | undefined;
}

/** Twenty minutes of answers. */
const MAX_COUNTS = 21;

/** The counts with the next one. A count that does not lie between its neighbours was odd, and is dropped. */
export function withCount(counts: readonly MissedCount[], next: MissedCount): readonly MissedCount[] {
  const [before, last] = counts.slice(-2);
  const isOdd =
    before !== undefined &&
    last !== undefined &&
    before.missed <= next.missed &&
    (last.missed < before.missed || last.missed > next.missed);
  return [...(isOdd ? counts.slice(0, -1) : counts), next].slice(-MAX_COUNTS);
}

const RECENT_SECONDS = 10 * MINUTE_SECONDS;

/** How many more blocks were missed within the last ten minutes; `undefined` without an earlier answer. */
export function recentlyMissed(counts: readonly MissedCount[]) {
  const last = counts.at(-1);
  const [first, ...others] = counts.filter(({ at }) => last !== undefined && last.at - at <= RECENT_SECONDS);
  if (first === undefined || last === undefined || others.length === 0) return undefined;
  // Since the lowest count, because jailing and misses that leave the window lower it.
  const lowest = others.reduce((a, b) => (b.missed <= a.missed ? b : a), first);
  return {
    blocks: last.missed - lowest.missed,
    seconds: last.at - lowest.at,
    /** For how long the number is known. */
    knownSeconds: last.at - first.at,
  };
}

/** The share of missed blocks that counts as all: earlier misses that leave the window meanwhile lower the number. */
const UNSIGNED_SHARE = 0.9;

/**
 * The last blocks of which the validator has signed none, or hardly any, since an earlier answer; `undefined` when it
 * has signed some. `null` if the last answer does not say, because it has no new height or is the first one.
 */
export function unsignedBlocks(
  counts: readonly MissedCount[],
): { readonly since: Instant; readonly blocks: number } | undefined | null {
  const known = counts.flatMap(({ height, ...count }) => (height === undefined ? [] : [{ ...count, height }]));
  const spans = known.slice(1).flatMap((after, index) => {
    const before = known[index] ?? after;
    const blocks = after.height - before.height;
    const isSigned = after.missed - before.missed < UNSIGNED_SHARE * blocks;
    // An answer with a lower height, of a node that is behind, does not say.
    return blocks <= 0 ? [] : [{ since: before.at, until: after.at, blocks, isSigned }];
  });
  const last = spans.at(-1);
  if (last === undefined || last.until !== counts.at(-1)?.at) return null;
  const [first, ...others] = spans.slice(spans.findLastIndex(({ isSigned }) => isSigned) + 1);
  return first && { since: first.since, blocks: others.reduce((sum, { blocks }) => sum + blocks, first.blocks) };
}
