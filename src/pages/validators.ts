import type { ExternalLinks } from './external-links.js';
import { isolated, markup, type Markup } from './html.js';
import { anchor, pendingLink, section } from './layout.js';
import type { Column } from './lists.js';
import { cellsOf, marked, tableHtml } from './table.js';
import type { ValidatorView } from './validator-view.js';
import type { TargetView, View } from './view.js';

/*
 * The validators of a bridge: own validators, also when all is well, then those that are late. The status page has the
 * own validators of all targets.
 */

const columns: readonly Column<ValidatorView>[] = [
  { title: 'Validator', cells: { name: 'text', orchestrator: 'id', externalAddress: 'id' } },
  { title: 'State', cells: { state: 'text' } },
  { title: 'Power', cells: { powerRatio: 'share' } },
  { title: 'Missing', cells: { missing: 'text' }, isWide: true },
  { title: 'Deadline', cells: { deadline: 'left', deadlineText: 'text' }, isWide: true },
  { title: 'Last claim', cells: { lastClaim: 'id', funds: 'coin' } },
  { title: 'What to do', cells: { action: 'text' }, isWide: true },
];

interface ValidatorContext {
  readonly links: ExternalLinks;
  readonly nowMs: number;
}

function tableOf(
  rows: readonly { readonly target: string; readonly validator: ValidatorView }[],
  context: ValidatorContext,
  isWithTarget: boolean,
): Markup {
  const hasOwn = rows.some(({ validator }) => validator.own !== null);
  const shown = hasOwn ? columns : columns.filter(({ title }) => title !== 'Last claim' && title !== 'What to do');
  const table = rows.map(({ target, validator }) => {
    const { own, externalAddress, orchestrator, severity, contact } = validator;
    const [name, state, ...others] = cellsOf({ columns: shown }, validator, context);
    const targetCell = { title: 'Target', html: markup`<a href="${pendingLink(target)}">${isolated(target)}</a>` };
    const badge = own === null ? '' : markup` <span class="badge">yours</span>`;
    const entry = own !== null && orchestrator === null ? markup`<small>${own.entry}</small>` : '';
    return {
      id: anchor('validators', target, own?.entry ?? externalAddress ?? ''),
      cssClass: own === null ? '' : 'watched',
      cells: [
        ...(name === undefined ? [] : [{ ...name, html: markup`${name.html}${badge}${entry}${contactHtml(contact)}` }]),
        ...(isWithTarget ? [targetCell] : []),
        ...(state === undefined ? [] : [{ ...state, html: marked(state.html, severity) }]),
        ...others,
      ],
    };
  });
  return tableHtml('Validators', 'validators', table);
}

function contactHtml(contact: ValidatorView['contact']): Markup {
  if (contact === null) return markup``;
  const { securityContact, website } = contact;
  const separator = securityContact === null || website === null ? '' : ', ';
  return markup`<small>published contact: ${securityContact === null ? '' : isolated(securityContact)}${separator}${website === null ? '' : websiteHtml(website)}</small>`;
}

/** A link only if its scheme is https and its host is the visible one. */
function websiteHtml(text: string): Markup {
  const isPlain = /^https:\/\/[a-z\d.-]+(?:[/?#][\x21-\x7E]*)?$/i.test(text) && URL.canParse(text);
  return isPlain ? markup`<a href="${text}" rel="noreferrer nofollow">${text}</a>` : isolated(text);
}

/** The own validators of all targets; empty without an entry of `watch`. */
export function ownValidatorsSection({ targets, endpoints }: View, context: ValidatorContext): Markup {
  const rows = targets.flatMap(({ target, validators }) =>
    (validators ?? []).filter(({ own }) => own !== null).map((validator) => ({ target, validator })),
  );
  const table = rows.length === 0 ? '' : tableOf(rows, context, true);
  return validatorSection('Your validators', rows.length, markup`${unknownValidators(endpoints)}${table}`);
}

/** The validators of a target; empty without a bridge whose items are shown. */
export function validatorsSection(
  { endpoints }: Pick<View, 'endpoints'>,
  { target, validators }: TargetView,
  unreadable: string,
  context: ValidatorContext,
): Markup {
  if (validators === null) return validatorSection('Validators', 0, unknownValidators(endpoints));
  const isLate = validators.some((view) => view.isLate || view.problem !== null);
  const rows = validators.map((validator) => ({ target, validator }));
  const table = rows.length === 0 ? '' : tableOf(rows, context, false);
  const note = [isLate ? '' : 'No validator is late.', unreadable].filter((text) => text !== '').join(' ');
  return validatorSection('Validators', rows.length, markup`${note === '' ? '' : markup`<p>${note}</p>\n`}${table}`);
}

function validatorSection(title: string, count: number, body: Markup): Markup {
  return section(
    'validators',
    markup`${title}${count === 0 ? '' : markup` <span class="quiet">${count}</span>`}`,
    body,
  );
}

/** A note for entries of `watch` without a row, because no document is shown. */
function unknownValidators(endpoints: View['endpoints']): Markup {
  const notes = endpoints.flatMap(({ target, shown, source: { job } }) => {
    const watch = job.context.document === 'module_state' ? job.context.settings.watch : [];
    if (shown || watch.length === 0) return [];
    const what = watch.length === 1 ? 'your validator' : `your ${watch.length} validators`;
    return [markup`<p>Nothing is known of ${what} of ${isolated(target)} until a poll of its bridge succeeds.</p>`];
  });
  return markup`${notes}`;
}
