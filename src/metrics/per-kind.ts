import { WITHDRAWN } from '../json/field.js';
import type { Sample } from './family.js';

/** What `derive` gives, or nothing when it is withdrawn: for parts of a family that are withdrawn one by one. */
export function orEmpty<T>(derive: () => readonly T[]): readonly T[] {
  try {
    return derive();
  } catch (thrown) {
    if (thrown === WITHDRAWN) return [];
    throw thrown;
  }
}

/** One series a kind; a kind that cannot be told is withdrawn alone. */
export function perKind<Input>(kinds: Readonly<Record<string, (input: Input) => number>>) {
  return (input: Input): readonly Sample[] =>
    Object.entries(kinds).flatMap(([kind, count]) => orEmpty(() => [{ labels: [kind], value: count(input) }]));
}
