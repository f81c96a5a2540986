import { joinTexts } from '../problems/sentence.js';
import { markup, type Markup } from './html.js';
import { anchor, section } from './layout.js';
import type { Column } from './lists.js';
import { renderCells, marked, tableHtml, type ListContext } from './table.js';
import type { ValidatorView } from './validator-view.js';
import type { TargetView, View } from './view.js';

/*
 * The validators of a bridge: own validators, also when all is well, then those that are late. The status page has the
 * own validators of all targets.
 */

type Row = ValidatorView & { readonly target: string };

const columns: readonly Column<Row>[] = [
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

function validatorTable(rows: readonly Row[], context: ValidatorContext): Markup {
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
