import { gauge } from '../family.js';
import type { BridgeFamily, BridgeInput } from './input.js';
import { newestPowers, newestTotalPower, newestValset, powerByAddress, totalPower } from './joins.js';
import { multiply, ratio, subtract, sum, ZERO, type Decimal } from '../../chain/decimal.js';
import { required } from '../withdrawal.js';

/** Σ |share in one − share in the other|, over a common denominator, so that only the result is rounded. */
function drift(input: BridgeInput): number | undefined {
  const observed = required(input.state.last_observed_valset);
  const newest = newestValset(input);
  if (newest === undefined || required(newest.members).length === 0 || required(observed.members).length === 0)
    return undefined;
  const [here, there] = [newestPowers(input), powerByAddress(observed)];
  const [hereTotal, thereTotal] = [newestTotalPower(input), totalPower(observed)];
  const differences = Array.from(new Set([...here.keys(), ...there.keys()]), (address) =>
    magnitude(
      subtract(multiply(here.get(address) ?? ZERO, thereTotal), multiply(there.get(address) ?? ZERO, hereTotal)),
    ),
  );
  return ratio(sum(differences), multiply(hereTotal, thereTotal));
}

function magnitude(value: Decimal): Decimal {
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
