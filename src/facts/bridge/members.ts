import { dataPart } from '../../chain/addresses.js';
import { add, compare, highest, lowest, type Numeral } from '../../chain/numeral.js';
import type { Field } from '../../chain/fields.js';
import type { Attestation, OrchestratorAddress, Valset } from '../../chain/module-state.js';
import { memoize, memoizePerRow } from '../memoize.js';
import { toLabelValue } from '../plain-values.js';
import { optional, orEmpty, orUndefined, required, rows, withdrawWithout } from '../required-fields.js';
import { attestationsByNonce, dissentersOfLastEvent, firstVoteHeight, votedAddresses } from './events.js';
import type { BridgeInput } from './bridge-input.js';
import { isWatched, matchingRegistrations, registrationByAddress } from './registrations.js';
import { batchSigners, isBatchSigned, valsetSignedPower, valsetSigners } from './signatures.js';
import { memberAddresses, newestMemberAddresses, newestPowers, shareOfNewest, unrelayedValsets } from './valsets.js';

/*
 * The members of the newest validator set with their orchestrators, their votes for the last and the next event, and
 * their duties: signatures and votes, and which are missing.
 */

/** A member of the newest validator set. */
export interface Member {
  readonly address: string;
  /** `undefined` without a registration, and while registrations cannot be read. */
  readonly registration: OrchestratorAddress | undefined;
  readonly labels: { readonly orchestrator: string; readonly external_address: string };
  readonly isWatched: boolean;
}

export type RegisteredMember = Member & { readonly registration: OrchestratorAddress };

/** Watched members first, then by descending power: the order in which limits keep members. */
export const allMembers = memoize((input: BridgeInput): readonly Member[] => {
  const registrations = orUndefined(() => registrationByAddress(input));
  const all = Array.from(newestMemberAddresses(input), (address): Member => {
    const registration = registrations?.get(address);
    const orchestrator = toLabelValue(orUndefined(() => optional(registration?.orchestrator)) ?? '');
    const labels = { orchestrator, external_address: toLabelValue(address) };
    return { address, registration, labels, isWatched: registration !== undefined && isWatched(input, registration) };
  });
  const powers = new Map(orEmpty(() => Array.from(newestPowers(input))));
  const memberPower = ({ address }: Member): Numeral => powers.get(address) ?? 0n;
  return all.toSorted(
    (a, b) =>
      Number(b.isWatched) - Number(a.isWatched) ||
      compare(memberPower(b), memberPower(a)) ||
      compare(a.labels.orchestrator, b.labels.orchestrator) ||
      compare(a.labels.external_address, b.labels.external_address),
  );
});

/** The members whose orchestrator is known, in the same order. */
export const registeredMembers = memoize((input: BridgeInput): readonly RegisteredMember[] => {
  registrationByAddress(input);
  const registered = allMembers(input).filter(
    (member): member is RegisteredMember => member.registration !== undefined,
  );
  for (const { registration } of registered) optional(registration.orchestrator);
  return registered;
});

/** The share of a member in the power of the newest validator set. */
export function memberPowerShare(input: BridgeInput, { address }: Member): number | undefined {
  return shareOfNewest(input, newestPowers(input).get(address) ?? 0n);
}

/** Whether the member is among the voters of an event; `undefined` without such an event. */
export function hasVoted(
  voters: ReadonlySet<string> | undefined,
  { registration }: Pick<RegisteredMember, 'registration'>,
): boolean | undefined {
  return voters?.has(dataPart(required(registration.sender)));
}

/**
 * Whether the member has voted for a claim of the last observed event that lost; `undefined` when the event is no
 * longer in the state.
 */
export function isDissenting(input: BridgeInput, member: Pick<RegisteredMember, 'registration'>): boolean | undefined {
  const dissenters = dissentersOfLastEvent(input);
  return dissenters?.size === 0 ? false : hasVoted(dissenters, member);
}

/**
 * The entries of `watch`, whether they have a registration, and whether they are in the newest validator set:
 * `undefined` while an unreadable registration could be that of the entry. Empty without a validator set.
 */
export const watchedEntries = memoize((input: BridgeInput) => {
  const inSet = newestMemberAddresses(input);
  if (inSet.size === 0) return [];
  return input.settings.watch.map((address) => {
    const registrations = matchingRegistrations(input, address);
    return {
      address,
      isRegistered: registrations && registrations.length > 0,
      isActive: registrations?.some(({ eth_address }) => inSet.has(required(eth_address))),
    };
  });
});

export const confirmKinds = ['valset', 'batch'] as const;
type ConfirmKind = (typeof confirmKinds)[number];

/** A validator set or a batch to sign, or an event to vote for. */
export interface Duty {
  readonly kind: ConfirmKind | 'event';
  readonly nonce: Field<Numeral>;
  /** Hub height of its creation, or of the first vote. */
  readonly height: Field<Numeral>;
  /** The external addresses of the validators with the duty; absent for all members. */
  readonly members?: ReadonlySet<string>;
  /** The external addresses of the validators that have signed or voted. */
  readonly doneBy: () => ReadonlySet<string>;
  /** Whether the signatures or votes of the others are not sufficient, as far as is known. */
  readonly isAwaited: () => boolean;
}

const derivations = {
  valset: memoize((input: BridgeInput): readonly Duty[] =>
    rows(input.state.valsets).map((valset) => ({
      kind: 'valset',
      nonce: required(valset.nonce),
      height: valset.height,
      members: memberAddresses(valset),
      doneBy: () => valsetSigners(input, valset),
      isAwaited: () =>
        orEmpty(() => unrelayedValsets(input)).includes(valset) &&
        orUndefined(() => valsetSignedPower(input, valset)?.isBelowThreshold) !== false,
    })),
  ),
  batch: memoize((input: BridgeInput): readonly Duty[] =>
    rows(input.state.batches).map((batch) => ({
      kind: 'batch',
      nonce: batch.batch_nonce,
      height: batch.block,
      doneBy: () => batchSigners(input, batch),
      isAwaited: () => orUndefined(() => isBatchSigned(input, batch)) !== true,
    })),
  ),
  event: memoize((input: BridgeInput): readonly Duty[] =>
    Array.from(attestationsByNonce(input), ([nonce, claims]) => ({
      kind: 'event',
      nonce,
      height: orUndefined(() => firstVoteHeight(claims)),
      doneBy: () => votersOfEvent(input, claims),
      isAwaited: () => orUndefined(() => nonce > required(input.state.last_observed_nonce)) === true,
    })),
  ),
} as const satisfies Record<Duty['kind'], unknown>;

const votersOfEvent = memoizePerRow(
  (input: BridgeInput, claims: readonly Attestation[]): ReadonlySet<string> =>
    new Set(claims.flatMap((claim) => Array.from(votedAddresses(input, claim)))),
);

/** Without these lists, missing signatures and votes are unknown, even if there is nothing to sign. */
const SIGNATURES_OR_VOTES = { valset: 'valset_confirms', batch: 'batch_confirms', event: 'attestations' } as const;

/** All duties of a kind in the document. */
export function duties(input: BridgeInput, kind: Duty['kind']): readonly Duty[] {
  withdrawWithout(input.state[SIGNATURES_OR_VOTES[kind]]);
  return derivations[kind](input);
}

export function hasDuty({ address }: Member, { members }: Duty): boolean {
  return members === undefined || members.has(address);
}

export function isDone({ address }: Member, { doneBy }: Duty): boolean {
  return doneBy().has(address);
}

/**
 * The nonce, which is a hub height, of the newest validator set without the member. The hub does not jail a member for
 * duties that were created before.
 */
const lastAbsence = memoizePerRow((input: BridgeInput, { address }: Member): Numeral | undefined =>
  highest(
    derivations
      .valset(input)
      .map(({ members, nonce }) => (members?.has(address) === true ? undefined : required(nonce))),
  ),
);

/** Whether the duty was created since the member last joined. */
export function isOwed(input: BridgeInput, member: Member, { kind, nonce, height }: Duty): boolean {
  const absence = lastAbsence(input, member);
  return absence === undefined || required(kind === 'valset' ? nonce : height) > absence;
}

const WINDOWS = { valset: 'signed_valsets_window', batch: 'signed_batches_window' } as const;

/** The last hub height at which a signature prevents jailing; `undefined` without the window, and for events. */
function computeDeadline({ state }: BridgeInput, { kind, height }: Pick<Duty, 'kind' | 'height'>): Numeral | undefined {
  const window = kind === 'event' ? undefined : optional(optional(state.params)?.[WINDOWS[kind]]);
  return window === undefined ? undefined : add(required(height), window);
}

/** Throws WITHDRAWN without the window. */
export function valsetDeadline(input: BridgeInput, { height }: Valset): Numeral {
  return required(computeDeadline(input, { kind: 'valset', height }));
}

/** Whether the deadline has not passed or is unknown. */
export const isOpen = memoizePerRow((input: BridgeInput, duty: Duty): boolean => {
  const deadline = input.height === undefined ? undefined : computeDeadline(input, duty);
  return deadline === undefined || deadline >= required(input.height);
});

/** What a member has not signed: open validator sets that it owes, and all live batches, owed or not. */
export const missingConfirms = {
  valset: memoizePerRow((input: BridgeInput, member: Member): readonly Duty[] =>
    duties(input, 'valset').filter(
      (duty) => hasDuty(member, duty) && isOwed(input, member, duty) && isOpen(input, duty) && !isDone(member, duty),
    ),
  ),
  batch: memoizePerRow((input: BridgeInput, member: Member): readonly Duty[] =>
    duties(input, 'batch').filter((duty) => !isDone(member, duty)),
  ),
} as const satisfies Record<ConfirmKind, unknown>;

/** Missing signatures, each with the hub height after which the member is jailed. */
function deadlines(input: BridgeInput, member: Member, kind: ConfirmKind) {
  return missingConfirms[kind](input, member)
    .filter((duty) => isOwed(input, member, duty))
    .flatMap((duty) => {
      const height = computeDeadline(input, duty);
      return height === undefined ? [] : [{ duty, height }];
    });
}

/** The first deadline, also a past deadline; `undefined` when the member owes nothing. */
export function confirmDeadline(input: BridgeInput, member: Member, kind: ConfirmKind): Numeral | undefined {
  return lowest(deadlines(input, member, kind).map(({ height }) => height));
}

/** The next deadline of a member, of any kind; `undefined` when nothing can still be signed in time. */
export function nextDeadline(input: BridgeInput, member: Member) {
  const { height: now } = input;
  return confirmKinds
    .flatMap((kind) => deadlines(input, member, kind))
    .filter(({ height }) => now === undefined || height >= now)
    .toSorted((a, b) => compare(a.height, b.height))[0];
}

export function identifySignature({ kind, nonce }: Duty) {
  const what = kind === 'batch' ? ('batch' as const) : ('validator set' as const);
  return { what, nonce: String(required(nonce)) };
}
