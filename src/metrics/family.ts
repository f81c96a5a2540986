import type { Numeral } from '../chain/numeral.js';
import { orElse, WITHDRAWN } from '../facts/required-fields.js';

/*
 * A metric family is an entry of a table: its name, and an object with HELP text, labels and the function that derives
 * its samples from a document, from the flow between documents, or from the polls of an endpoint.
 */

/** The value of each label of a family. */
export type LabelValues<Label extends string = string> = Readonly<Record<Label, string>>;

/** One series of a family. */
export interface Sample<Label extends string = string> {
  readonly labels: LabelValues<Label>;
  /** Exported as the nearest double. `undefined`, infinite values and `NaN` are not exported. */
  readonly value: Numeral | undefined;
}

/** The samples of a family, and WITHDRAWN in the place of each withdrawn part. */
export type Derived<Label extends string = string> = readonly (Sample<Label> | typeof WITHDRAWN)[];

/** The description of a family in `# HELP`, `# TYPE` and the metric reference. */
export interface FamilyHeader {
  readonly name: string;
  readonly type: 'gauge' | 'counter';
  /** One sentence, which states the unit in words when the name does not end in it. */
  readonly help: string;
  /** Label names besides `target`. */
  readonly labels: readonly string[];
  /** Set while the metric may change in any release. */
  readonly stability?: 'experimental';
  /**
   * Set if the values are instants of the process clock. They are exported in Unix seconds by the wall clock of the
   * scrape.
   */
  readonly isInstant?: true;
}

/** Which series of a gauge are exported when there are more than `limits.max_series_per_family`. */
export type OverLimit =
  /** The first series in the order of `derive`; the default. */
  | 'keep-first'
  | 'keep-largest'
  | 'keep-lowest'
  /** The largest, and a series with the sum of the rest, whose labels are all `other`. */
  | 'aggregate';

export interface Family<Input, Label extends string = string> extends FamilyHeader {
  readonly labels: readonly Label[];
  readonly overLimit?: OverLimit;
  /**
   * Throws WITHDRAWN when a required field is missing or invalid. A counter applies `maxSeries` itself, because a count
   * must stay in its series.
   */
  readonly derive: (input: Input, maxSeries: number) => Derived<Label>;
}

type Unnamed<FamilyType> = Omit<FamilyType, 'name'>;

/** The families of a table whose keys are the names. */
export function families<Input>(table: Readonly<Record<string, Unnamed<Family<Input>>>>): readonly Family<Input>[] {
  return Object.entries(table).map(([name, family]) => ({ name, ...family }));
}

type Description = Pick<FamilyHeader, 'help' | 'stability' | 'isInstant'>;

interface Unlabeled<Input> extends Description {
  readonly value: (input: Input) => Numeral | undefined;
}

interface Labeled<Input, Label extends string> extends Description {
  readonly labels: readonly Label[];
  readonly overLimit?: OverLimit;
  readonly derive: (input: Input, maxSeries: number) => Derived<NoInfer<Label>>;
}

/** Describes a family with one series per target. */
export function gauge<Input>({ value, ...description }: Unlabeled<Input>): Unnamed<Family<Input, never>> {
  return labeledGauge({ ...description, labels: [], derive: (input) => [{ labels: {}, value: value(input) }] });
}

/** Gauges with one series per target as a table, which `prettier-ignore` keeps at one or two lines for each metric. */
export function gauges<Input>(
  table: readonly (readonly [name: string, value: Unlabeled<Input>['value'], help: string])[],
): Readonly<Record<string, Unnamed<Family<Input>>>> {
  return Object.fromEntries(table.map(([name, value, help]) => [name, gauge({ help, value })]));
}

export function counter<Input>(description: Unlabeled<Input>): Unnamed<Family<Input, never>> {
  return { ...gauge(description), type: 'counter' };
}

/** Describes a family whose series differ in labels. Every sample must have a value for each label. */
export function labeledGauge<Input, Label extends string>(
  description: Labeled<Input, Label>,
): Unnamed<Family<Input, Label>> {
  return { ...description, type: 'gauge' };
}

export function labeledCounter<Input, Label extends string>(
  description: Labeled<Input, Label>,
): Unnamed<Family<Input, Label>> {
  return { ...description, type: 'counter' };
}

/** Label values computed from the names of the labels. */
export function labelValues<Label extends string>(
  labels: readonly Label[],
  readValue: (label: Label) => string,
): LabelValues<Label> {
  // Every label has a value.
  return Object.fromEntries(labels.map((label) => [label, readValue(label)])) as LabelValues<Label>;
}

/** Compares samples by their label values, in the order of `labels`. */
export function compareLabels<Label extends string>(
  labels: readonly Label[],
  a: LabelValues<Label>,
  b: LabelValues<Label>,
): number {
  for (const label of labels) {
    if (a[label] !== b[label]) return a[label] < b[label] ? -1 : 1;
  }
  return 0;
}

/** The samples of a family whose parts are withdrawn singly. */
export function partByPart<Part, Label extends string>(
  parts: readonly Part[],
  derive: (part: Part) => readonly Sample<Label>[],
): Derived<Label> {
  return parts.flatMap((part) =>
    orElse<Derived<Label>>(
      () => derive(part),
      () => [WITHDRAWN],
    ),
  );
}

/** A series per kind. A missing or invalid field withdraws only the kinds that read it. */
export function perKind<Input>(kinds: Readonly<Record<string, (input: Input) => number | undefined>>) {
  return (input: Input): Derived<'kind'> =>
    partByPart(Object.entries(kinds), ([kind, count]) => [{ labels: { kind }, value: count(input) }]);
}
