import type { ItemList, ReadableList } from '../facts/items/items.js';
import type { SearchResult } from '../facts/items/search.js';
import type { ExternalLinks } from './external-links.js';
import { markup, type Markup } from './html.js';
import { sortRows, tableHtml, type Column, type Table } from './table.js';
import { severityOf, type TargetView } from './target-view.js';

/*
 * The sections of the page of a target that list pending items, which can be sorted by the URL.
 */

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
  readonly view: TargetView;
  readonly links: ExternalLinks;
  readonly sorting: ItemSorting | undefined;
  /** What was searched for and found; `null` without a search. */
  readonly search: SearchResult | null;
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
