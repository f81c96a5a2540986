import { eventNonceOfPackedClaim } from '../../chain/claim.js';
import {
  add,
  compare,
  highest,
  lowest,
  numeralKey,
  ratio,
  subtract,
  toDecimalString,
  ZERO,
  type Decimal,
} from '../../chain/decimal.js';
import type { Attestation } from '../../chain/module-state.js';
import type { Numeral } from '../../chain/numeral.js';
import { families, gauge } from '../../metrics/family.js';
import { groupBy } from '../grouping.js';
import { memoize, memoizePerRow } from '../memoize.js';
import { optional, required, rows } from '../required-fields.js';
import type { BridgeInput } from './input.js';
import { registrationBySender } from './registrations.js';
import { newestPowers, newestTotalPower, powerOf } from './valsets.js';

export interface EventAttestation {
  readonly nonce: Numeral;
  readonly attestation: Attestation;
}

/** All attestations with their event nonces. An invalid nonce withdraws all families about events: it could be the newest. */
export const eventAttestations = memoize(({ state }: BridgeInput): readonly EventAttestation[] =>
  rows(state.attestations).map(withNonce),
);

function withNonce(attestation: Attestation): EventAttestation {
  return { nonce: nonceOf(attestation), attestation };
}

/** Withdraws the family unless the event nonce of every attestation is readable. */
export function requireEventNonces(input: BridgeInput): void {
  eventAttestations(input);
}

/** The field `event_nonce` of an unpacked claim, as sent by real nodes, or field 1 of a packed claim, as in the spec. */
function nonceOf(attestation: Attestation): Numeral {
  const claim = required(attestation.claim);
  const nonce = optional(claim.event_nonce) ?? eventNonceOfPackedClaim(required(claim.value));
  return required(nonce);
}

const nonceKeyOf = ({ nonce }: EventAttestation): Numeral => numeralKey(nonce);
export const attestationOf = ({ attestation }: EventAttestation): Attestation => attestation;

const attestationsByNonce = memoize((input: BridgeInput) => groupBy(eventAttestations(input), nonceKeyOf));

/** The attestations of one event, at most one of which is ever observed; more than one after conflicting claims. */
function attestationsOf(input: BridgeInput, eventNonce: Numeral): readonly Attestation[] {
  return (attestationsByNonce(input).get(numeralKey(eventNonce)) ?? []).map(attestationOf);
}

/** The attestations of the last observed event; those that are not observed lost against the one that is. */
const lastEvent = memoize((input: BridgeInput) => {
  const all = attestationsOf(input, required(input.state.last_observed_nonce));
  return {
    all,
    observed: all.filter(({ observed }) => required(observed)),
    lost: all.filter(({ observed }) => !required(observed)),
  };
});

const observedOfLast = (input: BridgeInput): readonly Attestation[] => lastEvent(input).observed;

/** The claims that lost against the observed one of the last event; none when that is no longer in the state. */
export function lostClaims(input: BridgeInput): readonly Attestation[] {
  const { observed, lost } = lastEvent(input);
  return observed.length === 0 ? [] : lost;
}

/** Who voted for any claim of the last observed event, by data part; `undefined` when the event is no longer in the state. */
export const votersOfLastEvent = memoize((input: BridgeInput): ReadonlySet<string> | undefined =>
  observedOfLast(input).length === 0 ? undefined : new Set(lastEvent(input).all.flatMap(voters)),
);

/** Who voted for a lost claim of the last observed event; `undefined` when the event is no longer in the state. */
export const dissentersOfLastEvent = memoize((input: BridgeInput): ReadonlySet<string> | undefined =>
  observedOfLast(input).length === 0 ? undefined : new Set(lostClaims(input).flatMap(voters)),
);

/** Hub height of the first vote for the last observed event; `undefined` when the event is no longer in the state. */
export const heightOfLastObserved = memoize((input: BridgeInput): Numeral | undefined =>
  lowestHeight(observedOfLast(input)),
);

/** The attestations of the event after the last observed one. */
const nextEventAttestations = memoize((input: BridgeInput): readonly Attestation[] =>
  attestationsOf(input, toDecimalString(add(required(input.state.last_observed_nonce), 1))),
);

/** Who voted for any claim of the next event; `undefined` when nobody has claimed it. */
export const votersOfNextEvent = memoize((input: BridgeInput): ReadonlySet<string> | undefined => {
  const claims = nextEventAttestations(input);
  return claims.length === 0 ? undefined : new Set(claims.flatMap(voters));
});

export function voters({ votes }: Attestation): readonly string[] {
  return rows(votes);
}

const heightOf = ({ height }: Attestation): Numeral => required(height);

function lowestHeight(attestations: readonly Attestation[]): Numeral | undefined {
  return lowest(attestations.map(heightOf));
}

/** External addresses of the validators that voted for an attestation. */
export const votedAddresses = memoizePerRow((input: BridgeInput, attestation: Attestation): ReadonlySet<string> => {
  const validators = registrationBySender(input);
  const voted = new Set<string>();
  for (const voter of voters(attestation)) {
    const row = validators.get(voter);
    if (row !== undefined) voted.add(required(row.eth_address));
  }
  return voted;
});

/** Power of the newest validator set that voted for an attestation. */
export function votedPower(input: BridgeInput, attestation: Attestation): Decimal {
  return powerOf(newestPowers(input), votedAddresses(input, attestation));
}

/** The attestations of events that are not yet observed. */
export const pendingAttestations = memoize((input: BridgeInput): readonly EventAttestation[] => {
  const last = required(input.state.last_observed_nonce);
  const pending: EventAttestation[] = [];
  for (const one of eventAttestations(input)) if (compare(one.nonce, last) > 0) pending.push(one);
  return pending;
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
  const last = required(input.state.last_observed_nonce);
  const pending = subtract(newestAttestedNonce(input) ?? last, last);
  return compare(pending, ZERO) > 0 ? pending : ZERO;
}

/** The highest event nonce that is claimed or observed; `undefined` without attestations. */
export function newestAttestedNonce(input: BridgeInput): Numeral | undefined {
  return highest(eventAttestations(input).map(({ nonce }) => nonce));
}

/** External events that validators have claimed and the hub has not yet executed. */
export const eventFamilies = families<BridgeInput>({
  bridge_newest_attested_nonce: gauge({
    help: 'Highest event nonce claimed by a validator; absent when there is no attestation.',
    value: newestAttestedNonce,
  }),
  bridge_pending_events: gauge({
    help: 'Number of events that are claimed and not yet observed.',
    value: pendingEventCount,
  }),
  bridge_conflicting_claims: gauge({
    help: 'Number of event nonces that are not yet observed and have conflicting claims.',
    value: (input) => conflictingNonces(input).size,
  }),
  bridge_next_event_voted_power_ratio: gauge({
    help: 'Share of the power of the newest validator set that voted for the leading claim of the next event; absent when the event has no claim.',
    value: (input) => {
      const best = highest(nextEventAttestations(input).map((attestation) => votedPower(input, attestation)));
      return best && ratio(best, newestTotalPower(input));
    },
  }),
  bridge_next_event_second_claim_power_ratio: gauge({
    help: 'Share of the power of the newest validator set that voted for the second claim of the next event, by power; 0 with one claim, absent without.',
    value: (input) => {
      const claims = nextEventAttestations(input);
      if (claims.length < 2) return claims.length === 0 ? undefined : 0;
      const [, second] = claims.map((attestation) => votedPower(input, attestation)).toSorted((a, b) => compare(b, a));
      return second && ratio(second, newestTotalPower(input));
    },
  }),
  bridge_next_event_first_vote_height: gauge({
    help: 'Hub height of the first vote for the next event; absent when the event has no claim.',
    value: (input) => lowestHeight(nextEventAttestations(input)),
  }),
});
