import { compare, ratio, ZERO, type Decimal } from '../chain/decimal.js';
import type { Batch, Valset } from '../chain/module-state.js';
import type { BridgeInput } from '../metrics/bridge/input.js';
import { isWatched, registrationByAddress, validatorName } from '../metrics/bridge/registrations.js';
import {
  batchSignedPower,
  batchSigners,
  isBelowThreshold,
  valsetSignedPower,
  valsetSigners,
  type SignedPower,
} from '../metrics/bridge/signing.js';
import { memberAddresses, newestValset, powerByAddress, powerOf, totalPower } from '../metrics/bridge/valsets.js';
import { toLabelValue } from '../metrics/family.js';
import { memoize } from '../metrics/memoize.js';
import { required } from '../metrics/required-fields.js';
import { orNull, truncatedOrNull } from './item-list.js';
import { MAX_MEMBERS, type Member, type Members, type Signatures } from './items.js';

export function batchSignatures(input: BridgeInput, batch: Batch): Signatures {
  return signatures(
    () => batchSignedPower(input, batch),
    () => missingOf(input, newestValset(input), batchSigners(input, batch)),
  );
}

export function valsetSignatures(input: BridgeInput, valset: Valset): Signatures {
  return signatures(
    () => valsetSignedPower(input, valset),
    () => missingOf(input, valset, valsetSigners(input, valset)),
  );
}

function signatures(power: () => SignedPower | undefined, missing: () => Members | undefined): Signatures {
  const signed = orNull(power);
  return {
    signedPowerRatio: signed && orNull(() => ratio(signed.signed, signed.total)),
    belowThreshold: signed && isBelowThreshold(signed),
    missing: orNull(missing),
  };
}

interface RankedMembers {
  /** By descending power, then by address. */
  readonly addresses: readonly string[];
  readonly powers: ReadonlyMap<string, Decimal> | null;
  readonly total: Decimal | null;
}

const rankedMembers = memoize((valset: Valset): RankedMembers => {
  const powers = orNull(() => powerByAddress(valset));
  const powerOfMember = (address: string): Decimal => powers?.get(address) ?? ZERO;
  const addresses = Array.from(memberAddresses(valset))
    .toSorted()
    .toSorted((a, b) => compare(powerOfMember(b), powerOfMember(a)));
  return { addresses, powers, total: orNull(() => totalPower(valset)) };
});

/** The members of a validator set whose signature or vote is missing. */
export function missingOf(
  input: BridgeInput,
  valset: Valset | undefined,
  signers: ReadonlySet<string>,
): Members | undefined {
  return valset && membersWhere(input, valset, (address) => !signers.has(address));
}

/** Some members of a validator set. */
export function membersWhere(input: BridgeInput, valset: Valset, isListed: (address: string) => boolean): Members {
  const { addresses, powers, total } = rankedMembers(valset);
  const listed = addresses.filter(isListed);
  const powerRatio = (members: readonly string[]): number | null =>
    orNull(() => {
      if (powers === null || total === null) return undefined;
      return ratio(powerOf(powers, members), total);
    });
  const own = listed.filter((address) => isOwn(input, address));
  const members = Array.from(new Set([...own, ...listed]))
    .slice(0, MAX_MEMBERS)
    .map((address) => memberItem(input, address, powerRatio([address])));
  return { total: listed.length, powerRatio: powerRatio(listed), members };
}

/** Whether a member is watched. Own validators are listed whatever their power is. */
function isOwn(input: BridgeInput, address: string): boolean {
  const registration = orNull(() => registrationByAddress(input).get(address));
  return registration !== null && isWatched(input, registration);
}

function memberItem(input: BridgeInput, address: string, powerRatio: number | null): Member {
  const registration = orNull(() => registrationByAddress(input).get(address));
  return {
    externalAddress: toLabelValue(address),
    orchestrator: truncatedOrNull(() => (registration ? required(registration.orchestrator) : undefined)),
    name: registration === null ? null : validatorName(input, registration) || null,
    powerRatio,
    watched: registration !== null && isWatched(input, registration),
  };
}
