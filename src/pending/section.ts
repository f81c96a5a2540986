import { type Field } from '../json/field.js';
import { toLabelValue } from '../metrics/family.js';
import { MAX_ROWS, type ItemList } from './items.js';
import { compareNumerals, exactDigits } from '../chain/decimal.js';
import type { Digits, Numeral } from '../json/numeral.js';
import { required, WITHDRAWN } from '../metrics/withdrawal.js';

/** What `derive` gives; `null` when the document does not tell it or, as in the exposition, when it is no finite number. */
export function orNull<T>(derive: () => T | undefined): T | null {
  return knownOf(undefined, derive);
}

/** As `known`, of a row. For the many rows that are not shown it makes nothing new. */
export function optionalKey<T>(key: (row: T) => Numeral | undefined): (row: T) => Numeral | null {
  return (row) => knownOf(row, key);
}

function knownOf<Of, T>(of: Of, derive: (of: Of) => T | undefined): T | null {
  try {
    const value = derive(of);
    return value === undefined || (typeof value === 'number' && !Number.isFinite(value)) ? null : value;
  } catch (thrown) {
    if (thrown === WITHDRAWN) return null;
    throw thrown;
  }
}

/** A number of the document, exact and always written the same way. */
export function digitsOf(read: Field<Numeral>): Digits {
  return exactDigits(required(read));
}

/** Text of the document, cut like a label; `null` when it is missing or empty. */
export function truncatedOrNull(derive: () => string | undefined): string | null {
  return orNull(() => toLabelValue(derive() ?? '') || undefined);
}

/** What rows are sorted by, first key first; what is not known comes last. */
export type SortKeys<T> = readonly ((row: T) => Numeral | null)[];

/**
 * The oldest of `all`, which are those with the lowest keys. When they cannot be read, nor what every row must have, the
 * section says so and tells how many there are if `count` can.
 */
export function itemList<T, Row>(
  all: () => readonly T[],
  keys: SortKeys<T>,
  item: (row: T) => Row,
  count: () => number | undefined = () => undefined,
): ItemList<Row> {
  const read = orNull(() => {
    const found = all();
    const { kept, unsortable } = lowest(found, keys);
    return { total: found.length, unsortable, rows: kept.map(item) };
  });
  return read === null ? { readable: false, total: orNull(count) } : { readable: true, ...read };
}

interface Kept<T> {
  readonly row: T;
  readonly keys: readonly (Numeral | null)[];
}

/** One pass that keeps no more than is shown, and makes nothing for other rows: the lists of a busy day are long. */
function lowest<T>(rows: readonly T[], keys: SortKeys<T>): { kept: readonly T[]; unsortable: number } {
  const kept: Kept<T>[] = [];
  const own: (Numeral | null)[] = keys.map(() => null);
  let unsortable = 0;
  for (const row of rows) {
    for (let position = 0; position < keys.length; position += 1) own[position] = keys[position]?.(row) ?? null;
    if (own[0] === null) unsortable += 1;
    const last = kept.at(-1);
    if (kept.length === MAX_ROWS && last !== undefined && inOrder(last.keys, own) <= 0) continue;
    const at = kept.findLastIndex((other) => inOrder(other.keys, own) <= 0) + 1;
    kept.splice(at, 0, { row, keys: [...own] });
    if (kept.length > MAX_ROWS) kept.pop();
  }
  return { kept: kept.map(({ row }) => row), unsortable };
}

function inOrder(a: Kept<unknown>['keys'], b: Kept<unknown>['keys']): number {
  for (let position = 0; position < a.length; position += 1) {
    const difference = knownFirst(a[position] ?? null, b[position] ?? null);
    if (difference !== 0) return difference;
  }
  return 0;
}

function knownFirst(a: Numeral | null, b: Numeral | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return compareNumerals(a, b);
}
