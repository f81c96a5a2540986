import { dataPart } from '../../chain/addresses.js';
import type { ClaimType } from '../../chain/claim.js';
import type { Attestation, Valset } from '../../chain/module-state.js';
import { highest } from '../../chain/numeral.js';
import { groupBy } from '../grouping.js';
import { memoize } from '../memoize.js';
import { decimalOrNull, formatDecimal, truncatedOrNull } from '../plain-values.js';
import { optional, orNull, orUndefined, required, rows, withdrawWithout } from '../required-fields.js';
import { hubBlocksSince } from './block-times.js';
import type { BridgeInput } from './bridge-input.js';
import {
  claimContent,
  conflictingNonces,
  pendingAttestations,
  readAttestation,
  readClaimType,
  votedAddresses,
  votedPower,
  voters,
  type EventAttestation,
} from './events.js';
import { registrationByAddress, registrationBySender } from './registrations.js';
import { batchesByKey, batchKey, confirmsByBatch, confirmsByValset } from './signatures.js';
import { coinItem, tokenItem } from './tokens.js';
import { findMissing, membersWhere, newestMemberAddresses, newestValset, shareOfNewest } from './valsets.js';

/*
 * Claims, and which of them contradict the hub: validator sets and batches of the contract that the hub did not create.
 * Only an attack, a forged signature, a bug or a restored state explains them.
 */

const valsetsByNonce = memoize(({ state }: BridgeInput) =>
  groupBy(rows(state.valsets), ({ nonce }) => required(nonce)),
);

/** The members as a set of addresses and powers. */
function memberKeys(members: Valset['members']): ReadonlySet<string> {
  return new Set(
    rows(members).map(({ external_address, power }) => `${String(required(power))} ${required(external_address)}`),
  );
}

/** Whether a stored validator set has other members or powers. */
function differs(stored: readonly Valset[], members: () => Valset['members']): boolean {
  if (stored.length === 0) return false;
  const expected = memberKeys(members());
  return stored
    .map((valset) => memberKeys(valset.members))
    .some((actual) => actual.size !== expected.size || Array.from(actual).some((member) => !expected.has(member)));
}

/** The stored validator sets with the nonce of the validator set in the contract. */
function storedSetsWithSameNonce(input: BridgeInput): readonly Valset[] {
  const { nonce } = required(input.state.last_observed_valset);
  return valsetsByNonce(input).get(required(nonce)) ?? [];
}

/** Whether the validator set in the contract has other members or powers than the stored set with its nonce. */
export const isValsetMismatch = memoize((input: BridgeInput): boolean =>
  differs(storedSetsWithSameNonce(input), () => required(input.state.last_observed_valset).members),
);

/** Whether the hub has not stored the validator set in the contract. */
export function isValsetUnknown(input: BridgeInput): boolean {
  const nonce = required(required(input.state.last_observed_valset).nonce);
  withdrawWithout(input.state.valsets);
  // Before the first update, no validator set was observed.
  return nonce !== 0n && storedSetsWithSameNonce(input).length === 0;
}

const pendingByType = memoize((input: BridgeInput) =>
  groupBy(pendingAttestations(input), ({ attestation }) => readClaimType(attestation)),
);

function pendingClaims(input: BridgeInput, type: ClaimType): readonly Attestation[] {
  return (pendingByType(input).get(type) ?? []).map(readAttestation);
}

/** Claims that the contract has a validator set that the hub did not create. */
export const foreignValsetClaims = memoize((input: BridgeInput): readonly Attestation[] => {
  withdrawWithout(input.state.valsets);
  return pendingClaims(input, 'valset').filter((attestation) => {
    const content = claimContent(attestation);
    const stored = valsetsByNonce(input).get(required(content.valset_nonce)) ?? [];
    return stored.length === 0 || differs(stored, () => content.members);
  });
});

/**
 * Claims that the contract has a forged validator set: not the first set of a new contract, which has the nonce 0 and
 * which no hub creates.
 */
export const suspiciousValsetClaims = memoize((input: BridgeInput): readonly Attestation[] => {
  const isFirst = required(required(input.state.last_observed_valset).nonce) === 0n;
  return foreignValsetClaims(input).filter(
    (attestation) => !isFirst || required(claimContent(attestation).valset_nonce) !== 0n,
  );
});

/** The pending claims of executions, by the key of the batch. */
export const executionClaims = memoize((input: BridgeInput) => groupBy(pendingClaims(input, 'withdraw'), claimedBatch));

function claimedBatch(attestation: Attestation): string {
  const { batch_nonce, token_contract } = claimContent(attestation);
  return batchKey(batch_nonce, token_contract);
}

/** Claims of the execution of a batch that the hub does not have. The hub halts when such a claim is observed. */
export const foreignBatchClaims = memoize((input: BridgeInput): readonly Attestation[] => {
  withdrawWithout(input.state.batches);
  return Array.from(executionClaims(input))
    .filter(([batch]) => !batchesByKey(input).has(batch))
    .flatMap(([, claims]) => claims);
});

/** The highest share of the power of the newest validator set that voted for a claim; 0 without claims. */
export function highestVotedShare(input: BridgeInput, claims: readonly Attestation[]): number | undefined {
  const power = highest(claims.map((attestation) => votedPower(input, attestation)));
  return power === undefined ? 0 : shareOfNewest(input, power);
}

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
    votedPowerRatio: orNull(() => shareOfNewest(input, votedPower(input, attestation))),
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

/* Inconsistent rows of the state. */

export function orphanValsetConfirms(input: BridgeInput): number {
  const live = new Set(rows(input.state.valsets).map(({ nonce }) => required(nonce)));
  return countOrphans(confirmsByValset(input), (nonce) => live.has(nonce));
}

export function orphanBatchConfirms(input: BridgeInput): number {
  const live = batchesByKey(input);
  return countOrphans(confirmsByBatch(input), (key) => live.has(key));
}

/** Number of confirms of validator sets or batches that are not in the state. */
function countOrphans<Key>(confirms: ReadonlyMap<Key, readonly unknown[]>, isLive: (key: Key) => boolean): number {
  return Array.from(confirms).reduce((total, [key, { length }]) => total + (isLive(key) ? 0 : length), 0);
}

export function membersWithoutOrchestrator(input: BridgeInput): number {
  const registrations = registrationByAddress(input);
  return Array.from(newestMemberAddresses(input)).filter((address) => !registrations.has(address)).length;
}

export function unknownVoters(input: BridgeInput): number {
  const registrations = registrationBySender(input);
  const unknown = new Set<string>();
  for (const attestation of rows(input.state.attestations)) {
    for (const voter of voters(attestation)) if (!registrations.has(voter)) unknown.add(voter);
  }
  return unknown.size;
}

export function duplicateOrchestrators({ state }: BridgeInput): number {
  const addresses = new Set<string>();
  const orchestrators = new Set<string>();
  return rows(state.orchestrator_addresses).filter((row) => {
    const address = required(row.eth_address);
    const orchestrator = dataPart(required(row.orchestrator));
    const repeats = addresses.has(address) || orchestrators.has(orchestrator);
    addresses.add(address);
    orchestrators.add(orchestrator);
    return repeats;
  }).length;
}
