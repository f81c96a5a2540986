import type { LabelValues } from '../metrics/family.js';
import { isJudged, type JudgedFamily } from '../metrics/judged-families.js';
import type { FiniteSample } from '../metrics/render-families.js';
import type { Snapshot } from '../poll/poll.js';

/** The samples of one successful poll that conditions read. They are those of the exposition. */
export interface Samples {
  /** The value of a family without labels; `undefined` when it is not exported. */
  readonly value: (family: JudgedFamily) => number | undefined;
  /** All series of a family. */
  readonly series: (family: JudgedFamily) => readonly FiniteSample[];
  /** The names of the exported families. */
  readonly families: () => Iterable<JudgedFamily>;
}

export function samplesOf(snapshot: Snapshot | undefined): Samples {
  const byFamily = new Map<JudgedFamily, readonly FiniteSample[]>();
  for (const { name, samples } of snapshot?.families ?? []) {
    if (samples !== undefined && isJudged(name)) byFamily.set(name, samples);
  }
  const series = (family: JudgedFamily): readonly FiniteSample[] => byFamily.get(family) ?? [];
  return { series, value: (family) => series(family)[0]?.value, families: () => byFamily.keys() };
}

/** The value of a label; every series of a family has all labels of the family. */
export function labelOf(labels: LabelValues, name: string): string {
  return labels[name] ?? '';
}
