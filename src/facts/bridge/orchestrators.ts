import {
  add,
  compare,
  highest,
  integer,
  lowest,
  subtract,
  toDecimalString,
  ZERO,
  type Decimal,
  type Exact,
} from '../../chain/decimal.js';
import { dataPart } from '../../chain/addresses.js';
import type { Batch, OrchestratorAddress, Valset } from '../../chain/module-state.js';
import type { DecimalString, Numeral } from '../../chain/numeral.js';
import { toLabelValue } from '../label-value.js';
import { memoize, memoizePerRow } from '../memoize.js';
import { optional, orEmpty, orUndefined, required, rows } from '../required-fields.js';
import { dissentersOfLastEvent } from './events.js';
import type { BridgeInput } from './input.js';
import { isWatched, matchingRegistrations, registrationByAddress } from './registrations.js';
import { batchSigners, valsetSigners } from './signatures.js';
import { memberAddresses, newestMemberAddresses, newestPowers, shareOfNewest } from './valsets.js';

/* What the members of the newest validator set owe: signatures of validator sets and batches, and votes. */

/** A member of the newest validator set whose orchestrator is known. */
export interface RegisteredMember {
  readonly address: string;
  readonly registration: OrchestratorAddress;
  readonly labels: { readonly orchestrator: string; readonly external_address: string };
  readonly isWatched: boolean;
}

/** The members: the watched ones first, then by descending power, in which order limits keep them. */
export const registeredMembers = memoize((input: BridgeInput): readonly RegisteredMember[] => {
  const registrationOf = registrationByAddress(input);
  const members = Array.from(newestMemberAddresses(input)).flatMap((address) => {
    const registration = registrationOf.get(address);
    if (registration === undefined) return [];
    const orchestrator = toLabelValue(optional(registration.orchestrator) ?? '');
    const labels = { orchestrator, external_address: toLabelValue(address) };
    return [{ address, registration, labels, isWatched: isWatched(input, registration) }];
  });
  const powers = new Map(orEmpty(() => Array.from(newestPowers(input))));
  const memberPower = ({ address }: RegisteredMember): Decimal => powers.get(address) ?? ZERO;
  return members.toSorted(
    (a, b) =>
      Number(b.isWatched) - Number(a.isWatched) ||
      compare(memberPower(b), memberPower(a)) ||
      compareText(a.labels.orchestrator, b.labels.orchestrator) ||
      compareText(a.labels.external_address, b.labels.external_address),
  );
});

const compareText = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);

/** The share of a member in the power of the newest validator set. */
export function memberPowerShare(input: BridgeInput, { address }: RegisteredMember): number | undefined {
  return shareOfNewest(input, newestPowers(input).get(address) ?? ZERO);
}

/** Each validator set with its nonce and members. */
const valsetMembers = memoize(({ state }: BridgeInput) =>
  rows(state.valsets).map((valset) => ({
    valset,
    nonce: required(valset.nonce),
    members: memberAddresses(valset),
  })),
);

/** Whether the signing deadline of a validator set has not passed or is unknown. */
const isOpen = memoizePerRow(({ state, height }: BridgeInput, valset: Valset): boolean => {
  const window = optional(optional(state.params)?.signed_valsets_window);
  return height === undefined || window === undefined || compare(valsetDeadline(valset, window), height) >= 0;
});

/** The last hub height at which a member can sign a validator set without being jailed. */
export function valsetDeadline({ height }: Valset, window: Exact): Decimal {
  return add(required(height), window);
}

/**
 * The nonce of the newest validator set without a member, which is its hub height. A validator that left and came back is not jailed
 * for what was created before.
 */
const lastAbsence = memoizePerRow((input: BridgeInput, { address }: RegisteredMember): Numeral | undefined =>
  highest(valsetMembers(input).map(({ members, nonce }) => (members.has(address) ? undefined : nonce))),
);

/** Whether a member owes what was made at a height. */
export function isSinceReturn(input: BridgeInput, member: RegisteredMember, height: Exact): boolean {
  const absence = lastAbsence(input, member);
  return absence === undefined || compare(height, absence) > 0;
}

/** The open validator sets that a member has to sign and has not. */
export const missingValsetConfirms = memoizePerRow(
  (input: BridgeInput, member: RegisteredMember): readonly Valset[] => {
    // Without the list of signatures, missing signatures are unknown even if no validator set is open.
    required(input.state.valset_confirms);
    const { address } = member;
    const missing: Valset[] = [];
    for (const { valset, members, nonce } of valsetMembers(input)) {
      if (!members.has(address) || !isSinceReturn(input, member, nonce) || !isOpen(input, valset)) continue;
      if (!valsetSigners(input, valset).has(address)) missing.push(valset);
    }
    return missing;
  },
);

const signersOfBatches = memoize((input: BridgeInput) => {
  // Without the list of signatures, missing signatures are unknown even if there is no batch.
  required(input.state.batch_confirms);
  return rows(input.state.batches).map((batch) => ({ batch, signers: batchSigners(input, batch) }));
});

/** The live batches that a member has not signed. */
export const missingBatchConfirms = memoizePerRow(
  (input: BridgeInput, { address }: RegisteredMember): readonly Batch[] =>
    signersOfBatches(input).flatMap(({ batch, signers }) => (signers.has(address) ? [] : batch)),
);

/** The live batches that a member has signed. */
export const signedBatches = memoizePerRow((input: BridgeInput, { address }: RegisteredMember): readonly Batch[] =>
  signersOfBatches(input).flatMap(({ batch, signers }) => (signers.has(address) ? batch : [])),
);

/** What validators have to sign. */
export const confirmKinds = ['valset', 'batch'] as const;
export type ConfirmKind = (typeof confirmKinds)[number];

/** The hub heights after which a member is jailed for a missing signature of this kind. */
function confirmDeadlines(input: BridgeInput, member: RegisteredMember, kind: ConfirmKind): readonly Decimal[] {
  if (kind === 'batch') {
    const missing = missingBatchConfirms(input, member)
      .map(({ block }) => required(block))
      .filter((block) => isSinceReturn(input, member, block));
    const window = optional(optional(input.state.params)?.signed_batches_window);
    return window === undefined ? [] : missing.map((block) => add(block, window));
  }
  const missing = missingValsetConfirms(input, member);
  if (missing.length === 0) return [];
  const window = required(required(input.state.params).signed_valsets_window);
  return missing.map((valset) => valsetDeadline(valset, window));
}

/** The first of these heights, also when it has passed; `undefined` when the member owes none. */
export function confirmDeadline(input: BridgeInput, member: RegisteredMember, kind: ConfirmKind): Decimal | undefined {
  return lowest(confirmDeadlines(input, member, kind));
}

export interface Deadline {
  readonly kind: ConfirmKind;
  readonly height: Decimal;
}

/** The next deadline of a member, of whatever kind; `undefined` when it owes nothing that it can still sign in time. */
export function nextDeadline(input: BridgeInput, member: RegisteredMember): Deadline | undefined {
  const { height: now } = input;
  return confirmKinds
    .flatMap((kind) => confirmDeadlines(input, member, kind).map((height): Deadline => ({ kind, height })))
    .filter(({ height }) => now === undefined || compare(height, now) >= 0)
    .toSorted((a, b) => compare(a.height, b.height))[0];
}

/** Whether the member is among the voters of an event; `undefined` without such an event. */
export function hasVoted(
  voters: ReadonlySet<string> | undefined,
  { registration }: RegisteredMember,
): boolean | undefined {
  return voters?.has(dataPart(required(registration.sender)));
}

/** Whether the member has voted for a claim that lost against that of the last observed event; `undefined` when the event is no longer in the state. */
export function isDissenting(input: BridgeInput, member: RegisteredMember): boolean | undefined {
  const dissenters = dissentersOfLastEvent(input);
  return dissenters?.size === 0 ? false : hasVoted(dissenters, member);
}

/** The entries of `watch` with a registration, and whether one of a member of the newest validator set is among them. */
export const watchedEntries = memoize((input: BridgeInput) => {
  const members = newestMemberAddresses(input);
  if (members.size === 0) return [];
  return input.settings.watch.flatMap((address) => {
    const registrations = matchingRegistrations(input, address);
    if (registrations.length === 0) return [];
    return [{ address, isActive: registrations.some(({ eth_address }) => members.has(required(eth_address))) }];
  });
});

export interface MissedSignature {
  readonly of: 'validator set' | 'batch';
  readonly nonce: DecimalString;
}

/**
 * What a validator did not sign, if it left the validator set when the time for that had passed: the bridge jails in the block after the
 * deadline, and the hub then makes a set without the validator. `undefined` for other reasons, such as missed blocks.
 */
export function missedSignature(input: BridgeInput, { eth_address }: OrchestratorAddress): MissedSignature | undefined {
  const address = required(eth_address);
  const leftAt = heightOfLeaving(input, address);
  if (leftAt === undefined) return undefined;
  const { params, valsets, batches } = input.state;
  const isCause = (height: Exact, window: Exact): boolean => {
    const blocks = subtract(leftAt, add(height, window));
    return compare(blocks, integer(1)) === 0 || compare(blocks, integer(2)) === 0;
  };
  const valset = orUndefined(() => {
    const window = required(required(params).signed_valsets_window);
    return rows(valsets)
      .filter(({ height }) => isCause(required(height), window))
      .find((candidate) => memberAddresses(candidate).has(address) && !valsetSigners(input, candidate).has(address));
  });
  if (valset) return { of: 'validator set', nonce: toDecimalString(required(valset.nonce)) };
  const batch = orUndefined(() => {
    const window = required(required(params).signed_batches_window);
    return rows(batches)
      .filter(({ block }) => isCause(required(block), window))
      .find((candidate) => !batchSigners(input, candidate).has(address));
  });
  return batch ? { of: 'batch', nonce: toDecimalString(required(batch.batch_nonce)) } : undefined;
}

/** The height of the first validator set since which the address is in none; `undefined` when it was in none of those in the state. */
function heightOfLeaving({ state }: BridgeInput, address: string): Exact | undefined {
  const byNonce = rows(state.valsets).toSorted((a, b) => compare(required(a.nonce), required(b.nonce)));
  const last = byNonce.findLastIndex((valset) => memberAddresses(valset).has(address));
  const next = last === -1 ? undefined : byNonce[last + 1];
  return next && required(next.height);
}
