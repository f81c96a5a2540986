import { compare, ratio, subtract, ZERO, type AnyNumber } from '../../chain/decimal.js';
import type { Instant } from '../../clock.js';
import type { Numeral } from '../../chain/numeral.js';
import { required } from '../required-fields.js';
import { outstanding, type ContractFacts } from './hub-side.js';

/*
 * What was read of the external contract. Values that are not requested in every poll stay from the last one that did. Plain data.
 */

/** The input of the families of the contract, and what the next poll gets as its past. */
export interface ContractReading {
  /** When the answer was received. */
  readonly at: Instant;
  readonly contract: string;
  readonly height: Numeral;
  /** Unix seconds of the block. */
  readonly blockSeconds: number;
  readonly lastEventNonce: Numeral | undefined;
  readonly lastValsetNonce: Numeral | undefined;
  readonly paused: boolean | undefined;
  readonly batchNonces: readonly BatchNonce[];
  /** Events of the contract that the hub has not observed; `undefined` when the hub may be behind. */
  readonly unobservedEvents: AnyNumber | undefined;
  /** Whether the contract has a validator set that is newer than every set of the hub; `undefined` when the hub may be behind. */
  readonly isValsetUnknown: boolean | undefined;
  readonly info: ContractInfo;
  readonly backing: BackingReading | undefined;
  /** The setting with which the threshold of the contract is compared. */
  readonly configuredThreshold: string | undefined;
}

interface BatchNonce {
  readonly contract: string;
  readonly denom: string;
  readonly nonce: Numeral | undefined;
}

/** What hardly ever changes. */
export interface ContractInfo {
  /** When they were last requested. */
  readonly readAt: Instant | undefined;
  readonly owner: string | undefined;
  /** Empty if the contract is no proxy. */
  readonly implementation: string | undefined;
  readonly powerThreshold: Numeral | undefined;
}

export interface BackingReading {
  readonly at: Instant;
  readonly tokens: readonly TokenBacking[];
}

export interface TokenBacking {
  readonly contract: string;
  /** The denom of the token on the hub. */
  readonly denom: string;
  readonly balance: Numeral | undefined;
  /** `undefined` when the hub was not asked, or did not answer. */
  readonly supply: Numeral | undefined;
  /** `undefined` when an input is, and when both sides were not read at nearly the same time. */
  readonly surplus: AnyNumber | undefined;
}

/** What the hub has said about the module state of the facts. */
export interface HubReading {
  /** Unix seconds of the block with the height of the module state. */
  readonly blockSeconds: number | undefined;
  /** Supply by denom, read at that height. */
  readonly supplies: ReadonlyMap<string, Numeral>;
}

const SAME_TIME_SECONDS = 120;

/** Orchestrators claim an event when its block has so many successors. */
const CONFIRMATIONS = 12;

/** Whether all times are known and nearly the same. */
export function areOfOneTime(...times: readonly (number | undefined)[]): boolean {
  const known = times.filter((time) => time !== undefined);
  return known.length === times.length && Math.max(...known) - Math.min(...known) <= SAME_TIME_SECONDS;
}

/**
 * Whether the external block has every deposit that the hub has observed: the hub observes none before it is confirmed. Two minutes are
 * less than the confirmations take on Ethereum (144 s), and more on a chain with faster blocks.
 */
export function hasObservedDeposits(
  { externalBlockMs }: ContractFacts,
  hubSeconds: number | undefined,
  externalSeconds: number,
): boolean {
  if (hubSeconds === undefined || externalBlockMs === undefined) return false;
  return hubSeconds - externalSeconds <= (CONFIRMATIONS * externalBlockMs) / 1000;
}

/** Whether the module state is recent enough to be compared with the contract. */
export function isRecent({ at }: ContractFacts, now: Instant): boolean {
  return now.monotonicMs - at.monotonicMs <= SAME_TIME_SECONDS * 1000;
}

/**
 * Balance − supply − what the hub owes; exact. `undefined` when the contract has executed a batch that the hub made after its state was
 * read: the transfers of that batch still count as owed.
 */
export function backingSurplus(
  token: ContractFacts['backing'][number],
  balance: Numeral | undefined,
  supply: Numeral | undefined,
  { executed, made }: { readonly executed: Numeral | undefined; readonly made: Numeral | undefined },
): AnyNumber | undefined {
  if (balance === undefined || supply === undefined || executed === undefined || made === undefined) return undefined;
  if (compare(executed, made) > 0) return undefined;
  const owed = outstanding(token, (nonce) => compare(nonce, executed) <= 0);
  return owed && subtract(subtract(balance, supply), owed);
}

/** How far the contract is ahead of the hub; 0 when the hub was read after it and is ahead. */
export function distanceAhead(ofContract: Numeral | undefined, ofHub: Numeral | undefined): AnyNumber | undefined {
  if (ofContract === undefined || ofHub === undefined) return undefined;
  return compare(ofContract, ofHub) > 0 ? subtract(ofContract, ofHub) : ZERO;
}

export function isZeroDistance(distance: AnyNumber | undefined): boolean {
  return typeof distance === 'object' && distance.units === 0n;
}

/** The powers of a validator set in the contract add up to this. */
const TOTAL_POWER = 4_294_967_295;

/** The share of the power that must sign before the contract accepts a batch or a validator set. */
export function thresholdOfContract({ info }: ContractReading): number | undefined {
  return ratio(required(info.powerThreshold), TOTAL_POWER);
}
