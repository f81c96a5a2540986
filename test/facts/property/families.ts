import type { SeriesValues } from '../derive.js';

/** Series by the name of their family. */
export function byFamily(values: SeriesValues): ReadonlyMap<string, SeriesValues> {
  const families = new Map<string, Record<string, number>>();
  for (const [series, value] of Object.entries(values)) {
    const [name = ''] = series.split('{', 1);
    const family = families.get(name) ?? {};
    family[series] = value;
    families.set(name, family);
  }
  return families;
}

/** The names of the families whose series differ. */
export function changedFamilies(before: SeriesValues, after: SeriesValues): string[] {
  const [left, right] = [byFamily(before), byFamily(after)];
  return [...new Set([...left.keys(), ...right.keys()])].filter(
    (name) => JSON.stringify(sorted(left.get(name))) !== JSON.stringify(sorted(right.get(name))),
  );
}

function sorted(values: SeriesValues = {}): [string, number][] {
  return Object.entries(values).toSorted(([a], [b]) => (a < b ? -1 : 1));
}

/** The values of all series of a family. */
export function valuesOfFamily(values: SeriesValues, name: string): number[] {
  return Object.values(byFamily(values).get(name) ?? {});
}
