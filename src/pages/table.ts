import { compare, decimal, type Decimal } from '../chain/decimal.js';
import type { DecimalString } from '../chain/numeral.js';
import type { ItemList, ReadableList } from '../facts/items/items.js';
import type { SearchResult } from '../facts/items/search.js';
import type { ExternalLinks } from './external-links.js';
import { markup, type Markup } from './html.js';
import { severityOf } from './target-view.js';
import type { EndpointView, TargetPageView } from './view.js';

/*
 * The tables of all pages. On a narrow screen, rows become cards. The page of a target lists pending items in tables that the URL can sort.
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

export interface ItemTable<Row> extends Table<Row, PageContext> {
  /** Id of the section. */
  readonly name: string;
  /** Shown instead of a table without rows. */
  readonly emptyText: string;
  /** The order in which rows are listed, unless it is oldest first. */
  readonly orderText?: string;
  /** Maximum number of rows on the page, if it is lower than that of the items. */
  readonly maxRows?: number;
  /** A list of up to this many rows is open; longer ones are shown on demand, so that the summaries of a page are on its first screens. */
  readonly openRows?: number;
}

export type ItemColumn<Row> = Column<Row, PageContext>;

export interface PageContext {
  readonly view: TargetPageView;
  readonly endpoints: readonly EndpointView[];
  readonly links: ExternalLinks;
  readonly sorting: ItemSorting | undefined;
  /** What was searched for and found; `null` without a search. */
  readonly search: SearchResult | null;
  /** The share of the power that has to sign; `null` without a bridge. */
  readonly required: number | null;
  /** Time of the page in milliseconds since 1970. */
  readonly nowMs: number;
}

/** The class that colors a value while one of these alerts fires: pages and alerts have the same thresholds. */
export function alertClass({ view }: Pick<PageContext, 'view'>, ...alerts: readonly string[]): string {
  return severityOf(view, alerts) ?? '';
}

/** The order of `?sort=transfers.amount&dir=desc`. */
export interface ItemSorting {
  readonly table: string;
  readonly column: string;
  readonly descending: boolean;
}

/** Tables ignore a sorting that names none of their columns. */
export function parseSorting({ sort, dir }: Readonly<Record<string, unknown>>): ItemSorting | undefined {
  const [table, column] = typeof sort === 'string' ? sort.split('.') : [];
  return table === undefined || column === undefined ? undefined : { table, column, descending: dir === 'desc' };
}

const OPEN_ROWS = 3;

/** The section of a list, with what precedes its table. */
export function itemSection<Row>(
  table: ItemTable<Row>,
  list: ItemList<Row>,
  page: PageContext,
  summary: Markup = markup``,
): Markup {
  const { name, title, emptyText } = table;
  const heading = markup`<h3 id="${name}-title">${title} <span class="quiet">${list.total ?? 'unknown'}</span></h3>`;
  const content = !list.readable
    ? markup`${heading}\n${describeReadError(list.total)}`
    : list.total === 0
      ? markup`${heading}\n<p class="quiet">${emptyText}</p>`
      : collapsible(`${name}/rows`, heading, listHtml(table, list, page), isOpen(table, list, page));
  return markup`<section id="${name}" aria-labelledby="${name}-title">
${content}${summary}
</section>
`;
}

/** Whoever sorts a list has opened it. */
function isOpen<Row>(
  { name, openRows = OPEN_ROWS }: ItemTable<Row>,
  { rows }: ReadableList<Row>,
  { sorting }: PageContext,
): boolean {
  return rows.length <= openRows || sorting?.table === name;
}

function collapsible(id: string, heading: Markup, content: Markup, open: boolean): Markup {
  return markup`<details id="${id}" class="rows"${open ? markup` open` : ''}><summary>${heading}</summary>
${content}
</details>`;
}

function describeReadError(total: number | null): Markup {
  return markup`<p class="alert">Cannot be read: ${total === null ? 'the list or ' : ''}a field that every row needs is missing or has the wrong type. This does not mean that there are none.</p>`;
}

function listHtml<Row>(
  table: ItemTable<Row>,
  { total, unsortable, rows: all }: ReadableList<Row>,
  page: PageContext,
): Markup {
  const { name, columns, orderText, maxRows } = table;
  const rows = all.slice(0, maxRows);
  const { column: key, descending } =
    page.sorting?.table === name ? page.sorting : { column: undefined, descending: false };
  const sorted = columns.find(({ sort }) => sort !== undefined && sort.key === key);
  const inOrder = sorted?.sort === undefined ? rows : sortRows(rows, sorted.sort, descending);
  // Sorting applies to the listed rows only, which are the same in any order.
  const selected = orderText === undefined ? `the ${rows.length} oldest of ${total}` : `${rows.length} of ${total}`;
  const extent = rows.length < total ? selected : `all ${total}`;
  const listed = orderText ?? 'oldest first';
  const order =
    sorted === undefined
      ? `${listed}${unsortable === 0 ? '' : `, ${unsortable} of unknown age last`}`
      : `by ${sorted.title.toLowerCase()}, ${descending ? 'descending' : 'ascending'}`;
  const url = (column: string, isDescending: boolean): string =>
    `?target=${encodeURIComponent(page.view.target)}&sort=${name}.${column}&dir=${isDescending ? 'desc' : 'asc'}#${name}`;
  return markup`<p class="note">Showing ${extent}, ${order}.</p>
${tableHtml(table, inOrder, page, { key, descending, url })}`;
}
