import { compare, decimal } from '../chain/decimal.js';
import type { DecimalString } from '../json/numeral.js';

/** Sorts rows ascending or descending. Rows with an unknown value come last in both directions. */
export type RowOrder<Row> = (rows: readonly Row[], descending: boolean) => readonly Row[];

export function byDecimalString<Row>(digits: (row: Row) => DecimalString | null): RowOrder<Row> {
  return order(
    (row) => {
      const value = digits(row);
      return value === null ? null : decimal(value);
    },
    (a, b) => compare(a, b),
  );
}

export function byNumber<Row>(value: (row: Row) => number | null): RowOrder<Row> {
  return order(value, (a, b) => a - b);
}

export function byString<Row>(text: (row: Row) => string | null): RowOrder<Row> {
  return order(text, compareStrings);
}

/** Sorts rows within groups that cannot be compared with each other, such as the amounts of different tokens. */
export function groupedBy<Row>(group: (row: Row) => string, inGroup: RowOrder<Row>): RowOrder<Row> {
  return (rows, descending) => inGroup(rows, descending).toSorted((a, b) => compareStrings(group(a), group(b)));
}

function order<Row, Value>(
  valueOf: (row: Row) => Value | null,
  inOrder: (a: Value, b: Value) => number,
): RowOrder<Row> {
  return (rows, descending) =>
    rows
      .map((row) => ({ row, value: valueOf(row) }))
      .toSorted(({ value: a }, { value: b }) => {
        if (a === null || b === null) return Number(a === null) - Number(b === null);
        return descending ? inOrder(b, a) : inOrder(a, b);
      })
      .map(({ row }) => row);
}

function compareStrings(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
