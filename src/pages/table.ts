import { judgeSeverity, type TargetStatus } from '../engine/target-problems.js';
import type { ItemList, ReadableList } from '../items/item-list.js';
import type { ProblemName } from '../problems/problems.js';
import { cellKinds, NONE, UNKNOWN, type CellKind } from './cells.js';
import { transactionUrl, type ExternalLinks } from './external-links.js';
import { joinTexts } from '../problems/sentence.js';
import { markup, type Markup } from './html.js';
import { anchor, section } from './layout.js';
import type { Column, List } from './lists.js';
import type { ValidatorView } from './validator-view.js';
import type { TargetView, ProblemView, View } from './view.js';

/* The tables of all pages, and the sections of lists. On a narrow screen, rows become cards. */

interface Cell {
  readonly title: string;
  readonly html: Markup;
  /** Whether it names its row. */
  readonly isHeader?: boolean;
  /** Whether it takes the full width of a card. */
  readonly isWide?: boolean | undefined;
}

export interface TableRow {
  /**
   * Identifies the row when the page is refreshed. Rows of a hostile document can have the same id; they are numbered.
   */
  readonly id: string;
  readonly cssClass?: string;
  readonly cells: readonly Cell[];
}

export function tableHtml(title: string, rows: readonly TableRow[]): Markup {
  const counts = new Map<string, number>();
  const rowHtml = ({ id, cssClass: own = '', cells }: TableRow): Markup => {
    const count = counts.get(id) ?? 0;
    counts.set(id, count + 1);
    return markup`<tr role="row" id="${count === 0 ? id : `${id}/${count}`}"${own === '' ? '' : markup` class="${own}"`}>${cells.map(cellHtml)}\n`;
  };
  return markup`<table class="cards" role="table" aria-label="${title}">
<thead role="rowgroup"><tr role="row">${(rows[0]?.cells ?? []).map((cell) => markup`<th role="columnheader" scope="col">${cell.title}`)}</tr></thead>
<tbody role="rowgroup">
${rows.map(rowHtml)}</tbody>
</table>`;
}

function cellHtml({ title, html, isHeader = false, isWide = false }: Cell): Markup {
  if (isHeader) return markup`<th role="rowheader" scope="row">${html}`;
  // A card leaves out what a row does not have.
  const cssClass = html === NONE ? 'none' : isWide ? 'wide' : '';
  return markup`<td role="cell" data-label="${title}"${cssClass === '' ? '' : markup` class="${cssClass}"`}>${html}`;
}

export interface ListContext {
  readonly view: { readonly problems: readonly ProblemView[] };
  readonly links: ExternalLinks;
  /** Time of the page in milliseconds since 1970. */
  readonly nowMs: number;
}

/** The cells of a row by the columns of its list. */
export function renderCells<Row extends object>(
  { columns, chains }: Pick<List<Row>, 'columns' | 'chains'>,
  row: Row,
  { links, nowMs }: Pick<ListContext, 'links' | 'nowMs'>,
): readonly Cell[] {
  const read = (field: string | undefined): unknown => (field === undefined ? undefined : Reflect.get(row, field));
  const explorers: Readonly<Record<string, string | undefined>> = chains ?? {};
  return columns.map(({ title, cells, isWide }, column) => {
    const parts = Object.entries(cells as Readonly<Record<string, CellKind>>).flatMap(([field, kind], position) => {
      const value = read(field);
      if (value === undefined) return position === 0 ? [NONE] : [];
      if (value === null) return [UNKNOWN];
      const chainId = read(explorers[field]);
      const url =
        typeof chainId === 'string' && typeof value === 'string' ? transactionUrl(links, chainId, value) : undefined;
      // The type of the list guarantees that the kind fits the field.
      return [cellKinds[kind](value as never, { links, nowMs, url })];
    });
    const [first = NONE, ...others] = parts;
    const html = others.length === 0 ? first : markup`${first}${others.map((part) => markup`<small>${part}</small>`)}`;
    return { title, isHeader: column === 0, isWide, html };
  });
}

/** The severity of the worst firing alert about a row. */
export function judgeRow<Row extends object>(
  { alerts, subject }: Pick<List<Row>, 'alerts' | 'subject'>,
  row: Row,
  { problems }: ListContext['view'],
): TargetStatus | undefined {
  const isAbout = ({ alert }: ProblemView): boolean => {
    const wanted = alerts[alert as ProblemName] ?? null;
    return wanted !== null && Object.entries(wanted).every(([field, value]) => Reflect.get(row, field) === value);
  };
  // A cast, because `Object.keys` returns `string[]`.
  const names = Object.keys(alerts) as ProblemName[];
  return judgeSeverity({ problems: problems.filter(isAbout) }, names, subject?.(row));
}

/** A word, because no state may depend on color alone. */
export function marked(html: Markup, status: TargetStatus | undefined): Markup {
  return status === undefined ? html : markup`<b class="state ${status}" title="${status}">${html}</b>`;
}

/** The index of the worst firing problem that `isAbout` accepts; the number of problems if there is none. */
export function findUrgency({ problems }: ListContext['view'], isAbout: (problem: ProblemView) => boolean): number {
  const position = problems.findIndex((problem) => problem.state === 'firing' && isAbout(problem));
  return position === -1 ? problems.length : position;
}

/** Maximum number of rows shown without a click. A longer list shows rows only if an alert is about the list. */
const OPEN_ROWS = 8;

/** A section of the page of a target. */
export interface Section {
  /** The index of the worst firing problem about it; the number of problems if there is none. */
  readonly urgency: number;
  readonly html: Markup;
}

export function listSection<Row extends object>(list: List<Row>, items: ItemList<Row>, context: ListContext): Section {
  const { name, title, alerts } = list;
  // Of all items, or of those that match the filter.
  const total = items.readable ? (items.found ?? items.total) : null;
  const of = items.readable && items.found !== undefined ? ` of ${items.total}` : '';
  const urgency = findUrgency(context.view, ({ alert }) => Object.hasOwn(alerts, alert));
  const content = items.readable
    ? rowsHtml(list, items, context, urgency < context.view.problems.length)
    : markup`<p class="alert">Cannot be read: the list or a field that every row needs is missing or has the wrong type. This does not mean that there are none.</p>`;
  const html = markup`<section id="${name}" aria-labelledby="${name}-title">
<h3 id="${name}-title">${title} <span class="quiet">${total === 0 ? 'none' : (total ?? 'unknown')}${of}</span></h3>
${content}
</section>
`;
  return { urgency, html };
}

/** Of a long list, the rows that an alert is about are shown first, the others after a click. */
function rowsHtml<Row extends object>(
  list: List<Row>,
  { rows, total, found, unsortable }: ReadableList<Row>,
  context: ListContext,
  isUrgent: boolean,
): Markup {
  if (rows.length === 0) return markup``;
  const { name, title, order } = list;
  const judged = rows.map((row): TableRow & { readonly isAbout: boolean } => {
    const severity = judgeRow(list, row, context.view);
    const [first, ...others] = renderCells(list, row, context);
    const id = anchor(name, ...list.rowId(row).map((part) => part ?? ''));
    const cells = first === undefined ? others : [{ ...first, html: marked(first.html, severity) }, ...others];
    return { id, cells, isAbout: severity !== undefined };
  });
  const about = judged.filter(({ isAbout }) => isAbout);
  const first = isUrgent && about.length > 0 && found === undefined ? about : judged;
  const open = rows.length <= OPEN_ROWS ? judged : isUrgent ? first.slice(0, OPEN_ROWS) : [];
  const rest = judged.filter((row) => !open.includes(row));
  const all = found ?? total;
  const extent = rows.length < all ? `the first ${rows.length}, ` : '';
  const unknownAge = unsortable === 0 ? '' : `, ${unsortable} of unknown age last`;
  const more =
    rest.length === 0
      ? ''
      : markup`<details id="${name}/rows"${found === undefined ? '' : ' open'}><summary>${all - open.length}${open.length === 0 ? '' : ' more'}: ${extent}${order}${unknownAge}</summary>
${tableHtml(title, rest)}
</details>`;
  return markup`${open.length === 0 ? '' : tableHtml(title, open)}${more}`;
}

/*
 * The validators of a bridge: own validators, also when all is well, then those that are late. The status page has the
 * own validators of all targets.
 */

type ValidatorRow = ValidatorView & { readonly target: string };

const columns: readonly Column<ValidatorRow>[] = [
  { title: 'Validator', cells: { name: 'text', orchestrator: 'id', externalAddress: 'id', note: 'text' } },
  { title: 'State', cells: { state: 'text' } },
  { title: 'Target', cells: { target: 'text' } },
  { title: 'Power', cells: { powerRatio: 'share' } },
  { title: 'Missing', cells: { missing: 'text' }, isWide: true },
  { title: 'Deadline', cells: { deadline: 'left', deadlineText: 'text' }, isWide: true },
  { title: 'Last claim', cells: { lastClaim: 'id', funds: 'coin' } },
  { title: 'What to do', cells: { action: 'text' }, isWide: true },
];

type ValidatorContext = Pick<ListContext, 'links' | 'nowMs'>;

function validatorTable(rows: readonly ValidatorRow[], context: ValidatorContext): Markup {
  const table = rows.map((row) => {
    const { target, own, externalAddress, severity } = row;
    const cells = renderCells({ columns }, row, context);
    return {
      id: anchor('validators', target, own?.entry ?? externalAddress ?? ''),
      cssClass: own === null ? '' : 'watched',
      cells: cells.map((cell, index) => (index === 1 ? { ...cell, html: marked(cell.html, severity) } : cell)),
    };
  });
  return tableHtml('Validators', table);
}

/** The own validators of all targets; empty without an entry of `watch`. */
export function ownValidatorsSection({ targets }: View, context: ValidatorContext): Markup {
  const rows = targets.flatMap(({ target, validators }) =>
    (validators ?? []).filter(({ own }) => own !== null).map((validator) => ({ ...validator, target })),
  );
  return rows.length === 0 ? markup`` : validatorSection('Your validators', rows.length, validatorTable(rows, context));
}

/** The validators of a target; empty without a bridge whose items are shown. */
export function validatorsSection(
  { target, validators }: TargetView,
  unreadable: string,
  context: ValidatorContext,
): Markup {
  if (validators === null) return markup``;
  const isLate = validators.some((view) => view.isLate || view.problem !== null);
  const rows = validators.map((validator) => ({ ...validator, target }));
  const table = rows.length === 0 ? '' : validatorTable(rows, context);
  const note = joinTexts('; ', isLate ? '' : 'No validator is late', unreadable);
  return validatorSection('Validators', rows.length, markup`${note === '' ? '' : markup`<p>${note}</p>\n`}${table}`);
}

function validatorSection(title: string, count: number, body: Markup): Markup {
  return section(
    'validators',
    markup`${title}${count === 0 ? '' : markup` <span class="quiet">${count}</span>`}`,
    body,
  );
}
