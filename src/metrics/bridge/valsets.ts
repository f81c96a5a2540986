import { decimalToDouble } from '../../chain/decimal.js';
import type { Valset } from '../../chain/module-state.js';
import { doubleOf, gauge, lengthOf } from '../family.js';
import { required } from '../required-fields.js';
import type { BridgeFamily, BridgeInput } from './input.js';
import { newestValset, totalPower } from './joins.js';

function power(valset: Valset): number {
  return decimalToDouble(totalPower(valset));
}

function ofNewest(value: (valset: Valset) => number): (input: BridgeInput) => number | undefined {
  return (input) => {
    const newest = newestValset(input);
    return newest && value(newest);
  };
}

/** The last validator set observed in the contract, and the newest one of the hub. */
export const valsetFamilies: readonly BridgeFamily[] = [
  gauge({
    name: 'bridge_last_observed_valset_nonce',
    help: 'Nonce of the last validator set observed in the contract, which is the hub height of its creation.',
    unit: 'valset nonce',
    value: ({ state }) => doubleOf(required(state.last_observed_valset).nonce),
  }),
  gauge({
    name: 'bridge_last_observed_valset_height',
    help: 'Height field of the last validator set observed in the contract; real nodes set it to 0 after an update.',
    unit: 'hub height',
    value: ({ state }) => doubleOf(required(state.last_observed_valset).height),
  }),
  gauge({
    name: 'bridge_last_observed_valset_members',
    help: 'Number of members of the last validator set observed in the contract.',
    unit: 'members',
    value: ({ state }) => lengthOf(required(state.last_observed_valset).members),
  }),
  gauge({
    name: 'bridge_last_observed_valset_power',
    help: 'Total power of the last validator set observed in the contract, normalized to about 2^32.',
    unit: 'power',
    value: ({ state }) => power(required(state.last_observed_valset)),
  }),
  gauge({
    name: 'bridge_last_observed_valset_reward_amount',
    help: 'Reward for relaying the last validator set observed in the contract, in smallest units of the reward token.',
    unit: 'smallest units of the reward token',
    value: ({ state }) => doubleOf(required(state.last_observed_valset).reward_amount),
  }),
  gauge({
    name: 'bridge_newest_valset_nonce',
    help: 'Nonce of the newest validator set, which is the hub height of its creation.',
    unit: 'valset nonce',
    value: ofNewest(({ nonce }) => doubleOf(nonce)),
  }),
  gauge({
    name: 'bridge_newest_valset_height',
    help: 'Hub height at which the newest validator set was created.',
    unit: 'hub height',
    value: ofNewest(({ height }) => doubleOf(height)),
  }),
  gauge({
    name: 'bridge_newest_valset_members',
    help: 'Number of members of the newest validator set.',
    unit: 'members',
    value: ofNewest(({ members }) => lengthOf(members)),
  }),
  gauge({
    name: 'bridge_newest_valset_power',
    help: 'Total power of the newest validator set, normalized to about 2^32.',
    unit: 'power',
    value: ofNewest(power),
  }),
];
