import { compare, subtract, toDecimalString, ZERO } from '../chain/decimal.js';
import { MIN_SILENT, type DutyItem, type MissingItems, type OverdueItems } from '../facts/items/watched.js';
import { QUORUM_RATIO } from '../facts/bridge/power-shares.js';
import { firstDispute } from '../problems/oracle.js';
import type { ProblemName } from '../problems/problems.js';
import type { Subject } from '../problems/problem.js';
import { listedRows, membersOf, validatorNames } from '../problems/sentence.js';
import type { Contact } from '../queries/validators.js';
import { count, durationInWords, percent } from '../text/format.js';
import * as cells from './cells.js';
import { isolated, markup, sentenceHtml, type Markup } from './html.js';
import { anchor, pendingLink, section } from './layout.js';
import { tableHtml, type Column } from './table.js';
import { isoTime } from '../clock.js';
import { blockTimeOf, distantTimeElement } from './time.js';
import { lateAlerts, type Late, type OwnValidator, type ValidatorView } from './validator-view.js';
import { statusLabel } from './verdict-list.js';
import { bridgeOf, type EndpointView, type TargetView, type View, type VerdictView } from './view.js';
import { firingVerdicts, severityOf } from '../poll/verdicts.js';
import type { BridgeItems } from '../facts/items/bridge.js';

/*
 * One table of validators: your own ones, before everything else and also when all is well, then those for whose signature or vote something
 * waits, then those that are late without consequences yet. The status page has your own ones of all targets.
 */

interface Row {
  readonly view: TargetView;
  readonly endpoint: EndpointView;
  readonly items: BridgeItems;
  readonly validator: ValidatorView;
  readonly own: OwnValidator | null;
}

function rowsOf({ endpoints }: View, view: TargetView): readonly Row[] {
  const bridge = bridgeOf(endpoints, view.target);
  if (bridge === undefined) return [];
  return (view.validators ?? []).map((validator) => ({ ...bridge, view, validator, own: validator.own }));
}

/** The section of the watched validators of all targets; empty without an entry of `watch`. */
export function ownValidatorsSection(view: View): Markup {
  const rows = view.targets.flatMap((target) => rowsOf(view, target)).filter(({ own }) => own !== null);
  const table = rows.length === 0 ? '' : validatorTable(rows, [targetColumn, ...columns]);
  return validatorSection('Your validators', rows, markup`${unknownValidators(view.endpoints)}${table}`);
}

function validatorSection(title: string, rows: readonly Row[], body: Markup): Markup {
  return section(
    'validators',
    markup`${title}${rows.length === 0 ? '' : markup` <span class="quiet">${rows.length}</span>`}`,
    body,
  );
}

/** The nearest deadline of a watched validator that is late with a signature, unless an alert says it. */
export function deadlineNote(view: View): Markup {
  const isSaid = (own: OwnValidator, target: TargetView): boolean =>
    severityOf(target, ['BridgeOrchestratorDeadlineNear'], { orchestrator: own.orchestrator ?? '' }) !== undefined;
  const late = view.targets
    .flatMap((target) => rowsOf(view, target))
    .flatMap(({ own, endpoint: { asOf }, view: target }) => {
      const seconds = own?.jailedIn?.seconds ?? null;
      if (own === null || own.lateSignature === null || own.jailed === true || isSaid(own, target)) return [];
      return seconds === null || asOf === null ? [] : [{ ...own, ...own.lateSignature, asOf, seconds }];
    });
  const [nearest] = late.toSorted((a, b) => a.seconds - b.seconds);
  if (nearest === undefined) return markup``;
  const { name, address, of, nonce, seconds } = nearest;
  return markup`<p><b>${cells.name(name ?? address)}</b> has to sign ${of} ${nonce} by ${timeAfter(nearest.asOf, seconds)} <small>(${durationInWords(seconds)} left)</small> or is jailed.</p>\n`;
}

/** Says that entries of `watch` have no row, because no document is shown. */
function unknownValidators(endpoints: readonly EndpointView[]): Markup {
  const notes = endpoints.flatMap(({ target, items, shownBy: { job } }) => {
    const watch = job.context.document === 'module_state' ? job.context.settings.watch : [];
    if (items !== null || watch.length === 0) return [];
    const what = watch.length === 1 ? 'your validator' : `your ${watch.length} validators`;
    return [markup`<p>Nothing is known of ${what} of ${isolated(target)} until a poll of its bridge succeeds.</p>`];
  });
  return markup`${notes}`;
}

/** The section of the validators of one target; empty without a bridge whose items are shown. */
export function validatorsSection(view: View, target: TargetView): Markup {
  const bridge = bridgeOf(view.endpoints, target.target);
  if (bridge === undefined) return validatorSection('Validators', [], unknownValidators(view.endpoints));
  const rows = rowsOf(view, target);
  const table = rows.length === 0 ? '' : validatorTable(rows, columns);
  return validatorSection(
    'Validators',
    rows,
    markup`${introduction(rows, bridge)}
${table}${extentNote(bridge.items)}`,
  );
}

/** Who has to act, in a sentence. */
function introduction(rows: readonly Row[], { items, endpoint }: Pick<Row, 'items' | 'endpoint'>): Markup {
  const late = rows.map(({ validator }) => validator).filter((validator) => validator.late.length > 0);
  const blocking = late.filter(({ late: all }) => all.some(({ isBlocking }) => isBlocking));
  const others = late.length - blocking.length;
  const jailing =
    others === 0
      ? ''
      : `${count(others, 'validator')} ${others === 1 ? 'is' : 'are'} late although enough others sign and vote. A validator that misses the deadline of a validator set or batch is jailed.`;
  const dispute = disputeHtml(items);
  // Nothing is known of what is newer than the newest block of the node.
  const time = blockTimeOf(endpoint.node);
  const asOf = time === undefined ? '' : markup`As of ${time}: `;
  if (blocking.length === 0) {
    const nothing = dispute.html === '' ? 'Nothing has waited for a validator for more than five minutes.' : '';
    const text = jailing || nothing;
    return markup`${text === '' ? '' : markup`<p>${asOf}${text}</p>`}${dispute}`;
  }
  const ratios = blocking.flatMap(({ powerRatio }) => powerRatio ?? []);
  const power = ratios.reduce((sum, ratio) => sum + ratio, 0);
  const having = ratios.length < blocking.length ? '' : ` with ${percent(power, 2)} of the power`;
  const required = `Signatures of ${percent(Number(items.powerThreshold), 2)} and votes of ${percent(QUORUM_RATIO, 2)} are required.`;
  return markup`<p>${asOf}Something has waited for <b>${count(blocking.length, 'validator')}</b>${having} for more than five minutes. ${required}${jailing === '' ? '' : ` ${jailing}`}</p>${dispute}`;
}

/** What validators disagree about is nobody's delay. */
function disputeHtml(items: BridgeItems): Markup {
  const dispute = firstDispute(items);
  if (dispute === undefined) return markup``;
  const sides = dispute.claims.map(({ claim: { voted, votes }, text }) => {
    const names = validatorNames(membersOf(voted));
    const more = Math.max(0, (votes ?? 0) - names.length);
    const all = [...names, ...(more === 0 ? [] : [`${more} more`])];
    return markup`<li>${text || 'one thing'}: ${count(votes ?? 0, 'validator')}: ${isolated(all.join(', '))}`;
  });
  return markup`\n<p>Of event ${dispute.eventNonce}, validators claim different things, any of which can be right:</p><ul>${sides}</ul>`;
}

/** Rows are missing here if they are missing in the lists. */
function extentNote({ batches, valsets, claims, batchesBelowThreshold, valsetsBelowThreshold }: BridgeItems): Markup {
  // Items that lack signatures come first in their lists, so the others may be missing.
  const unsigned = (list: BridgeItems['batches'] | BridgeItems['valsets']): number =>
    listedRows<{ readonly belowThreshold: boolean | null }>(list).filter((row) => row.belowThreshold !== false).length;
  const lists = [
    ['batches', batches.readable, unsigned(batches), batchesBelowThreshold ?? batches.total],
    ['validator sets', valsets.readable, unsigned(valsets), valsetsBelowThreshold ?? valsets.total],
    ['claims', claims.readable, listedRows(claims).length, claims.total],
  ] as const;
  const notes = lists.flatMap(([noun, isReadable, listed, total]) => {
    if (!isReadable) return [`The list of ${noun} cannot be read.`];
    return listed < (total ?? 0) ? [`Only the ${listed} oldest of ${total} ${noun} are considered.`] : [];
  });
  return notes.length === 0 ? markup`` : markup`<p class="note">${notes.join(' ')}</p>`;
}

/** The table without the columns that are empty for all rows. */
function validatorTable(rows: readonly Row[], all: readonly Column<Row>[]): Markup {
  const hasOwn = rows.some(({ own }) => own !== null);
  const table = {
    title: 'Validators',
    cssClass: 'validators',
    columns: hasOwn ? all : all.filter((column) => column !== orchestratorColumn && column !== actionColumn),
    rowId: ({ view, validator, own }: Row) =>
      anchor('validators', view.target, own?.address ?? validator.externalAddress ?? ''),
    rowClass: ({ own }: Row) => (own === null ? '' : 'watched'),
  };
  return tableHtml(table, rows, undefined);
}

const targetColumn: Column<Row> = {
  title: 'Target',
  cell: ({ view }) => markup`<a href="${pendingLink(view.target)}">${isolated(view.target)}</a>`,
};

const orchestratorColumn: Column<Row> = { title: 'Orchestrator', cell: orchestrator };
const actionColumn: Column<Row> = { title: 'What to do', cell: whatToDo, type: 'wide' };

const columns: readonly Column<Row>[] = [
  { title: 'Validator', cell: who, type: 'row-header' },
  { title: 'State', cell: stateOf },
  {
    title: 'Power',
    cell: ({ validator }) => cells.orUnknown(validator.powerRatio, (ratio) => markup`${percent(ratio, 2)}`),
  },
  {
    title: 'Votes and signatures',
    cell: (row) => (row.own === null ? missing(row.validator) : ownDuties(row, row.own)),
    type: 'wide',
  },
  { title: 'Deadline', cell: deadline, type: 'wide' },
  orchestratorColumn,
  actionColumn,
];

/** Names are not unique: anyone can choose any name, also one that looks like another. The address is beside it. */
function who({ validator, own }: Row): Markup {
  const { name, externalAddress, contact } = validator;
  const badge = own === null ? '' : markup` <span class="badge">yours</span>`;
  const label = name === null ? markup`<span class="quiet">no name</span>` : markup`<b>${cells.name(name)}</b>`;
  const address = validator.orchestrator ?? own?.address;
  const external = externalAddress === null ? '' : markup` ${cells.identifier(externalAddress)}`;
  return markup`${label}${badge}<small>${address === undefined ? 'unknown orchestrator' : cells.identifier(address)}${external}</small>${contactHtml(contact)}`;
}

function contactHtml(contact: Contact | undefined): Markup {
  if (contact === undefined) return markup``;
  const { securityContact, website } = contact;
  const parts = [
    ...(securityContact === null ? [] : [isolated(securityContact)]),
    ...(website === null ? [] : [websiteHtml(website)]),
  ];
  return markup`<small>published contact: ${joined(parts, ', ')}</small>`;
}

/** A link only if nothing but https can be behind it, to the host that the text shows. */
function websiteHtml(text: string): Markup {
  const isPlain = /^https:\/\/[a-z\d.-]+(?:[/?#][\x21-\x7E]*)?$/i.test(text) && URL.canParse(text);
  return isPlain ? markup`<a href="${text}" rel="noreferrer nofollow">${text}</a>` : isolated(text);
}

/** The worst verdict about a watched validator. Alerts about one that is not in the set have the label `address`, others the label `orchestrator`. */
function worstOf({ view, own }: Row): VerdictView | undefined {
  const isOwn = (subject: Subject): boolean =>
    own !== null && (subject['address'] === own.address || subject['orchestrator'] === (own.orchestrator ?? ''));
  return firingVerdicts(view).find(({ subject }) => isOwn(subject));
}

function stateOf(row: Row): Markup {
  const { validator, own, view, items } = row;
  const severity = worstOf(row)?.severity;
  if (severity !== undefined) return statusLabel(severity);
  if (own?.jailed === true) return word('critical', 'jailed');
  if (own?.membership === null) return statusLabel('unknown');
  if (own?.membership === 'inactive') return word('unknown', 'not in the set');
  if (own?.membership === 'unregistered') return word('unknown', 'not registered');
  const alerts = alertsAbout(validator);
  if (own === null || alerts.length > 0) {
    const oldest = Math.max(...validator.late.map(({ ageSeconds }) => ageSeconds ?? 0));
    return word(severityOf(view, alerts) ?? 'pending', `late${oldest > 0 ? ` for ${durationInWords(oldest)}` : ''}`);
  }
  if (own.missingBatches === null || own.missingValsets === null) return statusLabel('unknown');
  if (isJailUnknown(own)) return word('unknown', 'unknown');
  if (items.isNodeBehind) return word('unknown', 'node is behind');
  if (isSilent(own)) return word('pending', 'silent');
  return hasWork(own) ? word('unknown', 'due') : word('ok', 'signs and votes');
}

function hasWork({ missingBatches, missingValsets, lastVote, nextVote }: OwnValidator): boolean {
  return (missingBatches?.total || missingValsets?.total || 0) > 0 || [lastVote, nextVote].includes('missing');
}

/** Whether it has done nothing of some kind, and more than it can be about to do. */
function isSilent({ duties }: OwnValidator): boolean {
  return Object.values(duties).some((all) => {
    const late = all?.filter(({ state }) => state === 'missing') ?? [];
    return late.length >= MIN_SILENT && all?.every(({ state }) => state !== 'done') === true;
  });
}

function word(status: string, text: string): Markup {
  return markup`<b class="state ${status}">${text}</b>`;
}

/** Whether the node was asked whether it is jailed, and has not answered. */
function isJailUnknown({ isAsked, jailed }: OwnValidator): boolean {
  return isAsked && jailed === null;
}

const ALERTS: Readonly<Partial<Record<Late['what'], ProblemName>>> = {
  event: 'BridgeOracleStalled',
  batch: 'BridgeBatchUnsigned',
  'validator set': 'BridgeValsetUnsigned',
};

/** The alerts about what waits for a validator. */
function alertsAbout({ late }: ValidatorView): readonly ProblemName[] {
  return late.flatMap(({ what }) => ALERTS[what] ?? []);
}

/** What is missing of a validator that is not watched. */
function missing({ late, overdue }: ValidatorView): Markup {
  // Lists have their oldest items only.
  const itemsOf = (kind: Late['what'], overdueItems: Missing | null = null): Missing => {
    const ids = late.filter(({ what }) => what === kind).map(({ id }) => id);
    const listed = { total: ids.length, nonces: ids, newest: ids.at(-1) ?? '' };
    return overdueItems !== null && overdueItems.total >= listed.total ? overdueItems : listed;
  };
  const parts = [
    ...nonces('votes for ', 'event', itemsOf('event', overdue?.events)),
    ...nonces('', 'batch', itemsOf('batch', overdue?.batches)),
    ...nonces('', 'validator set', itemsOf('validator set', overdue?.valsets)),
    ...late.filter(({ what }) => what === 'alert').map(({ id }) => lateAlerts.get(id) ?? id),
  ];
  return markup`${parts.length === 0 ? '' : `missing: ${parts.join('; ')}`}`;
}

type Missing = Pick<OverdueItems, 'total'> & { readonly nonces: readonly string[]; readonly newest: string };

const MAX_NONCES = 3;
const MAX_LISTED = 5;

function nonces(verb: string, noun: string, { total, nonces: list, newest }: Missing): readonly string[] {
  if (total === 0) return [];
  const several = `${total} ${noun === 'batch' ? 'batches' : `${noun}s`}`;
  const numbers = total <= MAX_NONCES ? list.join(', ') : `between ${list[0]} and ${newest}`;
  return [`${verb}${total === 1 ? noun : several} ${numbers}`];
}

/** One square for each event, batch and validator set of the document. */
function ownDuties(row: Row, own: OwnValidator): Markup {
  if (own.membership !== 'active') return cells.UNKNOWN;
  const { duties, missingBatches, missingValsets, lastVote } = own;
  const dispute =
    disputedVote(row) || (lastVote === 'dissenting' ? 'voted for another claim of the last observed event' : '');
  return markup`${dutiesHtml('events', duties.events, missingEvents(row), 'missing')}${dutiesHtml('batches', duties.batches, missingBatches)}${dutiesHtml('validator sets', duties.valsets, missingValsets)}${dispute === '' ? '' : markup`<small>${dispute}</small>`}`;
}

const SQUARES: Readonly<Record<DutyItem['state'], { readonly square: string; readonly text: string }>> = {
  done: { square: '■', text: 'done' },
  missing: { square: '✕', text: 'missing' },
  not_due: { square: '□', text: 'not due' },
};

function dutiesHtml(
  kind: string,
  all: readonly DutyItem[] | null,
  open: MissingItems | null,
  what = 'unsigned',
): Markup {
  if (all === null || open === null) return markup`<div class="duties"><span>${kind}</span> ${cells.UNKNOWN}</div>`;
  const squares = all.map(
    ({ nonce, state }) =>
      markup`<i class="${state}" title="${nonce}: ${SQUARES[state].text}">${SQUARES[state].square}</i>`,
  );
  const numbers = (Object.keys(SQUARES) as DutyItem['state'][]).flatMap((state) => {
    const ofState = all.filter((duty) => duty.state === state);
    return ofState.length === 0 ? [] : [`${ofState.length} ${SQUARES[state].text}`];
  });
  const more = open.total > open.nonces.length ? ` and ${open.total - open.nonces.length} more` : '';
  const label = all.length === 0 ? 'none in the document' : `the last ${all.length}: ${numbers.join(', ')}`;
  const grid =
    all.length === 0 ? cells.NONE : markup`<span class="squares" role="img" aria-label="${label}">${squares}</span>`;
  const which = open.total > all.length ? ` (the last ${all.length} shown)` : `: ${open.nonces.join(', ')}${more}`;
  const text = open.total === 0 ? '' : markup` <small>${open.total} ${what}${which}</small>`;
  return markup`<div class="duties"><span>${kind}</span> ${grid}${text}</div>`;
}

/** The missing votes, also those before the listed ones. */
function missingEvents({ own, validator: { overdue } }: Row): MissingItems | null {
  const shown = own?.duties.events?.filter(({ state }) => state === 'missing').map(({ nonce }) => nonce);
  if (shown === undefined) return null;
  return { total: Math.max(shown.length, overdue?.events?.total ?? 0), nonces: shown.slice(0, MAX_LISTED) };
}

/** Which claim of a disputed event the validator has voted for; empty when it has voted for none. */
function disputedVote({ items, validator: { externalAddress } }: Row): string {
  const dispute = firstDispute(items);
  const voted = dispute?.claims.find(({ claim }) =>
    claim.voted?.members.some((member) => member.externalAddress === externalAddress),
  );
  if (dispute === undefined || voted === undefined) return '';
  const { votedPowerRatio } = voted.claim;
  const power = votedPowerRatio === null ? '' : `, like ${percent(votedPowerRatio)} of the power`;
  return `claims ${voted.text === '' ? 'one thing' : voted.text} for event ${dispute.eventNonce}${power}`;
}

function isDue({ validator: { jailedIn }, own }: Row): boolean {
  return jailedIn !== null || (own?.deadlineHeight ?? null) !== null;
}

function signsBy({ validator: { jailedIn }, own, endpoint: { asOf } }: Row): Markup {
  const seconds = jailedIn?.seconds ?? null;
  const until =
    asOf === null || seconds === null
      ? markup`height ${cells.digits(own?.deadlineHeight ?? null)}`
      : timeAfter(asOf, seconds);
  return markup`signs by ${until}, else jailed`;
}

const timeAfter = (iso: string, seconds: number): Markup =>
  distantTimeElement(isoTime(Date.parse(iso) / 1000 + seconds), seconds);

/** Until when it has to sign, by the time of the document. */
function deadline(row: Row): Markup {
  const { validator, own, items } = row;
  const { jailedIn, late } = validator;
  const [timeoutIn = null] = late
    .flatMap((waiting) => waiting.timeoutIn ?? [])
    .toSorted((a, b) => (a.seconds ?? Infinity) - (b.seconds ?? Infinity));
  if (own?.jailed === true) {
    const { missedSignature } = own;
    const reason =
      missedSignature === null
        ? ''
        : markup`<small>did not sign ${missedSignature.of} ${missedSignature.nonce}</small>`;
    return markup`<span class="critical">is jailed</span>${reason}`;
  }
  const left = jailedIn === null ? '' : markup`<small>${cells.blocks(jailedIn, 'hub blocks', 'left')}</small>`;
  const parts = [
    ...(isDue(row) ? [markup`<span>${signsBy(row)}</span>${left}`] : []),
    ...(timeoutIn === null
      ? []
      : [markup`<span>batch times out: ${cells.blocks(timeoutIn, 'external blocks', 'left')}</span>`]),
  ];
  if (parts.length > 0) return joined(parts, ' ');
  const isKnown = own === null ? !items.isNodeBehind : own.membership === 'active' && !isJailUnknown(own);
  return isKnown ? cells.NONE : cells.UNKNOWN;
}

/** Events are claimed in order, so a position says more than the last votes. */
function orchestrator({ own, items: { lastObservedNonce } }: Row): Markup {
  if (own === null) return markup``;
  const { lastEventNonce: nonce, balance, duties } = own;
  // An answer that is older than the document says nothing about the last event, unless the votes are known.
  const isKnown = nonce !== null && lastObservedNonce !== null && duties.events !== null;
  const behind = isKnown ? subtract(lastObservedNonce, nonce) : ZERO;
  const claimed = nonce === null ? cells.UNKNOWN : markup`${nonce}`;
  return markup`last claim: event ${claimed}${compare(behind, 0) <= 0 ? '' : markup`<small>${toDecimalString(behind)} behind the last observed one</small>`}<small>funds: ${balance === null ? cells.UNKNOWN : cells.coin(balance)}</small>`;
}

function whatToDo(row: Row): Markup {
  const { own, validator } = row;
  if (own === null) return markup``;
  const worst = worstOf(row);
  if (worst !== undefined) return sentenceHtml(worst.action);
  // A jailed validator has an action before its alert fires.
  if (own.jailed === true) return markup`Find the cause, then unjail it.`;
  if (row.items.isNodeBehind) return cells.UNKNOWN;
  if (alertsAbout(validator).length > 0 || isSilent(own)) return markup`Check its orchestrator.`;
  return isJailUnknown(own)
    ? markup`The node has not answered whether it is jailed. The log says why.`
    : markup`<span class="quiet">${isDue(row) || hasWork(own) ? 'nothing yet: what it has to do is new' : 'nothing'}</span>`;
}

function joined(parts: readonly Markup[], separator: string): Markup {
  return markup`${parts.map((part, index) => markup`${index === 0 ? '' : separator}${part}`)}`;
}
