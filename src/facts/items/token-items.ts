import type { Transfer } from '../../chain/module-state.js';
import type { WaitReason } from '../bridge/batches.js';
import type { BridgeInput } from '../bridge/bridge-input.js';
import { learnedFees } from '../bridge/executions.js';
import {
  configuredTokens,
  denomByContract,
  hubCoinDenom,
  minBatchFees,
  queueWaitsFor,
  topBatchFeesByToken,
  totalAmount,
  waitingTokensByWorth,
  type WaitingToken,
} from '../bridge/tokens.js';
import { toLabelValue } from '../label-value.js';
import { orNull, orUndefined } from '../required-fields.js';
import { itemList, type Search } from './item-list.js';
import { coinItem, readSymbol, tokenItem, type CoinItem } from '../bridge/coins.js';

/** The coin that pays for transactions on the hub, with the configured symbol and decimals; `null` if unknown. */
export function hubCoin(input: BridgeInput) {
  const denom = hubCoinDenom(input);
  if (denom === undefined) return null;
  const contract = Array.from(denomByContract(input)).find(([, candidate]) => candidate === denom)?.[0];
  const token = contract === undefined ? undefined : configuredTokens(input).get(contract);
  return {
    denom: toLabelValue(denom),
    symbol: readSymbol(token),
    decimals: token?.decimals ?? null,
  };
}

/** The configured fees below which nobody builds or relays a batch of a token. */
export function minimumFee(input: BridgeInput, contract: string): CoinItem | null {
  const amount = minBatchFees(input.tokens).get(contract);
  return amount === undefined ? null : coinItem(input, { contract, amount });
}

/**
 * What batches of a token that were executed in fourteen days have paid at least; `null` unless it takes the place of a
 * minimum.
 */
export function executedFee(input: BridgeInput, contract: string) {
  const { lowest, secondLowest, minimum } = learnedFees(input).get(contract) ?? {};
  if (minimum === undefined || lowest === undefined || minBatchFees(input.tokens).has(contract)) return null;
  const isOfAll = lowest >= minimum;
  return {
    ...coinItem(input, { contract, amount: isOfAll ? lowest : secondLowest }),
    /** Otherwise of all but one. */ isOfAll,
  };
}

export type HubCoin = NonNullable<ReturnType<typeof hubCoin>>;
export type WaitingTokenItem = Readonly<ReturnType<typeof waitingTokenItem>>;

/** The queue of unbatched transfers of a token. */
export interface QueueItem {
  /** The fees of a batch built now. */
  readonly fees: CoinItem;
  readonly minimumFee: CoinItem | null;
  /** Without a minimum, any fee is sufficient. */
  readonly waitsFor: WaitReason | null;
}

/** Withdrawn when a fee is unknown; `undefined` for an empty queue. */
export function queueItem(input: BridgeInput, contract: string): QueueItem | undefined {
  const fees = topBatchFeesByToken(input).get(contract);
  if (fees === undefined) return undefined;
  return {
    fees: coinItem(input, { contract, amount: fees }),
    minimumFee: minimumFee(input, contract),
    waitsFor: queueWaitsFor(input, contract) ?? null,
  };
}

/**
 * The waiting tokens by worth, then configured tokens, then by the number of transfers. Unreadable when either list is:
 * an amount could be too low.
 */
export function waitingTokenItems(input: BridgeInput, search?: Search) {
  return itemList(
    () => waitingTokensByWorth(input),
    [],
    (waiting) => waitingTokenItem(input, waiting),
    { search, searched: ({ contract }) => Object.values(tokenItem(input, contract)) },
  );
}

function waitingTokenItem(input: BridgeInput, waiting: WaitingToken) {
  const { contract, unbatched, batched } = waiting;
  const coin = (transfers: readonly Transfer[]): CoinItem =>
    coinItem(input, { contract, amount: orUndefined(() => totalAmount(transfers)) });
  return {
    token: tokenItem(input, contract),
    unbatchedTransfers: unbatched.length,
    batchedTransfers: batched.length,
    unbatched: coin(unbatched),
    batched: coin(batched),
    queue: orNull(() => queueItem(input, contract)),
  };
}
