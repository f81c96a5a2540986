import { compare, type Numeral } from '../chain/numeral.js';
import { orNull } from '../facts/required-fields.js';

/*
 * The individual batches, transfers and transactions behind the metrics, for `/pending` and its JSON. Plain data.
 * Numbers are exact decimal strings. `null` is an unknown value; what a row does not have is absent. The number of rows
 * and the length of strings are limited, so that the JSON has some tens of KiB, and at most 6 MiB for a hostile
 * document.
 */

/** Maximum number of rows per list; the oldest are kept, unsigned batches and validator sets before signed ones. */
export const MAX_ROWS = 50;

/** A list of the document. A missing or invalid list is unreadable, not empty. */
export type ItemList<Row> = ReadableList<Row> | UnreadableList;

export interface ReadableList<Row> {
  readonly readable: true;
  /** Number of all items, in `rows` or not. */
  readonly total: number;
  /** Number of items that match the filter; absent without one. */
  readonly found?: number;
  /** Number of these with an unknown sort key. They come last, so that an old item may be missing in `rows`. */
  readonly unsortable: number;
  /** At most `MAX_ROWS`, oldest first; unsigned batches and validator sets before signed ones. */
  readonly rows: readonly Row[];
}

interface UnreadableList {
  readonly readable: false;
}

/** The keys by which rows are sorted, most significant first. An unknown key is `null` and comes last. */
type SortKeys<T> = readonly ((row: T) => Numeral | undefined)[];

/** Whether the ids, hashes, addresses and names of a row match `?q=`. */
export type Filter = (values: readonly unknown[]) => boolean;

const MAX_FILTER_CHARACTERS = 200;

/**
 * The filter for a text, which is truncated; `undefined` for an empty text. Digits match only a value equal to them,
 * such as a nonce, because many hashes contain them. Any other text matches the strings that contain it.
 */
export function createFilter(text: string): Filter | undefined {
  const wanted = text.trim().slice(0, MAX_FILTER_CHARACTERS).toLowerCase();
  if (wanted === '') return undefined;
  return /^\d+$/.test(wanted)
    ? (values) => values.some((value) => (typeof value === 'symbol' ? false : String(value) === wanted))
    : (values) => values.some((value) => typeof value === 'string' && value.toLowerCase().includes(wanted));
}

interface ItemListOptions<T> {
  readonly isFirst?: (row: T) => boolean;
  readonly filter?: Filter | undefined;
  /** The values of a row that the filter searches. */
  readonly names?: (row: T) => readonly unknown[];
}

/**
 * A list of rows by ascending keys, rows with `isFirst` first. It is unreadable when the list, or a required field of a
 * row, is missing or invalid.
 */
export function itemList<T, Row>(
  readRows: () => readonly T[],
  sortKeys: SortKeys<T>,
  item: (row: T) => Row,
  { isFirst = () => false, filter, names = () => [] }: ItemListOptions<T> = {},
): ItemList<Row> {
  const list = orNull(() => {
    const all = readRows();
    const matching = filter === undefined ? all : all.filter((row) => filter(names(row)));
    const keyed = matching.map((row) => ({
      row,
      isLater: !isFirst(row),
      keys: sortKeys.map((key) => orNull(() => key(row))),
    }));
    const sorted = keyed.toSorted((a, b) => Number(a.isLater) - Number(b.isLater) || compareKeys(a.keys, b.keys));
    return {
      total: all.length,
      ...(filter && { found: matching.length }),
      unsortable: keyed.filter(({ keys: [key] }) => key === null).length,
      rows: sorted.slice(0, MAX_ROWS).map(({ row }) => item(row)),
    };
  });
  return list === null ? { readable: false } : { readable: true, ...list };
}

type RowKeys = readonly (Numeral | null)[];

function compareKeys(a: RowKeys, b: RowKeys): number {
  for (const [position, key] of a.entries()) {
    const difference = compareKnownFirst(key, b[position] ?? null);
    if (difference !== 0) return difference;
  }
  return 0;
}

function compareKnownFirst(a: Numeral | null, b: Numeral | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return compare(a, b);
}
