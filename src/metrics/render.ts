import { unlessWithdrawn } from './singly.js';
import { formatSeries } from './text-format.js';
import { OTHER } from '../chain/schema.js';
import type { Family, FamilyHeader, Keep, Sample } from './family.js';

/** The lines of one family, ready to stand under its HELP and TYPE. */
export interface FamilyLines {
  readonly name: string;
  readonly lines: string;
  /** Series that are not shown by themselves: left out, or added up in `other`. Only families with labels can have some. */
  readonly dropped: number | undefined;
}

/** All series that can be told of one document. A family that cannot be right is not there. */
export function render<Input>(
  families: readonly Family<Input>[],
  input: Input,
  fixedLabels: string,
  maxSeries: number,
): FamilyLines[] {
  return families.flatMap((family) => {
    const samples = unlessWithdrawn(() => family.derive(input)).filter(isTellable);
    if (samples.length === 0) return [];
    const { kept, rest } = bounded(family.keep, samples, maxSeries);
    const shown = rest.length > 0 && family.keep === 'fold' ? [...kept, foldedInto(family, rest)] : kept;
    const lines = shown.map((sample) => formatSeries(family, fixedLabels, sample)).join('');
    return [{ name: family.name, lines, dropped: family.labels.length === 0 ? undefined : rest.length }];
  });
}

type Told = Sample & { readonly value: number };

function isTellable(sample: Sample): sample is Told {
  return sample.value !== undefined && Number.isFinite(sample.value);
}

interface Bounded {
  readonly kept: readonly Told[];
  readonly rest: readonly Told[];
}

/** At most `maxSeries` samples; a fold keeps one fewer, for the series that holds the rest. */
function bounded(keep: Keep, samples: readonly Told[], maxSeries: number): Bounded {
  if (samples.length <= maxSeries) return { kept: samples, rest: [] };
  const sorted = inOrder(keep, samples);
  const room = keep === 'fold' ? maxSeries - 1 : maxSeries;
  return { kept: sorted.slice(0, room), rest: sorted.slice(room) };
}

function inOrder(keep: Keep, samples: readonly Told[]): readonly Told[] {
  switch (keep) {
    case 'first':
      return samples;
    case 'lowest':
      return samples.toSorted((a, b) => a.value - b.value || byLabels(a, b));
    case 'largest':
    case 'fold':
      return samples.toSorted((a, b) => b.value - a.value || byLabels(a, b));
  }
}

function foldedInto({ labels }: FamilyHeader, rest: readonly Told[]): Told {
  return { labels: labels.map(() => OTHER), value: rest.reduce((total, { value }) => total + value, 0) };
}

function byLabels(a: Sample, b: Sample): number {
  for (const [index, label] of a.labels.entries()) {
    const other = b.labels[index] ?? '';
    if (label !== other) return label < other ? -1 : 1;
  }
  return 0;
}
