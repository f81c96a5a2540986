import { isoTime } from '../clock.js';
import { judgeSeverity } from '../engine/verdicts.js';
import type { BridgeItems } from '../facts/items/bridge.js';
import type { DutyItem } from '../facts/items/validator-items.js';
import type { ProblemName } from '../problems/problems.js';
import { count, durationInWords, percent } from '../text/format.js';
import * as cells from './cells.js';
import { isolated, markup, sentenceHtml, type Markup } from './html.js';
import { anchor, pendingLink, section } from './layout.js';
import { tableHtml, type Column } from './table.js';
import { distantTimeElement } from './time.js';
import { lateDuties, type ValidatorView } from './validator-view.js';
import { statusLabel } from './verdict-list.js';
import { findBridge, type EndpointView, type TargetView, type View } from './view.js';

/*
 * The table of validators: own validators, also when all is well, then validators that are late. The status page has
 * the own validators of all targets.
 */

/** A validator with its bridge. */
interface Row {
  readonly view: TargetView;
  readonly endpoint: EndpointView;
  readonly items: BridgeItems;
  readonly validator: ValidatorView;
}

function rowsIn({ endpoints }: View, view: TargetView): readonly Row[] {
  const bridge = findBridge(endpoints, view.target);
  if (bridge === undefined) return [];
  return (view.validators ?? []).map((validator) => ({ ...bridge, view, validator }));
}

const isOwn = ({ validator }: Row): boolean => validator.own !== null;

/** The section of the own validators of all targets; empty without an entry of `watch`. */
export function ownValidatorsSection(view: View): Markup {
  const rows = view.targets.flatMap((target) => rowsIn(view, target)).filter(isOwn);
  const body = markup`${unknownValidators(view.endpoints)}${renderTable(rows, [targetColumn, ...columns])}`;
  return validatorSection('Your validators', rows, body);
}

/** The section of the validators of a target; empty without a bridge whose items are shown. */
export function validatorsSection(view: View, target: TargetView): Markup {
  const bridge = findBridge(view.endpoints, target.target);
  if (bridge === undefined) return validatorSection('Validators', [], unknownValidators(view.endpoints));
  const rows = rowsIn(view, target);
  const nobody = rows.every(({ validator }) => !isLate(validator)) ? 'No validator is late.' : '';
  const note = [nobody, unreadable(bridge.items)].filter((text) => text !== '').join(' ');
  return validatorSection(
    'Validators',
    rows,
    markup`${note === '' ? '' : markup`<p>${note}</p>\n`}${renderTable(rows, columns)}`,
  );
}

function validatorSection(title: string, rows: readonly Row[], body: Markup): Markup {
  const number = rows.length === 0 ? '' : markup` <span class="quiet">${rows.length}</span>`;
  return section('validators', markup`${title}${number}`, body);
}

/** A note for entries of `watch` without a row, because no document is shown. */
function unknownValidators(endpoints: readonly EndpointView[]): Markup {
  const notes = endpoints.flatMap(({ target, items, source: { job } }) => {
    const watch = job.context.document === 'module_state' ? job.context.settings.watch : [];
    if (items !== null || watch.length === 0) return [];
    const what = watch.length === 1 ? 'your validator' : `your ${watch.length} validators`;
    return [markup`<p>Nothing is known of ${what} of ${isolated(target)} until a poll of its bridge succeeds.</p>`];
  });
  return markup`${notes}`;
}

/** The duties, each with the alert about what waits for it. */
const kinds = {
  events: { one: 'event', many: 'events', alert: 'BridgeOracleStalled' },
  batches: { one: 'batch', many: 'batches', alert: 'BridgeBatchUnsigned' },
  valsets: { one: 'validator set', many: 'validator sets', alert: 'BridgeValsetUnsigned' },
} as const satisfies Record<string, { readonly one: string; readonly many: string; readonly alert: ProblemName }>;
type Kind = keyof typeof kinds;
// The keys of an object whose type has no others.
const kindNames = Object.keys(kinds) as readonly Kind[];

/** Nobody is late only as far as the document can be read. */
function unreadable({ validators }: BridgeItems): string {
  const members = validators.filter(({ externalAddress }) => externalAddress !== null);
  if (members.length === 0) return 'The validator set cannot be read, or is empty.';
  const unknown = kindNames.filter((kind) => members.some(({ duties }) => duties[kind] === null));
  if (unknown.length === 0) return '';
  return `Unknown for ${unknown.map((kind) => kinds[kind].many).join(' and ')}: a list of the document cannot be read.`;
}

function renderTable(rows: readonly Row[], all: readonly Column<Row>[]): Markup {
  if (rows.length === 0) return markup``;
  const table = {
    title: 'Validators',
    cssClass: 'validators',
    columns: rows.some(isOwn) ? all : all.filter((column) => !ownColumns.includes(column)),
    rowId: ({ view, validator: { own, externalAddress } }: Row) =>
      anchor('validators', view.target, own?.entry ?? externalAddress ?? ''),
    rowClass: (row: Row) => (isOwn(row) ? 'watched' : ''),
  };
  return tableHtml(table, rows, undefined);
}

const targetColumn: Column<Row> = {
  title: 'Target',
  cell: ({ view }) => markup`<a href="${pendingLink(view.target)}">${isolated(view.target)}</a>`,
};

const ownColumns: readonly Column<Row>[] = [
  { title: 'Orchestrator', cell: (row) => (isOwn(row) ? orchestratorCell(row) : markup``) },
  { title: 'What to do', cell: (row) => (isOwn(row) ? actionCell(row) : markup``), type: 'wide' },
];

const columns: readonly Column<Row>[] = [
  { title: 'Validator', cell: nameCell, type: 'row-header' },
  { title: 'State', cell: stateCell },
  {
    title: 'Power',
    cell: ({ validator }) => cells.orUnknown(validator.powerRatio, (ratio) => markup`${percent(ratio, 2)}`),
  },
  { title: 'Votes and signatures', cell: dutiesCell, type: 'wide' },
  { title: 'Deadline', cell: deadlineCell, type: 'wide' },
  ...ownColumns,
];

/** A name can be chosen freely and look like another name, so the address is beside it. */
function nameCell({ validator: { name, own, orchestrator, externalAddress, contact } }: Row): Markup {
  const label = name === null ? markup`<span class="quiet">no name</span>` : markup`<b>${cells.name(name)}</b>`;
  const badge = own === null ? '' : markup` <span class="badge">yours</span>`;
  const address = orchestrator ?? own?.entry;
  const external = externalAddress === null ? '' : markup` ${cells.identifier(externalAddress)}`;
  return markup`${label}${badge}<small>${address === undefined ? 'unknown orchestrator' : cells.identifier(address)}${external}</small>${contactHtml(contact)}`;
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

const isLate = (validator: ValidatorView): boolean => lateDuties(validator).length > 0 || validator.problem !== null;

/** Whether the node has not answered whether it is jailed. */
const isJailUnknown = ({ isAsked, jailed }: ValidatorView): boolean => isAsked && jailed === null;

/** As severe as its problem, else as the alert about what waits for the validator. */
function stateCell({ validator, items, view }: Row): Markup {
  const { own, problem, jailed, duties } = validator;
  const badge = (status: string, text: string): Markup =>
    markup`<b class="state ${problem?.severity ?? status}">${text}</b>`;
  if (jailed === true) return badge('critical', 'jailed');
  if (own?.membership === 'inactive') return badge('unknown', 'not in the set');
  if (own?.membership === 'unregistered') return badge('unknown', 'not registered');
  const late = lateDuties(validator);
  if (late.length > 0 || (problem !== null && own === null)) {
    const alerts = kindNames.filter((kind) => (duties[kind]?.late ?? 0) > 0).map((kind) => kinds[kind].alert);
    const oldest = Math.max(problem?.ageSeconds ?? 0, ...late.map(({ oldestSeconds }) => oldestSeconds ?? 0));
    return badge(judgeSeverity(view, alerts) ?? 'pending', oldest > 0 ? `late for ${durationInWords(oldest)}` : 'late');
  }
  if (problem !== null) return statusLabel(problem.severity);
  if (own?.membership === null || Object.values(duties).includes(null) || isJailUnknown(validator))
    return statusLabel('unknown');
  if (items.isNodeBehind) return badge('unknown', 'node is behind');
  const isDue = Object.values(duties).some((duty) => duty?.squares?.some((square) => square.state === 'not_due'));
  return isDue ? badge('unknown', 'due') : badge('ok', 'signs and votes');
}

const MAX_NONCES = 3;

/** "batch 4", "events 4, 5" or "batches between 3 and 9"; empty when nothing is late. */
function lateText(kind: Kind, { late, nonces, newestNonce }: DutyItem): string {
  if (late === 0) return '';
  const which = late <= MAX_NONCES ? nonces.join(', ') : `between ${nonces[0]} and ${newestNonce}`;
  return `${late === 1 ? kinds[kind].one : `${late} ${kinds[kind].many}`} ${which}`;
}

/** The squares of an own validator; of others what is missing, else what their problem says. */
function dutiesCell({ validator: { own, duties, blocks, problem } }: Row): Markup {
  if (own !== null) {
    if (own.membership !== 'active') return cells.UNKNOWN;
    return markup`${kindNames.map((kind) => dutyHtml(kind, duties[kind]))}${blocksHtml(blocks)}`;
  }
  const late = kindNames.flatMap((kind) => {
    const duty = duties[kind];
    return duty === null || duty.late === 0 ? [] : [`${kind === 'events' ? 'votes for ' : ''}${lateText(kind, duty)}`];
  });
  return late.length > 0 ? markup`missing: ${late.join('; ')}` : isolated(problem?.summary ?? '');
}

type Square = NonNullable<DutyItem['squares']>[number]['state'];

const SQUARES: Readonly<Record<Square, { readonly square: string; readonly text: string }>> = {
  done: { square: '■', text: 'done' },
  missing: { square: '✕', text: 'missing' },
  not_due: { square: '□', text: 'not due' },
};

/** One square for each event, batch or validator set of the document. */
function dutyHtml(kind: Kind, duty: DutyItem | null): Markup {
  const { many } = kinds[kind];
  if (duty === null || duty.squares === null) return squaresHtml(many, cells.UNKNOWN);
  const { squares } = duty;
  if (squares.length === 0) return squaresHtml(many, cells.NONE);
  const numbers = (Object.keys(SQUARES) as Square[]).flatMap((state) => {
    const number = squares.filter((square) => square.state === state).length;
    return number === 0 ? [] : [`${number} ${SQUARES[state].text}`];
  });
  const shown = squares.map(({ nonce, state }) => squareHtml(state, `${nonce}: ${SQUARES[state].text}`));
  const late = lateText(kind, duty);
  return squaresHtml(
    many,
    gridHtml(`the last ${squares.length}: ${numbers.join(', ')}`, shown),
    late === '' ? '' : `missing: ${late}`,
  );
}

/** One square for each minute in which the node was asked; empty without an answer. */
function blocksHtml(blocks: ValidatorView['blocks']): Markup {
  if (blocks === null) return markup``;
  const { missed, allowed, minutes } = blocks;
  const squares = minutes.map((minute) =>
    squareHtml(
      minute.missed > 0 ? 'missing' : 'done',
      `until ${minute.until.slice(11, 16)} UTC: ${minute.missed} missed`,
    ),
  );
  const withMisses = minutes.filter((minute) => minute.missed > 0).length;
  const label = `the last ${count(minutes.length, 'minute')}: blocks missed in ${withMisses}`;
  const limit = allowed === null ? '' : ` of the ${allowed} that it may miss`;
  return squaresHtml('blocks', minutes.length === 0 ? markup`` : gridHtml(label, squares), `${missed} missed${limit}`);
}

function squareHtml(state: Square, title: string): Markup {
  return markup`<i class="${state}" title="${title}">${SQUARES[state].square}</i>`;
}

function gridHtml(label: string, squares: readonly Markup[]): Markup {
  return markup`<span class="squares" role="img" aria-label="${label}">${squares}</span>`;
}

function squaresHtml(what: string, grid: Markup, text = ''): Markup {
  return markup`<div class="duties"><span>${what}</span> ${grid}${text === '' ? '' : markup` <small>${text}</small>`}</div>`;
}

/**
 * Until when the validator has to sign what, and when a batch that waits for it times out, by the time of the document.
 */
function deadlineCell({ validator, endpoint: { asOf }, items }: Row): Markup {
  const { jailed, missedSignature, deadline, duties } = validator;
  if (jailed === true) {
    const reason = missedSignature && `did not sign ${missedSignature.of} ${missedSignature.nonce}`;
    return markup`<span class="critical">is jailed</span>${reason === null ? '' : markup`<small>${reason}</small>`}`;
  }
  const timeoutIn = duties.batches?.timeoutIn ?? null;
  const timeout =
    timeoutIn === null
      ? ''
      : markup` <span>batch times out: ${cells.blocks(timeoutIn, 'external blocks', 'left')}</span>`;
  if (deadline !== null) {
    const { height, left, signature } = deadline;
    const seconds = left?.seconds ?? null;
    const until =
      asOf === null || seconds === null
        ? markup`height ${cells.digits(height)}`
        : distantTimeElement(isoTime(Date.parse(asOf) / 1000 + seconds), seconds);
    const blocks = left === null ? '' : markup`<small>${cells.blocks(left, 'hub blocks', 'left')}</small>`;
    return markup`<span>signs ${signature.of} ${signature.nonce} by ${until}, else jailed</span>${blocks}${timeout}`;
  }
  if (timeout !== '') return timeout;
  const isKnown =
    !isJailUnknown(validator) && duties.batches !== null && duties.valsets !== null && !items.isNodeBehind;
  return isKnown ? cells.NONE : cells.UNKNOWN;
}

function orchestratorCell({ validator: { lastEventNonce, funds } }: Row): Markup {
  return markup`last claim: event ${cells.text(lastEventNonce)}<small>funds: ${funds === null ? cells.UNKNOWN : cells.coin(funds)}</small>`;
}

function actionCell({ validator: { problem } }: Row): Markup {
  return problem === null ? markup`<span class="quiet">no alert fires</span>` : sentenceHtml(problem.action);
}
