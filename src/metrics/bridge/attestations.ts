import { eventNonceOfPackedClaim } from '../../chain/claim.js';
import { add, compareNumerals, decimal, integer, lowestNumeral, toDecimalString } from '../../chain/decimal.js';
import type { Attestation } from '../../chain/module-state.js';
import type { Numeral } from '../../json/numeral.js';
import { memoize } from '../memoize.js';
import { optional, required, rows } from '../withdrawal.js';
import type { BridgeInput } from './input.js';

export interface EventAttestation {
  readonly nonce: Numeral;
  readonly attestation: Attestation;
}

/** All attestations with their event nonces. An invalid nonce withdraws all families about events: it could be the newest. */
export const eventAttestations = memoize(({ state }: BridgeInput): readonly EventAttestation[] =>
  rows(state.attestations).map((attestation) => ({ nonce: eventNonce(attestation), attestation })),
);

/** The field `event_nonce` of an unpacked claim, as sent by real nodes, or field 1 of a packed claim, as in the spec. */
function eventNonce(attestation: Attestation): Numeral {
  const claim = required(attestation.claim);
  const nonce = optional(claim.event_nonce) ?? eventNonceOfPackedClaim(required(claim.value));
  return required(nonce);
}

export function lastObservedNonce({ state }: BridgeInput): Numeral {
  return required(state.last_observed_nonce);
}

/** The observed attestations of the last observed event; more than one after conflicting claims. */
const observedOfLast = memoize((input: BridgeInput): readonly Attestation[] => {
  const last = lastObservedNonce(input);
  return eventAttestations(input)
    .filter(({ nonce }) => compareNumerals(nonce, last) === 0)
    .map(({ attestation }) => attestation)
    .filter(({ observed }) => required(observed));
});

/** The voters for the last observed event, by data part; `undefined` when the event is no longer in the state. */
export const votersOfLastObserved = memoize((input: BridgeInput): ReadonlySet<string> | undefined => {
  const observed = observedOfLast(input);
  return observed.length === 0 ? undefined : new Set(observed.flatMap(voters));
});

/** Hub height of the first vote for the last observed event; `undefined` when the event is no longer in the state. */
export const heightOfLastObserved = memoize((input: BridgeInput): Numeral | undefined =>
  lowestHeight(observedOfLast(input)),
);

/** The attestations of the event after the last observed one. */
export const nextEventAttestations = memoize((input: BridgeInput): readonly Attestation[] => {
  const next = toDecimalString(add(decimal(lastObservedNonce(input)), integer(1)));
  return eventAttestations(input)
    .filter(({ nonce }) => compareNumerals(nonce, next) === 0)
    .map(({ attestation }) => attestation);
});

export function voters({ votes }: Attestation): readonly string[] {
  return rows(votes);
}

export function lowestHeight(attestations: readonly Attestation[]): Numeral | undefined {
  return lowestNumeral(attestations, ({ height }) => required(height));
}
