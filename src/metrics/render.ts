import { formatSeries } from './text-format.js';
import { compareLabels, type Family, type FamilyHeader, type Keep, type Sample } from './family.js';
import { firstBy } from './grouping.js';
import { orEmpty } from './withdrawal.js';
import { OTHER } from '../json/shapes.js';

/** The lines of one family, ready to stand under its HELP and TYPE. */
export interface FamilyLines {
  readonly name: string;
  readonly lines: string;
  /** Series that are not shown by themselves: left out, or added up in `other`. Only families with labels can have some. */
  readonly dropped: number | undefined;
}

/**
 * All series that can be told of one document. A family that cannot be right is not there. Of samples whose labels became the
 * same when they were cut the first is shown: a series twice would fail the whole scrape.
 */
export function render<Input>(
  families: readonly Family<Input>[],
  input: Input,
  fixedLabels: string,
  maxSeries: number,
): FamilyLines[] {
  return families.flatMap((family) => {
    const samples = orEmpty(() => family.derive(input)).filter(isTellable);
    if (samples.length === 0) return [];
    const distinct =
      samples.length === 1 ? samples : Array.from(firstBy(samples, ({ labels }) => JSON.stringify(labels)).values());
    const { kept, rest } = bounded(family.keep, distinct, maxSeries);
    const shown = rest.length > 0 && family.keep === 'fold' ? [...kept, foldedInto(family, rest)] : kept;
    const lines = shown.map((sample) => formatSeries(family, fixedLabels, sample)).join('');
    return [
      { name: family.name, lines, dropped: family.labels.length === 0 ? undefined : samples.length - kept.length },
    ];
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
  if (keep !== 'fold') return { kept: sorted.slice(0, maxSeries), rest: sorted.slice(maxSeries) };
  // A chain may have such names of its own; beside the series of the rest it would be there twice.
  const isOther = ({ labels }: Told): boolean => labels.every((label) => label === OTHER);
  const kept = sorted.filter((sample) => !isOther(sample)).slice(0, maxSeries - 1);
  const shown = new Set(kept);
  return { kept, rest: sorted.filter((sample) => !shown.has(sample)) };
}

function inOrder(keep: Keep, samples: readonly Told[]): readonly Told[] {
  switch (keep) {
    case 'first':
      return samples;
    case 'lowest':
      return samples.toSorted((a, b) => a.value - b.value || compareLabels(a.labels, b.labels));
    case 'largest':
    case 'fold':
      return samples.toSorted((a, b) => b.value - a.value || compareLabels(a.labels, b.labels));
  }
}

function foldedInto({ labels }: FamilyHeader, rest: readonly Told[]): Told {
  return { labels: labels.map(() => OTHER), value: rest.reduce((total, { value }) => total + value, 0) };
}
