import { compare } from '../../chain/numeral.js';
import type { OrchestratorAddress } from '../../chain/module-state.js';
import {
  duties,
  hasDuty,
  isDone,
  isOwed,
  missedSignature,
  missingConfirms,
  nextDeadline,
  signatureOf,
  type Duty,
} from '../bridge/duties.js';
import { attestationsByNonce, votersOfLastEvent, votersOfNextEvent } from '../bridge/events.js';
import type { BridgeInput } from '../bridge/input.js';
import {
  hasVoted,
  isDissenting,
  memberPowerShare,
  registeredMembers,
  type RegisteredMember,
} from '../bridge/orchestrators.js';
import { matchingRegistrations, validatorName } from '../bridge/registrations.js';
import { toLabelValue } from '../label-value.js';
import { memoize } from '../memoize.js';
import { orNull, required } from '../required-fields.js';
import { hubBlocksSince, hubBlocksUntil, isLate, type BlockSpan } from '../bridge/block-times.js';
import { violationOf } from './claims.js';
import { decimalOrNull, decimalStringOf, MAX_ROWS } from './item-list.js';

export type WatchedItem = Readonly<ReturnType<typeof watchedItem>>;
export type MissingItems = Readonly<ReturnType<typeof missingItems>>;

/** The signatures and votes of each entry of `watch`. Unknown values are `null`, and all values of a validator outside the set. */
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
  return {
    address: toLabelValue(entry),
    name: ofRegistration((orchestrator) => validatorName(input, orchestrator) || undefined),
    orchestrator: ofRegistration(({ orchestrator }) => toLabelValue(required(orchestrator).toLowerCase())),
    externalAddress: member?.labels.external_address ?? null,
    /** In the newest validator set; `unregistered`: without an orchestrator on this bridge. */
    membership: registrations && members && membershipOf(registrations, member),
    /** Share of the power of the newest validator set, 0 to 1. */
    powerRatio: ofMember((validator) => memberPowerShare(input, validator)),
    missingBatches: ofMember((validator) => missingItems(missingConfirms.batch(input, validator))),
    missingValsets: ofMember((validator) => missingItems(missingConfirms.valset(input, validator))),
    /** On the last observed event. `dissenting`: for a claim that lost. */
    lastVote: ofMember((validator) => lastVote(input, validator)),
    /** On the next event; `null` also while nobody has claimed it. */
    nextVote: ofMember((validator) => voteOf(hasVoted(votersOfNextEvent(input), validator))),
    /** Hub height after which a missing signature jails the validator; `null` when nothing is missing. */
    deadlineHeight: decimalOrNull(() => member && nextDeadline(input, member)?.height),
    jailedIn: ofMember((validator) => blocksToDeadline(input, validator)),
    /** The signature of that deadline, if it is late. */
    lateSignature: ofMember((validator) => lateSignature(input, validator)),
    /** The signature for which the validator was jailed; `null` for members, and for another reason. */
    missedSignature:
      members === null || member !== undefined
        ? null
        : ofRegistration((orchestrator) => missedSignature(input, orchestrator)),
    /** All possible votes and signatures in the document; `null` when unknown. */
    duties: {
      events: ofMember((validator) => dutyItems(input, validator, 'event')),
      batches: ofMember((validator) => dutyItems(input, validator, 'batch')),
      valsets: ofMember((validator) => dutyItems(input, validator, 'valset')),
    },
  };
}

/** The registered members of the newest validator set, watched members first, then the most powerful. */
export function registeredItems(input: BridgeInput) {
  return registeredMembers(input)
    .slice(0, MAX_REGISTERED_MEMBERS)
    .map((member) => ({
      name: orNull(() => validatorName(input, member.registration) || undefined),
      orchestrator: member.labels.orchestrator || null,
      externalAddress: member.labels.external_address,
      /** Account or operator address. */
      validator: orNull(() => toLabelValue(required(member.registration.sender))),
      powerRatio: orNull(() => memberPowerShare(input, member)),
      /** Hub blocks to the next deadline of any kind. */
      jailedIn: orNull(() => blocksToDeadline(input, member)),
      /** Late signatures and votes, also when the bridge does not need them; `null` for none and unknown. */
      overdue: {
        batches: orNull(() => overdueItems(input, member, missingConfirms.batch(input, member))),
        valsets: orNull(() => overdueItems(input, member, missingConfirms.valset(input, member))),
        events: orNull(() =>
          overdueItems(
            input,
            member,
            lateEvents(input).filter((event) => !isDone(member, event)),
          ),
        ),
      },
    }));
}

export type OverdueItems = Readonly<NonNullable<ReturnType<typeof overdueItems>>>;

/** Missing signatures or votes that take longer than usual. */
function overdueItems(input: BridgeInput, member: RegisteredMember, missing: readonly Duty[]) {
  const late = missing
    .filter((duty) => isOwed(input, member, duty) && isLate(ageOf(input, duty)))
    .toSorted((a, b) => compare(required(a.nonce), required(b.nonce)));
  const [first, last] = [late[0], late.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  return {
    ...missingItems(late),
    newest: decimalStringOf(last.nonce),
    oldestSeconds: ageOf(input, first)?.seconds ?? null,
  };
}

const ageOf = (input: BridgeInput, { height }: Duty): BlockSpan | null => hubBlocksSince(input, required(height));

/** The late events of the document with a plausible claim. */
const lateEvents = memoize((input: BridgeInput): readonly Duty[] =>
  duties(input, 'event')
    .filter(({ nonce }) =>
      attestationsByNonce(input)
        .get(required(nonce))
        ?.some((claim) => violationOf(input, claim) === null),
    )
    .slice(-MAX_EVENTS)
    .filter((event) => isLate(ageOf(input, event))),
);

const MAX_EVENTS = 10_000;
const MAX_REGISTERED_MEMBERS = 200;

function blocksToDeadline(input: BridgeInput, member: RegisteredMember) {
  const height = nextDeadline(input, member)?.height;
  return height === undefined ? undefined : (hubBlocksUntil(input, () => height) ?? undefined);
}

function lateSignature(input: BridgeInput, member: RegisteredMember) {
  const duty = nextDeadline(input, member)?.duty;
  return duty && isLate(ageOf(input, duty)) ? signatureOf(duty) : undefined;
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
export interface DutyItem {
  readonly nonce: string;
  /** `not_due`: missing, but older than the membership or recent. Of a silent validator, recent duties are missing. */
  readonly state: 'done' | 'missing' | 'not_due';
}

const MAX_DUTIES = 20;

/** The newest duties of a kind, in ascending order. */
function dutyItems(input: BridgeInput, member: RegisteredMember, kind: Duty['kind']): readonly DutyItem[] {
  const newest = duties(input, kind)
    .filter((duty) => hasDuty(member, duty))
    .map((duty) => ({ duty, nonce: required(duty.nonce) }))
    .toSorted((a, b) => compare(a.nonce, b.nonce))
    .slice(-MAX_DUTIES)
    .map(({ duty, nonce }) => {
      const age = ageOf(input, duty);
      return { nonce: String(nonce), isDone: isDone(member, duty), isOwed: isOwed(input, member, duty), age };
    });
  const owed = newest.filter((duty) => duty.isOwed);
  const isSilent =
    owed.every((duty) => !duty.isDone) &&
    owed.filter(({ age }) => isLate(age, USUAL_DUTY_SECONDS)).length >= MIN_SILENT;
  return newest.map(({ nonce, isDone: done, isOwed: due, age }) => {
    if (done) return { nonce, state: 'done' };
    return { nonce, state: due && (isSilent || isLate(age)) ? 'missing' : 'not_due' };
  });
}

/** A validator is silent if it has done none of its duties, of which at least so many are older than `USUAL_DUTY_SECONDS`. */
export const MIN_SILENT = 3;
const USUAL_DUTY_SECONDS = 120;

/** The oldest nonces are kept. */
const MAX_NONCES = 5;

function missingItems(missing: readonly Duty[]) {
  const nonces = missing.map(({ nonce }) => required(nonce)).toSorted(compare);
  return { total: nonces.length, nonces: nonces.slice(0, MAX_NONCES).map(String) };
}
