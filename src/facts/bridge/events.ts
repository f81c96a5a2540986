import {
  readClaimContent,
  claimTypes,
  readEventNonce,
  unpackClaim,
  type ClaimContent,
  type ClaimType,
} from '../../chain/claim.js';
import { add, compare, highest, lowest, subtract, type Numeral } from '../../chain/numeral.js';
import type { Attestation, Claim } from '../../chain/module-state.js';
import { groupBy } from '../grouping.js';
import { memoize, memoizePerRow } from '../memoize.js';
import { optional, orUndefined, required, rows } from '../required-fields.js';
import type { BridgeInput } from './bridge-input.js';
import { THIRD_RATIO, newestPowers, sumPower, shareOfNewest } from './valsets.js';
import { registrationBySender } from './registrations.js';

export interface EventAttestation {
  readonly nonce: Numeral;
  readonly attestation: Attestation;
}

/**
 * All attestations with their event nonces. An invalid nonce withdraws all families about events: it could be the
 * newest.
 */
export const eventAttestations = memoize(({ state }: BridgeInput): readonly EventAttestation[] =>
  rows(state.attestations).map((attestation) => ({ nonce: readNonce(attestation), attestation })),
);

/**
 * The field `event_nonce` of an unpacked claim, as sent by real nodes, or field 1 of a packed claim, as in the spec.
 */
function readNonce(attestation: Attestation): Numeral {
  const claim = required(attestation.claim);
  const nonce = optional(claim.event_nonce) ?? readEventNonce(packedMessage(claim));
  return required(nonce);
}

/** The message of a claim that is not unpacked. */
const packedMessage = memoize((claim: Claim) => required(unpackClaim(required(claim.value))));

/** By the last part of the type URL, such as `MsgDepositClaim`; `undefined` for an unknown type. */
export function readClaimType({ claim }: Attestation): ClaimType | undefined {
  const { '@type': unpacked, type_url: packed } = required(claim);
  const url = required(optional(unpacked) ?? packed);
  return typeByMessage.get(url.slice(url.lastIndexOf('.') + 1));
}

const typeByMessage: ReadonlyMap<string, ClaimType> = new Map(Object.entries(claimTypes));

/** The fields of a claim, unpacked or packed. A packed claim of an unknown type, or that cannot be read, has none. */
export const claimContent = memoize((attestation: Attestation): Partial<ClaimContent> => {
  const claim = required(attestation.claim);
  if (claim.value === undefined) return claim;
  const type = readClaimType(attestation);
  const packed = type && orUndefined(() => readClaimContent(type, packedMessage(claim)));
  return { ...packed, ...claim };
});

export const readAttestation = ({ attestation }: EventAttestation): Attestation => attestation;

/** The attestations of each event: several after conflicting claims, of which at most one is ever observed. */
export const attestationsByNonce = memoize(({ state }: BridgeInput): ReadonlyMap<Numeral, readonly Attestation[]> =>
  groupBy(rows(state.attestations), readNonce),
);

function findAttestations(input: BridgeInput, eventNonce: Numeral): readonly Attestation[] {
  return attestationsByNonce(input).get(eventNonce) ?? [];
}

/** The attestations of the last observed event: the observed claim, and claims that lost. */
const lastEvent = memoize((input: BridgeInput) => {
  const claims = findAttestations(input, required(input.state.last_observed_nonce));
  return {
    claims,
    observed: claims.filter(({ observed }) => required(observed)),
    lost: claims.filter(({ observed }) => !required(observed)),
  };
});

const observedOfLast = (input: BridgeInput): readonly Attestation[] => lastEvent(input).observed;

/** The claims of the last observed event that lost; none when the observed claim is no longer in the state. */
export function lostClaims(input: BridgeInput): readonly Attestation[] {
  const { observed, lost } = lastEvent(input);
  return observed.length === 0 ? [] : lost;
}

/**
 * Who voted for any claim of the last observed event, by data part; `undefined` when the event is no longer in the
 * state.
 */
export const votersOfLastEvent = memoize((input: BridgeInput): ReadonlySet<string> | undefined =>
  observedOfLast(input).length === 0 ? undefined : new Set(lastEvent(input).claims.flatMap(voters)),
);

/** Who voted for a lost claim of the last observed event; `undefined` when the event is no longer in the state. */
export const dissentersOfLastEvent = memoize((input: BridgeInput): ReadonlySet<string> | undefined =>
  observedOfLast(input).length === 0 ? undefined : new Set(lostClaims(input).flatMap(voters)),
);

/** Hub height of the first vote for the last observed event; `undefined` when the event is no longer in the state. */
export const heightOfLastObserved = memoize((input: BridgeInput): Numeral | undefined =>
  firstVoteHeight(observedOfLast(input)),
);

/** The attestations of the event after the last observed one. */
export const nextEventAttestations = memoize((input: BridgeInput): readonly Attestation[] =>
  findAttestations(input, add(required(input.state.last_observed_nonce), 1n)),
);

/** The claim of the next event with the most power, and its share; `undefined` when nobody has claimed the event. */
export const leadingClaim = memoize((input: BridgeInput) => {
  const claims = nextEventAttestations(input).map((attestation) => ({
    attestation,
    power: votedPower(input, attestation),
  }));
  const leading = claims.toSorted((a, b) => compare(b.power, a.power))[0];
  return leading && { ...leading, powerRatio: shareOfNewest(input, leading.power) };
});

/** Whether enough power has claimed the next event; `undefined` when nobody has, or the power is unknown. */
export function isNextEventCredible(input: BridgeInput): boolean | undefined {
  const share = leadingClaim(input)?.powerRatio;
  return share === undefined ? undefined : share >= THIRD_RATIO;
}

/** Who voted for any claim of the next event; `undefined` when nobody has claimed it. */
export const votersOfNextEvent = memoize((input: BridgeInput): ReadonlySet<string> | undefined => {
  const claims = nextEventAttestations(input);
  return claims.length === 0 ? undefined : new Set(claims.flatMap(voters));
});

export function voters({ votes }: Attestation): readonly string[] {
  return rows(votes);
}

/** The lowest hub height of a vote for the attestations. */
export function firstVoteHeight(attestations: readonly Attestation[]): Numeral | undefined {
  return lowest(attestations.map(({ height }) => required(height)));
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
export function votedPower(input: BridgeInput, attestation: Attestation): Numeral {
  return sumPower(newestPowers(input), votedAddresses(input, attestation));
}

/** The attestations of events that are not yet observed. */
export const pendingAttestations = memoize((input: BridgeInput): readonly EventAttestation[] => {
  const last = required(input.state.last_observed_nonce);
  return eventAttestations(input).filter(({ nonce }) => nonce > last);
});

/** The nonces of pending events with several claims. */
export const conflictingNonces = memoize((input: BridgeInput): ReadonlySet<Numeral> => {
  const last = required(input.state.last_observed_nonce);
  const conflicting = Array.from(attestationsByNonce(input)).filter(
    ([nonce, { length }]) => nonce > last && length > 1,
  );
  return new Set(conflicting.map(([nonce]) => nonce));
});

/**
 * Number of pending events up to the newest claimed event, including events whose claims are no longer in the state.
 */
export function pendingEventCount(input: BridgeInput): Numeral {
  const last = required(input.state.last_observed_nonce);
  const pending = subtract(newestAttestedNonce(input) ?? last, last);
  return pending > 0n ? pending : 0n;
}

/** The highest event nonce that is claimed or observed; `undefined` without attestations. */
export function newestAttestedNonce(input: BridgeInput): Numeral | undefined {
  return highest(eventAttestations(input).map(({ nonce }) => nonce));
}
