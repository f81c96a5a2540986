import type { Valset } from '../../chain/module-state.js';
import { gauge, lengthOf, doubleOf } from '../family.js';
import type { BridgeFamily, BridgeInput } from './input.js';
import { newestValset, totalPower } from './joins.js';
import { toDouble } from '../../chain/decimal.js';
import { required } from '../withdrawal.js';

function power(valset: Valset): number {
  return toDouble(totalPower(valset));
}

const NEWEST = ['state.valsets', 'state.valsets[].nonce'];

function ofNewest(value: (valset: Valset) => number): (input: BridgeInput) => number | undefined {
  return (input) => {
    const newest = newestValset(input);
    return newest && value(newest);
  };
}

/** The validator set that the contract is known to have, and the newest one of the hub. */
export const valsetFamilies: readonly BridgeFamily[] = [
  gauge({
    name: 'bridge_last_observed_valset_nonce',
    help: 'Nonce of the validator set last seen installed in the contract; it is the hub height of its creation.',
    unit: 'valset nonce',
    reads: ['state.last_observed_valset.nonce'],
    value: ({ state }) => doubleOf(required(state.last_observed_valset).nonce),
  }),
  gauge({
    name: 'bridge_last_observed_valset_height',
    help: 'Height the last observed validator set carries; real nodes send 0 once an update was observed, so use the nonce.',
    unit: 'hub height',
    reads: ['state.last_observed_valset.height'],
    value: ({ state }) => doubleOf(required(state.last_observed_valset).height),
  }),
  gauge({
    name: 'bridge_last_observed_valset_members',
    help: 'Members of the validator set last seen installed in the contract.',
    unit: 'members',
    reads: ['state.last_observed_valset.members'],
    value: ({ state }) => lengthOf(required(state.last_observed_valset).members),
  }),
  gauge({
    name: 'bridge_last_observed_valset_power',
    help: 'Power of the validator set last seen installed in the contract; normalised to about 2^32.',
    unit: 'power',
    reads: ['state.last_observed_valset.members', 'state.last_observed_valset.members[].power'],
    value: ({ state }) => power(required(state.last_observed_valset)),
  }),
  gauge({
    name: 'bridge_last_observed_valset_reward_amount',
    help: 'Reward for relaying the validator set last seen installed in the contract.',
    unit: 'smallest units of the reward token',
    reads: ['state.last_observed_valset.reward_amount'],
    value: ({ state }) => doubleOf(required(state.last_observed_valset).reward_amount),
  }),
  gauge({
    name: 'bridge_newest_valset_nonce',
    help: 'Nonce of the newest validator set; it is the hub height of its creation.',
    unit: 'valset nonce',
    reads: NEWEST,
    value: ofNewest(({ nonce }) => doubleOf(nonce)),
  }),
  gauge({
    name: 'bridge_newest_valset_height',
    help: 'Height of the newest validator set.',
    unit: 'hub height',
    reads: [...NEWEST, 'state.valsets[].height'],
    value: ofNewest(({ height }) => doubleOf(height)),
  }),
  gauge({
    name: 'bridge_newest_valset_members',
    help: 'Members of the newest validator set.',
    unit: 'members',
    reads: [...NEWEST, 'state.valsets[].members'],
    value: ofNewest(({ members }) => lengthOf(members)),
  }),
  gauge({
    name: 'bridge_newest_valset_power',
    help: 'Power of the newest validator set; normalised to about 2^32.',
    unit: 'power',
    reads: [...NEWEST, 'state.valsets[].members', 'state.valsets[].members[].power'],
    value: ofNewest(power),
  }),
];
