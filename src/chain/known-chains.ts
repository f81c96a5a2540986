import { HOUR_MS } from '../units.js';

/** How a chain executes transactions: it decides what a hash means, and whether a missed nonce blocks the chain. */
export type ChainType = 'evm' | 'bitcoin' | 'other';

/** A coin with the number of decimals of its smallest unit. */
export interface Coin {
  readonly symbol: string;
  readonly decimals: number;
}

interface KnownChain {
  readonly type: ChainType;
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

/** Chains with a built-in name, a type other than `evm` or a limit other than the default, by chain id. */
export const knownChains: ReadonlyMap<string, KnownChain> = new Map<string, KnownChain>([
  // Two confirmations of ten minutes on average take more than 45 minutes in 6 of 100 cases, and more than 2 hours in 1
  // of 12,000.
  ['8332', { type: 'bitcoin', name: 'bitcoin', gas: BTC, ageLimitMs: 2 * HOUR_MS }],
  // The test networks of Bitcoin.
  ['18332', { type: 'bitcoin', gas: BTC }],
  ['18333', { type: 'bitcoin', gas: BTC }],
  ['18334', { type: 'bitcoin', gas: BTC }],
  ['18444', { type: 'bitcoin', gas: BTC }],
  ['1', { type: 'evm', name: 'ethereum', gas: ETH }],
  ['10', { type: 'evm', name: 'optimism', gas: ETH }],
  ['56', { type: 'evm', name: 'bsc', gas: { symbol: 'BNB', decimals: 18 } }],
  ['137', { type: 'evm', name: 'polygon', gas: { symbol: 'POL', decimals: 18 } }],
  ['480', { type: 'evm', name: 'world', gas: ETH }],
  ['7000', { type: 'evm', name: 'zetachain', gas: ZETA }],
  ['7001', { type: 'evm', name: 'zetachain-testnet', gas: ZETA }],
  ['8453', { type: 'evm', name: 'base', gas: ETH }],
  ['42161', { type: 'evm', name: 'arbitrum', gas: ETH, lookahead: 30 }],
  ['43114', { type: 'evm', name: 'avalanche', gas: { symbol: 'AVAX', decimals: 18 } }],
  ['11155111', { type: 'evm', name: 'sepolia', gas: ETH }],
  ['105', { type: 'other', name: 'sui', gas: { symbol: 'SUI', decimals: 9 } }],
  ['900', { type: 'other', name: 'solana', gas: { symbol: 'SOL', decimals: 9 } }],
  ['2015140', { type: 'other', name: 'ton', gas: { symbol: 'TON', decimals: 9 } }],
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

/** Chains without an entry are EVM chains. */
export function chainType(chainId: string): ChainType {
  return knownChains.get(chainId)?.type ?? 'evm';
}

/**
 * The default of the chain parameter `outbound_schedule_lookahead`: how far above the lowest missed nonce clients send.
 */
export const LOOKAHEAD = 60;

/** Whether clients apply the lookahead; not on Bitcoin. */
export function isScheduledByDistance(chainId: string): boolean {
  return chainType(chainId) !== 'bitcoin';
}
