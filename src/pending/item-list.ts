import { compare, toDecimalString } from '../chain/decimal.js';
import { type Field } from '../json/field.js';
import type { DecimalString, Numeral } from '../json/numeral.js';
import { toLabelValue } from '../metrics/family.js';
import { required, WITHDRAWN } from '../metrics/required-fields.js';
import { MAX_ROWS, type ItemList } from './items.js';

/** The result of `derive`, or `null` when it is withdrawn, `undefined` or not finite. */
export function orNull<T>(derive: () => T | undefined): T | null {
  return callOrNull(derive, undefined);
}

/** Like `orNull`, for a sort key. Creates no closure per row. */
export function optionalKey<T>(key: (row: T) => Numeral | undefined): (row: T) => Numeral | null {
  return (row) => callOrNull(key, row);
}

function callOrNull<Argument, T>(derive: (argument: Argument) => T | undefined, argument: Argument): T | null {
  try {
    const value = derive(argument);
    return value === undefined || (typeof value === 'number' && !Number.isFinite(value)) ? null : value;
  } catch (thrown) {
    if (thrown === WITHDRAWN) return null;
    throw thrown;
  }
}

/** A number of the document as exact digits in canonical form. */
export function decimalStringOf(field: Field<Numeral>): DecimalString {
  return toDecimalString(required(field));
}

/** A string of the document, truncated like a label value; `null` when it is missing or empty. */
export function truncatedOrNull(derive: () => string | undefined): string | null {
  return orNull(() => toLabelValue(derive() ?? '') || undefined);
}

/** The keys by which rows are sorted, most significant first. `null` is an unknown key and comes last. */
export type SortKeys<T> = readonly ((row: T) => Numeral | null)[];

/**
 * A list with the oldest rows, which have the lowest keys. It is unreadable when `readRows` or a field that every row needs is
 * withdrawn; then `countRows` returns the number of rows if possible.
 */
export function itemList<T, Row>(
  readRows: () => readonly T[],
  keys: SortKeys<T>,
  item: (row: T) => Row,
  countRows: () => number | undefined = () => undefined,
): ItemList<Row> {
  const list = orNull(() => {
    const found = readRows();
    const { kept, unsortable } = lowest(found, keys);
    return { total: found.length, unsortable, rows: kept.map(item) };
  });
  return list === null ? { readable: false, total: orNull(countRows) } : { readable: true, ...list };
}

interface Kept<T> {
  readonly row: T;
  readonly keys: readonly (Numeral | null)[];
}

/** Selects the MAX_ROWS lowest rows in one pass. Allocates nothing for the other rows, because lists can be long. */
function lowest<T>(rows: readonly T[], keys: SortKeys<T>): { kept: readonly T[]; unsortable: number } {
  const kept: Kept<T>[] = [];
  const rowKeys: (Numeral | null)[] = keys.map(() => null);
  let unsortable = 0;
  for (const row of rows) {
    for (let position = 0; position < keys.length; position += 1) rowKeys[position] = keys[position]?.(row) ?? null;
    if (rowKeys[0] === null) unsortable += 1;
    const last = kept.at(-1);
    if (kept.length === MAX_ROWS && last !== undefined && compareKeys(last.keys, rowKeys) <= 0) continue;
    const index = kept.findLastIndex((other) => compareKeys(other.keys, rowKeys) <= 0) + 1;
    kept.splice(index, 0, { row, keys: [...rowKeys] });
    if (kept.length > MAX_ROWS) kept.pop();
  }
  return { kept: kept.map(({ row }) => row), unsortable };
}

function compareKeys(a: Kept<unknown>['keys'], b: Kept<unknown>['keys']): number {
  for (let position = 0; position < a.length; position += 1) {
    const difference = compareKnownFirst(a[position] ?? null, b[position] ?? null);
    if (difference !== 0) return difference;
  }
  return 0;
}

function compareKnownFirst(a: Numeral | null, b: Numeral | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return compare(a, b);
}
