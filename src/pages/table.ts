import type { ItemList, ReadableList } from '../pending/items.js';
import type { ExternalLinks } from './external-links.js';
import { markup, type Markup } from './html.js';
import { anchor } from './layout.js';
import type { RowOrder } from './sort-order.js';
import { severityOf, type TargetView } from './target-view.js';

/*
 * The sortable tables of the page of a target.
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
  /** Identifies a row when the page is refreshed. Not unique in a hostile document. */
  readonly rowKey: (row: Row) => string;
}

export interface PageContext {
  readonly target: string;
  /** `undefined` if the target has no verdicts. */
  readonly view: TargetView | undefined;
  readonly links: ExternalLinks;
  readonly sorting: Sorting | undefined;
  /** Time of the page in milliseconds since 1970. */
  readonly nowMs: number;
}

/** The class that colours a value while one of these alerts fires: pages and alerts have the same thresholds. */
export function alertClass({ view }: Pick<PageContext, 'view'>, ...alerts: readonly string[]): string {
  return severityOf(view, alerts) ?? '';
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
export function tableSection<Row>(table: Table<Row>, section: ItemList<Row>, page: PageContext): Markup {
  const { name, title } = table;
  return markup`<section id="${name}" aria-labelledby="${name}-title">
<h3 id="${name}-title">${title} <span class="quiet">${section.total ?? 'unknown'}</span></h3>
${section.readable ? tableHtml(table, section, page) : describeReadError(section.total)}
</section>
`;
}

function describeReadError(total: number | null): Markup {
  return markup`<p class="alert">Cannot be read: ${total === null ? 'the list or ' : ''}a field that every row needs is missing or has the wrong type. This does not mean that there are none.</p>`;
}

function tableHtml<Row>(table: Table<Row>, { total, unsortable, rows }: ReadableList<Row>, page: PageContext): Markup {
  if (total === 0) return markup`<p class="quiet">${table.emptyText}</p>`;
  const sorted = sortedColumn(table, page.sorting);
  const descending = page.sorting?.descending === true;
  const ordered = sorted?.order?.(rows, descending) ?? rows;
  // Sorting applies to the listed rows only, which are the oldest in any order.
  const extent = rows.length < total ? `the ${rows.length} oldest of ${total}` : `all ${total}`;
  const order = sorted === undefined ? oldestFirstText(unsortable) : orderText(sorted, descending);
  const idOf = rowIds(table);
  const rowsHtml = ordered.map(
    (row) => markup`<tr role="row" id="${idOf(row)}">${table.columns.map((column) => cellHtml(column, row, page))}\n`,
  );
  return markup`<p class="note">Showing ${extent}, ${order}.</p>
<table class="cards" role="table" aria-labelledby="${table.name}-title">
<thead role="rowgroup"><tr role="row">${table.columns.map((column) => headingHtml(table, column, page))}</tr></thead>
<tbody role="rowgroup">
${rowsHtml}</tbody>
</table>`;
}

/** Ids of rows; rows with the same key are numbered. */
function rowIds<Row>({ name, rowKey }: Table<Row>): (row: Row) => string {
  const counts = new Map<string, number>();
  return (row) => {
    const id = anchor(name, rowKey(row));
    const count = counts.get(id) ?? 0;
    counts.set(id, count + 1);
    return count === 0 ? id : `${id}/${count}`;
  };
}

function cellHtml<Row>({ title, cell, isWide }: Column<Row>, row: Row, page: PageContext): Markup {
  return markup`<td role="cell" data-label="${title}"${isWide === true ? markup` class="wide"` : ''}>${cell(row, page)}`;
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

function headingHtml<Row>(table: Table<Row>, column: Column<Row>, { target, sorting }: PageContext): Markup {
  const { key, title, order, largestFirst = false } = column;
  if (order === undefined) return markup`<th role="columnheader" scope="col" class="fixed">${title}`;
  const isSorted = sortedColumn(table, sorting) === column;
  const descending = isSorted ? sorting?.descending !== true : largestFirst;
  const query = `?target=${encodeURIComponent(target)}&sort=${table.name}.${key}&dir=${descending ? 'desc' : 'asc'}`;
  const link = markup`<a href="${query}#${table.name}">${title}</a>`;
  if (!isSorted) return markup`<th role="columnheader" scope="col">${link}`;
  return markup`<th role="columnheader" scope="col" aria-sort="${descending ? 'ascending' : 'descending'}">${link} ${descending ? '↑' : '↓'}`;
}
