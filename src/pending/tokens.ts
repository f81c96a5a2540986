import { decimal, ratio, toDecimalString } from '../chain/decimal.js';
import type { Coin, Transfer } from '../chain/module-state.js';
import { type Field } from '../json/field.js';
import { asDecimalString, type DecimalString } from '../json/numeral.js';
import { relayableTransfers } from '../metrics/bridge/batches.js';
import type { BridgeInput } from '../metrics/bridge/input.js';
import {
  contractLabel,
  denomByContract,
  totalAmount,
  waitingTokens,
  type WaitingToken,
} from '../metrics/bridge/tokens.js';
import { hubCoinDenom } from '../metrics/bridge/watched.js';
import { toLabelValue } from '../metrics/family.js';
import { orUndefined } from '../metrics/required-fields.js';
import { configuredTokens } from './configured-tokens.js';
import { decimalStringOf, inWholeUnits, orNull, truncatedOrNull } from './item-list.js';
import { newestBatchHeight, standstillSince } from './standstill.js';
import {
  MAX_ROWS,
  type CoinItem,
  type HubCoin,
  type ItemList,
  type TokenItem,
  type WaitingTokenItem,
} from './items.js';

export function tokenItem(input: BridgeInput, field: Field<string>): TokenItem {
  const contract = orNull(() => contractLabel(field));
  if (contract === null) return { contract, denom: null, symbol: null };
  const symbol = configuredTokens(input).get(contract)?.symbol;
  return {
    contract,
    denom: truncatedOrNull(() => denomByContract(input).get(contract)),
    symbol: symbol === undefined ? null : toLabelValue(symbol),
  };
}

export function coinItem(input: BridgeInput, coin: Partial<Coin> | undefined): CoinItem {
  const { contract, denom, symbol } = tokenItem(input, coin?.contract);
  const amount = orNull(() => decimalStringOf(coin?.amount));
  return { contract, denom, symbol, amount, wholeAmount: wholeAmount(input, contract, amount) };
}

function wholeAmount(input: BridgeInput, contract: string | null, amount: DecimalString | null): DecimalString | null {
  const decimals = contract === null ? undefined : configuredTokens(input).get(contract)?.decimals;
  return decimals === undefined ? null : inWholeUnits(amount, decimals);
}

export function hubCoin(input: BridgeInput): HubCoin | null {
  const denom = hubCoinDenom(input);
  if (denom === undefined) return null;
  const contract = Array.from(denomByContract(input)).find(([, own]) => own === denom)?.[0];
  const token = contract === undefined ? undefined : configuredTokens(input).get(contract);
  return {
    denom: toLabelValue(denom),
    symbol: token?.symbol === undefined ? null : toLabelValue(token.symbol),
    decimals: token?.decimals ?? null,
  };
}

/** What waits by token. Unreadable when one of the lists is, because a token could be missing or its amount too low. */
export function waitingTokenItems(input: BridgeInput): ItemList<WaitingTokenItem> {
  const found = orNull(() => waitingTokens(input));
  if (found === null) return { readable: false, total: null };
  const rows = found
    .map((waiting) => ({ waiting, rank: rankOf(input, waiting) }))
    .toSorted(
      (a, b) => b.rank.worth - a.rank.worth || b.rank.configured - a.rank.configured || b.rank.size - a.rank.size,
    )
    .slice(0, MAX_ROWS)
    .map(({ waiting }) => waitingTokenItem(input, waiting));
  return { readable: true, total: found.length, unsortable: 0, rows };
}

/** The minimum fees of all tokens have about the same worth, so what waits is compared in multiples of them; 0 without one. */
function rankOf(input: BridgeInput, { contract, unbatched, batched }: WaitingToken) {
  const token = configuredTokens(input).get(contract);
  const minimum = token?.minBatchFee;
  const worth = orNull(() =>
    minimum === undefined ? 0 : ratio(totalAmount([...unbatched, ...batched]), decimal(asDecimalString(minimum))),
  );
  return { worth: worth ?? 0, configured: Number(token !== undefined), size: unbatched.length + batched.length };
}

function waitingTokenItem(input: BridgeInput, waiting: WaitingToken): WaitingTokenItem {
  const { contract, unbatched, batched } = waiting;
  const coin = (transfers: readonly Transfer[]): CoinItem =>
    coinItem(input, { contract, amount: orUndefined(() => toDecimalString(totalAmount(transfers))) });
  const relayable = orNull(() => relayableTransfers(input, contract));
  return {
    token: tokenItem(input, contract),
    unbatchedTransfers: unbatched.length,
    batchedTransfers: batched.length,
    unbatched: coin(unbatched),
    batched: coin(batched),
    relayableTransfers: relayable?.length ?? null,
    relayable: relayable && coin(relayable),
    newestBatchHeight: orNull(() => decimalStringOf(newestBatchHeight(input, contract))),
    standstillSinceHeight: orNull(() => decimalStringOf(standstillSince(input, waiting))),
  };
}
