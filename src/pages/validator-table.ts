import { isoTime } from '../clock.js';
import { asNumeral, subtract } from '../chain/numeral.js';
import { judgeSeverity } from '../engine/verdicts.js';
import type { BridgeItems } from '../facts/items/bridge.js';
import { listedRows } from '../facts/items/item-list.js';
import type { DutyItem, ValidatorItem } from '../facts/items/validator-items.js';
import { firstDispute } from '../problems/oracle-problems.js';
import type { ProblemName } from '../problems/problems.js';
import { listMembers, shownValidatorNames } from '../problems/sentence.js';
import { count, durationInWords, percent } from '../text/format.js';
import * as cells from './cells.js';
import { isolated, markup, sentenceHtml, type Markup } from './html.js';
import { anchor, pendingLink, section } from './layout.js';
import { tableHtml, type Column } from './table.js';
import { renderBlockTime, distantTimeElement } from './time.js';
import { lateAlerts, lateDuties, type ValidatorView } from './validator-view.js';
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
  const { endpoint, items } = bridge;
  const rows = rowsIn(view, target);
  const time = renderBlockTime(endpoint.node);
  const late = rows.filter(({ validator }) => isLate(validator)).length;
  const who = late === 0 ? 'No validator is' : `${count(late, 'validator')} ${late === 1 ? 'is' : 'are'}`;
  // The node knows nothing after its newest block.
  const asOf = time === undefined ? '' : markup` as of ${time}`;
  const introduction = markup`<p>${who} late${asOf}.${unreadable(items)}</p>${disputeHtml(items)}`;
  return validatorSection('Validators', rows, markup`${introduction}\n${renderTable(rows, columns)}`);
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

const NOUNS = { events: 'event', batches: 'batch', valsets: 'validator set' } as const;
type Kind = keyof typeof NOUNS;
const KINDS: readonly Kind[] = ['events', 'batches', 'valsets'];

const plural = (kind: Kind): string => (kind === 'valsets' ? 'validator sets' : kind);

/** Nobody is late only as far as the document can be read. */
function unreadable({ validators }: BridgeItems): string {
  const members = validators.filter(({ externalAddress }) => externalAddress !== null);
  if (members.length === 0) return ' The validator set cannot be read, or is empty.';
  const unknown = KINDS.filter((kind) => members.some(({ duties }) => duties[kind] === null)).map(plural);
  return unknown.length === 0 ? '' : ` Unknown for ${unknown.join(' and ')}: a list of the document cannot be read.`;
}

/** Who claims what. A dispute is not a delay of any validator. */
function disputeHtml(items: BridgeItems): Markup {
  const dispute = firstDispute(listedRows(items.claims));
  if (dispute === undefined) return markup``;
  const sides = dispute.claims.map(({ claim: { voted, votes }, text }) => {
    const names = shownValidatorNames(listMembers(voted));
    const more = Math.max(0, (votes ?? 0) - names.length);
    const all = [...names, ...(more === 0 ? [] : [`${more} more`])];
    return markup`<li>${text || 'one thing'}: ${count(votes ?? 0, 'validator')}: ${isolated(all.join(', '))}`;
  });
  return markup`\n<p>Of event ${dispute.eventNonce}, validators claim different things, any of which can be right:</p><ul>${sides}</ul>`;
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
  { title: 'Votes and signatures', cell: (row) => (isOwn(row) ? squaresCell(row) : missingCell(row)), type: 'wide' },
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

/* State. */

const isLate = (validator: ValidatorView): boolean => lateDuties(validator).length > 0 || validator.alerts.length > 0;

/** Whether the node has not answered whether it is jailed. */
const isJailUnknown = ({ isAsked, jailed }: ValidatorView): boolean => isAsked && jailed === null;

const isUnknown = ({ duties }: ValidatorItem): boolean => Object.values(duties).includes(null);

/** What it has to do is younger than usual, or older than its membership. */
const isDue = ({ duties }: ValidatorView): boolean =>
  Object.values(duties).some((duty) => duty?.squares?.some(({ state }) => state === 'not_due'));

function stateCell({ validator, items, view }: Row): Markup {
  const { own, problem, jailed } = validator;
  if (problem !== null) return statusLabel(problem.severity);
  if (jailed === true) return stateBadge('critical', 'jailed');
  if (own?.membership === null) return statusLabel('unknown');
  if (own?.membership === 'inactive') return stateBadge('unknown', 'not in the set');
  if (own?.membership === 'unregistered') return stateBadge('unknown', 'not registered');
  if (isLate(validator)) return lateBadge(validator, view);
  if (isUnknown(validator)) return statusLabel('unknown');
  if (isJailUnknown(validator)) return stateBadge('unknown', 'unknown');
  if (items.isNodeBehind) return stateBadge('unknown', 'node is behind');
  return isDue(validator) ? stateBadge('unknown', 'due') : stateBadge('ok', 'signs and votes');
}

function stateBadge(status: string, text: string): Markup {
  return markup`<b class="state ${status}">${text}</b>`;
}

const ALERTS: Readonly<Record<Kind, ProblemName>> = {
  events: 'BridgeOracleStalled',
  batches: 'BridgeBatchUnsigned',
  valsets: 'BridgeValsetUnsigned',
};

/** As severe as the alert about what waits for the validator. */
function lateBadge(validator: ValidatorView, view: TargetView): Markup {
  const { duties, alerts } = validator;
  const late = lateDuties(validator);
  const oldest = Math.max(
    0,
    ...late.map(({ oldestSeconds }) => oldestSeconds ?? 0),
    ...alerts.map(({ ageSeconds }) => ageSeconds),
  );
  const about = KINDS.filter((kind) => (duties[kind]?.late ?? 0) > 0).map((kind) => ALERTS[kind]);
  const word = late.some(({ isSilent }) => isSilent) ? 'silent' : 'late';
  return stateBadge(
    judgeSeverity(view, about) ?? 'pending',
    oldest > 0 ? `${word} for ${durationInWords(oldest)}` : word,
  );
}

/* Votes and signatures. */

const MAX_NONCES = 3;

/** "batch 4", "events 4, 5" or "batches between 3 and 9". */
function lateText(kind: Kind, { late, nonces, newestNonce }: DutyItem): string {
  const which = late <= MAX_NONCES ? nonces.join(', ') : `between ${nonces[0]} and ${newestNonce}`;
  return `${late === 1 ? NOUNS[kind] : `${late} ${plural(kind)}`} ${which}`;
}

function missingCell({ validator: { duties, alerts } }: Row): Markup {
  const late = KINDS.flatMap((kind) => {
    const duty = duties[kind];
    return duty === null || duty.late === 0 ? [] : [`${kind === 'events' ? 'votes for ' : ''}${lateText(kind, duty)}`];
  });
  const missing = late.length > 0 ? late : alerts.map(({ alert }) => lateAlerts.get(alert) ?? alert);
  return markup`missing: ${missing.join('; ')}`;
}

type Square = NonNullable<DutyItem['squares']>[number]['state'];

const SQUARES: Readonly<Record<Square, { readonly square: string; readonly text: string }>> = {
  done: { square: '■', text: 'done' },
  missing: { square: '✕', text: 'missing' },
  not_due: { square: '□', text: 'not due' },
};

/** One square for each event, batch and validator set of the document, and for each minute of blocks. */
function squaresCell(row: Row): Markup {
  const { own, duties, blocks, lastVote } = row.validator;
  if (own?.membership !== 'active') return cells.UNKNOWN;
  const dispute =
    disputedVote(row) || (lastVote === 'dissenting' ? 'voted for another claim of the last observed event' : '');
  return markup`${KINDS.map((kind) => dutiesHtml(kind, duties[kind]))}${blocksHtml(blocks)}${dispute === '' ? '' : markup`<small>${dispute}</small>`}`;
}

function dutiesHtml(kind: Kind, duty: DutyItem | null): Markup {
  if (duty === null || duty.squares === null) return squaresHtml(plural(kind), cells.UNKNOWN);
  const { squares } = duty;
  const numbers = (Object.keys(SQUARES) as Square[]).flatMap((state) => {
    const number = squares.filter((square) => square.state === state).length;
    return number === 0 ? [] : [`${number} ${SQUARES[state].text}`];
  });
  const shown = squares.map(({ nonce, state }) => squareHtml(state, `${nonce}: ${SQUARES[state].text}`));
  const grid = shown.length === 0 ? cells.NONE : gridHtml(`the last ${squares.length}: ${numbers.join(', ')}`, shown);
  return squaresHtml(plural(kind), grid, duty.late === 0 ? '' : `missing: ${lateText(kind, duty)}`);
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

/** The vote of the validator on a disputed event; empty without a vote. */
function disputedVote({ items, validator: { externalAddress } }: Row): string {
  const dispute = firstDispute(listedRows(items.claims));
  const voted = dispute?.claims.find(({ claim }) =>
    claim.voted?.members.some((member) => member.externalAddress === externalAddress),
  );
  if (dispute === undefined || voted === undefined) return '';
  const { votedPowerRatio } = voted.claim;
  const power = votedPowerRatio === null ? '' : `, like ${percent(votedPowerRatio)} of the power`;
  return `claims ${voted.text === '' ? 'one thing' : voted.text} for event ${dispute.eventNonce}${power}`;
}

/* Deadline, orchestrator, action. */

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

/** Events are claimed in order, so a position says more than the last votes. */
function orchestratorCell({ items: { lastObservedNonce }, validator }: Row): Markup {
  const { lastEventNonce: nonce, funds, duties } = validator;
  // An answer that is older than the document says nothing about the last event, unless the votes are known.
  const isComparable = nonce !== null && lastObservedNonce !== null && duties.events !== null;
  const behind = isComparable ? subtract(asNumeral(lastObservedNonce), asNumeral(nonce)) : 0n;
  const claimed = nonce === null ? cells.UNKNOWN : markup`${nonce}`;
  return markup`last claim: event ${claimed}${behind <= 0 ? '' : markup`<small>${String(behind)} behind the last observed one</small>`}<small>funds: ${funds === null ? cells.UNKNOWN : cells.coin(funds)}</small>`;
}

/** The first action of the problem of an own validator. */
function actionCell({ validator, items }: Row): Markup {
  if (validator.problem !== null) return sentenceHtml(validator.problem.action);
  // A jailed validator has an action before its alert fires.
  if (validator.jailed === true) return markup`Find the cause, then unjail it.`;
  if (items.isNodeBehind) return cells.UNKNOWN;
  if (isLate(validator)) return markup`Check its orchestrator.`;
  if (isJailUnknown(validator)) return markup`The node has not answered whether it is jailed. The log says why.`;
  const isNew = validator.deadline !== null || isDue(validator);
  return markup`<span class="quiet">${isNew ? 'nothing yet: what it has to do is new' : 'nothing'}</span>`;
}
