import { multiply, ratio, subtract, sum, ZERO, type Decimal } from '../../chain/decimal.js';
import { gauge } from '../family.js';
import { required } from '../required-fields.js';
import type { BridgeFamily, BridgeInput } from './input.js';
import { newestPowers, newestTotalPower, newestValset, powerByAddress, totalPower } from './joins.js';

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

export const driftFamilies: readonly BridgeFamily[] = [
  gauge({
    name: 'bridge_valset_power_drift_ratio',
    help: 'Sum of the differences between the power shares of all validators in the newest validator set and in the one in the contract (0 to 2); absent when one of them has no members.',
    unit: 'ratio, 0 to 2',
    value: drift,
  }),
];
