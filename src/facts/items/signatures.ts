import { compare, ratio, sum, ZERO, type Decimal } from '../../chain/decimal.js';
import type { Batch, OrchestratorAddress, Valset } from '../../chain/module-state.js';
import type { BridgeInput } from '../bridge/input.js';
import { isWatched, registrationByAddress, validatorName } from '../bridge/registrations.js';
import {
  batchSignedPower,
  batchSigners,
  isBelowThreshold,
  signedShare,
  valsetSignedPower,
  valsetSigners,
  type SignedPower,
} from '../bridge/signing.js';
import { memberAddresses, newestValset, powerByAddress, totalPower } from '../bridge/valsets.js';
import { toLabelValue } from '../label-value.js';
import { memoize, memoizePerRow } from '../memoize.js';
import { required } from '../required-fields.js';
import { orNull, truncatedOrNull } from './item-list.js';

/** Maximum number of listed members whose signature or vote is missing; the most powerful are kept. */
export const MAX_MEMBERS = 20;

/** Members of a validator set. */
export interface Members {
  readonly total: number;
  /** Their share of the power of the set, 0 to 1. */
  readonly powerRatio: number | null;
  /** The watched ones, then the most powerful, at most `MAX_MEMBERS`. */
  readonly members: readonly Member[];
}

export type Member = ReturnType<ReturnType<typeof memberItems>>;

/** The signatures of a batch; `missing` lists members of the newest validator set. */
export function batchSignatures(input: BridgeInput, batch: Batch) {
  return signatures(
    () => batchSignedPower(input, batch),
    () => missingOf(input, newestValset(input), batchSigners(input, batch)),
  );
}

/** The signatures of a validator set; `missing` lists its members. */
export function valsetSignatures(input: BridgeInput, valset: Valset) {
  return signatures(
    () => valsetSignedPower(input, valset),
    () => missingOf(input, valset, valsetSigners(input, valset)),
  );
}

function signatures(power: () => SignedPower | undefined, missing: () => Members | undefined) {
  const signed = orNull(power);
  return {
    /** Signed share of the power of the validator set in the contract, 0 to 1. */
    signedPowerRatio: signed && orNull(() => signedShare(signed)),
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
  return memoize((member: RankedMember) => {
    const { address, registration } = member;
    return {
      externalAddress: toLabelValue(address),
      orchestrator: truncatedOrNull(() => required(registration?.orchestrator)),
      /** Configured, or from the staking module. Not unique: anyone can choose any name. */
      name: registration === null ? null : validatorName(input, registration) || null,
      powerRatio: total && powerRatio([member], total),
      /** Whether it is configured in `watch`. */
      watched: member.isWatched,
    };
  });
});
