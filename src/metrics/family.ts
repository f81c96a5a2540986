import { toDouble, toSeconds, type Exact } from '../chain/decimal.js';
import type { Field } from '../chain/field.js';
import type { Numeral } from '../chain/numeral.js';
import { orElse, required, WITHDRAWN } from '../facts/required-fields.js';

/*
 * A metric family is one entry of a table: its name, and an object with HELP text, labels and the function that derives its samples from
 * a document.
 */

/** The value of each label of a family. */
export type LabelValues<Label extends string = string> = Readonly<Record<Label, string>>;

/** One series of a family. */
export interface Sample<Label extends string = string, Value = number> {
  readonly labels: LabelValues<Label>;
  /** `undefined` for a series that is absent. Infinite values and `NaN` are not exported either. */
  readonly value: Value | undefined;
}

/** What a family derives: samples, and WITHDRAWN in the place of each part that is withdrawn on its own. */
export type Derived<Label extends string = string, Value = number> = readonly (
  Sample<Label, Value> | typeof WITHDRAWN
)[];

/** A sample before its value is rounded to the nearest double. */
export type ExactSample<Label extends string> = Sample<Label, Exact>;

/** The part of a family that `# HELP`, `# TYPE` and the metric reference consist of. */
export interface FamilyHeader {
  readonly name: string;
  readonly type: 'gauge' | 'counter' | 'histogram';
  /** One sentence, which states the unit in words when the name does not end in it. */
  readonly help: string;
  /** Label names besides `target`. */
  readonly labels: readonly string[];
  /** Set while the metric may change in any release. */
  readonly stability?: 'experimental';
}

/** Which series of a family are exported when there are more than `limits.max_series_per_family`. */
export type OverLimit =
  /** The first ones in the order of `derive` are kept, by default. */
  | 'keep-first'
  | 'keep-largest'
  | 'keep-lowest'
  /** The largest, and one series with the sum of the others, whose labels are all `other`. */
  | 'aggregate';

/** A family of a document of a chain. */
export interface Family<Input, Label extends string = string> extends FamilyHeader {
  readonly type: 'gauge';
  readonly labels: readonly Label[];
  readonly overLimit?: OverLimit;
  /** Throws WITHDRAWN (required-fields.ts) when a field that the family reads is missing or invalid. */
  readonly derive: (input: Input) => Derived<Label>;
}

type Description = Pick<FamilyHeader, 'help' | 'stability'>;
type Unnamed<FamilyType> = Omit<FamilyType, 'name'>;

/** The families of a table with their names as keys, in its order. */
export function families<Input>(table: Readonly<Record<string, Unnamed<Family<Input>>>>): readonly Family<Input>[] {
  return Object.entries(table).map(([name, family]) => ({ name, ...family }));
}

/** Describes a family with one series per target. */
export function gauge<Input>({
  value,
  ...description
}: Description & { readonly value: (input: Input) => Exact | undefined }): Unnamed<Family<Input, never>> {
  return labeledGauge({ ...description, labels: [], derive: (input) => [{ labels: {}, value: value(input) }] });
}

/** Describes a family whose series differ in labels. Every sample must have a value for each label. */
export function labeledGauge<Input, Label extends string>({
  derive,
  ...description
}: Description & {
  readonly labels: readonly Label[];
  readonly overLimit?: OverLimit;
  readonly derive: (input: Input) => Derived<NoInfer<Label>, Exact>;
}): Unnamed<Family<Input, Label>> {
  return { ...description, type: 'gauge', derive: (input) => derive(input).map(rounded) };
}

function rounded<Label extends string>(sample: ExactSample<Label> | typeof WITHDRAWN): Derived<Label>[number] {
  if (sample === WITHDRAWN) return sample;
  const { labels, value } = sample;
  return { labels, value: value === undefined ? undefined : toDouble(value) };
}

/** Label values computed from the names of the labels. */
export function labelValues<Label extends string>(
  labels: readonly Label[],
  valueOf: (label: Label) => string,
): LabelValues<Label> {
  // Every label has a value.
  return Object.fromEntries(labels.map((label) => [label, valueOf(label)])) as LabelValues<Label>;
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

/** The value of a field in milliseconds, converted to seconds. */
export function millisecondsToSeconds(field: Field<Numeral>): number {
  return toSeconds(required(field));
}

/** The samples of a family whose parts are withdrawn one by one. */
export function eachPart<Part, Label extends string, Value>(
  all: readonly Part[],
  derive: (part: Part) => readonly Sample<Label, Value>[],
): Derived<Label, Value> {
  return all.flatMap((part) =>
    orElse<Derived<Label, Value>>(
      () => derive(part),
      () => [WITHDRAWN],
    ),
  );
}

/** One series per kind. A missing or invalid field withdraws only the kinds that read it. */
export function perKind<Input>(kinds: Readonly<Record<string, (input: Input) => number | undefined>>) {
  return (input: Input): Derived<'kind'> =>
    eachPart(Object.entries(kinds), ([kind, count]) => [{ labels: { kind }, value: count(input) }]);
}
