import { dataPart } from '../../chain/addresses.js';
import { compare, type Numeral } from '../../chain/numeral.js';
import type { OrchestratorAddress } from '../../chain/module-state.js';
import { toLabelValue } from '../plain-values.js';
import { memoize } from '../memoize.js';
import { optional, orEmpty, orUndefined, required } from '../required-fields.js';
import { dissentersOfLastEvent } from './events.js';
import type { BridgeInput } from './bridge-input.js';
import { isWatched, matchingRegistrations, registrationByAddress } from './registrations.js';
import { newestMemberAddresses, newestPowers, shareOfNewest } from './valsets.js';

/* The members of the newest validator set with their orchestrators, and their votes for the last and the next event. */

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
export const members = memoize((input: BridgeInput): readonly Member[] => {
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
  const registered = members(input).filter((member): member is RegisteredMember => member.registration !== undefined);
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
