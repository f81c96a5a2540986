import { createHash } from 'node:crypto';

/** A process of `count` processes that share the targets of a configuration. Indexes begin at 1. */
export interface Shard {
  readonly index: number;
  readonly count: number;
}

/** The names of the targets that a shard polls, in their order. Every name belongs to exactly one shard of `count`. */
export function selectShard(names: readonly string[], { index, count }: Shard): readonly string[] {
  return names.filter((name) => jumpHash(keyOf(name), count) === index - 1);
}

function keyOf(name: string): bigint {
  return createHash('sha256').update(name).digest().readBigUInt64BE();
}

/**
 * Jump consistent hash (Lamping and Veach, 2014): the bucket of a key. Going from n to n + 1 buckets moves 1/(n + 1) of the
 * keys, all of them to the new bucket.
 */
export function jumpHash(key: bigint, buckets: number): number {
  let state = key;
  let bucket = -1;
  let next = 0;
  while (next < buckets) {
    bucket = next;
    state = BigInt.asUintN(64, state * 2_862_933_555_777_941_757n + 1n);
    next = Math.floor((bucket + 1) * (2 ** 31 / (Number(state >> 33n) + 1)));
  }
  return bucket;
}
