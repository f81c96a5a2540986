import { isoTime } from '../clock.js';
import { compare, subtract, toDecimalString, ZERO } from '../chain/decimal.js';
import type { DecimalString } from '../chain/numeral.js';
import { MIN_SILENT, type DutyItem, type MissingItems, type OverdueItems } from '../facts/items/watched.js';
import type { BridgeItems } from '../facts/items/bridge.js';
import { firingVerdicts, severityOf } from '../poll/verdicts.js';
import { firstDispute } from '../problems/oracle.js';
import type { ProblemName } from '../problems/problems.js';
import type { Subject } from '../problems/problem.js';
import type { Contact } from '../queries/validators.js';
import { durationInWords, percent } from '../text/format.js';
import * as cells from './cells.js';
import { isolated, markup, sentenceHtml, type Markup } from './html.js';
import { distantTimeElement } from './time.js';
import { lateAlerts, type Late, type OwnValidator, type ValidatorView } from './validator-view.js';
import { statusLabel } from './verdict-list.js';
import type { EndpointView, TargetView, VerdictView } from './view.js';

/* The cells of a validator in its table: of a watched one, and of one that is only late. */

/** A validator with the bridge that it is a member of. */
export interface Member {
  readonly view: TargetView;
  readonly endpoint: EndpointView;
  readonly items: BridgeItems;
  readonly validator: ValidatorView;
}

interface Cells {
  readonly name: Markup;
  readonly state: Markup;
  readonly duties: Markup;
  readonly deadline: Markup;
  readonly orchestrator: Markup;
  readonly action: Markup;
}

export function validatorCells(member: Member): Cells {
  const { own } = member.validator;
  return own === null ? lateCells(member) : ownCells(member, own);
}

/* Late validators. */

function lateCells(member: Member): Cells {
  const { validator, items } = member;
  const parts = deadlineParts(member, null);
  const noDeadline = items.isNodeBehind ? cells.UNKNOWN : cells.NONE;
  return {
    name: nameCell(validator, validator.orchestrator),
    state: lateBadge(member),
    duties: missingText(validator),
    deadline: parts.length === 0 ? noDeadline : joined(parts, ' '),
    orchestrator: markup``,
    action: markup``,
  };
}

function lateBadge({ validator, view }: Member): Markup {
  const oldest = Math.max(...validator.late.map(({ ageSeconds }) => ageSeconds ?? 0));
  const severity = severityOf(view, alertsAbout(validator)) ?? 'pending';
  return stateBadge(severity, `late${oldest > 0 ? ` for ${durationInWords(oldest)}` : ''}`);
}

function missingText({ late, overdue }: ValidatorView): Markup {
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

/* Watched validators. */

function ownCells(member: Member, own: OwnValidator): Cells {
  const { validator, view } = member;
  const worst = firingVerdicts(view).find(({ subject }) => isAbout(subject, own));
  return {
    name: nameCell(validator, validator.orchestrator ?? own.address, markup` <span class="badge">yours</span>`),
    state: ownState(member, own, worst),
    duties: ownDuties(member, own),
    deadline: ownDeadline(member, own),
    orchestrator: orchestratorCell(member, own),
    action: worst === undefined ? actionWithoutVerdict(member, own) : sentenceHtml(worst.action),
  };
}

/** Alerts about a validator that is not in the set have the label `address`, other alerts the label `orchestrator`. */
function isAbout(subject: Subject, { address, orchestrator }: OwnValidator): boolean {
  return subject.address === address || subject.orchestrator === (orchestrator ?? '');
}

function ownState(member: Member, own: OwnValidator, worst: VerdictView | undefined): Markup {
  if (worst !== undefined) return statusLabel(worst.severity);
  if (own.jailed === true) return stateBadge('critical', 'jailed');
  if (own.membership === null) return statusLabel('unknown');
  if (own.membership === 'inactive') return stateBadge('unknown', 'not in the set');
  if (own.membership === 'unregistered') return stateBadge('unknown', 'not registered');
  if (alertsAbout(member.validator).length > 0) return lateBadge(member);
  if (own.missingBatches === null || own.missingValsets === null) return statusLabel('unknown');
  if (isJailUnknown(own)) return stateBadge('unknown', 'unknown');
  if (member.items.isNodeBehind) return stateBadge('unknown', 'node is behind');
  if (isSilent(own)) return stateBadge('pending', 'silent');
  return hasWork(own) ? stateBadge('unknown', 'due') : stateBadge('ok', 'signs and votes');
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

/** Whether the node has not answered the query whether it is jailed. */
function isJailUnknown({ isAsked, jailed }: OwnValidator): boolean {
  return isAsked && jailed === null;
}

/** One square for each event, batch and validator set of the document. */
function ownDuties(member: Member, own: OwnValidator): Markup {
  if (own.membership !== 'active') return cells.UNKNOWN;
  const { duties, missingBatches, missingValsets, lastVote } = own;
  const dispute =
    disputedVote(member) || (lastVote === 'dissenting' ? 'voted for another claim of the last observed event' : '');
  return markup`${dutiesHtml('events', duties.events, missingEvents(member), 'missing')}${dutiesHtml('batches', duties.batches, missingBatches)}${dutiesHtml('validator sets', duties.valsets, missingValsets)}${dispute === '' ? '' : markup`<small>${dispute}</small>`}`;
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

/** The missing votes, also on events before the listed events. */
function missingEvents({ validator: { own, overdue } }: Member): MissingItems | null {
  const shown = own?.duties.events?.filter(({ state }) => state === 'missing').map(({ nonce }) => nonce);
  if (shown === undefined) return null;
  return { total: Math.max(shown.length, overdue?.events?.total ?? 0), nonces: shown.slice(0, MAX_LISTED) };
}

/** The vote of the validator on a disputed event; empty without a vote. */
function disputedVote({ items, validator: { externalAddress } }: Member): string {
  const dispute = firstDispute(items);
  const voted = dispute?.claims.find(({ claim }) =>
    claim.voted?.members.some((member) => member.externalAddress === externalAddress),
  );
  if (dispute === undefined || voted === undefined) return '';
  const { votedPowerRatio } = voted.claim;
  const power = votedPowerRatio === null ? '' : `, like ${percent(votedPowerRatio)} of the power`;
  return `claims ${voted.text === '' ? 'one thing' : voted.text} for event ${dispute.eventNonce}${power}`;
}

function ownDeadline(member: Member, own: OwnValidator): Markup {
  if (own.jailed === true) {
    const { missedSignature } = own;
    const reason =
      missedSignature === null
        ? ''
        : markup`<small>did not sign ${missedSignature.of} ${missedSignature.nonce}</small>`;
    return markup`<span class="critical">is jailed</span>${reason}`;
  }
  const parts = deadlineParts(member, own.deadlineHeight);
  if (parts.length > 0) return joined(parts, ' ');
  return own.membership === 'active' && !isJailUnknown(own) ? cells.NONE : cells.UNKNOWN;
}

/** Events are claimed in order, so a position says more than the last votes. */
function orchestratorCell({ items: { lastObservedNonce } }: Member, own: OwnValidator): Markup {
  const { lastEventNonce: nonce, balance, duties } = own;
  // An answer that is older than the document says nothing about the last event, unless the votes are known.
  const isComparable = nonce !== null && lastObservedNonce !== null && duties.events !== null;
  const behind = isComparable ? subtract(lastObservedNonce, nonce) : ZERO;
  const claimed = nonce === null ? cells.UNKNOWN : markup`${nonce}`;
  return markup`last claim: event ${claimed}${compare(behind, 0) <= 0 ? '' : markup`<small>${toDecimalString(behind)} behind the last observed one</small>`}<small>funds: ${balance === null ? cells.UNKNOWN : cells.coin(balance)}</small>`;
}

function actionWithoutVerdict({ validator, items }: Member, own: OwnValidator): Markup {
  // A jailed validator has an action before its alert fires.
  if (own.jailed === true) return markup`Find the cause, then unjail it.`;
  if (items.isNodeBehind) return cells.UNKNOWN;
  if (alertsAbout(validator).length > 0 || isSilent(own)) return markup`Check its orchestrator.`;
  if (isJailUnknown(own)) return markup`The node has not answered whether it is jailed. The log says why.`;
  const isDue = hasDeadline(validator, own.deadlineHeight) || hasWork(own);
  return markup`<span class="quiet">${isDue ? 'nothing yet: what it has to do is new' : 'nothing'}</span>`;
}

/* Both. */

/** Names are not unique: anyone can choose any name, also one that looks like another. The address is beside it. */
function nameCell(
  { name, externalAddress, contact }: ValidatorView,
  address: string | null,
  badge: Markup = markup``,
): Markup {
  const label = name === null ? markup`<span class="quiet">no name</span>` : markup`<b>${cells.name(name)}</b>`;
  const external = externalAddress === null ? '' : markup` ${cells.identifier(externalAddress)}`;
  return markup`${label}${badge}<small>${address === null ? 'unknown orchestrator' : cells.identifier(address)}${external}</small>${contactHtml(contact)}`;
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

/** A link only if its scheme is https and its host is the visible one. */
function websiteHtml(text: string): Markup {
  const isPlain = /^https:\/\/[a-z\d.-]+(?:[/?#][\x21-\x7E]*)?$/i.test(text) && URL.canParse(text);
  return isPlain ? markup`<a href="${text}" rel="noreferrer nofollow">${text}</a>` : isolated(text);
}

function stateBadge(status: string, text: string): Markup {
  return markup`<b class="state ${status}">${text}</b>`;
}

const ALERTS: Readonly<Partial<Record<Late['what'], ProblemName>>> = {
  event: 'BridgeOracleStalled',
  batch: 'BridgeBatchUnsigned',
  'validator set': 'BridgeValsetUnsigned',
};

/** The alerts about items that wait for a validator. */
function alertsAbout({ late }: ValidatorView): readonly ProblemName[] {
  return late.flatMap(({ what }) => ALERTS[what] ?? []);
}

function hasDeadline({ jailedIn }: ValidatorView, deadlineHeight: DecimalString | null): boolean {
  return jailedIn !== null || deadlineHeight !== null;
}

/** Until when the validator has to sign, and when a batch that waits for it times out, by the time of the document. */
function deadlineParts(
  { validator, endpoint: { asOf } }: Member,
  deadlineHeight: DecimalString | null,
): readonly Markup[] {
  const { jailedIn, late } = validator;
  const seconds = jailedIn?.seconds ?? null;
  const until =
    asOf === null || seconds === null ? markup`height ${cells.digits(deadlineHeight)}` : timeAfter(asOf, seconds);
  const left = jailedIn === null ? '' : markup`<small>${cells.blocks(jailedIn, 'hub blocks', 'left')}</small>`;
  const [timeoutIn] = late
    .flatMap((item) => item.timeoutIn ?? [])
    .toSorted((a, b) => (a.seconds ?? Infinity) - (b.seconds ?? Infinity));
  return [
    ...(hasDeadline(validator, deadlineHeight) ? [markup`<span>signs by ${until}, else jailed</span>${left}`] : []),
    ...(timeoutIn === undefined
      ? []
      : [markup`<span>batch times out: ${cells.blocks(timeoutIn, 'external blocks', 'left')}</span>`]),
  ];
}

export const timeAfter = (iso: string, seconds: number): Markup =>
  distantTimeElement(isoTime(Date.parse(iso) / 1000 + seconds), seconds);

function joined(parts: readonly Markup[], separator: string): Markup {
  return markup`${parts.map((part, index) => markup`${index === 0 ? '' : separator}${part}`)}`;
}
