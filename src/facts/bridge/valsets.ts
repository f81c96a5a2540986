import { add, compare, highest, multiply, ratio, subtract, sum, type Numeral } from '../../chain/numeral.js';
import type { Valset } from '../../chain/module-state.js';
import { toLabelValue } from '../plain-values.js';
import { memoize, memoizePerRow } from '../memoize.js';
import { orNull, required, rows } from '../required-fields.js';
import type { BridgeInput } from './bridge-input.js';
import { hasNamesake, isWatched, registrationByAddress, validatorName } from './registrations.js';

/* The newest validator set and the set in the contract, their powers, and members by name. */

/** The validator set with the highest nonce, the first of equal nonces; `undefined` without validator sets. */
export const newestValset = memoize(({ state }: BridgeInput): Valset | undefined => {
  const valsets = rows(state.valsets);
  const newest = highest(valsets.map(({ nonce }) => required(nonce)));
  return valsets.find(({ nonce }) => nonce === newest);
});

/** A value of the newest validator set; `undefined` without validator sets. */
export function readNewestValset<T>(input: BridgeInput, value: (valset: Valset) => T): T | undefined {
  const newest = newestValset(input);
  return newest && value(newest);
}

/**
 * The validator set whose signatures the contract verifies: the last observed set, or the newest set before the first
 * update.
 */
export const contractValset = memoize((input: BridgeInput): Valset | undefined => {
  const observed = required(input.state.last_observed_valset);
  return required(observed.members).length > 0 ? observed : newestValset(input);
});

/** Validator sets that are newer than the set in the contract. */
export const unrelayedValsets = memoize(({ state }: BridgeInput): readonly Valset[] => {
  const observed = required(required(state.last_observed_valset).nonce);
  return rows(state.valsets).filter(({ nonce }) => required(nonce) > observed);
});

export function totalPower({ members }: Valset): Numeral {
  return sum(rows(members).map(({ power }) => required(power)));
}

/** The distinct addresses of a validator set. */
export function memberAddresses({ members }: Valset): ReadonlySet<string> {
  return new Set(rows(members).map(({ external_address }) => required(external_address)));
}

export const newestMemberAddresses = memoize(
  (input: BridgeInput): ReadonlySet<string> => readNewestValset(input, memberAddresses) ?? new Set(),
);

/** Power by address; rows with the same address are added up. */
export const powerByAddress = memoize(({ members }: Valset): ReadonlyMap<string, Numeral> => {
  const powers = new Map<string, Numeral>();
  for (const { external_address, power } of rows(members)) {
    const address = required(external_address);
    powers.set(address, add(powers.get(address) ?? 0n, required(power)));
  }
  return powers;
});

/** Total power of addresses; 0 for an address that is not a member. */
export function sumPower(powers: ReadonlyMap<string, Numeral>, members: Iterable<string>): Numeral {
  const memberPowers: Numeral[] = [];
  for (const address of members) memberPowers.push(powers.get(address) ?? 0n);
  return sum(memberPowers);
}

export const newestPowers = memoize(
  (input: BridgeInput): ReadonlyMap<string, Numeral> => readNewestValset(input, powerByAddress) ?? new Map(),
);

/** The share in the power of the newest validator set; `undefined` when the set has no power. */
export function shareOfNewest(input: BridgeInput, power: Numeral): number | undefined {
  return ratio(power, newestTotalPower(input));
}

export const newestTotalPower = memoize((input: BridgeInput): Numeral => readNewestValset(input, totalPower) ?? 0n);

/**
 * The L1 distance between the power shares of the newest validator set and of the set in the contract, over a common
 * denominator, to be rounded once; `undefined` when either set has no members.
 */
export function powerDrift(input: BridgeInput): number | undefined {
  const observed = required(input.state.last_observed_valset);
  const newest = newestValset(input);
  if (newest === undefined || required(newest.members).length === 0 || required(observed.members).length === 0)
    return undefined;
  const [newestByAddress, observedByAddress] = [newestPowers(input), powerByAddress(observed)];
  const [newestTotal, observedTotal] = [newestTotalPower(input), totalPower(observed)];
  const addresses = new Set([...newestByAddress.keys(), ...observedByAddress.keys()]);
  const differences = Array.from(addresses, (address) => {
    const newestPower = multiply(newestByAddress.get(address) ?? 0n, observedTotal);
    const difference = subtract(newestPower, multiply(observedByAddress.get(address) ?? 0n, newestTotal));
    return difference < 0n ? -difference : difference;
  });
  return ratio(sum(differences), multiply(newestTotal, observedTotal));
}

export const MAX_LISTED_MEMBERS = 20;

/** Some members of a validator set, as they are listed. */
export interface Members {
  readonly total: number;
  /** Share of the power of the set, 0 to 1. */
  readonly powerRatio: number | null;
  /** Watched members, then the most powerful, at most `MAX_LISTED_MEMBERS`. */
  readonly members: readonly ListedMember[];
}

type ListedMember = ReturnType<typeof rankedMembers>['members'][number]['item'];

/** The members of a set by descending power, then by address. A power that cannot be read is 0. */
const rankedMembers = memoizePerRow((input: BridgeInput, valset: Valset) => {
  const powers = orNull(() => powerByAddress(valset));
  const total = powers && orNull(() => totalPower(valset));
  const members = Array.from(memberAddresses(valset), (address) => {
    const registration = orNull(() => registrationByAddress(input).get(address));
    const power = powers?.get(address) ?? 0n;
    const item = {
      externalAddress: toLabelValue(address),
      orchestrator: orNull(() => toLabelValue(required(registration?.orchestrator)) || undefined),
      /** Configured, or from the staking module. Not unique: anyone can choose any name. */
      name: registration === null ? null : validatorName(input, registration) || null,
      hasNamesake: registration !== null && hasNamesake(input, registration),
      powerRatio: total === null ? null : orNull(() => ratio(power, total)),
      /** Whether it is configured in `watch`. */
      watched: registration !== null && isWatched(input, registration),
    };
    return { address, power, item };
  });
  const ranked = members.toSorted((a, b) => compare(b.power, a.power) || (a.address < b.address ? -1 : 1));
  return { members: ranked, total };
});

/** The members of a validator set whose signature or vote is missing. */
export function findMissing(
  input: BridgeInput,
  valset: Valset | undefined,
  signers: ReadonlySet<string>,
): Members | undefined {
  return valset && membersWhere(input, valset, (address) => !signers.has(address));
}

/** Some members of a validator set. */
export function membersWhere(input: BridgeInput, valset: Valset, isListed: (address: string) => boolean): Members {
  const { members, total } = rankedMembers(input, valset);
  const listed = members.filter(({ address }) => isListed(address));
  const watchedFirst = listed.map(({ item }) => item).toSorted((a, b) => Number(b.watched) - Number(a.watched));
  return {
    total: listed.length,
    powerRatio: total === null ? null : orNull(() => ratio(sum(listed.map(({ power }) => power)), total)),
    members: watchedFirst.slice(0, MAX_LISTED_MEMBERS),
  };
}

/**
 * The hub observes an event with the votes of this share: fixed in the code of the module. Relayers relay what this
 * share has signed.
 */
export const QUORUM_RATIO = 0.66;

/** No claim can reach the quorum while other claims of its event have more than this share. */
export const MINORITY_RATIO = 0.34;

/**
 * A third of the power: a claim by this share is more than the error of a few validators, and without this share
 * nothing is signed or observed.
 */
export const THIRD_RATIO = 0.33;

/**
 * The share of late validators for a warning: less than half of what the quorum can miss, so the bridge still works;
 * more than single validators have, which are late at any time.
 */
export const LATE_RATIO = 0.15;
