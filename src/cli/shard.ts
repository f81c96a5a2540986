import { createHash } from 'node:crypto';
import type { Shard } from './flags.js';

/*
 * Shards are added one by one. A new one takes names by chance, as consistent hashing would, but no more and no fewer
 * than keep each within 5 % of the average (or one off it): going from n to n + 1 moves nothing but what the new one takes.
 *
 * 1,000 names over 5 shards, 500 random sets: sizes 190 to 210; 16.6 % move to a sixth (15.9 to 17.5); one more name
 * moves 1.2 others (at most 6). Plain rendezvous hashing is off by up to 22 %, in a third of the sets by over 10 %;
 * with a capacity of the average 18 % move, and 5 per name. The price is many shards: at 20, one more name moves 23.
 */
const tolerance = 0.05;

/** A shard while names are dealt out. */
interface Part {
  size: number;
}

interface Entry {
  readonly name: string;
  readonly key: number;
  part: Part;
}

/** Which of the names, each there once, the shard polls. The order of the list makes no difference. */
export function selectShard(names: readonly string[], { index, count }: Shard): readonly string[] {
  const first: Part = { size: names.length };
  const parts = [first];
  const entries = names.map((name): Entry => ({ name, key: keyOf(name), part: first }));
  // More shards than names would stay empty.
  while (parts.length < Math.min(count, names.length)) parts.push(splitOff(entries, parts.length + 1));
  return entries.filter(({ part }) => part === parts[index - 1]).map(({ name }) => name);
}

/** The part of one more shard, taken from those there are. */
function splitOff(entries: readonly Entry[], count: number): Part {
  const average = entries.length / count;
  const least = Math.min(Math.floor(average), Math.ceil(average * (1 - tolerance)));
  const most = Math.max(Math.ceil(average), Math.floor(average * (1 + tolerance)));
  const split: Part = { size: 0 };
  const take = (entry: Entry) => {
    entry.part.size -= 1;
    entry.part = split;
    split.size += 1;
  };
  const ranked = rank(entries, count);
  // First what is above the band, then by chance: one name in `count`.
  for (const { entry } of ranked) {
    if (split.size < most && entry.part.size > most) take(entry);
  }
  for (const { entry, score } of ranked) {
    const wanted = score < 2 ** 32 / count || split.size < least;
    if (entry.part !== split && wanted && split.size < most && entry.part.size > least) take(entry);
  }
  return split;
}

interface Ranked {
  readonly entry: Entry;
  readonly score: number;
}

/** Lowest score first; names of one key have one score, so then the names decide. */
function rank(entries: readonly Entry[], count: number): readonly Ranked[] {
  return entries
    .map((entry) => ({ entry, score: scoreOf(entry.key, count) }))
    .toSorted((left, right) => left.score - right.score || (left.entry.name < right.entry.name ? -1 : 1));
}

const keyOf = (name: string): number => createHash('sha256').update(name).digest().readUInt32BE();

/** MurmurHash3's finaliser, so that the draws of one name are independent of each other. */
function scoreOf(key: number, count: number): number {
  let hash = key + Math.imul(count, 0x9e37_79b9);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2_ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
