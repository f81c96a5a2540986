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
import { attestationsByNonce } from '../bridge/events.js';
import { judgedExternalHeight } from '../bridge/external-height.js';
import type { BridgeInput } from '../bridge/bridge-input.js';
import { memberPowerShare, members, type Member } from '../bridge/orchestrators.js';
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

/** A registered validator, in the set or not. */
export function registeredItem(input: BridgeInput, registration: OrchestratorAddress): ValidatorItem {
  const member = orNull(() => members(input).find((other) => other.registration === registration));
  return validatorItem(input, member ?? undefined, registration, null);
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
    externalAddress:
      member?.labels.external_address ??
      deriveForRegistration(({ eth_address }) => toLabelValue(required(eth_address))),
    /** Account or operator address. */
    sender: deriveForRegistration(({ sender }) => toLabelValue(required(sender))),
    /** Share of the power of the newest validator set, 0 to 1. */
    powerRatio: deriveForMember((validator) => memberPowerShare(input, validator)),
    duties: {
      events: deriveForMember((validator) => dutyItem(input, validator, 'event')),
      batches: deriveForMember((validator) => dutyItem(input, validator, 'batch')),
      valsets: deriveForMember((validator) => dutyItem(input, validator, 'valset')),
    },
    /** The next missing signature after whose deadline the validator is jailed; `null` also when nothing is missing. */
    deadline: deriveForMember((validator) => deadlineItem(input, validator)),
    /** The signature for which an own validator was jailed; `null` for members, and for another reason. */
    missedSignature:
      own?.membership === 'inactive' ? deriveForRegistration((registered) => missedSignature(input, registered)) : null,
  };
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

const MAX_DUTIES = 10_000;

/** The newest duties of a kind, by nonce, and those that are older than usual. Only events with a plausible claim. */
function newestDuties(kind: Duty['kind']) {
  const isPlausible = (input: BridgeInput, { nonce }: Duty): boolean | undefined =>
    kind !== 'event' ||
    attestationsByNonce(input)
      .get(required(nonce))
      ?.some((claim) => findViolation(input, claim) === null);
  const all = memoize((input: BridgeInput): readonly Duty[] =>
    duties(input, kind)
      .filter((duty) => isPlausible(input, duty))
      .toSorted((a, b) => compare(required(a.nonce), required(b.nonce)))
      .slice(-MAX_DUTIES),
  );
  const late = memoize((input: BridgeInput): readonly Duty[] =>
    all(input).filter((duty) => isLate(measureAge(input, duty))),
  );
  return { all, late };
}

const byNonce = { event: newestDuties('event'), batch: newestDuties('batch'), valset: newestDuties('valset') };

const MAX_SQUARES = 20;
/** The oldest nonces are kept. */
const MAX_NONCES = 5;

/** The signatures or votes of a kind. */
function dutyItem(input: BridgeInput, member: Member, kind: Duty['kind']) {
  const { all, late } = byNonce[kind];
  const missing = late(input).filter(
    (duty) => hasDuty(member, duty) && !isDone(member, duty) && (isOwed(input, member, duty) || duty.isAwaited()),
  );
  const awaited = missing.filter((duty) => duty.isAwaited());
  const possible = missing.filter((duty) => isOpen(input, duty) || duty.isAwaited());
  const [first] = possible;
  const timeout = orNull(() => lowest(awaited.map((duty) => required(duty.timeout))));
  return {
    /** The number of those that are missing for longer than usual and can still be done. */
    late: possible.length,
    nonces: possible.slice(0, MAX_NONCES).map(({ nonce }) => formatDecimal(nonce)),
    newestNonce: orNull(() => possible.at(-1) && formatDecimal(possible.at(-1)?.nonce)),
    oldestSeconds: (first && measureAge(input, first)?.seconds) ?? null,
    /** Whether something waits for the validator: the signatures or votes of others are not sufficient. */
    isAwaited: awaited.length > 0,
    /** External blocks until the first batch that waits for it times out. */
    timeoutIn: timeout === null ? null : externalBlocks(input, () => required(judgedExternalHeight(input)), timeout),
    /** The newest of an own validator, in ascending order. `not_due`: neither done nor missing for long. */
    squares: member.isWatched
      ? all(input)
          .filter((duty) => hasDuty(member, duty))
          .slice(-MAX_SQUARES)
          .map((duty): { readonly nonce: string; readonly state: 'done' | 'missing' | 'not_due' } => ({
            nonce: formatDecimal(duty.nonce),
            state: isDone(member, duty) ? 'done' : missing.includes(duty) ? 'missing' : 'not_due',
          }))
      : null,
  };
}
