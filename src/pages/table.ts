import { compare, decimal, type Decimal } from '../chain/decimal.js';
import type { DecimalString } from '../chain/numeral.js';
import { markup, type Markup } from './html.js';

/*
 * The tables of all pages. On a narrow screen, rows become cards.
 */

export interface Column<Row, Context = undefined> {
  readonly title: string;
  readonly cell: (row: Row, context: Context) => Markup;
  /** `row-header`: the cell names its row. `wide`: it takes the full width of a card. */
  readonly type?: 'row-header' | 'wide';
  /** Absent for a column that cannot be sorted. */
  readonly sort?: ColumnSort<Row>;
}

export interface ColumnSort<Row> {
  /** Names the column in the URL. */
  readonly key: string;
  /** Rows with an unknown value, `null`, come last in both directions. */
  readonly value: (row: Row) => SortValue | null;
  /** Separates rows whose values cannot be compared, such as the amounts of different tokens. */
  readonly group?: (row: Row) => string;
  /** Whether the first click sorts in descending order. */
  readonly largestFirst?: boolean;
}

type SortValue = Decimal | number | string;

export interface Table<Row, Context = undefined> {
  readonly title: string;
  /** For the style. */
  readonly cssClass?: string;
  readonly columns: readonly Column<Row, Context>[];
  /** Identifies a row when the page is refreshed. Rows of a hostile document can have the same id; they are numbered. */
  readonly rowId: (row: Row) => string;
  readonly rowClass?: (row: Row) => string;
}

/** By which column the rows are sorted, and the URL that sorts them by another. */
export interface Sorting {
  readonly key: string | undefined;
  readonly descending: boolean;
  readonly url: (key: string, descending: boolean) => string;
}

export function tableHtml<Row, Context>(
  { title, cssClass, columns, rowId, rowClass }: Table<Row, Context>,
  rows: readonly Row[],
  context: Context,
  sorting?: Sorting,
): Markup {
  const counts = new Map<string, number>();
  const rowHtml = (row: Row): Markup => {
    const id = rowId(row);
    const count = counts.get(id) ?? 0;
    counts.set(id, count + 1);
    const name = rowClass?.(row) ?? '';
    return markup`<tr role="row" id="${count === 0 ? id : `${id}/${count}`}"${name === '' ? '' : markup` class="${name}"`}>${columns.map((column) => cellHtml(column, row, context))}\n`;
  };
  return markup`<table class="${cssClass === undefined ? 'cards' : `cards ${cssClass}`}" role="table" aria-label="${title}">
<thead role="rowgroup"><tr role="row">${columns.map((column) => headingHtml(column, sorting))}</tr></thead>
<tbody role="rowgroup">
${rows.map(rowHtml)}</tbody>
</table>`;
}

function cellHtml<Row, Context>({ title, cell, type }: Column<Row, Context>, row: Row, context: Context): Markup {
  const content = cell(row, context);
  if (type === 'row-header') return markup`<th role="rowheader" scope="row">${content}`;
  return markup`<td role="cell" data-label="${title}"${type === 'wide' ? markup` class="wide"` : ''}>${content}`;
}

function headingHtml<Row, Context>({ title, sort }: Column<Row, Context>, sorting: Sorting | undefined): Markup {
  if (sort === undefined || sorting === undefined) {
    return markup`<th role="columnheader" scope="col" class="fixed">${title}`;
  }
  const isSorted = sort.key === sorting.key;
  const descending = isSorted ? !sorting.descending : sort.largestFirst === true;
  const link = markup`<a href="${sorting.url(sort.key, descending)}">${title}</a>`;
  if (!isSorted) return markup`<th role="columnheader" scope="col">${link}`;
  return markup`<th role="columnheader" scope="col" aria-sort="${descending ? 'ascending' : 'descending'}">${link} ${descending ? '↑' : '↓'}`;
}

export function sortRows<Row>(
  rows: readonly Row[],
  { value, group }: ColumnSort<Row>,
  descending: boolean,
): readonly Row[] {
  const keyed = rows.map((row) => ({ row, value: value(row), group: group?.(row) ?? '' }));
  const sorted = keyed.toSorted((a, b) => {
    if (a.group !== b.group) return compareValues(a.group, b.group);
    if (a.value === null || b.value === null) return Number(a.value === null) - Number(b.value === null);
    return descending ? compareValues(b.value, a.value) : compareValues(a.value, b.value);
  });
  return sorted.map(({ row }) => row);
}

/** The values of a column have one type. */
function compareValues(a: SortValue, b: SortValue): number {
  if (typeof a === 'object' && typeof b === 'object') return compare(a, b);
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The digits of an item as a value that is compared exactly. */
export function exact(digits: DecimalString | null): Decimal | null {
  return digits === null ? null : decimal(digits);
}
