import type { Coin } from '../chain/module-state.js';
import type { TokenConfig } from '../config/config.js';
import { type Field } from '../json/field.js';
import type { DecimalString } from '../json/numeral.js';
import type { BridgeInput } from '../metrics/bridge/input.js';
import { contractLabel, denomByContract } from '../metrics/bridge/tokens.js';
import { toLabelValue } from '../metrics/family.js';
import { memoize } from '../metrics/memoize.js';
import { decimalStringOf, inWholeUnits, orNull, truncatedOrNull } from './item-list.js';
import type { CoinItem, TokenItem } from './items.js';

const configuredTokens = memoize(
  ({ tokens }: BridgeInput): ReadonlyMap<string, TokenConfig> =>
    new Map(tokens.map((token) => [token.contract, token])),
);

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
