import { ratio, subtract, type Numeral } from '../../chain/numeral.js';
import { wallSeconds, type Instant, type Moment } from '../../clock.js';
import { required } from '../required-fields.js';
import { outstanding, type HubSide } from './hub-side.js';

/* The values of the external contract. Plain data. */

/** The input of the families of the contract, and of its queries. */
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
  readonly owner: string | undefined;
  /** Empty if the contract is no proxy; `undefined` without an answer. */
  readonly implementation: string | undefined;
  readonly powerThreshold: Numeral | undefined;
  readonly batchNonces: readonly BatchNonce[];
  /** Events of the contract that the hub has not observed; `undefined` when the hub may be behind. */
  readonly unobservedEvents: Numeral | undefined;
  /**
   * Whether the validator set in the contract is newer than every set of the hub; `undefined` when the hub may be
   * behind.
   */
  readonly isValsetUnknown: boolean | undefined;
  /** Whether the time of the module state is known: it is not without the queries of the node. */
  readonly isHubTimeKnown: boolean;
  /** Hub height of the module state; `undefined` if it is not recent, or its time is unknown. */
  readonly hubHeight: Numeral | undefined;
  /** The tokens that are judged. */
  readonly balances: readonly TokenBalance[];
  /** What the hub has last answered about them. */
  readonly backing: readonly TokenBacking[];
  /** `power_threshold`, to compare with the threshold of the contract. */
  readonly configuredThreshold: string | undefined;
}

interface BatchNonce {
  readonly contract: string;
  readonly denom: string;
  readonly nonce: Numeral | undefined;
}

export interface TokenBalance {
  readonly contract: string;
  /** The denom of the token on the hub. */
  readonly denom: string;
  readonly balance: Numeral | undefined;
  /**
   * The largest supply on the hub that the balance backs; `undefined` when a value is unknown, or the sides were read
   * at different times.
   */
  readonly backed: Numeral | undefined;
}

/** A token by the supply on the hub, at the height of the module state with which its balance was compared. */
export interface TokenBacking {
  readonly contract: string;
  readonly denom: string;
  readonly supply: Numeral;
  /** `undefined` when the balance could not be compared. */
  readonly surplus: Numeral | undefined;
}

/** `undefined` without a supply. */
export function tokenBacking(
  { contract, denom, backed }: TokenBalance,
  supply: Numeral | undefined,
): TokenBacking | undefined {
  if (supply === undefined) return undefined;
  return { contract, denom, supply, surplus: backed === undefined ? undefined : subtract(backed, supply) };
}

const SAME_TIME_SECONDS = 120;

/** Orchestrators claim an event after so many blocks. */
const CONFIRMATIONS = 12;

/** Whether all times are known and nearly the same. */
export function areOfOneTime(...times: readonly (number | undefined)[]): boolean {
  return times.every((time) => time !== undefined) && Math.max(...times) - Math.min(...times) <= SAME_TIME_SECONDS;
}

/**
 * Whether the external block has every deposit that the module state has: the hub observes no deposit before it is
 * confirmed, and its block is not younger than the module state.
 */
export function hasObservedDeposits({ at, externalBlockMs }: HubSide, externalSeconds: number, now: Moment): boolean {
  return (
    externalBlockMs !== undefined && wallSeconds(at, now) - externalSeconds <= (CONFIRMATIONS * externalBlockMs) / 1000
  );
}

/** Whether the module state is recent enough to be compared with the contract. */
export function isRecent({ at }: HubSide, now: Instant): boolean {
  return now - at <= SAME_TIME_SECONDS;
}

/**
 * Balance − debt of the hub. `undefined` when the contract has executed a batch that the module state does not have
 * yet, whose transfers still count as debt. An earlier batch that the module state still has counts as executed,
 * although the contract may have superseded it: it does not say which, and no false alert fires.
 */
export function backedSupply(
  token: HubSide['backing'][number],
  balance: Numeral | undefined,
  { executed, made }: { readonly executed: Numeral | undefined; readonly made: Numeral | undefined },
): Numeral | undefined {
  if (balance === undefined || executed === undefined || made === undefined) return undefined;
  if (executed > made) return undefined;
  const owed = outstanding(token, (nonce) => nonce <= executed);
  return owed === undefined ? undefined : subtract(balance, owed);
}

/** How far the contract is ahead of the hub; 0 when the hub, which was read later, is ahead. */
export function distanceAhead(contractValue: Numeral | undefined, hubValue: Numeral | undefined): Numeral | undefined {
  if (contractValue === undefined || hubValue === undefined) return undefined;
  return contractValue > hubValue ? subtract(contractValue, hubValue) : 0n;
}

/** The total power of a validator set in the contract. */
const TOTAL_POWER = 4_294_967_295;

/** The share of the power that must sign before the contract accepts a batch or a validator set. */
export function thresholdOfContract({ powerThreshold }: ContractReading): number | undefined {
  return ratio(required(powerThreshold), TOTAL_POWER);
}
