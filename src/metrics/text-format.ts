import type { TargetLabels } from '../config/config.js';
import { firstBy } from '../facts/grouping.js';
import { OTHER } from '../facts/plain-values.js';
import { orElse, WITHDRAWN } from '../facts/required-fields.js';
import { compareLabels, labelValues, type Derived, type Family, type Sample } from './family.js';

/** Text format 0.0.4 or OpenMetrics 1.0.0, which differ in the metadata of counters and in escaping HELP. */
export type Format = 'text' | 'openmetrics';

/** `# HELP` and `# TYPE` of a family. */
export function formatHeader(
  { name, type, help }: { readonly name: string; readonly type: string; readonly help: string },
  format: Format,
): string {
  const familyName = format === 'openmetrics' && type === 'counter' ? name.replace(/_total$/, '') : name;
  return `# HELP ${familyName} ${escapeHelp(help, format)}\n# TYPE ${familyName} ${type}\n`;
}

/** The line of a series. `fixedLabels` are formatted label pairs before the labels of the family. */
export function formatSeries<Label extends string>(
  { name, labels }: { readonly name: string; readonly labels: readonly Label[] },
  fixedLabels: string,
  sample: Omit<Sample<Label>, 'value'> & { readonly value: number },
): string {
  let pairs = fixedLabels;
  for (const label of labels) {
    pairs += `${pairs === '' ? '' : ','}${label}="${escapeLabelValue(sample.labels[label])}"`;
  }
  return pairs === '' ? `${name} ${sample.value}\n` : `${name}{${pairs}} ${sample.value}\n`;
}

/** The first label pairs of every series of a target. */
export function formatTargetLabels(target: string, labels: TargetLabels = {}): string {
  const pairs = Object.entries({ target, ...labels });
  return pairs.map(([name, value]) => `${name}="${escapeLabelValue(value)}"`).join(',');
}

function escapeLabelValue(value: string): string {
  return /[\\"\n]/.test(value) ? value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n') : value;
}

function escapeHelp(help: string, format: Format): string {
  const escaped = help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return format === 'openmetrics' ? escaped.replaceAll('"', '\\"') : escaped;
}

/** A family as text. */
export interface RenderedFamily {
  readonly name: string;
  /** The lines of its series, without HELP and TYPE. */
  readonly text: string;
  /** Number of samples without a series because of the limit or equal labels; `undefined` when there are none. */
  readonly dropped: number | undefined;
  /** Set when the family or a part is withdrawn. */
  readonly withdrawn?: true;
  /** See `FamilyHeader.isInstant`. */
  readonly isInstant?: true;
}

/** Derives and formats families. Families without series that are not withdrawn are left out. */
export function renderFamilies<Input>(
  families: readonly Family<Input>[],
  input: Input,
  fixedLabels: string,
  maxSeries: number,
): RenderedFamily[] {
  return families.flatMap((family): readonly RenderedFamily[] => {
    const derived = orElse<Derived>(
      () => family.derive(input, maxSeries),
      () => [WITHDRAWN],
    );
    const samples = finite(derived);
    const withdrawn = derived.includes(WITHDRAWN) && { withdrawn: true as const };
    if (samples.length === 0)
      return withdrawn ? [{ name: family.name, text: '', dropped: undefined, ...withdrawn }] : [];
    const { kept, aggregate } = family.type === 'gauge' ? limitSeries(family, samples, maxSeries) : { kept: samples };
    const exported = aggregate === undefined ? kept : [...kept, aggregate];
    // `join` makes a flat string; one that is built by `+=` keeps all its parts.
    const text = exported.map((sample) => formatSeries(family, fixedLabels, sample)).join('');
    const dropped = samples.length - kept.length || undefined;
    return [{ name: family.name, text, dropped, ...withdrawn, ...(family.isInstant && { isInstant: true }) }];
  });
}

type FiniteSample = Omit<Sample, 'value'> & { readonly value: number };

function finite(derived: Derived): readonly FiniteSample[] {
  const samples: FiniteSample[] = [];
  for (const sample of derived) {
    if (sample === WITHDRAWN || sample.value === undefined) continue;
    const value = Number(sample.value);
    if (Number.isFinite(value)) samples.push({ ...sample, value });
  }
  return samples;
}

/**
 * The first sample of each label set: truncated label values can be equal, and a repeated series fails the whole
 * scrape.
 */
function distinct(samples: readonly FiniteSample[]): readonly FiniteSample[] {
  if (samples.length === 1) return samples;
  return Array.from(firstBy(samples, ({ labels }) => JSON.stringify(labels)).values());
}

/** The samples that keep their series, and the sum of the rest. */
function limitSeries(
  { labels: names, overLimit = 'keep-first' }: Pick<Family<unknown>, 'labels' | 'overLimit'>,
  all: readonly FiniteSample[],
  maxSeries: number,
): { readonly kept: readonly FiniteSample[]; readonly aggregate?: FiniteSample } {
  const samples = distinct(all);
  if (samples.length <= maxSeries) return { kept: samples };
  if (overLimit === 'keep-first') return { kept: samples.slice(0, maxSeries) };
  const sign = overLimit === 'keep-lowest' ? 1 : -1;
  const sorted = samples.toSorted((a, b) => sign * (a.value - b.value) || compareLabels(names, a.labels, b.labels));
  if (overLimit !== 'aggregate') return { kept: sorted.slice(0, maxSeries) };
  // A document can have the label value `other`. That series is part of the sum, or it would be repeated.
  const isOther = ({ labels }: FiniteSample): boolean => names.every((name) => labels[name] === OTHER);
  const kept = new Set(sorted.filter((sample) => !isOther(sample)).slice(0, maxSeries - 1));
  const rest = sorted.filter((sample) => !kept.has(sample));
  const total = rest.reduce((sum, { value }) => sum + value, 0);
  return { kept: Array.from(kept), aggregate: { labels: labelValues(names, () => OTHER), value: total } };
}
