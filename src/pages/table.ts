import type { SearchResult } from '../facts/items/search.js';
import type { ExternalLinks } from './external-links.js';
import { markup, type Markup } from './html.js';
import type { TargetView } from './view.js';
import type { ProblemName } from '../problems/problems.js';
import { severityOf } from '../engine/verdicts.js';
import type { BridgeItems } from '../facts/items/bridge.js';
import type { ChainItem } from '../facts/items/crosschain.js';
import type { ItemList } from '../facts/items/item-list.js';

/* The tables of all pages. On a narrow screen, rows become cards. */

export interface Column<Row, Context = undefined> {
  readonly title: string;
  readonly cell: (row: Row, context: Context) => Markup;
  /** `row-header`: the cell names its row. `wide`: it takes the full width of a card. */
  readonly type?: 'row-header' | 'wide';
}

export interface Table<Row, Context = undefined> {
  readonly title: string;
  /** The class of the cells in the style sheet. */
  readonly cssClass?: string;
  readonly columns: readonly Column<Row, Context>[];
  /** Identifies a row when the page is refreshed. Rows of a hostile document can have the same id; they are numbered. */
  readonly rowId: (row: Row) => string;
  readonly rowClass?: (row: Row) => string;
}

export function tableHtml<Row, Context>(
  { title, cssClass = '', columns, rowId, rowClass }: Table<Row, Context>,
  rows: readonly Row[],
  context: Context,
): Markup {
  const counts = new Map<string, number>();
  const rowHtml = (row: Row): Markup => {
    const id = rowId(row);
    const count = counts.get(id) ?? 0;
    counts.set(id, count + 1);
    const name = rowClass?.(row) ?? '';
    return markup`<tr role="row" id="${count === 0 ? id : `${id}/${count}`}"${name === '' ? '' : markup` class="${name}"`}>${columns.map((column) => cellHtml(column, row, context))}\n`;
  };
  return markup`<table class="${`cards ${cssClass}`.trim()}" role="table" aria-label="${title}">
<thead role="rowgroup"><tr role="row">${columns.map((column) => markup`<th role="columnheader" scope="col">${column.title}`)}</tr></thead>
<tbody role="rowgroup">
${rows.map(rowHtml)}</tbody>
</table>`;
}

function cellHtml<Row, Context>({ title, cell, type }: Column<Row, Context>, row: Row, context: Context): Markup {
  const content = cell(row, context);
  if (type === 'row-header') return markup`<th role="rowheader" scope="row">${content}`;
  return markup`<td role="cell" data-label="${title}"${type === 'wide' ? markup` class="wide"` : ''}>${content}`;
}

/** A list of the page of a target. */
export interface ItemTable<Row> extends Table<Row, PageContext> {
  /** Id of the section. */
  readonly name: string;
  /** The order in which rows are listed, unless it is oldest first. */
  readonly orderText?: string;
  /** Maximum number of rows on the page, if it is lower than that of the items. */
  readonly maxRows?: number;
  /** A list of up to this many rows is open; a longer list opens on demand, so that the summaries of a page are on its first screens. */
  readonly openRows?: number;
  /** The list is also open while one of these alerts fires. */
  readonly alerts?: readonly ProblemName[];
  /** The rows that are open then; by default all. */
  readonly firstRows?: (rows: readonly Row[]) => readonly Row[];
}

export type ItemColumn<Row> = Column<Row, PageContext>;

export interface PageContext {
  readonly view: TargetView;
  readonly links: ExternalLinks;
  /** `null` without a search. */
  readonly search: SearchResult | null;
  /** `undefined` without a bridge whose items are shown. */
  readonly bridge: BridgeItems | undefined;
  readonly chains: readonly ChainItem[];
  /** Time of the page in milliseconds since 1970. */
  readonly nowMs: number;
}

/** The class that colors a value while one of these alerts fires: pages and alerts have the same thresholds. */
export function alertClass({ view }: Pick<PageContext, 'view'>, ...alerts: readonly ProblemName[]): string {
  return severityOf(view, alerts) ?? '';
}

const OPEN_ROWS = 3;

export interface ListSection extends Pick<ItemTable<unknown>, 'name' | 'title'> {
  /** The number of all items; `null` if it is unknown. */
  readonly total: number | null;
  readonly html: Markup;
}

/** The section of a list, with a summary below its table. */
export function itemSection<Row>(
  table: ItemTable<Row>,
  list: ItemList<Row>,
  page: PageContext,
  summary: Markup = markup``,
): ListSection {
  const { name, title, orderText, maxRows, openRows = OPEN_ROWS, alerts = [], firstRows = (rows) => rows } = table;
  const heading = markup`<h3 id="${name}-title">${title} <span class="quiet">${list.total === 0 ? 'none' : (list.total ?? 'unknown')}</span></h3>`;
  let content: Markup;
  if (!list.readable) {
    content = markup`${heading}\n<p class="alert">Cannot be read: ${list.total === null ? 'the list or ' : ''}a field that every row needs is missing or has the wrong type. This does not mean that there are none.</p>`;
  } else if (list.total === 0) {
    content = heading;
  } else {
    const rows = list.rows.slice(0, maxRows);
    const extent =
      orderText === undefined ? `the ${rows.length} oldest of ${list.total}` : `${rows.length} of ${list.total}`;
    const unknownAge = list.unsortable === 0 ? '' : `, ${list.unsortable} of unknown age last`;
    const isFiring = severityOf(page.view, alerts) !== undefined;
    const urgent = firstRows(rows);
    const isOpen = rows.length <= openRows || (isFiring && urgent.length === rows.length);
    const first = isFiring && !isOpen ? urgent : [];
    const rest = rows.filter((row) => !first.includes(row));
    const [before, summaryText] =
      first.length === 0
        ? ['', heading]
        : [markup`${heading}\n${tableHtml(table, first, page)}\n`, `${rest.length} more`];
    content = markup`${before}<details id="${name}/rows" class="rows"${isOpen ? markup` open` : ''}><summary>${summaryText}</summary>
<p class="note">Showing ${rows.length < list.total ? extent : `all ${list.total}`}, ${orderText ?? 'oldest first'}${unknownAge}.</p>
${tableHtml(table, rest, page)}
</details>`;
  }
  const html = markup`<section id="${name}" aria-labelledby="${name}-title">
${content}${summary}
</section>
`;
  return { name, title, total: list.total, html };
}
