import { compare, ratio, toDecimalString, ZERO } from '../chain/decimal.js';
import { dissentersOfLastEvent, votersOfLastEvent, votersOfNextEvent } from '../metrics/bridge/events.js';
import type { BridgeInput } from '../metrics/bridge/input.js';
import {
  hasVoted,
  lowestBatchDeadline,
  lowestDeadline,
  registeredMembers,
  unsignedBatches,
  unsignedValsets,
  type RegisteredMember,
} from '../metrics/bridge/orchestrators.js';
import { matchingRegistrations, validatorName } from '../metrics/bridge/registrations.js';
import { newestPowers, newestTotalPower } from '../metrics/bridge/valsets.js';
import { toLabelValue } from '../metrics/family.js';
import type { Field } from '../json/field.js';
import type { Numeral } from '../json/numeral.js';
import { hubBlocksUntil } from './block-spans.js';
import { required } from '../metrics/required-fields.js';
import { decimalStringOf, orNull } from './item-list.js';
import { MAX_ROWS, type MissingItems, type WatchedItem } from './items.js';
import { missedSignature } from './missed-signature.js';

/** What each entry of `watch` has signed and voted. */
export function watchedItems(input: BridgeInput): readonly WatchedItem[] {
  return input.settings.watch.slice(0, MAX_ROWS).map((entry) => watchedItem(input, entry));
}

function watchedItem(input: BridgeInput, entry: string): WatchedItem {
  const registrations = orNull(() => matchingRegistrations(input, entry));
  const members = orNull(() => registeredMembers(input));
  const [registration] = registrations ?? [];
  const member = members?.find((own) => registrations?.includes(own.registration) === true);
  const deadline = member && orNull(() => earliestDeadline(input, member));
  return {
    address: toLabelValue(entry),
    name: registration === undefined ? null : validatorName(input, registration) || null,
    orchestrator:
      registration === undefined ? null : orNull(() => toLabelValue(required(registration.orchestrator).toLowerCase())),
    externalAddress: member?.labels.external_address ?? null,
    membership:
      registrations === null || members === null
        ? null
        : member !== undefined
          ? 'active'
          : registrations.length === 0
            ? 'unregistered'
            : 'inactive',
    powerRatio:
      member === undefined
        ? null
        : orNull(() => ratio(newestPowers(input).get(member.address) ?? ZERO, newestTotalPower(input))),
    missingBatches: member === undefined ? null : missing(() => unsignedBatches(input, member), 'batch_nonce'),
    missingValsets: member === undefined ? null : missing(() => unsignedValsets(input, member), 'nonce'),
    lastVote: member === undefined ? null : orNull(() => lastVote(input, member)),
    nextVote: member === undefined ? null : orNull(() => voteOf(hasVoted(votersOfNextEvent(input), member))),
    deadlineHeight: deadline ? toDecimalString(deadline) : null,
    jailedIn: deadline ? hubBlocksUntil(input, () => deadline) : null,
    missedSignature:
      registration === undefined || members === null || member !== undefined
        ? null
        : orNull(() => missedSignature(input, registration) ?? undefined),
  };
}

function lastVote(input: BridgeInput, member: RegisteredMember): WatchedItem['lastVote'] {
  const dissenters = dissentersOfLastEvent(input);
  if (dissenters !== undefined && dissenters.size > 0 && hasVoted(dissenters, member) === 1) return 'dissenting';
  return voteOf(hasVoted(votersOfLastEvent(input), member)) ?? null;
}

function voteOf(flag: 0 | 1 | undefined): 'voted' | 'missing' | undefined {
  return flag === undefined ? undefined : flag === 1 ? 'voted' : 'missing';
}

/** After this hub height the validator is jailed. */
function earliestDeadline(input: BridgeInput, member: RegisteredMember) {
  const all = [orNull(() => lowestDeadline(input, member)), orNull(() => lowestBatchDeadline(input, member))];
  const [first] = all.filter((deadline) => deadline !== null).toSorted(compare);
  return first;
}

type NonceKey = 'batch_nonce' | 'nonce';

function missing<Key extends NonceKey>(
  read: () => readonly Readonly<Record<Key, Field<Numeral>>>[],
  key: Key,
): MissingItems | null {
  return orNull(() => {
    const nonces = read().map((row) => decimalStringOf(row[key]));
    return { total: nonces.length, nonces: nonces.toSorted((a, b) => compare(a, b)).slice(0, MAX_NONCES) };
  });
}

/** Listed nonces; the oldest are kept. */
const MAX_NONCES = 5;
