import { ratio } from '../../chain/numeral.js';
import type { TokenConfig } from '../../config/config.js';
import type { Coin, Transfer } from '../../chain/module-state.js';
import type { Field } from '../../chain/field.js';
import type { WaitReason } from '../bridge/batches.js';
import type { BridgeInput } from '../bridge/bridge-input.js';
import { learnedFees } from '../bridge/learned-fees.js';
import {
  configuredTokens,
  contractLabel,
  denomByContract,
  hubCoinDenom,
  minBatchFees,
  topBatchFeesByToken,
  totalAmount,
  waitingTokens,
  type WaitingToken,
} from '../bridge/tokens.js';
import { toLabelValue } from '../label-value.js';
import { orNull, orUndefined } from '../required-fields.js';
import { decimalOrNull, inWholeUnits, itemList, truncatedOrNull, type Search } from './item-list.js';

export interface TokenItem {
  /** The address in lower case. */
  readonly contract: string | null;
  readonly denom: string | null;
  /** The configured symbol. */
  readonly symbol: string | null;
}

export interface CoinItem extends TokenItem {
  /** The amount in the smallest unit of the token. */
  readonly amount: string | null;
  /** In whole tokens, when the decimals of the token are configured. */
  readonly wholeAmount: string | null;
}

export function tokenItem(input: BridgeInput, field: Field<string>): TokenItem {
  const contract = orNull(() => contractLabel(field));
  if (contract === null) return { contract, denom: null, symbol: null };
  const denom = truncatedOrNull(() => denomByContract(input).get(contract));
  return { contract, denom, symbol: readSymbol(configuredTokens(input).get(contract)) };
}

export function coinItem(input: BridgeInput, coin: Partial<Coin> | undefined): CoinItem {
  const { contract, denom } = tokenItem(input, coin?.contract);
  const token = contract === null ? undefined : configuredTokens(input).get(contract);
  const amount = decimalOrNull(() => coin?.amount);
  return { contract, denom, ...amountItem(token, amount) };
}

/** What is known about a token, from the configuration or built in. */
export type KnownToken = Partial<Pick<TokenConfig, 'symbol' | 'decimals'>>;

/** An amount with the symbol of its token; in whole tokens if the decimals are known. */
export function amountItem(token: KnownToken | undefined, amount: string | null) {
  const decimals = token?.decimals;
  const wholeAmount = decimals === undefined ? null : inWholeUnits(amount, decimals);
  return { symbol: readSymbol(token), amount, wholeAmount };
}

function readSymbol(token: KnownToken | undefined): string | null {
  return token?.symbol === undefined ? null : toLabelValue(token.symbol);
}

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
  const minimum = minBatchFees(input.tokens).get(contract);
  return {
    fees: coinItem(input, { contract, amount: fees }),
    minimumFee: minimumFee(input, contract),
    waitsFor: minimum !== undefined && fees < minimum ? 'fees' : 'batch',
  };
}

/**
 * The waiting tokens by worth, then configured tokens, then by the number of transfers. Unreadable when either list is:
 * an amount could be too low.
 */
export function waitingTokenItems(input: BridgeInput, search?: Search) {
  const configured = configuredTokens(input);
  return itemList(
    () => waitingTokens(input),
    [
      (waiting) => -estimateWorth(input, waiting),
      ({ contract }) => (configured.has(contract) ? 0 : 1),
      ({ unbatched, batched }) => -(unbatched.length + batched.length),
    ],
    (waiting) => waitingTokenItem(input, waiting),
    { search, searched: ({ contract }) => Object.values(tokenItem(input, contract)) },
  );
}

/** In multiples of the minimum fees, which are worth about the same for all tokens; 0 without a minimum. */
function estimateWorth({ tokens }: BridgeInput, { contract, unbatched, batched }: WaitingToken): number {
  const minimum = minBatchFees(tokens).get(contract);
  if (minimum === undefined) return 0;
  return orNull(() => ratio(totalAmount([...unbatched, ...batched]), minimum)) ?? 0;
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
