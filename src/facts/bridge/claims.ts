import { ratio } from '../../chain/numeral.js';
import type { Attestation } from '../../chain/module-state.js';
import {
  claimContent,
  readClaimType,
  conflictingNonces,
  votedAddresses,
  voters,
  type EventAttestation,
} from './events.js';
import type { BridgeInput } from './bridge-input.js';
import { foreignBatchClaims, suspiciousValsetClaims } from './integrity.js';
import { membersWhere, findMissing, newestPowers, newestTotalPower, newestValset, sumPower } from './valsets.js';
import { optional, orNull, orUndefined } from '../required-fields.js';
import { hubBlocksSince } from './block-times.js';
import { decimalOrNull, formatDecimal, truncatedOrNull } from '../plain-values.js';
import { coinItem, tokenItem } from './tokens.js';

export type ClaimItem = Readonly<ReturnType<typeof claimItem>>;

/** A pending claim: its content, its voters, and its contradictions. */
export function claimItem(input: BridgeInput, { nonce, attestation }: EventAttestation) {
  const voted = orNull(() => votedAddresses(input, attestation));
  const newest = orUndefined(() => newestValset(input));
  return {
    eventNonce: formatDecimal(nonce),
    /** Whether there is another claim of the same event. */
    conflicting: conflictingNonces(input).has(nonce),
    votes: orNull(() => voters(attestation).length),
    /** Share of the power of the newest validator set that voted for this claim, 0 to 1. */
    votedPowerRatio: voted && orNull(() => ratio(sumPower(newestPowers(input), voted), newestTotalPower(input))),
    firstVoteHeight: decimalOrNull(() => attestation.height),
    age: hubBlocksSince(input, attestation.height),
    violation: findViolation(input, attestation),
    ...readContent(input, attestation),
    /** Members of the newest validator set with a vote for this claim, and without one. */
    voted: voted && orNull(() => newest && membersWhere(input, newest, (address) => voted.has(address))),
    missing: voted && orNull(() => findMissing(input, newest, voted)),
  };
}

/** How the claim contradicts the validator sets or batches of the hub; `null` for a plausible claim. */
export function findViolation(input: BridgeInput, attestation: Attestation) {
  const isIn = (claims: (input: BridgeInput) => readonly Attestation[]): boolean =>
    orNull(() => claims(input))?.includes(attestation) === true;
  if (isIn(suspiciousValsetClaims)) return 'valset_claim_mismatch' as const;
  return isIn(foreignBatchClaims) ? ('withdraw_claim_without_batch' as const) : null;
}

/** Each value is `null` for an unknown type. */
function readContent(input: BridgeInput, attestation: Attestation) {
  const type = orNull(() => readClaimType(attestation));
  const content = type === null ? undefined : orUndefined(() => claimContent(attestation));
  const contract = orUndefined(() => optional(content?.token_contract));
  return {
    type,
    externalHeight: decimalOrNull(() => content?.block_height),
    /** The token that is deposited, withdrawn in the batch, or deployed. */
    token: contract === undefined ? null : tokenItem(input, contract),
    amount: type === 'deposit' ? coinItem(input, { contract, amount: content?.amount }) : null,
    /** External address that deposited, and the account of the hub that receives it. */
    sender: truncatedOrNull(() => optional(content?.external_sender)),
    receiver: truncatedOrNull(() => optional(content?.hub_receiver)),
    /** The batch that was executed, and the validator set in the contract. */
    batchNonce: decimalOrNull(() => content?.batch_nonce),
    valsetNonce: decimalOrNull(() => content?.valset_nonce),
  };
}
