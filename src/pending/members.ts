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

interface Ranked {
  /** Most powerful first; by address among equals, and when powers cannot be read. */
  readonly addresses: readonly string[];
  readonly powers: ReadonlyMap<string, Decimal> | null;
  readonly total: Decimal | null;
}

const ranked = memoize((valset: Valset): Ranked => {
  const powers = orNull(() => powerByAddress(valset));
  const own = (address: string): Decimal => powers?.get(address) ?? ZERO;
  const addresses = Array.from(memberAddresses(valset))
    .toSorted()
    .toSorted((a, b) => compare(own(b), own(a)));
  return { addresses, powers, total: orNull(() => totalPower(valset)) };
});

/** What is shown of each member, worked out once: who is missing under one batch is missing under others. */
const shownMembers = memoize((_valset: Valset) => new Map<string, MissingMember>());

/** The members of a set that have not done it, by external address. */
export function missingOf(
  input: BridgeInput,
  valset: Valset | undefined,
  hasDone: (address: string) => boolean,
): MissingMembers | undefined {
  if (valset === undefined) return undefined;
  const { addresses, powers, total } = ranked(valset);
  const missing = addresses.filter((address) => !hasDone(address));
  const share = (of: readonly string[]): number | null =>
    orNull(() => {
      if (powers === null || total === null) return undefined;
      return ratio(powerOf(powers, of), total);
    });
  const shown = shownMembers(valset);
  const members = missing.slice(0, MAX_MEMBERS).map((address) => {
    const row = shown.get(address) ?? member(input, address, share([address]));
    shown.set(address, row);
    return row;
  });
  return { total: missing.length, powerRatio: share(missing), members };
}

function member(input: BridgeInput, address: string, powerRatio: number | null): MissingMember {
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
