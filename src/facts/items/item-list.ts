import { compare, type Numeral } from '../../chain/numeral.js';
import { orNull } from '../required-fields.js';

/*
 * The individual batches, transfers and transactions behind the metrics, for `/pending` and its JSON. Plain data.
 * Numbers are exact decimal strings; unknown values are `null`. The number of rows and the length of strings are
 * limited, so that the JSON has some tens of KiB, and at most 6 MiB for a hostile document.
 */

/** Maximum number of rows per list; the oldest are kept, unsigned batches and validator sets before signed ones. */
export const MAX_ROWS = 50;

/** A list of the document. A missing or invalid list is unreadable, not empty. */
export type ItemList<Row> = ReadableList<Row> | UnreadableList;

export interface ReadableList<Row> {
  readonly readable: true;
  /** Number of all items, in `rows` or not. */
  readonly total: number;
  /** Number of items with an unknown sort key. They come last, so that an old item may be missing in `rows`. */
  readonly unsortable: number;
  /** At most `MAX_ROWS`, oldest first; unsigned batches and validator sets before signed ones. */
  readonly rows: readonly Row[];
  /**
   * Of the result of a search: the number of items that were searched. `total` and `rows` are of those that it has
   * found.
   */
  readonly searched?: number;
}

interface UnreadableList {
  readonly readable: false;
  /** Number of items, if it can be read. */
  readonly total: number | null;
}

/** No rows of an unreadable list. */
export function listedRows<Row>(items: ItemList<Row> | undefined): readonly Row[] {
  return items?.readable === true ? items.rows : [];
}

/** Like `orNull`, for a sort key. */
export function optionalKey<T>(key: (row: T) => Numeral | undefined): (row: T) => Numeral | null {
  return (row) => orNull(() => key(row));
}

/** The keys by which rows are sorted, most significant first. `null` is an unknown key and comes last. */
export type SortKeys<T> = readonly ((row: T) => Numeral | null)[];

interface ItemListOptions<T> {
  readonly countRows?: () => number | undefined;
  readonly isFirst?: (row: T) => boolean;
  readonly search?: Search | undefined;
  /** The nonces, ids, hashes, addresses and names by which a search finds a row. */
  readonly searched?: (row: T) => readonly unknown[];
}

/** Whether one of these values is what is searched for. */
export type Search = (values: readonly unknown[]) => boolean;

/** Digits are equal to a number or id, because many hashes contain them; another text is contained in a string. */
export function searchFor(text: string): Search {
  const lower = text.toLowerCase();
  return /^\d+$/.test(text)
    ? (values) => values.some((value) => (typeof value === 'symbol' ? false : String(value) === text))
    : (values) => values.some((value) => typeof value === 'string' && value.toLowerCase().includes(lower));
}

/**
 * A list of rows by ascending keys, rows with `isFirst` first. It is unreadable when the list, or a required field of a
 * row, is missing or invalid; then `countRows` returns the number of rows if possible.
 */
export function itemList<T, Row>(
  readRows: () => readonly T[],
  keys: SortKeys<T>,
  item: (row: T) => Row,
  { countRows = () => undefined, isFirst = () => false, search, searched = () => [] }: ItemListOptions<T> = {},
): ItemList<Row> {
  const list = orNull(() => {
    const all = readRows();
    const keyed = withKeys(search === undefined ? all : all.filter((row) => search(searched(row))), keys);
    const [first, rest] = [keyed.filter(({ row }) => isFirst(row)), keyed.filter(({ row }) => !isFirst(row))];
    const listed = [...first.toSorted(compareRows), ...rest.toSorted(compareRows)];
    const unsortable = keyed.filter(({ keys: [key] }) => key === null).length;
    return {
      total: keyed.length,
      unsortable,
      rows: listed.slice(0, MAX_ROWS).map(({ row }) => item(row)),
      ...(search && { searched: all.length }),
    };
  });
  return list === null ? { readable: false, total: orNull(countRows) } : { readable: true, ...list };
}

interface KeyedRow<T> {
  readonly row: T;
  readonly keys: RowKeys;
}

function withKeys<T>(rows: readonly T[], keys: SortKeys<T>): readonly KeyedRow<T>[] {
  const keyed: KeyedRow<T>[] = [];
  for (const row of rows) keyed.push({ row, keys: keys.map((key) => key(row)) });
  return keyed;
}

function compareRows(a: KeyedRow<unknown>, b: KeyedRow<unknown>): number {
  return compareKeys(a.keys, b.keys);
}

type RowKeys = readonly (Numeral | null)[];

function compareKeys(a: RowKeys, b: RowKeys): number {
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
