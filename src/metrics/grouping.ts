import { labelValues, type LabelValues, type Sample } from './family.js';

/** Groups rows by a key, in document order. A Map, because keys come from the chain and can be `__proto__`. */
export function groupBy<T, Key>(list: readonly T[], keyOf: (row: T) => Key): ReadonlyMap<Key, readonly T[]> {
  const groups = new Map<Key, T[]>();
  for (const row of list) {
    const key = keyOf(row);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  return groups;
}

/** The first row of each key: in look-ups, rows that repeat a key are ignored. */
export function firstBy<T>(list: readonly T[], keyOf: (row: T) => string): ReadonlyMap<string, T> {
  const first = new Map<string, T>();
  for (const row of list) {
    const key = keyOf(row);
    if (!first.has(key)) first.set(key, row);
  }
  return first;
}

interface Branch<Label extends string> {
  readonly next: Map<string, Branch<Label>>;
  sample?: { readonly labels: LabelValues<Label>; value: number };
}

/**
 * Counts rows by their label values, in document order. The values are looked up in a tree of Maps, since building a key per
 * row takes longer.
 */
export function countByLabels<T, Label extends string>(
  rows: readonly T[],
  labels: readonly Label[],
  valueOf: Readonly<Record<Label, (row: T) => string>>,
): readonly Sample<Label>[] {
  const valuesOf = labels.map((label) => valueOf[label]);
  const samples: Sample<Label>[] = [];
  const root: Branch<Label> = { next: new Map() };
  for (const row of rows) {
    let branch = root;
    for (const labelOf of valuesOf) {
      const value = labelOf(row);
      let next = branch.next.get(value);
      if (next === undefined) branch.next.set(value, (next = { next: new Map() }));
      branch = next;
    }
    if (branch.sample === undefined) {
      branch.sample = { labels: labelValues(labels, (label) => valueOf[label](row)), value: 0 };
      samples.push(branch.sample);
    }
    branch.sample.value += 1;
  }
  return samples;
}
