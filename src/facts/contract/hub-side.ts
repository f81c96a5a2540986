import { add, subtract, type Numeral } from '../../chain/numeral.js';
import type { Instant } from '../../clock.js';

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
 * Unix seconds of the block of the module state, counted from a block that the node has named at about the same time.
 */
export function hubSeconds({ height, blockSeconds }: HubSide, named: HubBlock | undefined): number | undefined {
  if (height === undefined || blockSeconds === undefined || named === undefined) return undefined;
  return named.epochSeconds + Number(subtract(height, named.height)) * blockSeconds;
}

/** The debt of the hub in a token, without the batches that are done. */
export function outstanding(
  { unbatched, batches }: BackingFacts,
  isDone: (nonce: Numeral) => boolean,
): Numeral | undefined {
  if (unbatched === undefined || batches === undefined) return undefined;
  const live = batches.filter(({ nonce }) => nonce === undefined || !isDone(nonce));
  return live.reduce((total, { amount }) => add(total, amount), unbatched);
}
