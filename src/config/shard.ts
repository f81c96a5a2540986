import { createHash } from 'node:crypto';

/** A process of `count` processes that share the targets of a configuration. Indexes begin at 1. */
export interface Shard {
  readonly index: number;
  readonly count: number;
}

const HASH_BYTES = 6;

/** Whether a shard polls a target. Every name belongs to exactly one shard of `count`. */
export function isInShard(name: string, { index, count }: Shard): boolean {
  const hash = createHash('sha256').update(name).digest().readUIntBE(0, HASH_BYTES);
  return hash % count === index - 1;
}
