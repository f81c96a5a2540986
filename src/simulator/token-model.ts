import { createAccount, createExternalAddress, type Random } from './random.js';

interface TokenDefinition {
  readonly symbol: string;
  readonly decimals: number;
  /** Amounts are drawn from 1 to this many whole coins. */
  readonly maxCoins: number;
  /** Share of the traffic. */
  readonly weight: number;
  /** Price of a coin in dollars. */
  readonly price: number;
  readonly origin: 'external' | 'hub' | 'hub-coin';
}

export interface Token extends TokenDefinition {
  readonly contract: string;
}

/** The first token has the most traffic. */
export type Tokens = readonly [Token, ...Token[]];

const TOKEN_DEFINITIONS: readonly TokenDefinition[] = [
  { symbol: 'usdt', decimals: 6, maxCoins: 50_000, weight: 30, price: 1, origin: 'external' },
  { symbol: 'hub', decimals: 18, maxCoins: 9_000, weight: 20, price: 20, origin: 'hub-coin' },
  { symbol: 'usdc', decimals: 6, maxCoins: 20_000, weight: 15, price: 1, origin: 'external' },
  { symbol: 'weth', decimals: 18, maxCoins: 30, weight: 12, price: 2500, origin: 'external' },
  { symbol: 'meme', decimals: 18, maxCoins: 900_000_000, weight: 10, price: 2e-5, origin: 'external' },
  { symbol: 'osmo', decimals: 6, maxCoins: 5_000, weight: 8, price: 0.5, origin: 'hub' },
  { symbol: 'gold', decimals: 8, maxCoins: 40, weight: 5, price: 60, origin: 'hub' },
];

export function createTokens(random: Random): Tokens {
  const [busiest, ...others] = TOKEN_DEFINITIONS.map((definition): Token => ({
    ...definition,
    contract: createExternalAddress(random),
  }));
  if (busiest === undefined) throw new RangeError('there are no tokens');
  return [busiest, ...others];
}

/** The amount worth this many dollars, in smallest units. */
export function amountOfDollars({ price, decimals }: Token, dollars: number): bigint {
  return (BigInt(Math.round((dollars / price) * 1e9)) * 10n ** BigInt(decimals)) / 10n ** 9n;
}

/** The default of batch creators and relayers on Injective. */
const MIN_BATCH_FEE_DOLLARS = 23.3;

/**
 * The fees from which on a batch of the token is worth its gas, in smallest units: less after its price has risen by a
 * factor.
 */
export function minBatchFee(token: Token, priceFactor = 1): bigint {
  return amountOfDollars(token, MIN_BATCH_FEE_DOLLARS / priceFactor);
}

/** Only tokens created on the hub are listed; the denom of an external token is derived from its contract. */
export function createErc20ToDenoms(random: Random, tokens: Tokens) {
  return tokens
    .filter(({ origin }) => origin === 'hub')
    .map(({ contract, symbol }) => ({ erc20: contract, denom: `factory/${createAccount(random)}/${symbol}` }));
}

/** An amount in smallest units, with random digits down to the last one. */
export function drawAmount(random: Random, { decimals, maxCoins }: Token): bigint {
  const coins = BigInt(random.between(1, maxCoins));
  return coins * 10n ** BigInt(decimals) + BigInt(random.string('0123456789', decimals));
}
