import { dataPart } from '../../chain/addresses.js';
import { compare, lowest, toDecimalString } from '../../chain/decimal.js';
import type { OrchestratorAddress } from '../../chain/module-state.js';
import {
  attestationOf,
  eventAttestations,
  firstVoteHeight,
  voters,
  votersOfLastEvent,
  votersOfNextEvent,
} from '../bridge/events.js';
import type { BridgeInput } from '../bridge/input.js';
import {
  hasVoted,
  isDissenting,
  isSinceReturn,
  memberPowerShare,
  registeredMembers,
  missingBatchConfirms,
  missedSignature,
  missingValsetConfirms,
  nextDeadline,
  type RegisteredMember,
} from '../bridge/orchestrators.js';
import { matchingRegistrations, validatorName } from '../bridge/registrations.js';
import { toLabelValue } from '../label-value.js';
import type { Field } from '../../chain/field.js';
import type { DecimalString, Numeral } from '../../chain/numeral.js';
import { hubBlocksSince, hubBlocksUntil, isLate } from './block-spans.js';
import { violationOf } from './claims.js';
import { batchSigners, valsetSigners } from '../bridge/signatures.js';
import { memberAddresses } from '../bridge/valsets.js';
import { groupBy } from '../grouping.js';
import { orNull, required, rows } from '../required-fields.js';
import { decimalStringOf, MAX_ROWS } from './item-list.js';

export type WatchedItem = Readonly<ReturnType<typeof watchedItem>>;
export type MissingItems = Readonly<ReturnType<typeof missingItems>>;

/** What each entry of `watch` has signed and voted. Unknown values are `null`, and all of a validator that is not in the set. */
export function watchedItems(input: BridgeInput) {
  return input.settings.watch.slice(0, MAX_ROWS).map((entry) => watchedItem(input, entry));
}

function watchedItem(input: BridgeInput, entry: string) {
  const registrations = orNull(() => matchingRegistrations(input, entry));
  const members = orNull(() => registeredMembers(input));
  const [registration] = registrations ?? [];
  const member = members?.find((candidate) => registrations?.includes(candidate.registration) === true);
  const ofMember = <T>(derive: (validator: RegisteredMember) => T | undefined): T | null =>
    member === undefined ? null : orNull(() => derive(member));
  const ofRegistration = <T>(derive: (orchestrator: OrchestratorAddress) => T | undefined): T | null =>
    registration === undefined ? null : orNull(() => derive(registration));
  const deadline = ofMember((validator) => nextDeadline(input, validator)?.height);
  return {
    address: toLabelValue(entry),
    name: ofRegistration((orchestrator) => validatorName(input, orchestrator) || undefined),
    orchestrator: ofRegistration(({ orchestrator }) => toLabelValue(required(orchestrator).toLowerCase())),
    externalAddress: member?.labels.external_address ?? null,
    /** Whether it is in the newest validator set; `unregistered`: it has no orchestrator on this bridge. */
    membership: registrations && members && membershipOf(registrations, member),
    /** Share of the power of the newest validator set, 0 to 1. */
    powerRatio: ofMember((validator) => memberPowerShare(input, validator)),
    /** What it has to sign and has not: live batches and validator sets. */
    missingBatches: ofMember((validator) =>
      missingItems(missingBatchConfirms(input, validator).map(({ batch_nonce }) => batch_nonce)),
    ),
    missingValsets: ofMember((validator) =>
      missingItems(missingValsetConfirms(input, validator).map(({ nonce }) => nonce)),
    ),
    /** On the last observed event. `dissenting`: for another claim than the observed one. */
    lastVote: ofMember((validator) => lastVote(input, validator)),
    /** On the next event; `null` also while nobody has claimed it. */
    nextVote: ofMember((validator) => voteOf(hasVoted(votersOfNextEvent(input), validator))),
    /** Hub height by which it has to sign the next batch or validator set, else it is jailed; `null` when nothing is missing. */
    deadlineHeight: deadline && toDecimalString(deadline),
    jailedIn: deadline && hubBlocksUntil(input, () => deadline),
    /** What it has left the validator set for; `null` while it is in the set, or when the reason is another one. */
    missedSignature:
      members === null || member !== undefined
        ? null
        : ofRegistration((orchestrator) => missedSignature(input, orchestrator)),
    /** Everything of the document that it can have voted for or signed; `null` when that is unknown. */
    duties: {
      events: ofMember((validator) => votes(input, validator)),
      batches: ofMember((validator) => batchConfirms(input, validator)),
      valsets: ofMember((validator) => valsetConfirms(input, validator)),
    },
  };
}

/** The registered members of the newest validator set, the watched ones first, then the most powerful, at most `MAX_MEMBERS`. */
export function registeredItems(input: BridgeInput) {
  const events = orNull(() => lateEvents(input));
  return registeredMembers(input)
    .slice(0, MAX_MEMBERS)
    .map((member) => ({
      name: orNull(() => validatorName(input, member.registration) || undefined),
      orchestrator: member.labels.orchestrator || null,
      externalAddress: member.labels.external_address,
      /** Its account or operator address. */
      validator: orNull(() => toLabelValue(required(member.registration.sender))),
      powerRatio: orNull(() => memberPowerShare(input, member)),
      /** Hub blocks to its next deadline, of whatever kind. */
      jailedIn: orNull(() => deadlineOf(input, member)),
      /** What it has not signed or voted for within the usual time, also where the others are sufficient; `null` for nothing or unknown. */
      overdue: {
        batches: orNull(() =>
          overdueItems(
            input,
            member,
            missingBatchConfirms(input, member).map(({ batch_nonce, block }) => [
              required(batch_nonce),
              required(block),
            ]),
          ),
        ),
        valsets: orNull(() =>
          overdueItems(
            input,
            member,
            missingValsetConfirms(input, member).map(({ nonce, height }) => [required(nonce), required(height)]),
          ),
        ),
        events: events && orNull(() => overdueItems(input, member, unvotedEvents(events, member))),
      },
    }));
}

export type OverdueItems = Readonly<NonNullable<ReturnType<typeof overdueItems>>>;

/** The nonces that the member has to sign or vote for, and has not for longer than usual. */
function overdueItems(
  input: BridgeInput,
  member: RegisteredMember,
  missing: readonly (readonly [nonce: Numeral, height: Numeral])[],
) {
  const late = missing
    .filter(([, height]) => isSinceReturn(input, member, height) && isLate(hubBlocksSince(input, height)))
    .toSorted(([a], [b]) => compare(a, b));
  const [first, last] = [late[0], late.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  return {
    ...missingItems(late.map(([nonce]) => nonce)),
    newest: toDecimalString(last[0]),
    oldestSeconds: hubBlocksSince(input, first[1])?.seconds ?? null,
  };
}

/** The events of the document, with who voted for any claim of each, by data part; without those that contradict the hub. */
function lateEvents(input: BridgeInput) {
  return Array.from(groupBy(eventAttestations(input), ({ nonce }) => decimalStringOf(nonce)).values())
    .filter((claims) => claims.some(({ attestation }) => violationOf(input, attestation) === null))
    .slice(-MAX_EVENTS)
    .map((claims) => ({
      nonce: decimalStringOf(claims[0]?.nonce),
      height: required(firstVoteHeight(claims.map(attestationOf))),
      voted: new Set(claims.flatMap(({ attestation }) => voters(attestation))),
    }))
    .filter(({ height }) => isLate(hubBlocksSince(input, height)));
}

function unvotedEvents(events: ReturnType<typeof lateEvents>, { registration }: RegisteredMember) {
  const sender = dataPart(required(registration.sender));
  return events.filter(({ voted }) => !voted.has(sender)).map(({ nonce, height }) => [nonce, height] as const);
}

const MAX_EVENTS = 10_000;
const MAX_MEMBERS = 200;

function deadlineOf(input: BridgeInput, member: RegisteredMember) {
  const height = nextDeadline(input, member)?.height;
  return height === undefined ? undefined : (hubBlocksUntil(input, () => height) ?? undefined);
}

function membershipOf(
  registrations: readonly OrchestratorAddress[],
  member: RegisteredMember | undefined,
): 'active' | 'inactive' | 'unregistered' {
  if (member !== undefined) return 'active';
  return registrations.length === 0 ? 'unregistered' : 'inactive';
}

function lastVote(input: BridgeInput, member: RegisteredMember): 'dissenting' | 'voted' | 'missing' | undefined {
  if (isDissenting(input, member) === true) return 'dissenting';
  return voteOf(hasVoted(votersOfLastEvent(input), member));
}

function voteOf(hasVotedFor: boolean | undefined): 'voted' | 'missing' | undefined {
  return hasVotedFor === undefined ? undefined : hasVotedFor ? 'voted' : 'missing';
}

/** A vote for an event, or a signature of a batch or validator set. */
export interface Duty {
  readonly nonce: DecimalString;
  /** `not_due`: absent, and either from before the validator was a member, or young. Nothing is too young for a silent validator. */
  readonly state: 'done' | 'missing' | 'not_due';
}

/** The newest duties of a kind, in ascending order. */
const MAX_DUTIES = 20;

function votes(input: BridgeInput, member: RegisteredMember): readonly Duty[] {
  const sender = dataPart(required(member.registration.sender));
  const events = groupBy(eventAttestations(input), ({ nonce }) => decimalStringOf(nonce));
  return newest(events, ([nonce, claims]) => {
    const heights = claims.map(({ attestation }) => required(attestation.height));
    const isDone = claims.some(({ attestation }) => voters(attestation).includes(sender));
    return duty(input, member, nonce, required(lowest(heights)), isDone);
  });
}

function batchConfirms(input: BridgeInput, member: RegisteredMember): readonly Duty[] {
  required(input.state.batch_confirms);
  const batches = rows(input.state.batches).map((batch) => [decimalStringOf(batch.batch_nonce), batch] as const);
  return newest(batches, ([nonce, batch]) =>
    duty(input, member, nonce, required(batch.block), batchSigners(input, batch).has(member.address)),
  );
}

function valsetConfirms(input: BridgeInput, member: RegisteredMember): readonly Duty[] {
  required(input.state.valset_confirms);
  const valsets = rows(input.state.valsets)
    .filter((valset) => memberAddresses(valset).has(member.address))
    .map((valset) => [decimalStringOf(valset.nonce), valset] as const);
  return newest(valsets, ([nonce, valset]) =>
    duty(input, member, nonce, required(valset.height), valsetSigners(input, valset).has(member.address)),
  );
}

function newest<T>(
  all: Iterable<readonly [DecimalString, T]>,
  dutyOf: (entry: readonly [DecimalString, T]) => ReturnType<typeof duty>,
): readonly Duty[] {
  const ascending = Array.from(all).toSorted(([a], [b]) => compare(a, b));
  const duties = ascending.slice(-MAX_DUTIES).map(dutyOf);
  const owed = duties.filter(({ isOwed }) => isOwed);
  const isSilent =
    owed.every(({ isDone }) => !isDone) && owed.filter(({ age }) => isLate(age, SILENT_SECONDS)).length >= MIN_SILENT;
  return duties.map(({ nonce, isDone, isOwed, age }) => {
    if (isDone) return { nonce, state: 'done' };
    return { nonce, state: isOwed && (isSilent || isLate(age)) ? 'missing' : 'not_due' };
  });
}

/** A validator is silent if it has done none of its duties, and so many of them are older than most need. */
export const MIN_SILENT = 3;
const SILENT_SECONDS = 120;

function duty(input: BridgeInput, member: RegisteredMember, nonce: DecimalString, height: Numeral, isDone: boolean) {
  return { nonce, isDone, isOwed: isSinceReturn(input, member, height), age: hubBlocksSince(input, height) };
}

/** Listed nonces; the oldest are kept. */
const MAX_NONCES = 5;

function missingItems(fields: readonly Field<Numeral>[]) {
  const nonces = fields.map(decimalStringOf);
  return { total: nonces.length, nonces: nonces.toSorted(compare).slice(0, MAX_NONCES) };
}
