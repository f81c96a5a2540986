import type { Order } from '../pending/orders.js';
import type { Readable, Section } from '../pending/items.js';
import { markup, type Markup } from './html.js';

export interface Column<Row> {
  readonly key: string;
  readonly title: string;
  readonly cell: (row: Row, page: PageContext) => Markup;
  /** How its link sorts; a column without it has no link. */
  readonly order?: Order<Row>;
  /** Whether it takes the whole width of a card. */
  readonly isWide?: boolean;
  /** Whether the first click puts the largest on top. */
  readonly largestFirst?: boolean;
}

/** One section of the page and how its rows are shown. */
export interface Table<Row> {
  readonly name: string;
  readonly title: string;
  /** What it says when there is none. */
  readonly none: string;
  readonly columns: readonly Column<Row>[];
}

export interface PageContext {
  readonly sorting: Sorting | undefined;
  /** When the page is made, in milliseconds since 1970. */
  readonly nowMs: number;
}

/** The order a link asked for: `?sort=transfers.amount&dir=desc`. */
export interface Sorting {
  readonly table: string;
  readonly column: string;
  readonly descending: boolean;
}

/** The order of a query string; tables ignore one that names no column of theirs. */
export function parseSorting({ sort, dir }: Readonly<Record<string, unknown>>): Sorting | undefined {
  const [table, column] = typeof sort === 'string' ? sort.split('.') : [];
  return table === undefined || column === undefined ? undefined : { table, column, descending: dir === 'desc' };
}

export function sectionHtml<Row>(table: Table<Row>, section: Section<Row>, id: string, page: PageContext): Markup {
  return markup`<section id="${id}">
<h4>${table.title} <span class="quiet">${section.total ?? 'unknown'}</span></h4>
${section.readable ? rowsHtml(table, section, id, page) : unreadable(section.total)}
</section>
`;
}

function unreadable(total: number | null): Markup {
  return markup`<p class="alert">Cannot be read: the document lacks ${total === null ? 'the list or ' : ''}something that every row needs, or it is of the wrong kind. This is not the same as none.</p>`;
}

function rowsHtml<Row>(
  table: Table<Row>,
  { total, unsortable, rows }: Readable<Row>,
  id: string,
  page: PageContext,
): Markup {
  if (total === 0) return markup`<p class="ok">${table.none}</p>`;
  const sorted = sortedColumn(table, page.sorting);
  const descending = page.sorting?.descending === true;
  const ordered = sorted?.order?.(rows, descending) ?? rows;
  // Sorting puts the rows at hand in order; it cannot bring up one that was left out.
  const which = rows.length < total ? `the ${rows.length} oldest of ${total}` : `all ${total}`;
  const order = sorted === undefined ? oldestFirst(unsortable) : orderOf(sorted, descending);
  return markup`<p class="note">Showing ${which}, ${order}.</p>
<div><table class="cards">
<thead><tr>${table.columns.map((column) => heading(table, column, id, page.sorting))}</tr></thead>
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

function oldestFirst(unsortable: number): string {
  return unsortable === 0 ? 'oldest first' : `oldest first, ${unsortable} of unknown age last`;
}

function orderOf<Row>({ title }: Column<Row>, descending: boolean): string {
  return `by ${title.toLowerCase()}, ${descending ? 'descending' : 'ascending'}`;
}

function heading<Row>(table: Table<Row>, column: Column<Row>, id: string, sorting: Sorting | undefined): Markup {
  const { key, title, order, largestFirst = false } = column;
  if (order === undefined) return markup`<th class="fixed">${title}`;
  const isSorted = sortedColumn(table, sorting) === column;
  const descending = isSorted ? sorting?.descending !== true : largestFirst;
  const link = markup`<a href="?sort=${table.name}.${key}&amp;dir=${descending ? 'desc' : 'asc'}#${id}">${title}</a>`;
  if (!isSorted) return markup`<th>${link}`;
  return markup`<th aria-sort="${descending ? 'ascending' : 'descending'}">${link} ${descending ? '↑' : '↓'}`;
}
