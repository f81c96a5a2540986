import type { Instant } from '../clock.js';
import type { LabelValues } from '../metrics/family.js';
import type { FamilyLines, FiniteSample } from '../metrics/render-families.js';
import type { EndpointState } from '../poll/endpoint-state.js';
import type { Snapshot } from '../poll/step.js';
import { answeredFamilies } from '../queries/query-state.js';

/** The samples of a successful poll that alerts read. They are those of the exposition. */
export interface Samples<Family extends string = string> {
  /** The value of a family without labels; `undefined` when it is not exported. */
  readonly value: (family: Family) => number | undefined;
  /** All series of a family. */
  readonly series: (family: Family) => readonly FiniteSample[];
}

/** The samples of a snapshot. */
export function samplesOf(snapshot: Snapshot | undefined): Samples {
  return samplesIn(snapshot?.families ?? []);
}

/** The samples of families. */
function samplesIn(families: readonly FamilyLines[]): Samples {
  const byFamily = new Map<string, readonly FiniteSample[]>();
  for (const { name, samples } of families) {
    const known = byFamily.get(name);
    if (samples !== undefined) byFamily.set(name, known === undefined ? samples : [...known, ...samples]);
  }
  const series = (family: string): readonly FiniteSample[] => byFamily.get(family) ?? [];
  return { series, value: (family) => series(family)[0]?.value };
}

/** The samples of the last document, whatever its age, and of the answers to other queries of the node that are not stale. */
export function samplesAt({ success, queries, staleAfterMs }: EndpointState, now: Instant): Samples {
  return samplesIn([...(success?.snapshot.families ?? []), ...answeredFamilies(queries, staleAfterMs, now)]);
}

/** The value of a label; every series of a family has all labels of the family. */
export function labelOf(labels: LabelValues, name: string): string {
  return labels[name] ?? '';
}
