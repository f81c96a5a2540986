import type { BridgeInput } from '../../src/facts/bridge/bridge-input.js';
import { orUndefined } from '../../src/facts/required-fields.js';
import { keptInput } from '../../src/engine/poll-body.js';
import type { Snapshot } from '../../src/engine/endpoint-state.js';
import { seriesOf } from '../support/exposition-text.js';
import {
  bridgeSnapshot,
  crosschainSnapshot,
  type BridgeOptions,
  type CrosschainOptions,
} from '../support/snapshots.js';

/** Values by series, such as `bridge_anomalies{kind="unknown_voters"}`. */
export type SeriesValues = Readonly<Record<string, number>>;

/** A single value for a family without labels, and values by label set for a family with labels. */
export type FamilyValue = number | SeriesValues | undefined;

export interface DerivedMetrics {
  /** All series, without the label `target`. */
  readonly values: SeriesValues;
  /** Number of invalid values by field. */
  readonly invalid: Readonly<Record<string, number>>;
  /** Number of unknown enum values by field. */
  readonly unknown: Readonly<Record<string, number>>;
  /** Number of dropped series by labeled family. */
  readonly dropped: Readonly<Record<string, number>>;
}

/** Derives the bridge families from a `state`. */
export function deriveBridge(state: unknown, options?: BridgeOptions): DerivedMetrics {
  return toDerived(bridgeSnapshot(state, options));
}

/** A fact of a `state`; `undefined` if a field that it reads is missing or invalid. */
export function bridgeFact<T>(state: unknown, fact: (input: BridgeInput) => T, options?: BridgeOptions): T | undefined {
  const input = keptInput(bridgeSnapshot(state, options));
  return orUndefined(() => fact(input));
}

/** Derives the cross-chain families from a rate limiter input. */
export function deriveCrosschain(document: unknown, options?: CrosschainOptions): DerivedMetrics {
  return toDerived(crosschainSnapshot(document, options));
}

/** Functions that derive the families of a document and select some of them by name. */
export function familyReaders<Options>(derive: (document: unknown, options?: Options) => DerivedMetrics) {
  const valuesOf = (document: unknown, names: readonly string[], options?: Options): Record<string, FamilyValue> => {
    const { values } = derive(document, options);
    return Object.fromEntries(names.map((name) => [name, familyValue(values, name)]));
  };
  return {
    /** The value of one family; `undefined` if it is not exported. */
    valueOf: (document: unknown, name: string, options?: Options): FamilyValue =>
      familyValue(derive(document, options).values, name),
    /** The values of several families by name. */
    valuesOf,
    /** The names of the families that are exported. */
    exportedOf: (document: unknown, names: readonly string[], options?: Options): string[] => {
      const values = valuesOf(document, names, options);
      return names.filter((name) => values[name] !== undefined);
    },
  };
}

function toDerived({ renderedFamilies, errors }: Snapshot): DerivedMetrics {
  return {
    values: parseSeries(renderedFamilies.map(({ text }) => text).join('')),
    invalid: Object.fromEntries(errors.invalid),
    unknown: Object.fromEntries(errors.unknown),
    dropped: Object.fromEntries(
      renderedFamilies.flatMap(({ name, dropped }) => (dropped === undefined ? [] : [[name, dropped]])),
    ),
  };
}

function parseSeries(exposition: string): SeriesValues {
  const values = new Map<string, number>();
  for (const { name, labels, value } of seriesOf(exposition)) {
    const otherLabels = labels.replace(/^target="t",?/, '');
    const series = otherLabels === '' ? name : `${name}{${otherLabels}}`;
    if (values.has(series)) throw new Error(`duplicate series ${series}`);
    values.set(series, value);
  }
  return Object.fromEntries(values);
}

function familyValue(values: SeriesValues, name: string): FamilyValue {
  const labeled = Object.entries(values).filter(([series]) => series.startsWith(`${name}{`));
  if (labeled.length === 0) return values[name];
  return Object.fromEntries(labeled.map(([series, value]) => [series.slice(name.length + 1, -1), value]));
}
