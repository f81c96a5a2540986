import { HOUR_MS } from '../units.js';

/** A coin with the number of decimals of its smallest unit. */
export interface Coin {
  readonly symbol: string;
  readonly decimals: number;
}

interface KnownChain {
  readonly isBitcoin?: true;
  /** The default of the label `chain`. */
  readonly name?: string;
  /** The coin that pays for transactions. */
  readonly gas?: Coin;
  /** How long a transaction may be pending on the chain, if not the default time. */
  readonly ageLimitMs?: number;
  /** The lookahead of the chain, if it is not `LOOKAHEAD`. */
  readonly lookahead?: number;
}

/** The coin type `Native` on ZetaChain. */
const ZETA: Coin = { symbol: 'ZETA', decimals: 18 };
const ETH: Coin = { symbol: 'ETH', decimals: 18 };
const BTC: Coin = { symbol: 'BTC', decimals: 8 };

/** Chains with a built-in name, or a limit other than the default, by chain id. */
export const knownChains: ReadonlyMap<string, KnownChain> = new Map<string, KnownChain>([
  // Two confirmations of ten minutes on average take more than 45 minutes in 6 of 100 cases, and more than 2 hours in 1
  // of 12,000.
  ['8332', { isBitcoin: true, name: 'bitcoin', gas: BTC, ageLimitMs: 2 * HOUR_MS }],
  // The test networks of Bitcoin.
  ['18332', { isBitcoin: true, gas: BTC }],
  ['18333', { isBitcoin: true, gas: BTC }],
  ['18334', { isBitcoin: true, gas: BTC }],
  ['18444', { isBitcoin: true, gas: BTC }],
  ['1', { name: 'ethereum', gas: ETH }],
  ['10', { name: 'optimism', gas: ETH }],
  ['56', { name: 'bsc', gas: { symbol: 'BNB', decimals: 18 } }],
  ['137', { name: 'polygon', gas: { symbol: 'POL', decimals: 18 } }],
  ['480', { name: 'world', gas: ETH }],
  ['7000', { name: 'zetachain', gas: ZETA }],
  ['7001', { name: 'zetachain-testnet', gas: ZETA }],
  ['8453', { name: 'base', gas: ETH }],
  ['42161', { name: 'arbitrum', gas: ETH, lookahead: 30 }],
  ['43114', { name: 'avalanche', gas: { symbol: 'AVAX', decimals: 18 } }],
  ['11155111', { name: 'sepolia', gas: ETH }],
  ['105', { name: 'sui', gas: { symbol: 'SUI', decimals: 9 } }],
  ['900', { name: 'solana', gas: { symbol: 'SOL', decimals: 9 } }],
  ['2015140', { name: 'ton', gas: { symbol: 'TON', decimals: 9 } }],
]);

/** The built-in names, by chain id. */
export const chainNames: Readonly<Record<string, string>> = Object.fromEntries(
  Array.from(knownChains).flatMap(([chainId, { name }]) => (name === undefined ? [] : [[chainId, name]])),
);

/** The main network and the test network. */
export const ZETACHAIN_IDS: readonly string[] = ['7000', '7001'];

/** The coin of an amount, by the coin type of its outbound; `undefined` if its decimals are unknown. */
export function findCoin(coinType: string, chainId: string, hubChainIds: readonly string[]): Coin | undefined {
  if (coinType === 'Gas') return knownChains.get(chainId)?.gas;
  const isZetaChain = hubChainIds.length > 0 && hubChainIds.every((id) => ZETACHAIN_IDS.includes(id));
  return coinType === 'Native' && isZetaChain ? ZETA : undefined;
}

/**
 * The default of the chain parameter `outbound_schedule_lookahead`: how far above the lowest missed nonce clients send.
 */
export const LOOKAHEAD = 60;

/** Whether clients apply the lookahead; not on Bitcoin. */
export function isScheduledByDistance(chainId: string): boolean {
  return knownChains.get(chainId)?.isBitcoin !== true;
}
