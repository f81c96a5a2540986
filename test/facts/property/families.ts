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
