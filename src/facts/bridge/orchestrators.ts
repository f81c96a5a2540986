import { dataPart } from '../../chain/addresses.js';
import { compare, type Numeral } from '../../chain/numeral.js';
import type { OrchestratorAddress } from '../../chain/module-state.js';
import { toLabelValue } from '../label-value.js';
import { memoize } from '../memoize.js';
import { optional, orEmpty, required } from '../required-fields.js';
import { dissentersOfLastEvent } from './events.js';
import type { BridgeInput } from './input.js';
import { isWatched, matchingRegistrations, registrationByAddress } from './registrations.js';
import { newestMemberAddresses, newestPowers, shareOfNewest } from './valsets.js';

/* The members of the newest validator set with their orchestrators, and their votes for the last and the next event. */

/** A member of the newest validator set whose orchestrator is known. */
export interface RegisteredMember {
  readonly address: string;
  readonly registration: OrchestratorAddress;
  readonly labels: { readonly orchestrator: string; readonly external_address: string };
  readonly isWatched: boolean;
}

/** Watched members first, then by descending power: the order in which limits keep members. */
export const registeredMembers = memoize((input: BridgeInput): readonly RegisteredMember[] => {
  const registrationOf = registrationByAddress(input);
  const members = Array.from(newestMemberAddresses(input)).flatMap((address) => {
    const registration = registrationOf.get(address);
    if (registration === undefined) return [];
    const orchestrator = toLabelValue(optional(registration.orchestrator) ?? '');
    const labels = { orchestrator, external_address: toLabelValue(address) };
    return [{ address, registration, labels, isWatched: isWatched(input, registration) }];
  });
  const powers = new Map(orEmpty(() => Array.from(newestPowers(input))));
  const memberPower = ({ address }: RegisteredMember): Numeral => powers.get(address) ?? 0n;
  return members.toSorted(
    (a, b) =>
      Number(b.isWatched) - Number(a.isWatched) ||
      compare(memberPower(b), memberPower(a)) ||
      compare(a.labels.orchestrator, b.labels.orchestrator) ||
      compare(a.labels.external_address, b.labels.external_address),
  );
});

/** The share of a member in the power of the newest validator set. */
export function memberPowerShare(input: BridgeInput, { address }: RegisteredMember): number | undefined {
  return shareOfNewest(input, newestPowers(input).get(address) ?? 0n);
}

/** Whether the member is among the voters of an event; `undefined` without such an event. */
export function hasVoted(
  voters: ReadonlySet<string> | undefined,
  { registration }: RegisteredMember,
): boolean | undefined {
  return voters?.has(dataPart(required(registration.sender)));
}

/** Whether the member has voted for a claim of the last observed event that lost; `undefined` when the event is no longer in the state. */
export function isDissenting(input: BridgeInput, member: RegisteredMember): boolean | undefined {
  const dissenters = dissentersOfLastEvent(input);
  return dissenters?.size === 0 ? false : hasVoted(dissenters, member);
}

/** The entries of `watch`, whether they have a registration, and whether they are in the newest validator set. Empty without such a set. */
export const watchedEntries = memoize((input: BridgeInput) => {
  const members = newestMemberAddresses(input);
  if (members.size === 0) return [];
  return input.settings.watch.map((address) => {
    const registrations = matchingRegistrations(input, address);
    return {
      address,
      isRegistered: registrations.length > 0,
      isActive: registrations.some(({ eth_address }) => members.has(required(eth_address))),
    };
  });
});
