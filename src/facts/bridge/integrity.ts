import { packedValsetClaim, packedWithdrawClaim, type ClaimedMember, type claimTypes } from '../../chain/claim.js';
import { compare, highest, ratio, toDecimalString } from '../../chain/decimal.js';
import type { Attestation, Valset } from '../../chain/module-state.js';
import { families, labeledGauge, perKind } from '../../metrics/family.js';
import { groupBy } from '../grouping.js';
import { memoize } from '../memoize.js';
import { optional, required, rows } from '../required-fields.js';
import { attestationOf, lostClaims, pendingAttestations, votedPower } from './events.js';
import type { BridgeInput } from './input.js';
import { batchesByKey, nonceKey } from './signing.js';
import { newestTotalPower } from './valsets.js';

/*
 * What only an attack, a forged signature, a bug or a restored state explains: a validator set or a batch of the contract that the hub
 * did not create.
 */

const valsetsByNonce = memoize(({ state }: BridgeInput) =>
  groupBy(rows(state.valsets), ({ nonce }) => nonceKey(nonce)),
);

type Members = Valset['members'] | readonly ClaimedMember[];

/** The members as a set of addresses and powers. */
function memberKeys(members: Members): ReadonlySet<string> {
  return new Set(
    rows(members).map(
      ({ external_address, power }) => `${toDecimalString(required(power))} ${required(external_address)}`,
    ),
  );
}

/** Whether one of the stored validator sets has other members or powers. */
function differs(stored: readonly Valset[], members: () => Members): boolean {
  if (stored.length === 0) return false;
  const expected = memberKeys(members());
  return stored
    .map((valset) => memberKeys(valset.members))
    .some((actual) => actual.size !== expected.size || Array.from(actual).some((member) => !expected.has(member)));
}

/** The stored validator sets with the nonce of the one in the contract. */
function storedPartners(input: BridgeInput): readonly Valset[] {
  const { nonce } = required(input.state.last_observed_valset);
  return valsetsByNonce(input).get(nonceKey(nonce)) ?? [];
}

function valsetMismatch(input: BridgeInput): number {
  return differs(storedPartners(input), () => required(input.state.last_observed_valset).members) ? 1 : 0;
}

function valsetUnknown(input: BridgeInput): number {
  const nonce = required(required(input.state.last_observed_valset).nonce);
  required(input.state.valsets);
  // Before the first update, no validator set was observed.
  return compare(nonce, 0) !== 0 && storedPartners(input).length === 0 ? 1 : 0;
}

/** The last part of the type URL of a claim, such as `MsgDepositClaim`. */
export function claimMessage({ claim }: Attestation): string {
  const { '@type': unpacked, type_url: packed } = required(claim);
  const url = required(optional(unpacked) ?? packed);
  return url.slice(url.lastIndexOf('.') + 1);
}

const pendingClaimsByMessage = memoize((input: BridgeInput) =>
  groupBy(pendingAttestations(input).map(attestationOf), claimMessage),
);

function pendingClaims(input: BridgeInput, message: keyof typeof claimTypes): readonly Attestation[] {
  return pendingClaimsByMessage(input).get(message) ?? [];
}

/** Claims that a validator set was installed that the hub did not create. */
export const foreignValsetClaims = memoize((input: BridgeInput): readonly Attestation[] => {
  required(input.state.valsets);
  return pendingClaims(input, 'MsgValsetUpdatedClaim').filter((attestation) => {
    const claim = required(attestation.claim);
    const packed = () => required(packedValsetClaim(required(claim.value)));
    const nonce = optional(claim.valset_nonce) ?? packed().valsetNonce;
    const stored = valsetsByNonce(input).get(nonceKey(nonce)) ?? [];
    return stored.length === 0 || differs(stored, () => optional(claim.members) ?? packed().members);
  });
});

/** Claims that a batch was executed that the hub does not have. The hub halts when one of them is observed. */
export const foreignBatchClaims = memoize((input: BridgeInput): readonly Attestation[] => {
  required(input.state.batches);
  return pendingClaims(input, 'MsgWithdrawClaim').filter((attestation) => {
    const claim = required(attestation.claim);
    const packed = () => required(packedWithdrawClaim(required(claim.value)));
    const nonce = optional(claim.batch_nonce) ?? packed().batchNonce;
    const token = optional(claim.token_contract) ?? packed().tokenContract;
    return batchesByKey(input).get(nonceKey(nonce))?.has(token) !== true;
  });
});

type Claims = (input: BridgeInput) => readonly Attestation[];

const countOf =
  (claims: Claims) =>
  (input: BridgeInput): number =>
    claims(input).length;

/** The highest voted power of the claims; 0 without a claim. */
const powerRatioOf =
  (claims: Claims) =>
  (input: BridgeInput): number | undefined => {
    const power = highest(claims(input).map((attestation) => votedPower(input, attestation)));
    return power === undefined ? 0 : ratio(power, newestTotalPower(input));
  };

export const integrityFamilies = families<BridgeInput>({
  bridge_integrity_violations: labeledGauge({
    help: 'Number of validator sets and claims by kind that contradict what the hub has stored.',
    // Five series per target.
    labels: ['kind'],
    overLimit: 'aggregate',
    derive: perKind<BridgeInput>({
      lost_claims: countOf(lostClaims),
      valset_claim_mismatch: countOf(foreignValsetClaims),
      valset_mismatch: valsetMismatch,
      valset_unknown: valsetUnknown,
      withdraw_claim_without_batch: countOf(foreignBatchClaims),
    }),
  }),
  bridge_integrity_violation_power_ratio: labeledGauge({
    help: 'Highest share of the power of the newest validator set that voted for one of the claims of the kind; 0 without a claim.',
    // Three series per target.
    labels: ['kind'],
    derive: perKind<BridgeInput>({
      lost_claims: powerRatioOf(lostClaims),
      valset_claim_mismatch: powerRatioOf(foreignValsetClaims),
      withdraw_claim_without_batch: powerRatioOf(foreignBatchClaims),
    }),
  }),
});
