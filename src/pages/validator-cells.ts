import { isoTime } from '../clock.js';
import { asNumeral, subtract } from '../chain/numeral.js';
import { MIN_SILENT, type DutyItem, type MissingItems, type OverdueItems } from '../facts/items/watched.js';
import type { BridgeItems } from '../facts/items/bridge.js';
import { firingVerdicts, severityOf } from '../engine/verdicts.js';
import { firstDispute } from '../problems/oracle.js';
import type { ProblemName } from '../problems/problems.js';
import type { Subject } from '../problems/problem.js';
import type { Contact } from '../queries/staking-validators.js';
import { count, durationInWords, percent } from '../text/format.js';
import * as cells from './cells.js';
import { isolated, markup, sentenceHtml, type Markup } from './html.js';
import { distantTimeElement } from './time.js';
import { lateAlerts, type Late, type WatchedValidator, type ValidatorView } from './validator-view.js';
import { statusLabel } from './verdict-list.js';
import type { EndpointView, TargetView, VerdictView } from './view.js';

/* The cells of the table of validators, which differ for watched validators and for others that are late. */

/** A validator with the bridge that it is a member of. */
export interface ValidatorOfBridge {
  readonly view: TargetView;
  readonly endpoint: EndpointView;
  readonly items: BridgeItems;
  readonly validator: ValidatorView;
}

export function validatorCells(member: ValidatorOfBridge) {
  const { own } = member.validator;
  return own === null ? lateCells(member) : watchedCells(member, own);
}

/* Late validators. */

function lateCells(member: ValidatorOfBridge): ReturnType<typeof watchedCells> {
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

function lateBadge({ validator, view }: ValidatorOfBridge): Markup {
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

function watchedCells(member: ValidatorOfBridge, watched: WatchedValidator) {
  const { validator, view } = member;
  const worst = firingVerdicts(view).find(({ subject }) => isAbout(subject, watched));
  return {
    name: nameCell(validator, validator.orchestrator ?? watched.address, markup` <span class="badge">yours</span>`),
    state: watchedState(member, watched, worst),
    duties: watchedDuties(member, watched),
    deadline: watchedDeadline(member, watched),
    orchestrator: orchestratorCell(member, watched),
    action: worst === undefined ? actionWithoutVerdict(member, watched) : sentenceHtml(worst.action),
  };
}

/** Alerts about a validator that is not in the set have the label `address`, other alerts the label `orchestrator`. */
function isAbout(subject: Subject, { address, orchestrator }: WatchedValidator): boolean {
  return subject.address === address || subject.orchestrator === (orchestrator ?? '');
}

function watchedState(member: ValidatorOfBridge, watched: WatchedValidator, worst: VerdictView | undefined): Markup {
  if (worst !== undefined) return statusLabel(worst.severity);
  if (watched.jailed === true) return stateBadge('critical', 'jailed');
  if (watched.membership === null) return statusLabel('unknown');
  if (watched.membership === 'inactive') return stateBadge('unknown', 'not in the set');
  if (watched.membership === 'unregistered') return stateBadge('unknown', 'not registered');
  if (alertsAbout(member.validator).length > 0) return lateBadge(member);
  if (watched.missingBatches === null || watched.missingValsets === null) return statusLabel('unknown');
  if (isJailUnknown(watched)) return stateBadge('unknown', 'unknown');
  if (member.items.isNodeBehind) return stateBadge('unknown', 'node is behind');
  if (isSilent(watched)) return stateBadge('pending', 'silent');
  return hasWork(watched) ? stateBadge('unknown', 'due') : stateBadge('ok', 'signs and votes');
}

function hasWork({ missingBatches, missingValsets, lastVote, nextVote }: WatchedValidator): boolean {
  return (missingBatches?.total || missingValsets?.total || 0) > 0 || [lastVote, nextVote].includes('missing');
}

/** Whether it has done no duty of a kind, although several are missing. */
function isSilent({ duties }: WatchedValidator): boolean {
  return Object.values(duties).some((all) => {
    const late = all?.filter(({ state }) => state === 'missing') ?? [];
    return late.length >= MIN_SILENT && all?.every(({ state }) => state !== 'done') === true;
  });
}

/** Whether the node has not answered the query whether it is jailed. */
function isJailUnknown({ isAsked, jailed }: WatchedValidator): boolean {
  return isAsked && jailed === null;
}

/** One square for each event, batch and validator set of the document. */
function watchedDuties(member: ValidatorOfBridge, watched: WatchedValidator): Markup {
  if (watched.membership !== 'active') return cells.UNKNOWN;
  const { duties, missingBatches, missingValsets, lastVote } = watched;
  const dispute =
    disputedVote(member) || (lastVote === 'dissenting' ? 'voted for another claim of the last observed event' : '');
  return markup`${dutiesHtml('events', duties.events, missingEvents(watched, member.validator.overdue?.events?.total), 'missing')}${dutiesHtml('batches', duties.batches, missingBatches)}${dutiesHtml('validator sets', duties.valsets, missingValsets)}${blocksHtml(watched)}${dispute === '' ? '' : markup`<small>${dispute}</small>`}`;
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
  const squares = all.map(({ nonce, state }) => squareHtml(state, `${nonce}: ${SQUARES[state].text}`));
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

function squareHtml(state: DutyItem['state'], title: string): Markup {
  return markup`<i class="${state}" title="${title}">${SQUARES[state].square}</i>`;
}

/** One square for each minute in which the node was asked; empty without an answer. */
function blocksHtml({ blocks }: WatchedValidator): Markup {
  if (blocks === null) return markup``;
  const { missed, allowed, minutes } = blocks;
  const withMisses = minutes.filter((minute) => minute.missed > 0);
  const squares = minutes.map((minute) =>
    squareHtml(
      minute.missed > 0 ? 'missing' : 'done',
      `until ${minute.until.slice(11, 16)} UTC: ${minute.missed} missed`,
    ),
  );
  const label = `the last ${count(minutes.length, 'minute')}: blocks missed in ${withMisses.length}`;
  const grid =
    minutes.length === 0 ? '' : markup`<span class="squares" role="img" aria-label="${label}">${squares}</span> `;
  const limit = allowed === null ? '' : ` of the ${allowed} that it may miss`;
  return markup`<div class="duties"><span>blocks</span> ${grid}<small>${missed} missed${limit}</small></div>`;
}

/** The missing votes, also on events before the listed events. */
function missingEvents({ duties }: WatchedValidator, overdue = 0): MissingItems | null {
  const shown = duties.events?.filter(({ state }) => state === 'missing').map(({ nonce }) => nonce);
  if (shown === undefined) return null;
  return { total: Math.max(shown.length, overdue), nonces: shown.slice(0, MAX_LISTED) };
}

/** The vote of the validator on a disputed event; empty without a vote. */
function disputedVote({ items, validator: { externalAddress } }: ValidatorOfBridge): string {
  const dispute = firstDispute(items);
  const voted = dispute?.claims.find(({ claim }) =>
    claim.voted?.members.some((member) => member.externalAddress === externalAddress),
  );
  if (dispute === undefined || voted === undefined) return '';
  const { votedPowerRatio } = voted.claim;
  const power = votedPowerRatio === null ? '' : `, like ${percent(votedPowerRatio)} of the power`;
  return `claims ${voted.text === '' ? 'one thing' : voted.text} for event ${dispute.eventNonce}${power}`;
}

function watchedDeadline(member: ValidatorOfBridge, watched: WatchedValidator): Markup {
  if (watched.jailed === true) {
    const { missedSignature } = watched;
    const reason =
      missedSignature === null
        ? ''
        : markup`<small>did not sign ${missedSignature.of} ${missedSignature.nonce}</small>`;
    return markup`<span class="critical">is jailed</span>${reason}`;
  }
  const parts = deadlineParts(member, watched.deadlineHeight);
  if (parts.length > 0) return joined(parts, ' ');
  return watched.membership === 'active' && !isJailUnknown(watched) ? cells.NONE : cells.UNKNOWN;
}

/** Events are claimed in order, so a position says more than the last votes. */
function orchestratorCell({ items: { lastObservedNonce } }: ValidatorOfBridge, watched: WatchedValidator): Markup {
  const { lastEventNonce: nonce, balance, duties } = watched;
  // An answer that is older than the document says nothing about the last event, unless the votes are known.
  const isComparable = nonce !== null && lastObservedNonce !== null && duties.events !== null;
  const behind = isComparable ? subtract(asNumeral(lastObservedNonce), asNumeral(nonce)) : 0n;
  const claimed = nonce === null ? cells.UNKNOWN : markup`${nonce}`;
  return markup`last claim: event ${claimed}${behind <= 0 ? '' : markup`<small>${String(behind)} behind the last observed one</small>`}<small>funds: ${balance === null ? cells.UNKNOWN : cells.coin(balance)}</small>`;
}

function actionWithoutVerdict({ validator, items }: ValidatorOfBridge, watched: WatchedValidator): Markup {
  // A jailed validator has an action before its alert fires.
  if (watched.jailed === true) return markup`Find the cause, then unjail it.`;
  if (items.isNodeBehind) return cells.UNKNOWN;
  if (alertsAbout(validator).length > 0 || isSilent(watched)) return markup`Check its orchestrator.`;
  if (isJailUnknown(watched)) return markup`The node has not answered whether it is jailed. The log says why.`;
  const isDue = hasDeadline(validator, watched.deadlineHeight) || hasWork(watched);
  return markup`<span class="quiet">${isDue ? 'nothing yet: what it has to do is new' : 'nothing'}</span>`;
}

/* Both. */

/** A name can be chosen freely and look like another name, so the address is beside it. */
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

function hasDeadline({ jailedIn }: ValidatorView, deadlineHeight: string | null): boolean {
  return jailedIn !== null || deadlineHeight !== null;
}

/** Until when the validator has to sign, and when a batch that waits for it times out, by the time of the document. */
function deadlineParts(
  { validator, endpoint: { asOf } }: ValidatorOfBridge,
  deadlineHeight: string | null,
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
