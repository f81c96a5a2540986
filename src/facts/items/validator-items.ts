import { compare, lowest } from '../../chain/numeral.js';
import type { OrchestratorAddress } from '../../chain/module-state.js';
import { externalBlocks, hubBlocksSince, hubBlocksUntil, isLate, type BlockSpan } from '../bridge/block-times.js';
import {
  duties,
  hasDuty,
  isDone,
  isOpen,
  isOwed,
  missedSignature,
  nextDeadline,
  identifySignature,
  type Duty,
} from '../bridge/duties.js';
import { attestationsByNonce, votersOfLastEvent } from '../bridge/events.js';
import { estimatedExternalHeight } from '../bridge/external-height.js';
import type { BridgeInput } from '../bridge/bridge-input.js';
import { hasVoted, isDissenting, memberPowerShare, members, type Member } from '../bridge/orchestrators.js';
import { matchingRegistrations, validatorName } from '../bridge/registrations.js';
import { toLabelValue } from '../label-value.js';
import { memoize, memoizePerRow } from '../memoize.js';
import { orNull, required } from '../required-fields.js';
import { findViolation } from '../bridge/claims.js';
import { MAX_ROWS } from './item-list.js';
import { formatDecimal } from '../plain-values.js';

export type ValidatorItem = Readonly<ReturnType<typeof validatorItem>>;
export type DutyItem = Readonly<ReturnType<typeof dutyItem>>;

const MAX_MEMBERS = 200;

/**
 * What the document says about validators: those of `watch` in the order of their entries, each once, then the
 * other members of the newest validator set, the most powerful first. Unknown values are `null`, and so are the
 * duties of a validator outside the set.
 */
export function validatorItems(input: BridgeInput): readonly ValidatorItem[] {
  const inSet = orNull(() => members(input));
  const own = ownValidators(input, inSet);
  const others = (inSet ?? []).filter((member) => own.every((watched) => watched.member !== member));
  return [
    ...own.map(({ member, registration, ...watched }) => validatorItem(input, member, registration, watched)),
    ...others.slice(0, MAX_MEMBERS).map((member) => validatorItem(input, member, member.registration, null)),
  ];
}

/** Entries of `watch` with addresses of the same validator are one. */
function ownValidators(input: BridgeInput, inSet: readonly Member[] | null) {
  const seen = new Set<OrchestratorAddress>();
  return input.settings.watch.slice(0, MAX_ROWS).flatMap((entry) => {
    const registrations = orNull(() => matchingRegistrations(input, entry));
    const member = inSet?.find(({ registration }) => registration && registrations?.includes(registration));
    const registration = member?.registration ?? registrations?.[0];
    if (registration !== undefined && seen.has(registration)) return [];
    if (registration !== undefined) seen.add(registration);
    const membership =
      member !== undefined
        ? ('active' as const)
        : inSet && registrations && (registration === undefined ? ('unregistered' as const) : ('inactive' as const));
    return [{ member, registration, entry: toLabelValue(entry), membership }];
  });
}

function validatorItem(
  input: BridgeInput,
  member: Member | undefined,
  registration: OrchestratorAddress | undefined,
  own: {
    /** The address in `watch`. */
    readonly entry: string;
    /** In the newest validator set; `unregistered`: without an orchestrator on this bridge. */
    readonly membership: 'active' | 'inactive' | 'unregistered' | null;
  } | null,
) {
  const deriveForMember = <T>(derive: (validator: Member) => T | undefined): T | null =>
    member === undefined ? null : orNull(() => derive(member));
  const deriveForRegistration = <T>(derive: (registered: OrchestratorAddress) => T | undefined): T | null =>
    registration === undefined ? null : orNull(() => derive(registration));
  return {
    /** `null` unless the validator is watched. */
    own,
    /** Configured, or from the staking module. Not unique: anyone can choose any name. */
    name: deriveForRegistration((registered) => validatorName(input, registered) || undefined),
    orchestrator: deriveForRegistration(
      ({ orchestrator }) => toLabelValue(required(orchestrator).toLowerCase()) || undefined,
    ),
    externalAddress: member?.labels.external_address ?? null,
    /** Account or operator address. */
    sender: deriveForRegistration(({ sender }) => toLabelValue(required(sender))),
    /** Share of the power of the newest validator set, 0 to 1. */
    powerRatio: deriveForMember((validator) => memberPowerShare(input, validator)),
    duties: {
      events: deriveForMember((validator) => dutyItem(input, validator, 'event')),
      batches: deriveForMember((validator) => dutyItem(input, validator, 'batch')),
      valsets: deriveForMember((validator) => dutyItem(input, validator, 'valset')),
    },
    /** On the last observed event. `dissenting`: for a claim that lost. */
    lastVote: deriveForMember(
      ({ registration: registered }) => registered && lastVote(input, { registration: registered }),
    ),
    /** The next missing signature after whose deadline the validator is jailed; `null` also when nothing is missing. */
    deadline: deriveForMember((validator) => deadlineItem(input, validator)),
    /** The signature for which an own validator was jailed; `null` for members, and for another reason. */
    missedSignature:
      own?.membership === 'inactive' ? deriveForRegistration((registered) => missedSignature(input, registered)) : null,
  };
}

function lastVote(
  input: BridgeInput,
  member: Parameters<typeof hasVoted>[1],
): 'dissenting' | 'voted' | 'missing' | undefined {
  if (isDissenting(input, member) === true) return 'dissenting';
  const hasVotedForLast = hasVoted(votersOfLastEvent(input), member);
  return hasVotedForLast === undefined ? undefined : hasVotedForLast ? 'voted' : 'missing';
}

function deadlineItem(input: BridgeInput, member: Member) {
  const next = nextDeadline(input, member);
  if (next === undefined) return undefined;
  const { height, duty } = next;
  return {
    height: formatDecimal(height),
    left: hubBlocksUntil(input, () => height),
    signature: identifySignature(duty),
  };
}

const measureAge = memoizePerRow((input: BridgeInput, { height }: Duty): BlockSpan | null =>
  hubBlocksSince(input, required(height)),
);

function sorted(kind: Duty['kind']) {
  return memoize((input: BridgeInput): readonly Duty[] =>
    duties(input, kind).toSorted((a, b) => compare(required(a.nonce), required(b.nonce))),
  );
}

/** All duties in ascending order. */
const byNonce = { event: sorted('event'), batch: sorted('batch'), valset: sorted('valset') };

const MAX_EVENTS = 10_000;

/** The newest events of the document with a plausible claim. */
const plausibleEvents = memoize((input: BridgeInput): readonly Duty[] =>
  byNonce
    .event(input)
    .filter(({ nonce }) =>
      attestationsByNonce(input)
        .get(required(nonce))
        ?.some((claim) => findViolation(input, claim) === null),
    )
    .slice(-MAX_EVENTS),
);

const lateEvents = memoize((input: BridgeInput): readonly Duty[] =>
  plausibleEvents(input).filter((event) => isLate(measureAge(input, event))),
);

/**
 * A validator is silent if it has done none of its newest duties of a kind, of which at least so many are older than
 * this.
 */
const MIN_SILENT = 3;
const SILENT_SECONDS = 120;

const MAX_DUTIES = 20;
/** The oldest nonces are kept. */
const MAX_NONCES = 5;

/** The signatures or votes of a kind. */
function dutyItem(input: BridgeInput, member: Member, kind: Duty['kind']) {
  const newest = byNonce[kind](input)
    .filter((duty) => hasDuty(member, duty))
    .slice(-MAX_DUTIES);
  const owed = newest.filter((duty) => isOwed(input, member, duty));
  const isSilent =
    owed.every((duty) => !isDone(member, duty)) &&
    owed.filter((duty) => isLate(measureAge(input, duty), SILENT_SECONDS)).length >= MIN_SILENT;
  const late = lateDuties(input, member, kind, isSilent);
  const [first] = late;
  const awaited = late.filter((duty) => duty.isAwaited());
  const timeout = orNull(() => lowest(awaited.map((duty) => required(duty.timeout))));
  return {
    isSilent: isSilent && late.length > 0,
    /** The number of those missing for longer than usual; of a silent validator, of all that are missing. */
    late: late.length,
    nonces: late.slice(0, MAX_NONCES).map(({ nonce }) => formatDecimal(nonce)),
    newestNonce: orNull(() => late.at(-1) && formatDecimal(late.at(-1)?.nonce)),
    oldestSeconds: (first && measureAge(input, first)?.seconds) ?? null,
    /** Whether something waits for the validator: the signatures or votes of others are not sufficient. */
    isAwaited: awaited.length > 0,
    /** External blocks until the first batch that waits for it times out. */
    timeoutIn: timeout === null ? null : externalBlocks(input, () => required(estimatedExternalHeight(input)), timeout),
    /** The newest of an own validator, in ascending order. `not_due`: missing, but not late or not owed. */
    squares: member.isWatched
      ? newest.map((duty) => ({
          nonce: formatDecimal(duty.nonce),
          state: isDone(member, duty)
            ? ('done' as const)
            : isMissing(input, member, duty, isSilent)
              ? ('missing' as const)
              : ('not_due' as const),
        }))
      : null,
  };
}

/** What something waits for, or the validator owes and can still do, by nonce. */
function lateDuties(input: BridgeInput, member: Member, kind: Duty['kind'], isSilent: boolean): readonly Duty[] {
  const plausible = isSilent ? plausibleEvents : lateEvents;
  return (kind === 'event' ? plausible : byNonce[kind])(input).filter(
    (duty) => isMissing(input, member, duty, isSilent) && (isOpen(input, duty) || duty.isAwaited()),
  );
}

/** Whether the validator owes it, or something waits for it, for longer than usual. */
function isMissing(input: BridgeInput, member: Member, duty: Duty, isSilent: boolean): boolean {
  if (!hasDuty(member, duty) || isDone(member, duty)) return false;
  return (isOwed(input, member, duty) || duty.isAwaited()) && (isSilent || isLate(measureAge(input, duty)));
}
