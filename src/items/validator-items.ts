import { compare, highest } from '../chain/numeral.js';
import type { OrchestratorAddress } from '../chain/module-state.js';
import { hubBlocksSince, hubBlocksUntil, isLate, type BlockSpan } from '../facts/bridge/block-times.js';
import { findViolation } from '../facts/bridge/integrity.js';
import {
  duties,
  hasDuty,
  isDone,
  isOpen,
  isOwed,
  nextDeadline,
  identifySignature,
  type Duty,
  memberPowerShare,
  allMembers,
  type Member,
} from '../facts/bridge/members.js';
import { attestationsByNonce } from '../facts/bridge/events.js';
import type { BridgeInput } from '../facts/bridge/bridge-input.js';
import { matchingRegistrations, validatorName } from '../facts/bridge/registrations.js';
import { memoize, memoizePerRow } from '../facts/memoize.js';
import { formatDecimal, toLabelValue } from '../facts/plain-values.js';
import { orEmpty, orNull, orUndefined, required } from '../facts/required-fields.js';
import { joinTexts } from '../problems/sentence.js';
import { list } from '../text/format.js';
import { MAX_ROWS, type Filter } from './item-list.js';

export type ValidatorItem = Readonly<ReturnType<typeof validatorItem>>;

const MAX_MEMBERS = 200;

/**
 * What the document says about validators: those of `watch`, then the other members of the newest validator set, the
 * most powerful first.
 */
export function validatorItems(input: BridgeInput, filter?: Filter): readonly ValidatorItem[] {
  const own = ownValidators(input);
  const others = orEmpty(() => allMembers(input)).filter((member) => own.every((watched) => watched.member !== member));
  const items = [
    ...ownValidatorItems(input),
    ...others.slice(0, MAX_MEMBERS).map((member) => validatorItem(input, member, member.registration, null)),
  ];
  return filter === undefined
    ? items
    : items.filter(({ own: watched, name, orchestrator, externalAddress, sender }) =>
        filter([watched?.entry, name, orchestrator, externalAddress, sender]),
      );
}

/** The validators of `watch`, in the order of its entries. */
export function ownValidatorItems(input: BridgeInput): readonly ValidatorItem[] {
  return ownValidators(input).map(({ member, registration, ...own }) =>
    validatorItem(input, member, registration, own),
  );
}

/** Entries of `watch` with addresses of the same validator are one. */
function ownValidators(input: BridgeInput) {
  const seen = new Set<OrchestratorAddress>();
  const inSet = orNull(() => allMembers(input));
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
    powerRatio: member === undefined ? null : orNull(() => memberPowerShare(input, member)),
    ...missingItem(input, member),
    ...deadlineItem(input, member),
  };
}

/** The next missing signature after whose deadline the validator is jailed. */
function deadlineItem(input: BridgeInput, member: Member | undefined) {
  const next = member === undefined ? null : orNull(() => nextDeadline(input, member) ?? ('none' as const));
  if (next === null) return { deadline: null, deadlineText: undefined };
  if (next === 'none') return { deadline: undefined, deadlineText: undefined };
  const { what, nonce } = identifySignature(next.duty);
  return {
    /** Hub blocks left; `null` if unknown, absent without a missing signature. */
    deadline: hubBlocksUntil(input, () => next.height),
    /** "sign batch 24061 by height 8224340, else jailed". */
    deadlineText: `sign ${what} ${nonce} by height ${formatDecimal(next.height)}, else jailed`,
  };
}

const measureAge = memoizePerRow((input: BridgeInput, { height }: Duty): BlockSpan | null =>
  hubBlocksSince(input, required(height)),
);

const MAX_DUTIES = 10_000;

/** The newest duties of a kind, by nonce; of events, only those with a plausible claim. */
const newestDuties = {
  batch: memoize((input: BridgeInput) => newestFirst(duties(input, 'batch'))),
  event: memoize((input: BridgeInput) =>
    newestFirst(
      duties(input, 'event').filter(({ nonce }) =>
        attestationsByNonce(input)
          .get(required(nonce))
          ?.some((claim) => findViolation(input, claim) === null),
      ),
    ),
  ),
  valset: memoize((input: BridgeInput) => newestFirst(duties(input, 'valset'))),
} as const satisfies Record<Duty['kind'], unknown>;

function newestFirst(all: readonly Duty[]): readonly Duty[] {
  return all.toSorted((a, b) => compare(required(a.nonce), required(b.nonce))).slice(-MAX_DUTIES);
}

/**
 * The missing signatures or votes of a member that still count, by nonce. None while all of them are younger than
 * signatures and votes usually take.
 */
function missingDuties(input: BridgeInput, member: Member, kind: Duty['kind']): readonly Duty[] {
  const isMissing = (duty: Duty): boolean =>
    hasDuty(member, duty) &&
    !isDone(member, duty) &&
    (duty.isAwaited() || (isOwed(input, member, duty) && isOpen(input, duty)));
  const all = newestDuties[kind](input);
  return all.some((duty) => isLate(measureAge(input, duty)) && isMissing(duty)) ? all.filter(isMissing) : [];
}

const KINDS = {
  batch: ['batch', 'batches'],
  valset: ['validator set', 'validator sets'],
  event: ['event', 'events'],
} as const satisfies Record<Duty['kind'], readonly [string, string]>;
// A cast, because `Object.keys` returns `string[]`.
const kindNames = Object.keys(KINDS) as readonly Duty['kind'][];

function missingItem(input: BridgeInput, member: Member | undefined) {
  const byKind = kindNames.map((kind) => ({
    kind,
    missing: member === undefined ? null : orNull(() => missingDuties(input, member, kind)),
  }));
  const missing = byKind.flatMap((each) => each.missing ?? []);
  const texts = byKind.map((each) =>
    each.missing === null ? `${KINDS[each.kind][1]} unknown` : missingText(each.kind, each.missing),
  );
  const isUnknown = byKind.every((each) => each.missing === null);
  const ages = missing.flatMap((duty) => orUndefined(() => measureAge(input, duty)?.seconds) ?? []);
  const voted = member && orNull(() => newestDuties.event(input).filter((duty) => isDone(member, duty)));
  return {
    /** "batch 4; events 5 to 9"; absent when nothing is missing for longer than usual, `null` for no member. */
    missing: isUnknown ? null : joinTexts('; ', ...texts) || undefined,
    /** Whether every list can be read. */
    isKnown: byKind.every((each) => each.missing !== null),
    isLate: missing.length > 0,
    lateSeconds: ages.length === 0 ? null : Math.max(...ages),
    /** The newest event for which it has voted in the document. */
    lastVote: String(highest((voted ?? []).map(({ nonce }) => required(nonce))) ?? '') || null,
  };
}

/** Why validators may be late without being shown as late; empty if everything can be read. */
export function unreadableText(input: BridgeInput): string {
  if (orEmpty(() => allMembers(input)).length === 0) return 'The validator set cannot be read, or is empty.';
  const unknown = kindNames.filter((kind) => orNull(() => newestDuties[kind](input)) === null);
  if (unknown.length === 0) return '';
  return `Unknown for ${list(unknown.map((kind) => KINDS[kind][1]))}: a list of the document cannot be read.`;
}

/** "batch 4", "events 5 to 9", "5 batches from 4 to 30"; empty when nothing is missing. */
function missingText(kind: Duty['kind'], missing: readonly Duty[]): string {
  const [one, many] = KINDS[kind];
  const nonces = missing.map(({ nonce }) => formatDecimal(nonce));
  const [first = '', last = ''] = [nonces[0], nonces.at(-1)];
  if (nonces.length <= 1) return nonces.length === 0 ? '' : `${one} ${first}`;
  const isRange = Number(last) - Number(first) === nonces.length - 1;
  return isRange ? `${many} ${first} to ${last}` : `${nonces.length} ${many} from ${first} to ${last}`;
}
