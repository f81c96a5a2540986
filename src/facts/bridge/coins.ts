import type { TokenConfig } from '../../config/config.js';
import type { Coin } from '../../chain/module-state.js';
import type { Field } from '../../chain/field.js';
import { orNull } from '../required-fields.js';
import type { BridgeInput } from './bridge-input.js';
import { configuredTokens, contractLabel, denomByContract, hubCoinDenom } from './tokens.js';
import { decimalOrNull, inWholeUnits, toLabelValue, truncatedOrNull } from '../plain-values.js';

/* Tokens and amounts with what the configuration and the hub know about them. */

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

/** The coins of public chains, by denom. */
const KNOWN_HUB_COINS: ReadonlyMap<string, KnownToken> = new Map([['inj', { symbol: 'INJ', decimals: 18 }]]);

/** The coin that pays for transactions on the hub, with its symbol and decimals; `null` if unknown. */
export function hubCoin(input: BridgeInput) {
  const denom = hubCoinDenom(input);
  if (denom === undefined) return null;
  const contract = Array.from(denomByContract(input)).find(([, candidate]) => candidate === denom)?.[0];
  const configured = contract === undefined ? undefined : configuredTokens(input).get(contract);
  const token = { ...KNOWN_HUB_COINS.get(denom), ...configured };
  return {
    denom: toLabelValue(denom),
    symbol: readSymbol(token),
    decimals: token.decimals ?? null,
  };
}

export type HubCoin = NonNullable<ReturnType<typeof hubCoin>>;
