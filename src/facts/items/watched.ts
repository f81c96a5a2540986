import { compare, toDecimalString } from '../../chain/decimal.js';
import type { OrchestratorAddress } from '../../chain/module-state.js';
import { votersOfLastEvent, votersOfNextEvent } from '../bridge/events.js';
import type { BridgeInput } from '../bridge/input.js';
import {
  earliestDeadline,
  hasVoted,
  isDissenting,
  memberPowerShare,
  registeredMembers,
  missingBatchConfirms,
  missedSignature,
  missingValsetConfirms,
  type RegisteredMember,
} from '../bridge/orchestrators.js';
import { matchingRegistrations, validatorName } from '../bridge/registrations.js';
import { toLabelValue } from '../label-value.js';
import type { Field } from '../../chain/field.js';
import type { Numeral } from '../../chain/numeral.js';
import { hubBlocksUntil } from './block-spans.js';
import { required } from '../required-fields.js';
import { decimalStringOf, MAX_ROWS, orNull } from './item-list.js';

/** What each entry of `watch` has signed and voted. Unknown values are `null`, and all of a validator that is not in the set. */
export function watchedItems(input: BridgeInput) {
  return input.settings.watch.slice(0, MAX_ROWS).map((entry) => watchedItem(input, entry));
}

function watchedItem(input: BridgeInput, entry: string) {
  const registrations = orNull(() => matchingRegistrations(input, entry));
  const members = orNull(() => registeredMembers(input));
  const [registration] = registrations ?? [];
  const member = members?.find((own) => registrations?.includes(own.registration) === true);
  const ofMember = <T>(derive: (own: RegisteredMember) => T | undefined): T | null =>
    member === undefined ? null : orNull(() => derive(member));
  const ofRegistration = <T>(derive: (own: OrchestratorAddress) => T | undefined): T | null =>
    registration === undefined ? null : orNull(() => derive(registration));
  const deadline = ofMember((own) => earliestDeadline(input, own));
  return {
    address: toLabelValue(entry),
    name: ofRegistration((own) => validatorName(input, own) || undefined),
    orchestrator: ofRegistration(({ orchestrator }) => toLabelValue(required(orchestrator).toLowerCase())),
    externalAddress: member?.labels.external_address ?? null,
    /** Whether it is in the newest validator set; `unregistered`: it has no orchestrator on this bridge. */
    membership: registrations && members && membershipOf(registrations, member),
    /** Share of the power of the newest validator set, 0 to 1. */
    powerRatio: ofMember((own) => memberPowerShare(input, own)),
    /** What it has to sign and has not: live batches and validator sets. */
    missingBatches: ofMember((own) =>
      missingItems(missingBatchConfirms(input, own).map(({ batch_nonce }) => batch_nonce)),
    ),
    missingValsets: ofMember((own) => missingItems(missingValsetConfirms(input, own).map(({ nonce }) => nonce))),
    /** On the last observed event. `dissenting`: for another claim than the observed one. */
    lastVote: ofMember((own) => lastVote(input, own)),
    /** On the next event; `null` also while nobody has claimed it. */
    nextVote: ofMember((own) => voteOf(hasVoted(votersOfNextEvent(input), own))),
    /** Hub height of its first deadline, after which it is jailed; `null` when nothing is missing. */
    deadlineHeight: deadline && toDecimalString(deadline),
    jailedIn: deadline && hubBlocksUntil(input, () => deadline),
    /** What it has left the validator set for; `null` while it is in the set, or when the reason is another one. */
    missedSignature:
      members === null || member !== undefined ? null : ofRegistration((own) => missedSignature(input, own)),
  };
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

/** Listed nonces; the oldest are kept. */
const MAX_NONCES = 5;

function missingItems(fields: readonly Field<Numeral>[]) {
  const nonces = fields.map(decimalStringOf);
  return { total: nonces.length, nonces: nonces.toSorted(compare).slice(0, MAX_NONCES) };
}
