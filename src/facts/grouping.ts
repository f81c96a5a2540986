/** Groups rows by a key, in document order. A Map, because a key of the chain can be `__proto__`. */
export function groupBy<T, Key>(list: readonly T[], readKey: (row: T) => Key): ReadonlyMap<Key, readonly T[]> {
  const groups = new Map<Key, T[]>();
  for (const row of list) {
    const key = readKey(row);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  return groups;
}

/** The first row of each key. */
export function firstBy<T>(list: readonly T[], readKey: (row: T) => string): ReadonlyMap<string, T> {
  const first = new Map<string, T>();
  for (const row of list) {
    const key = readKey(row);
    if (!first.has(key)) first.set(key, row);
  }
  return first;
}
