import type { Field } from '../json/field.js';
import { decimal, double, toDouble } from '../chain/decimal.js';
import type { Numeral } from '../json/numeral.js';
import { orEmpty, required } from './withdrawal.js';

/** One series of a family: its label values, in the order of the family's labels, and its value. */
export interface Sample {
  readonly labels: readonly string[];
  /** Absent when there is no number to tell; the renderer also leaves out what is not finite. */
  readonly value: number | undefined;
}

/**
 * What becomes of series over the limit. `largest` and `lowest` keep those by value, `first` the order of the family;
 * `fold` keeps the largest and adds the rest up in one series whose labels read `other`.
 */
export type Keep = 'largest' | 'lowest' | 'first' | 'fold';

/** What every family has for `# HELP`, `# TYPE` and the metric reference, whatever it is derived from. */
export interface FamilyHeader {
  readonly name: string;
  readonly type: 'gauge' | 'counter';
  readonly help: string;
  readonly unit: string;
  /** Where it comes from: paths of fields in the spec, or the words for another source. */
  readonly reads: readonly string[];
  /** Label names after the ones every family of its kind carries. */
  readonly labels: readonly string[];
  /** What may change without notice says so; without it, name, labels and meaning hold until the next major version. */
  readonly stability?: 'experimental';
}

/** A chain family: one object holds all there is to know about it. */
export interface Family<Input> extends FamilyHeader {
  readonly type: 'gauge';
  readonly keep: Keep;
  readonly derive: (input: Input) => readonly Sample[];
}

type Described = Pick<FamilyHeader, 'name' | 'help' | 'unit' | 'reads' | 'stability'>;

/** A family with one series a target. */
export function gauge<Input>(
  family: Described & { readonly value: (input: Input) => number | undefined },
): Family<Input> {
  const { value, ...described } = family;
  return {
    ...described,
    type: 'gauge',
    labels: [],
    keep: 'first',
    derive: (input) => [{ labels: [], value: value(input) }],
  };
}

/** A family whose series differ in labels; `keep` bounds their number. */
export function labelledGauge<Input>(
  family: Described & {
    readonly labels: readonly string[];
    readonly keep: Keep;
    readonly derive: (input: Input) => readonly Sample[];
  },
): Family<Input> {
  return { ...family, type: 'gauge' };
}

/** Order of series with the same value: by their labels, in the order of the family. */
export function compareLabels(a: readonly string[], b: readonly string[]): number {
  for (const [index, label] of a.entries()) {
    const other = b[index] ?? '';
    if (label !== other) return label < other ? -1 : 1;
  }
  return 0;
}

/** The double nearest to a number of the document. */
export function doubleOf(read: Field<Numeral>): number {
  return double(required(read));
}

export function lengthOf(list: Field<readonly unknown[]>): number {
  return required(list).length;
}

/** Milliseconds on the wire, seconds in Prometheus. */
export function secondsOf(read: Field<Numeral>): number {
  const { units, scale } = decimal(required(read));
  return toDouble({ units, scale: scale + 3 });
}

const MAX_LABEL_CHARACTERS = 128;

/**
 * A label value as it is shown. Groups are made by what this returns, so that two texts cut to the same label are one series
 * and not a duplicate, which would fail the whole scrape.
 */
export function toLabelValue(text: string): string {
  if (text.length <= MAX_LABEL_CHARACTERS && text.isWellFormed()) return text;
  // 256 UTF-16 units hold at least 128 characters; cutting there first keeps a text of megabytes cheap.
  const wellFormed = text.slice(0, 2 * MAX_LABEL_CHARACTERS).toWellFormed();
  return wellFormed.length <= MAX_LABEL_CHARACTERS
    ? wellFormed
    : Array.from(wellFormed).slice(0, MAX_LABEL_CHARACTERS).join('');
}

/** One series per kind; a kind that cannot be derived is withdrawn alone. */
export function perKind<Input>(kinds: Readonly<Record<string, (input: Input) => number>>) {
  return (input: Input): readonly Sample[] =>
    Object.entries(kinds).flatMap(([kind, count]) => orEmpty(() => [{ labels: [kind], value: count(input) }]));
}
