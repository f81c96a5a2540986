import {
  compare,
  compareNumerals,
  decimal,
  double,
  highest,
  highestNumeral,
  numeralKey,
  ratio,
  subtract,
  toDouble,
  ZERO,
  type Decimal,
} from '../../chain/decimal.js';
import type { Attestation } from '../../chain/module-state.js';
import type { Numeral } from '../../json/numeral.js';
import { gauge } from '../family.js';
import { memoize } from '../memoize.js';
import { required } from '../withdrawal.js';
import {
  eventAttestations,
  lastObservedNonce,
  lowestHeight,
  nextEventAttestations,
  voters,
  type EventAttestation,
} from './attestations.js';
import type { BridgeFamily, BridgeInput } from './input.js';
import { newestPowers, newestTotalPower, powerOf, registrationBySender } from './joins.js';

/** External addresses of the validators that voted for an attestation. */
export function votedAddresses(input: BridgeInput, attestation: Attestation): ReadonlySet<string> {
  const validators = registrationBySender(input);
  const voted = new Set<string>();
  for (const voter of voters(attestation)) {
    const row = validators.get(voter);
    if (row !== undefined) voted.add(required(row.eth_address));
  }
  return voted;
}

/** The attestations of events that are not yet observed. */
export const pendingAttestations = memoize((input: BridgeInput): readonly EventAttestation[] => {
  const last = lastObservedNonce(input);
  return eventAttestations(input).filter(({ nonce }) => compareNumerals(nonce, last) > 0);
});

/** The pending events with more than one claim, by the key of their nonce. */
export const conflictingNonces = memoize((input: BridgeInput): ReadonlySet<Numeral> => {
  const claimed = new Set<Numeral>();
  const conflicting = new Set<Numeral>();
  for (const { nonce } of pendingAttestations(input)) {
    const key = numeralKey(nonce);
    if (claimed.has(key)) conflicting.add(key);
    else claimed.add(key);
  }
  return conflicting;
});

/** Number of pending events up to the newest claimed one, including those whose claims are no longer in the state. */
export function pendingEventCount(input: BridgeInput): Decimal {
  const last = lastObservedNonce(input);
  const pending = subtract(decimal(newestNonce(input) ?? last), decimal(last));
  return compare(pending, ZERO) > 0 ? pending : ZERO;
}

function newestNonce(input: BridgeInput): Numeral | undefined {
  return highestNumeral(eventAttestations(input), ({ nonce }) => nonce);
}

/** External events that validators have claimed and the hub has not yet executed. */
export const eventFamilies: readonly BridgeFamily[] = [
  gauge({
    name: 'bridge_newest_attested_nonce',
    help: 'Highest event nonce claimed by a validator; absent when there is no attestation.',
    unit: 'event nonce',
    value: (input) => {
      const newest = newestNonce(input);
      return newest === undefined ? undefined : double(newest);
    },
  }),
  gauge({
    name: 'bridge_pending_events',
    help: 'Number of events that are claimed and not yet observed.',
    unit: 'events',
    value: (input) => toDouble(pendingEventCount(input)),
  }),
  gauge({
    name: 'bridge_conflicting_claims',
    help: 'Number of event nonces that are not yet observed and have conflicting claims.',
    unit: 'event nonces',
    value: (input) => conflictingNonces(input).size,
  }),
  gauge({
    name: 'bridge_next_event_voted_power_ratio',
    help: 'Share of the power of the newest validator set that voted for the leading claim of the next event; absent when the event has no claim.',
    unit: 'ratio, 0 to 1',
    value: (input) => {
      const best = highest(
        nextEventAttestations(input).map((attestation) =>
          powerOf(newestPowers(input), votedAddresses(input, attestation)),
        ),
      );
      return best && ratio(best, newestTotalPower(input));
    },
  }),
  gauge({
    name: 'bridge_next_event_first_vote_height',
    help: 'Hub height of the first vote for the next event; absent when the event has no claim.',
    unit: 'hub height',
    value: (input) => {
      const first = lowestHeight(nextEventAttestations(input));
      return first === undefined ? undefined : double(first);
    },
  }),
];
