import { ratio, subtract, type Numeral } from '../../chain/numeral.js';
import type { Instant } from '../../clock.js';
import { required } from '../required-fields.js';
import { outstanding, type HubSide } from './hub-side.js';

/* The last values of the external contract, of which some are not requested in every poll. Plain data. */

/** The input of the families of the contract, and the past of the next poll. */
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
  readonly unobservedEvents: Numeral | undefined;
  /** Whether the validator set in the contract is newer than every set of the hub; `undefined` when the hub may be behind. */
  readonly isValsetUnknown: boolean | undefined;
  readonly info: ContractInfo;
  readonly backing: BackingReading | undefined;
  /** `power_threshold`, to compare with the threshold of the contract. */
  readonly configuredThreshold: string | undefined;
}

interface BatchNonce {
  readonly contract: string;
  readonly denom: string;
  readonly nonce: Numeral | undefined;
}

/** Values that hardly ever change. */
export interface ContractInfo {
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
  /** `undefined` without an answer of the hub. */
  readonly supply: Numeral | undefined;
  /** `undefined` when a value is unknown, or the sides were read at different times. */
  readonly surplus: Numeral | undefined;
}

/** Answers of the hub at the height of the module state. */
export interface HubReading {
  /** Unix seconds of the block. */
  readonly blockSeconds: number | undefined;
  /** Supply by denom. */
  readonly supplies: ReadonlyMap<string, Numeral>;
}

const SAME_TIME_SECONDS = 120;

/** Orchestrators claim an event after so many blocks. */
const CONFIRMATIONS = 12;

/** Whether all times are known and nearly the same. */
export function areOfOneTime(...times: readonly (number | undefined)[]): boolean {
  return times.every((time) => time !== undefined) && Math.max(...times) - Math.min(...times) <= SAME_TIME_SECONDS;
}

/** Whether the external block has every deposit that the hub has observed: the hub observes no deposit before it is confirmed. */
export function hasObservedDeposits(
  { externalBlockMs }: HubSide,
  hubSeconds: number | undefined,
  externalSeconds: number,
): boolean {
  if (hubSeconds === undefined || externalBlockMs === undefined) return false;
  return hubSeconds - externalSeconds <= (CONFIRMATIONS * externalBlockMs) / 1000;
}

/** Whether the module state is recent enough to be compared with the contract. */
export function isRecent({ at }: HubSide, now: Instant): boolean {
  return now.monotonicMs - at.monotonicMs <= SAME_TIME_SECONDS * 1000;
}

/**
 * Balance − supply − debt of the hub. `undefined` when the contract has executed a batch that the module state does not have yet, whose
 * transfers still count as debt.
 */
export function backingSurplus(
  token: HubSide['backing'][number],
  balance: Numeral | undefined,
  supply: Numeral | undefined,
  { executed, made }: { readonly executed: Numeral | undefined; readonly made: Numeral | undefined },
): Numeral | undefined {
  if (balance === undefined || supply === undefined || executed === undefined || made === undefined) return undefined;
  if (executed > made) return undefined;
  const owed = outstanding(token, (nonce) => nonce <= executed);
  return owed === undefined ? undefined : subtract(subtract(balance, supply), owed);
}

/** How far the contract is ahead of the hub; 0 when the hub, which was read later, is ahead. */
export function distanceAhead(ofContract: Numeral | undefined, ofHub: Numeral | undefined): Numeral | undefined {
  if (ofContract === undefined || ofHub === undefined) return undefined;
  return ofContract > ofHub ? subtract(ofContract, ofHub) : 0n;
}

/** The total power of a validator set in the contract. */
const TOTAL_POWER = 4_294_967_295;

/** The share of the power that must sign before the contract accepts a batch or a validator set. */
export function thresholdOfContract({ info }: ContractReading): number | undefined {
  return ratio(required(info.powerThreshold), TOTAL_POWER);
}
