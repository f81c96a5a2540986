import type { ItemList, ReadableList } from '../pending/items.js';
import { markup, type Markup } from './html.js';
import type { RowOrder } from './sort-order.js';

/*
 * The sortable tables of the pending page.
 */

export interface Column<Row> {
  readonly key: string;
  readonly title: string;
  readonly cell: (row: Row, page: PageContext) => Markup;
  /** Absent for a column that cannot be sorted. */
  readonly order?: RowOrder<Row>;
  /** Whether the cell takes the full width of a card on narrow screens. */
  readonly isWide?: boolean;
  /** Whether the first click sorts in descending order. */
  readonly largestFirst?: boolean;
}

export interface Table<Row> {
  readonly name: string;
  readonly title: string;
  /** Shown instead of a table without rows. */
  readonly emptyText: string;
  readonly columns: readonly Column<Row>[];
}

export interface PageContext {
  readonly sorting: Sorting | undefined;
  /** Time of the page in milliseconds since 1970. */
  readonly nowMs: number;
}

/** The order of `?sort=transfers.amount&dir=desc`. */
export interface Sorting {
  readonly table: string;
  readonly column: string;
  readonly descending: boolean;
}

/** Tables ignore a sorting that names none of their columns. */
export function parseSorting({ sort, dir }: Readonly<Record<string, unknown>>): Sorting | undefined {
  const [table, column] = typeof sort === 'string' ? sort.split('.') : [];
  return table === undefined || column === undefined ? undefined : { table, column, descending: dir === 'desc' };
}

/** A heading and the rows of a section of the items. */
export function tableSection<Row>(table: Table<Row>, section: ItemList<Row>, id: string, page: PageContext): Markup {
  return markup`<section id="${id}">
<h4>${table.title} <span class="quiet">${section.total ?? 'unknown'}</span></h4>
${section.readable ? tableHtml(table, section, id, page) : describeReadError(section.total)}
</section>
`;
}

function describeReadError(total: number | null): Markup {
  return markup`<p class="alert">Cannot be read: ${total === null ? 'the list or ' : ''}a field that every row needs is missing or has the wrong type. This does not mean that there are none.</p>`;
}

function tableHtml<Row>(
  table: Table<Row>,
  { total, unsortable, rows }: ReadableList<Row>,
  id: string,
  page: PageContext,
): Markup {
  if (total === 0) return markup`<p class="ok">${table.emptyText}</p>`;
  const sorted = sortedColumn(table, page.sorting);
  const descending = page.sorting?.descending === true;
  const ordered = sorted?.order?.(rows, descending) ?? rows;
  // Sorting applies to the listed rows only, which are the oldest in any order.
  const extent = rows.length < total ? `the ${rows.length} oldest of ${total}` : `all ${total}`;
  const order = sorted === undefined ? oldestFirstText(unsortable) : orderText(sorted, descending);
  return markup`<p class="note">Showing ${extent}, ${order}.</p>
<div><table class="cards">
<thead><tr>${table.columns.map((column) => headingHtml(table, column, id, page.sorting))}</tr></thead>
<tbody>
${ordered.map((row) => markup`<tr>${table.columns.map((column) => cellHtml(column, row, page))}\n`)}</tbody>
</table></div>`;
}

function cellHtml<Row>({ title, cell, isWide }: Column<Row>, row: Row, page: PageContext): Markup {
  return markup`<td data-label="${title}"${isWide === true ? markup` class="wide"` : ''}>${cell(row, page)}`;
}

function sortedColumn<Row>({ name, columns }: Table<Row>, sorting: Sorting | undefined): Column<Row> | undefined {
  return name === sorting?.table ? columns.find(({ key, order }) => order && key === sorting.column) : undefined;
}

function oldestFirstText(unsortable: number): string {
  return unsortable === 0 ? 'oldest first' : `oldest first, ${unsortable} of unknown age last`;
}

function orderText<Row>({ title }: Column<Row>, descending: boolean): string {
  return `by ${title.toLowerCase()}, ${descending ? 'descending' : 'ascending'}`;
}

function headingHtml<Row>(table: Table<Row>, column: Column<Row>, id: string, sorting: Sorting | undefined): Markup {
  const { key, title, order, largestFirst = false } = column;
  if (order === undefined) return markup`<th class="fixed">${title}`;
  const isSorted = sortedColumn(table, sorting) === column;
  const descending = isSorted ? sorting?.descending !== true : largestFirst;
  const link = markup`<a href="?sort=${table.name}.${key}&amp;dir=${descending ? 'desc' : 'asc'}#${id}">${title}</a>`;
  if (!isSorted) return markup`<th>${link}`;
  return markup`<th aria-sort="${descending ? 'ascending' : 'descending'}">${link} ${descending ? '↑' : '↓'}`;
}
