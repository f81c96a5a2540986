import type { LabelValues } from './family.js';
import type { FamilyLines, FiniteSample } from './render-families.js';

/** The samples of a successful poll, as they are exported. */
export interface Samples<Family extends string = string> {
  /** The value of a family without labels; `undefined` when it is not exported. */
  readonly value: (family: Family) => number | undefined;
  /** All series of a family. */
  readonly series: (family: Family) => readonly FiniteSample[];
}

/** The samples of families. */
export function samplesOf(families: readonly FamilyLines[]): Samples {
  const byFamily = new Map<string, readonly FiniteSample[]>();
  for (const { name, samples } of families) {
    const known = byFamily.get(name);
    if (samples !== undefined) byFamily.set(name, known === undefined ? samples : [...known, ...samples]);
  }
  const series = (family: string): readonly FiniteSample[] => byFamily.get(family) ?? [];
  return { series, value: (family) => series(family)[0]?.value };
}

/** The value of a label; every series of a family has all labels of the family. */
export function labelOf(labels: LabelValues, name: string): string {
  return labels[name] ?? '';
}
