import { add, compare, integer, subtract, toDecimalString, type Exact } from '../../chain/decimal.js';
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
  missingValsetConfirms,
  type RegisteredMember,
} from '../bridge/orchestrators.js';
import { matchingRegistrations, validatorName } from '../bridge/registrations.js';
import { batchSigners, valsetSigners } from '../bridge/signing.js';
import { memberAddresses } from '../bridge/valsets.js';
import { toLabelValue } from '../label-value.js';
import type { Field } from '../../chain/field.js';
import type { Numeral } from '../../chain/numeral.js';
import { hubBlocksUntil } from './block-spans.js';
import { required, rows } from '../required-fields.js';
import { decimalStringOf, orNull } from './item-list.js';
import { MAX_ROWS, type MissedSignature, type MissingItems, type WatchedItem } from './items.js';

/** What each entry of `watch` has signed and voted. */
export function watchedItems(input: BridgeInput): readonly WatchedItem[] {
  return input.settings.watch.slice(0, MAX_ROWS).map((entry) => watchedItem(input, entry));
}

function watchedItem(input: BridgeInput, entry: string): WatchedItem {
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
    membership: registrations && members && membershipOf(registrations, member),
    powerRatio: ofMember((own) => memberPowerShare(input, own)),
    missingBatches: ofMember((own) =>
      missingItems(missingBatchConfirms(input, own).map(({ batch_nonce }) => batch_nonce)),
    ),
    missingValsets: ofMember((own) => missingItems(missingValsetConfirms(input, own).map(({ nonce }) => nonce))),
    lastVote: ofMember((own) => lastVote(input, own)),
    nextVote: ofMember((own) => voteOf(hasVoted(votersOfNextEvent(input), own))),
    deadlineHeight: deadline && toDecimalString(deadline),
    jailedIn: deadline && hubBlocksUntil(input, () => deadline),
    missedSignature:
      members === null || member !== undefined ? null : ofRegistration((own) => missedSignature(input, own)),
  };
}

function membershipOf(
  registrations: readonly OrchestratorAddress[],
  member: RegisteredMember | undefined,
): WatchedItem['membership'] {
  if (member !== undefined) return 'active';
  return registrations.length === 0 ? 'unregistered' : 'inactive';
}

function lastVote(input: BridgeInput, member: RegisteredMember) {
  if (isDissenting(input, member) === true) return 'dissenting';
  return voteOf(hasVoted(votersOfLastEvent(input), member));
}

function voteOf(hasVotedFor: boolean | undefined): 'voted' | 'missing' | undefined {
  return hasVotedFor === undefined ? undefined : hasVotedFor ? 'voted' : 'missing';
}

/** Listed nonces; the oldest are kept. */
const MAX_NONCES = 5;

function missingItems(fields: readonly Field<Numeral>[]): MissingItems {
  const nonces = fields.map(decimalStringOf);
  return { total: nonces.length, nonces: nonces.toSorted(compare).slice(0, MAX_NONCES) };
}

/**
 * What a validator did not sign, if it left the validator set when the time for that had passed: the bridge jails in the block after the
 * deadline, and the hub then makes a set without the validator. `undefined` for other reasons, such as missed blocks.
 */
function missedSignature(input: BridgeInput, { eth_address }: OrchestratorAddress): MissedSignature | undefined {
  const address = required(eth_address);
  const leftAt = heightOfLeaving(input, address);
  if (leftAt === undefined) return undefined;
  const { params, valsets, batches } = input.state;
  const isCause = (height: Exact, window: Exact): boolean => {
    const blocks = subtract(leftAt, add(height, window));
    return compare(blocks, integer(1)) === 0 || compare(blocks, integer(2)) === 0;
  };
  const valset = orNull(() => {
    const window = required(required(params).signed_valsets_window);
    return rows(valsets)
      .filter(({ height }) => isCause(required(height), window))
      .find((own) => memberAddresses(own).has(address) && !valsetSigners(input, own).has(address));
  });
  if (valset) return { of: 'validator set', nonce: decimalStringOf(valset.nonce) };
  const batch = orNull(() => {
    const window = required(required(params).signed_batches_window);
    return rows(batches)
      .filter(({ block }) => isCause(required(block), window))
      .find((own) => !batchSigners(input, own).has(address));
  });
  return batch ? { of: 'batch', nonce: decimalStringOf(batch.batch_nonce) } : undefined;
}

/** The height of the first validator set since which the address is in none; `undefined` when it was in none of those in the state. */
function heightOfLeaving({ state }: BridgeInput, address: string): Exact | undefined {
  const byNonce = rows(state.valsets).toSorted((a, b) => compare(required(a.nonce), required(b.nonce)));
  const last = byNonce.findLastIndex((valset) => memberAddresses(valset).has(address));
  const next = last === -1 ? undefined : byNonce[last + 1];
  return next && required(next.height);
}
