/** Rows by key, in the order they come. A Map, since keys are the chain's to choose and may read `__proto__`. */
export function groupBy<T, Key>(list: readonly T[], key: (row: T) => Key): ReadonlyMap<Key, readonly T[]> {
  const groups = new Map<Key, T[]>();
  for (const row of list) {
    const at = key(row);
    const group = groups.get(at);
    if (group === undefined) groups.set(at, [row]);
    else group.push(row);
  }
  return groups;
}

export interface LabelledGroup<T> {
  readonly labels: readonly string[];
  readonly rows: readonly T[];
}

/** Rows by their labels. They are looked up one by one, as making a list or a key of them for each row takes longer. */
export function groupByLabels<T>(
  list: readonly T[],
  labels: readonly ((row: T) => string)[],
): readonly LabelledGroup<T>[] {
  const groups: LabelledGroup<T>[] = [];
  const root: Branch<T> = { next: new Map(), rows: undefined };
  for (const row of list) {
    let branch = root;
    for (const label of labels) {
      const at = label(row);
      let next = branch.next.get(at);
      if (next === undefined) branch.next.set(at, (next = { next: new Map(), rows: undefined }));
      branch = next;
    }
    if (branch.rows === undefined) groups.push({ labels: labels.map((label) => label(row)), rows: (branch.rows = []) });
    branch.rows.push(row);
  }
  return groups;
}

interface Branch<T> {
  readonly next: Map<string, Branch<T>>;
  rows: T[] | undefined;
}

/** The first row of each key: in look-ups a repeated key counts once. */
export function firstBy<T>(list: readonly T[], key: (row: T) => string): ReadonlyMap<string, T> {
  const first = new Map<string, T>();
  for (const row of list) {
    const at = key(row);
    if (!first.has(at)) first.set(at, row);
  }
  return first;
}
