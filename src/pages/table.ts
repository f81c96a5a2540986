import type { ExternalLinks } from './external-links.js';
import { markup, type Markup } from './html.js';
import type { SearchResult, TargetView } from './view.js';
import type { ProblemName } from '../problems/problems.js';
import { judgeSeverity } from '../engine/verdicts.js';
import type { BridgeItems } from '../facts/items/bridge.js';
import type { ChainItem } from '../facts/items/crosschain-items.js';
import type { ItemList, ReadableList } from '../facts/items/item-list.js';

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
  /**
   * Identifies a row when the page is refreshed. Rows of a hostile document can have the same id; they are numbered.
   */
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
  /**
   * A list of up to this many rows is open; a longer list opens on demand, so that the summaries of a page are on its
   * first screens.
   */
  readonly openRows?: number;
  /** While one of these alerts fires, the list comes first and is open. */
  readonly alerts?: readonly ProblemName[];
  /** The rows that are open then; by default the first ten. */
  readonly firstRows?: (rows: readonly Row[], page: PageContext) => readonly Row[];
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
  return judgeSeverity(view, alerts) ?? '';
}

const OPEN_ROWS = 3;
const MAX_URGENT_ROWS = 10;

export interface ListSection extends Pick<ItemTable<unknown>, 'name' | 'title'> {
  /** The number of all items, or of those that a search has found; `null` if it is unknown. */
  readonly total: number | null;
  /** Of a search: how many were searched; `undefined` if the list cannot be read. */
  readonly searched: number | undefined;
  /** The position of the first firing verdict that the list is about, worst first; after all of them without one. */
  readonly urgency: number;
  readonly html: Markup;
}

/** The position of the first firing verdict with a property, worst first; after all of them without one. */
export function findUrgency(
  { verdicts }: Pick<TargetView, 'verdicts'>,
  isAbout: (verdict: TargetView['verdicts'][number]) => boolean,
): number {
  const position = verdicts.findIndex((verdict) => verdict.state === 'firing' && isAbout(verdict));
  return position === -1 ? verdicts.length : position;
}

/** The section of a list. */
export function itemSection<Row>(table: ItemTable<Row>, list: ItemList<Row>, page: PageContext): ListSection {
  const { name, title, alerts = [] } = table;
  const searched = list.readable ? list.searched : undefined;
  const of = searched === undefined ? '' : ` of ${searched}`;
  const heading = markup`<h3 id="${name}-title">${title} <span class="quiet">${list.total === 0 ? 'none' : (list.total ?? 'unknown')}${of}</span></h3>`;
  const unreadable = markup`${heading}\n<p class="alert">Cannot be read: ${list.total === null ? 'the list or ' : ''}a field that every row needs is missing or has the wrong type. This does not mean that there are none.</p>`;
  const urgency = findUrgency(page.view, ({ alert }) => alerts.some((own) => own === alert));
  const content = list.readable ? rowsHtml(table, list, page, heading, urgency) : unreadable;
  const html = markup`<section id="${name}" aria-labelledby="${name}-title">
${content}
</section>
`;
  return { name, title, total: list.total, searched, urgency, html };
}

function rowsHtml<Row>(
  table: ItemTable<Row>,
  list: ReadableList<Row>,
  page: PageContext,
  heading: Markup,
  urgency: number,
): Markup {
  if (list.total === 0) return heading;
  const { name, orderText, openRows = OPEN_ROWS, firstRows = (rows) => rows.slice(0, MAX_URGENT_ROWS) } = table;
  const urgent = urgency === page.view.verdicts.length || page.search !== null ? [] : firstRows(list.rows, page);
  const { rows } = list;
  const rest = rows.filter((row) => !urgent.includes(row));
  const extent =
    orderText === undefined ? `the ${rows.length} oldest of ${list.total}` : `${rows.length} of ${list.total}`;
  const unknownAge = list.unsortable === 0 ? '' : `, ${list.unsortable} of unknown age last`;
  const note = markup`<p class="note">Showing ${rows.length < list.total ? extent : `all ${list.total}`}, ${orderText ?? 'oldest first'}${unknownAge}.</p>`;
  const isFolded = urgent.length > 0 && rest.length > 0 && rows.length > openRows;
  const first = isFolded ? markup`${heading}\n${tableHtml(table, urgent, page)}\n` : '';
  const isOpen = !isFolded && (rows.length <= openRows || urgent.length > 0 || page.search !== null);
  return markup`${first}<details id="${name}/rows" class="rows"${isOpen ? markup` open` : ''}><summary>${isFolded ? `${list.total - urgent.length} more` : heading}</summary>
${note}
${tableHtml(table, isFolded ? rest : rows, page)}
</details>`;
}
