import { dataPart } from '../chain/addresses.js';
import { asNumeral, highest } from '../chain/numeral.js';
import { isoTime, wallSeconds, type Moment } from '../clock.js';
import { groupBy } from '../facts/grouping.js';
import { isLate, type BlockSpan } from '../facts/bridge/block-times.js';
import { listedRows, inWholeUnits } from '../facts/items/item-list.js';
import { freshAnswers, type EndpointState } from '../engine/endpoint-state.js';
import { problems, type ProblemName } from '../problems/problems.js';
import { hasStakingNames, knownValidators, type StakingValidators } from '../queries/staking-validators.js';
import { missedBlocks, type MissedBlocks } from '../queries/watched-validators.js';
import { claimPosition, orchestratorBalance, stakingStatus } from '../queries/watched-validators.js';
import type { ShownEndpoint } from './view.js';
import { firingVerdicts, type TargetVerdicts, type Verdict } from '../engine/verdicts.js';
import type { BridgeItems } from '../facts/items/bridge.js';
import type { ClaimItem } from '../facts/items/claims.js';
import type { HubCoin } from '../facts/items/tokens.js';
import type { DutyItem, registeredItems, WatchedItem } from '../facts/items/watched.js';

/*
 * Watched and late validators of a bridge. A signature or vote is missing from its creation on, and overdue when it is missing for longer than usual. A
 * validator is late with the items that wait for it, with the oldest overdue duty of each kind, which may be in no list, and by alerts about it.
 */

type Named = Pick<WatchedItem, 'name' | 'orchestrator' | 'externalAddress'>;
type RegisteredItem = ReturnType<typeof registeredItems>[number];

/** An item that waits for a validator for longer than usual, or an alert about the validator. */
export interface Late {
  readonly what: 'batch' | 'validator set' | 'event' | 'alert';
  /** The nonce, or the name of the alert. */
  readonly id: string;
  readonly ageSeconds: number | null;
  /** Whether the signatures and votes of other validators are not sufficient. */
  readonly isBlocking: boolean;
  /** External blocks until the batch times out. */
  readonly timeoutIn: BlockSpan | null;
}

interface Waiting extends Late {
  readonly members: readonly Named[];
}

export type ValidatorView = Readonly<ReturnType<typeof validatorViews>[number]>;

/** Watched validators, then late validators: first those that block an item, then by power. */
export function validatorViews(
  items: BridgeItems,
  verdicts: TargetVerdicts['verdicts'],
  { state, job }: ShownEndpoint,
  now: Moment,
) {
  const contacts: StakingValidators['contacts'] = hasStakingNames(job.context)
    ? knownValidators(state.queries).contacts
    : new Map();
  const waiting = [...waitingItems(items), ...waitingAlerts(firingVerdicts({ verdicts }))];
  const registeredByAddress = new Map(items.members?.map((member) => [member.externalAddress, member]));
  const lateOf = (address: string | null): readonly Late[] => {
    const late = waiting
      .filter(({ members }) => members.some(({ externalAddress }) => externalAddress === address))
      .map(({ members: _members, ...item }) => item);
    const overdue = overdueOf(registeredByAddress.get(address ?? ''));
    return [...late, ...overdue.filter(({ what }) => late.every((other) => other.what !== what))];
  };
  const viewOf = ({ name, orchestrator, externalAddress }: Named, own: WatchedValidator | null) => {
    const registered = registeredByAddress.get(externalAddress ?? '');
    const contact = own === null ? contacts.get(dataPart(registered?.validator ?? '')) : undefined;
    return {
      name,
      orchestrator,
      externalAddress,
      /** Share of the newest validator set. */
      powerRatio: registered?.powerRatio ?? null,
      late: lateOf(externalAddress),
      /** Hub blocks until it is jailed for a missing signature; `null` without a deadline. */
      jailedIn: registered?.jailedIn ?? null,
      /** Overdue duties of a registered member, also on items that are not listed. */
      overdue: registered?.overdue ?? null,
      ...(contact && { contact }),
      /** `null` unless the validator is watched. */
      own,
    };
  };
  const watched = items.watched.map((item) => {
    const duties = { ...item.duties, events: votesOf(item, verdicts) };
    return viewOf(item, { ...item, ...answersAbout(item, items.hubCoin, state, now), duties });
  });
  const late = [
    ...waiting.flatMap(({ members }) => members),
    ...(items.members ?? []).filter((member) => overdueOf(member).length > 0),
  ];
  const members = new Map(late.map((member) => [member.externalAddress, member]));
  for (const { externalAddress } of items.watched) members.delete(externalAddress ?? '');
  const notWatched = Array.from(members.values(), (member) => viewOf(member, null));
  const rankOf = (view: (typeof notWatched)[number]): number => Number(view.late.some(({ isBlocking }) => isBlocking));
  const sorted = notWatched.toSorted((a, b) => rankOf(b) - rankOf(a) || (b.powerRatio ?? 0) - (a.powerRatio ?? 0));
  return [...watched, ...sorted];
}

const SILENCE: ReadonlySet<string> = new Set<ProblemName>([
  'BridgeOrchestratorMissingVotes',
  'BridgeWatchedOrchestratorLagging',
]);

/** The votes of a watched validator. While an alert says that it is silent, no event is too young to be missing. */
function votesOf(
  { orchestrator, duties: { events } }: WatchedItem,
  verdicts: TargetVerdicts['verdicts'],
): readonly DutyItem[] | null {
  const isSilent = verdicts.some(
    ({ alert, state, subject }) => SILENCE.has(alert) && state === 'firing' && subject.orchestrator === orchestrator,
  );
  if (events === null || !isSilent) return events;
  return events.map((vote) => (vote.state === 'not_due' ? { ...vote, state: 'missing' } : vote));
}

/** The oldest overdue duty of each kind. Signatures and votes of other validators may be sufficient. */
function overdueOf(member: RegisteredItem | undefined): readonly Late[] {
  if (member === undefined) return [];
  const { batches, valsets, events } = member.overdue;
  const kinds = [
    ['batch', batches],
    ['validator set', valsets],
    ['event', events],
  ] as const;
  return kinds.flatMap(([what, missing]) => {
    const [id = ''] = missing?.nonces ?? [];
    if (missing === null) return [];
    return [{ ...lateSince(what, id, null), ageSeconds: missing.oldestSeconds, isBlocking: false }];
  });
}

function* waitingItems({ batches, valsets, claims }: BridgeItems): Generator<Waiting> {
  for (const { nonce, age, belowThreshold, missing, projectedHeadroom: timeoutIn } of listedRows(batches)) {
    // Without the validator set in the contract, the signed share is unknown.
    if (belowThreshold === false || !isLate(age)) continue;
    yield { ...lateSince('batch', nonce, age), timeoutIn, members: missing?.members ?? [] };
  }
  for (const { nonce, age, belowThreshold, missing } of listedRows(valsets)) {
    if (!isLate(age)) continue;
    // A member that does not confirm is jailed, even if other signatures are sufficient.
    const isBlocking = belowThreshold !== false;
    yield { ...lateSince('validator set', nonce, age), isBlocking, members: missing?.members ?? [] };
  }
  for (const [nonce, ofEvent] of groupBy(listedRows(claims), ({ eventNonce }) => eventNonce)) {
    const age = oldestAge(ofEvent);
    // A validator should not vote for a claim that contradicts the hub.
    const isPlausible = ofEvent.some(({ violation }) => violation === null);
    if (!isPlausible || !isLate(age)) continue;
    yield { ...lateSince('event', nonce, age), members: silentMembers(ofEvent) };
  }
}

function lateSince(what: Late['what'], id: string, age: BlockSpan | null): Late {
  return { what, id, ageSeconds: age?.seconds ?? null, isBlocking: true, timeoutIn: null };
}

/** Texts on what validators are late with, by alert. */
export const lateAlerts: ReadonlyMap<string, string> = new Map(
  problems.flatMap(({ name, lateWith }) => (lateWith === undefined ? [] : [[name, lateWith] as const])),
);

function* waitingAlerts(firing: readonly Verdict[]): Generator<Waiting> {
  for (const { alert, ageSeconds, validators } of firing.filter((verdict) => lateAlerts.has(verdict.alert))) {
    const members = validators.map(({ externalAddress, name, address }) => ({
      name: name || null,
      orchestrator: address === externalAddress ? null : address,
      externalAddress,
    }));
    yield { ...lateSince('alert', alert, null), ageSeconds, isBlocking: false, members };
  }
}

function oldestAge(claims: readonly ClaimItem[]): BlockSpan | null {
  const ages = claims.flatMap(({ age }) => (age === null ? [] : [age]));
  return ages.toSorted((a, b) => (b.seconds ?? 0) - (a.seconds ?? 0))[0] ?? null;
}

/** A validator that voted for any claim of the event is not late. */
function silentMembers(claims: readonly ClaimItem[]): readonly Named[] {
  const [first = [], ...others] = claims.map(({ missing }) => missing?.members ?? []);
  const addresses = others.map((members) => new Set(members.map(({ externalAddress }) => externalAddress)));
  return first.filter(({ externalAddress }) => addresses.every((members) => members.has(externalAddress)));
}

export type WatchedValidator = WatchedItem & ReturnType<typeof answersAbout>;

/** Answers of the node about a watched validator; `null` without an answer. */
function answersAbout(
  { orchestrator, duties }: WatchedItem,
  hubCoin: HubCoin | null,
  state: EndpointState,
  now: Moment,
) {
  const answers = freshAnswers(state, now.at);
  const key = orchestrator ?? '';
  const staking = stakingStatus.getAnswers(answers).get(key);
  // An answer can be older than the document, and the document has no old votes.
  const voted = duties.events?.findLast((duty) => duty.state === 'done')?.nonce;
  const nonce = highest([
    claimPosition.getAnswers(answers).get(key),
    voted === undefined ? undefined : asNumeral(voted),
  ]);
  const funds = orchestratorBalance.getAnswers(answers).get(key);
  const amount = funds === undefined ? null : String(funds);
  const decimals = hubCoin?.decimals ?? null;
  return {
    /** Whether the query is sent. */
    isAsked: orchestrator !== null && state.queries.has(stakingStatus.name),
    /** Whether it is jailed, by the staking module. */
    jailed: staking?.isJailed ?? null,
    /** The blocks of the hub that the validator has not signed. */
    blocks: blocksOf(missedBlocks(answers).get(key), now),
    /** The last event that the orchestrator has claimed, by the node or by its votes in the document. */
    lastEventNonce: nonce === undefined ? null : String(nonce),
    /** The balance of the orchestrator in the coin that pays for its transactions; in whole coins if the decimals are known. */
    balance:
      amount === null
        ? null
        : {
            amount,
            wholeAmount: decimals === null ? null : inWholeUnits(amount, decimals),
            symbol: hubCoin?.symbol ?? hubCoin?.denom ?? '',
          },
  };
}

function blocksOf(own: MissedBlocks | undefined, now: Moment) {
  if (own === undefined) return null;
  const { missed, allowed, isTombstoned, counts } = own;
  return {
    /** Within the window of the slashing module. */
    missed,
    /** How many it may miss within the window; `null` when unknown. */
    allowed,
    /** Whether it is jailed for ever. */
    tombstoned: isTombstoned,
    /** The answers about a minute apart, with the blocks that were missed since the answer before. */
    minutes: counts.slice(1).map(({ at, missed: later }, index) => ({
      until: isoTime(wallSeconds(at, now)),
      // Blocks that leave the window, and jailing, lower the number.
      missed: Math.max(0, later - (counts[index]?.missed ?? later)),
    })),
  };
}
