/*
 * The indexes that were counted, so that one that a node lists again is not counted twice. They are one string, because it is sent
 * between threads with every poll.
 */

export const NONE_COUNTED = '';

/** 64 bits of the hash that an index is. */
const KEY_CHARACTERS = 18;
/** The oldest are forgotten. */
export const MAX_COUNTED = 50_000;

export interface CountedKeys {
  readonly has: (index: string) => boolean;
}

export function addCounted(counted: string, indexes: readonly string[]): string {
  const added = counted + indexes.map(keyOf).join('');
  return added.slice(-MAX_COUNTED * KEY_CHARACTERS);
}

/** With more lookups, a set is faster than searching the string. */
const MAX_SEARCHES = 20;

export function countedKeys(counted: string, lookups: number): CountedKeys {
  if (lookups <= MAX_SEARCHES) return { has: (index) => isKeyIn(counted, keyOf(index)) };
  const keys = new Set<string>();
  for (let start = 0; start < counted.length; start += KEY_CHARACTERS) {
    keys.add(counted.slice(start, start + KEY_CHARACTERS));
  }
  return { has: (index) => keys.has(keyOf(index)) };
}

function isKeyIn(counted: string, key: string): boolean {
  let at = counted.indexOf(key);
  while (at > 0 && at % KEY_CHARACTERS !== 0) at = counted.indexOf(key, at + 1);
  return at >= 0;
}

function keyOf(index: string): string {
  return index.slice(0, KEY_CHARACTERS).padEnd(KEY_CHARACTERS);
}
