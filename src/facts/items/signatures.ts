import { compare, ratio, sum, ZERO, type Decimal } from '../../chain/decimal.js';
import type { Batch, OrchestratorAddress, Valset } from '../../chain/module-state.js';
import type { BridgeInput } from '../bridge/input.js';
import { isWatched, registrationByAddress, validatorName } from '../bridge/registrations.js';
import {
  batchSignedPower,
  batchSigners,
  isBelowThreshold,
  valsetSignedPower,
  valsetSigners,
  type SignedPower,
} from '../bridge/signing.js';
import { memberAddresses, newestValset, powerByAddress, totalPower } from '../bridge/valsets.js';
import { toLabelValue } from '../label-value.js';
import { memoize, memoizePerRow } from '../memoize.js';
import { required } from '../required-fields.js';
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

/** A member of a validator set as it is listed. */
interface RankedMember {
  readonly address: string;
  /** 0 when the powers cannot be read. */
  readonly power: Decimal;
  /** `null` for a member that is not registered, and when the registrations cannot be read. */
  readonly registration: OrchestratorAddress | null;
  /** Own validators are listed whatever their power is. */
  readonly isWatched: boolean;
}

/** By descending power, then by address. The total is `null` when a power cannot be read. Shared by all items that list members of the set. */
const rankedMembers = memoizePerRow((input: BridgeInput, valset: Valset) => {
  const powers = orNull(() => powerByAddress(valset));
  const members = Array.from(memberAddresses(valset), (address): RankedMember => {
    const registration = orNull(() => registrationByAddress(input).get(address));
    return {
      address,
      power: powers?.get(address) ?? ZERO,
      registration,
      isWatched: registration !== null && isWatched(input, registration),
    };
  });
  return {
    members: members.toSorted((a, b) => compare(b.power, a.power) || (a.address < b.address ? -1 : 1)),
    total: powers && orNull(() => totalPower(valset)),
  };
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
  const { members, total } = rankedMembers(input, valset);
  const listed = members.filter(({ address }) => isListed(address));
  const own = listed.filter((member) => member.isWatched);
  const others = listed.filter((member) => !member.isWatched);
  return {
    total: listed.length,
    powerRatio: total && powerRatio(listed, total),
    members: [...own, ...others].slice(0, MAX_MEMBERS).map(memberItems(input, valset)),
  };
}

function powerRatio(members: readonly RankedMember[], total: Decimal): number | null {
  return orNull(() => ratio(sum(members.map(({ power }) => power)), total));
}

/** The item of each member, which many lists of signatures and votes contain. */
const memberItems = memoizePerRow((input: BridgeInput, valset: Valset) => {
  const { total } = rankedMembers(input, valset);
  return memoize((member: RankedMember): Member => {
    const { address, registration } = member;
    return {
      externalAddress: toLabelValue(address),
      orchestrator: truncatedOrNull(() => required(registration?.orchestrator)),
      name: registration === null ? null : validatorName(input, registration) || null,
      powerRatio: total && powerRatio([member], total),
      watched: member.isWatched,
    };
  });
});
