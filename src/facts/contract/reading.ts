import { ratio, subtract, sum, type Numeral } from '../../chain/numeral.js';
import { wallSeconds, type Instant, type Moment } from '../../clock.js';
import { required } from '../required-fields.js';

/*
 * The module state as far as a poll of the contract needs it: the address of the contract, and the values of the hub to
 * compare with.
 */

export interface HubSide {
  /** When the module state was received. */
  readonly at: Instant;
  /** Hub height of the module state. */
  readonly height: Numeral | undefined;
  readonly contract: string;
  /** The chain id of the external chain. */
  readonly chainId: string;
  readonly lastObservedNonce: Numeral | undefined;
  /** The highest nonce of the stored validator sets and of the last observed set. */
  readonly newestValsetNonce: Numeral | undefined;
  /** The highest nonce of a batch that the hub has made, of any token. */
  readonly lastBatchNonce: Numeral | undefined;
  /** Seconds between two blocks of the hub. */
  readonly blockSeconds: number | undefined;
  /** Milliseconds between two blocks of the external chain. */
  readonly externalBlockMs: number | undefined;
  readonly powerThreshold: string;
  /** The tokens with a live batch, tokens with `backing` first. */
  readonly batchTokens: readonly BatchToken[];
  readonly backing: readonly BackingFacts[];
}

export interface BatchToken {
  readonly contract: string;
  readonly denom: string;
}

export interface BackingFacts {
  readonly contract: string;
  /** Amounts and fees of unbatched transfers; `undefined` if they cannot be read. */
  readonly unbatched: Numeral | undefined;
  readonly batches: readonly BatchDebt[] | undefined;
}

export interface BatchDebt {
  /** `undefined` for a batch of another token, which has its own sequence of nonces. */
  readonly nonce: Numeral | undefined;
  readonly amount: Numeral;
}

/** A block of the hub. */
export interface HubBlock {
  readonly height: Numeral;
  readonly epochSeconds: number;
}

/**
 * The call of a poll has at most 48 parts: this many nonces, 20 balances, and 8 values of the block and the contract.
 */
export const MAX_BATCH_TOKENS = 20;

/**
 * Unix seconds of the block of the module state, counted in block times from a block whose time the node has returned.
 */
export function hubSeconds({ height, blockSeconds }: HubSide, named: HubBlock | undefined): number | undefined {
  if (height === undefined || blockSeconds === undefined || named === undefined) return undefined;
  return named.epochSeconds + Number(subtract(height, named.height)) * blockSeconds;
}

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
  /** Whether the time of the module state is known. It is not while the node does not answer the query of its block. */
  readonly isHubTimeKnown: boolean;
  /** Hub height of the module state; `undefined` if it is not recent, or its time is unknown. */
  readonly hubHeight: Numeral | undefined;
  /** The tokens that are judged. */
  readonly balances: readonly TokenBalance[];
  /** The supplies of these tokens in the last answers of the hub. */
  readonly backing: readonly TokenBacking[];
  /** `power_threshold`, to compare with the threshold of the contract. */
  readonly configuredThreshold: string | undefined;
}

interface BatchNonce extends BatchToken {
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

/** The supply of a token on the hub at the height of the module state with which its balance was compared. */
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
 * Whether the external block includes every deposit in the module state. A deposit is claimed 12 blocks after it, so
 * the external block may be up to 12 block times older than the module state.
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
 * Balance − debt of the hub. `undefined` when the contract has executed a batch that is newer than the module state,
 * in which its transfers are still debt. All live batches up to the last executed nonce count as executed: the contract
 * may have superseded some, but does not return which, and a smaller debt causes no false alert.
 */
export function backedSupply(
  { unbatched, batches }: BackingFacts,
  balance: Numeral | undefined,
  { executed, made }: { readonly executed: Numeral | undefined; readonly made: Numeral | undefined },
): Numeral | undefined {
  if (unbatched === undefined || batches === undefined) return undefined;
  if (balance === undefined || executed === undefined || made === undefined || executed > made) return undefined;
  const live = batches.filter(({ nonce }) => nonce === undefined || nonce > executed);
  return subtract(balance, sum([unbatched, ...live.map(({ amount }) => amount)]));
}

/** How far the contract is ahead of the hub; 0 when the hub is ahead, as when the external block is older. */
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
