import { add, compare, highest, multiply, ratio, subtract, sum, ZERO, type Decimal } from '../../chain/decimal.js';
import type { Valset } from '../../chain/module-state.js';
import { families, gauge, lengthOf } from '../../metrics/family.js';
import { memoize } from '../memoize.js';
import { required, rows } from '../required-fields.js';
import type { BridgeInput } from './input.js';

/** The validator set with the highest nonce, the first one of equals; `undefined` when the state has none. */
export const newestValset = memoize(({ state }: BridgeInput): Valset | undefined => {
  const valsets = rows(state.valsets);
  const newest = highest(valsets.map(({ nonce }) => required(nonce)));
  return valsets.find(({ nonce }) => nonce === newest);
});

function ofNewest<T>(input: BridgeInput, value: (valset: Valset) => T): T | undefined {
  const newest = newestValset(input);
  return newest && value(newest);
}

/**
 * The validator set in the contract, whose signatures the contract verifies: the last observed one, or the newest one while the
 * last observed one has no members, because none was observed.
 */
export const contractValset = memoize((input: BridgeInput): Valset | undefined => {
  const observed = required(input.state.last_observed_valset);
  return required(observed.members).length > 0 ? observed : newestValset(input);
});

/** Validator sets that are newer than the one in the contract. */
export const unrelayedValsets = memoize(({ state }: BridgeInput): readonly Valset[] => {
  const observed = required(required(state.last_observed_valset).nonce);
  return rows(state.valsets).filter(({ nonce }) => compare(required(nonce), observed) > 0);
});

export function totalPower({ members }: Valset): Decimal {
  return sum(rows(members).map(({ power }) => required(power)));
}

/** The distinct addresses of a validator set. */
export function memberAddresses({ members }: Valset): ReadonlySet<string> {
  return new Set(rows(members).map(({ external_address }) => required(external_address)));
}

export const newestMemberAddresses = memoize(
  (input: BridgeInput): ReadonlySet<string> => ofNewest(input, memberAddresses) ?? new Set(),
);

/** Power by address; rows with the same address are added up. */
export function powerByAddress({ members }: Valset): ReadonlyMap<string, Decimal> {
  const powers = new Map<string, Decimal>();
  for (const { external_address, power } of rows(members)) {
    const address = required(external_address);
    powers.set(address, add(powers.get(address) ?? ZERO, required(power)));
  }
  return powers;
}

/** Total power of some addresses. An address that is not a member has none. */
export function powerOf(powers: ReadonlyMap<string, Decimal>, members: Iterable<string>): Decimal {
  const own: Decimal[] = [];
  for (const address of members) own.push(powers.get(address) ?? ZERO);
  return sum(own);
}

export const newestPowers = memoize(
  (input: BridgeInput): ReadonlyMap<string, Decimal> => ofNewest(input, powerByAddress) ?? new Map(),
);

export const newestTotalPower = memoize((input: BridgeInput): Decimal => ofNewest(input, totalPower) ?? ZERO);

/** The last validator set observed in the contract, and the newest one of the hub. */
export const valsetFamilies = families<BridgeInput>({
  bridge_last_observed_valset_nonce: gauge({
    help: 'Nonce of the last validator set observed in the contract, which is the hub height of its creation.',
    value: ({ state }) => required(required(state.last_observed_valset).nonce),
  }),
  bridge_last_observed_valset_height: gauge({
    help: 'Height field of the last validator set observed in the contract; real nodes set it to 0 after an update.',
    value: ({ state }) => required(required(state.last_observed_valset).height),
  }),
  bridge_last_observed_valset_members: gauge({
    help: 'Number of members of the last validator set observed in the contract.',
    value: ({ state }) => lengthOf(required(state.last_observed_valset).members),
  }),
  bridge_last_observed_valset_power: gauge({
    help: 'Total power of the last validator set observed in the contract, in shares of 4294967295.',
    value: ({ state }) => totalPower(required(state.last_observed_valset)),
  }),
  bridge_last_observed_valset_reward_amount: gauge({
    help: 'Reward for relaying the last validator set observed in the contract, in smallest units of the reward token.',
    value: ({ state }) => required(required(state.last_observed_valset).reward_amount),
  }),
  bridge_newest_valset_nonce: gauge({
    help: 'Nonce of the newest validator set, which is the hub height of its creation.',
    value: (input) => ofNewest(input, ({ nonce }) => required(nonce)),
  }),
  bridge_newest_valset_height: gauge({
    help: 'Hub height at which the newest validator set was created.',
    value: (input) => ofNewest(input, ({ height }) => required(height)),
  }),
  bridge_newest_valset_members: gauge({
    help: 'Number of members of the newest validator set.',
    value: (input) => ofNewest(input, ({ members }) => lengthOf(members)),
  }),
  bridge_newest_valset_power: gauge({
    help: 'Total power of the newest validator set, in shares of 4294967295.',
    value: (input) => ofNewest(input, totalPower),
  }),
});

/** The L1 distance between the power shares of two validator sets, over a common denominator, so that it is rounded once. */
function drift(input: BridgeInput): number | undefined {
  const observed = required(input.state.last_observed_valset);
  const newest = newestValset(input);
  if (newest === undefined || required(newest.members).length === 0 || required(observed.members).length === 0)
    return undefined;
  const [newestByAddress, observedByAddress] = [newestPowers(input), powerByAddress(observed)];
  const [newestTotal, observedTotal] = [newestTotalPower(input), totalPower(observed)];
  const addresses = new Set([...newestByAddress.keys(), ...observedByAddress.keys()]);
  const differences = Array.from(addresses, (address) => {
    const newestPower = multiply(newestByAddress.get(address) ?? ZERO, observedTotal);
    return abs(subtract(newestPower, multiply(observedByAddress.get(address) ?? ZERO, newestTotal)));
  });
  return ratio(sum(differences), multiply(newestTotal, observedTotal));
}

function abs(value: Decimal): Decimal {
  return value.units < 0n ? subtract(ZERO, value) : value;
}

export const driftFamilies = families<BridgeInput>({
  bridge_valset_power_drift_ratio: gauge({
    help: 'Sum of the differences between the power shares of all validators in the newest validator set and in the one in the contract (0 to 2); absent when one of them has no members.',
    value: drift,
  }),
});
