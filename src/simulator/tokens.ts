import { createAccount, createExternalAddress } from './addresses.js';
import type { Erc20ToDenom } from './module-state.js';
import type { Random } from './random.js';

/** Amounts are drawn from 1 to `highest` whole coins. */
interface TokenKind {
  readonly symbol: string;
  readonly decimals: number;
  readonly highest: number;
  /** Its share of the traffic. */
  readonly weight: number;
  readonly origin: 'external' | 'hub' | 'hub-coin';
}

export interface Token extends TokenKind {
  readonly contract: string;
}

/** The first is the busiest. */
const TOKEN_KINDS: readonly TokenKind[] = [
  { symbol: 'usdt', decimals: 6, highest: 50_000, weight: 30, origin: 'external' },
  { symbol: 'hub', decimals: 18, highest: 9_000, weight: 20, origin: 'hub-coin' },
  { symbol: 'usdc', decimals: 6, highest: 20_000, weight: 15, origin: 'external' },
  { symbol: 'weth', decimals: 18, highest: 30, weight: 12, origin: 'external' },
  { symbol: 'meme', decimals: 18, highest: 900_000_000, weight: 10, origin: 'external' },
  { symbol: 'osmo', decimals: 6, highest: 5_000, weight: 8, origin: 'hub' },
  { symbol: 'gold', decimals: 8, highest: 40, weight: 5, origin: 'hub' },
];

export type Tokens = readonly [Token, ...Token[]];

export function createTokens(random: Random): Tokens {
  const [busiest, ...others] = TOKEN_KINDS.map((kind) => createToken(random, kind));
  if (busiest === undefined) throw new RangeError('there are no tokens');
  return [busiest, ...others];
}

/** Only coins of the hub's own factories are named; the denom of an external token follows from its contract. */
export function createErc20ToDenoms(random: Random, tokens: Tokens): Erc20ToDenom[] {
  return tokens
    .filter(({ origin }) => origin === 'hub')
    .map(({ contract, symbol }) => ({ erc20: contract, denom: `factory/${createAccount(random)}/${symbol}` }));
}

/** In smallest units, with odd digits down to the last of them. */
export function drawAmount(random: Random, { decimals, highest }: Token): bigint {
  const whole = BigInt(random.between(1, highest));
  return whole * 10n ** BigInt(decimals) + BigInt(random.characters('0123456789', decimals));
}

function createToken(random: Random, kind: TokenKind): Token {
  return { ...kind, contract: createExternalAddress(random) };
}
