import { dataPart } from '../chain/address.js';
import { memoize } from '../metrics/memoize.js';
import type { Valset } from '../chain/module-state.js';
import type { BridgeInput } from '../metrics/bridge/input.js';
import {
  memberAddresses,
  registrationByAddress,
  powerByAddress,
  powerOf,
  totalPower,
} from '../metrics/bridge/joins.js';
import { toLabelValue } from '../metrics/family.js';
import { MAX_MEMBERS, type MissingMembers, type MissingMember } from './items.js';
import { truncatedOrNull, orNull } from './section.js';
import { compare, ratio, ZERO, type Decimal } from '../chain/decimal.js';
import { required } from '../metrics/withdrawal.js';

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

/** Members by address, created once per validator set: the same members are usually missing in many batches. */
const membersByAddress = memoize((_valset: Valset) => new Map<string, MissingMember>());

/** The members of a validator set whose signature or vote is missing. */
export function missingOf(
  input: BridgeInput,
  valset: Valset | undefined,
  hasSigned: (address: string) => boolean,
): MissingMembers | undefined {
  if (valset === undefined) return undefined;
  const { addresses, powers, total } = rankedMembers(valset);
  const missing = addresses.filter((address) => !hasSigned(address));
  const powerRatio = (members: readonly string[]): number | null =>
    orNull(() => {
      if (powers === null || total === null) return undefined;
      return ratio(powerOf(powers, members), total);
    });
  const known = membersByAddress(valset);
  const members = missing.slice(0, MAX_MEMBERS).map((address) => {
    const item = known.get(address) ?? memberItem(input, address, powerRatio([address]));
    known.set(address, item);
    return item;
  });
  return { total: missing.length, powerRatio: powerRatio(missing), members };
}

function memberItem(input: BridgeInput, address: string, powerRatio: number | null): MissingMember {
  const orchestrator = orNull(() => {
    const row = registrationByAddress(input).get(address);
    return row && required(row.orchestrator);
  });
  return {
    externalAddress: toLabelValue(address),
    orchestrator: truncatedOrNull(() => orchestrator ?? undefined),
    powerRatio,
    watched: orchestrator !== null && watchedKeys(input).has(dataPart(orchestrator)),
  };
}

const watchedKeys = memoize(({ settings }: BridgeInput): ReadonlySet<string> => new Set(settings.watch.map(dataPart)));
