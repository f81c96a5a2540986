/** Rows by key, in the order they come. A Map, since keys are the chain's to choose and may read `__proto__`. */
export function groupBy<T>(list: readonly T[], key: (row: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const row of list) {
    const at = key(row);
    const group = groups.get(at);
    if (group === undefined) groups.set(at, [row]);
    else group.push(row);
  }
  return groups;
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
