/** How a chain executes transactions, which decides what a missing hash means. */
type ChainType = 'evm' | 'bitcoin' | 'other';

interface KnownChain {
  readonly name: string;
  readonly type: ChainType;
  /** How long a transaction may be pending; only if it is not the default. */
  readonly ageLimitMs?: number;
}

const HOUR_MS = 3_600_000;

/** The chains that ZetaChain is connected to, and their test networks, by chain id. Those without an EVM have ids of their own. */
export const knownChains: ReadonlyMap<string, KnownChain> = new Map<string, KnownChain>([
  ['1', { name: 'ethereum', type: 'evm' }],
  ['10', { name: 'optimism', type: 'evm' }],
  ['56', { name: 'bsc', type: 'evm' }],
  ['105', { name: 'sui', type: 'other' }],
  ['137', { name: 'polygon', type: 'evm' }],
  ['480', { name: 'world', type: 'evm' }],
  ['900', { name: 'solana', type: 'other' }],
  ['7000', { name: 'zetachain', type: 'evm' }],
  ['7001', { name: 'zetachain-testnet', type: 'evm' }],
  // Two confirmations of ten minutes on average take more than 45 minutes in 6 of 100 cases, and more than 2 hours in 1 of 12,000.
  ['8332', { name: 'bitcoin', type: 'bitcoin', ageLimitMs: 2 * HOUR_MS }],
  ['8453', { name: 'base', type: 'evm' }],
  ['42161', { name: 'arbitrum', type: 'evm' }],
  ['43114', { name: 'avalanche', type: 'evm' }],
  ['2015140', { name: 'ton', type: 'other' }],
  ['11155111', { name: 'sepolia', type: 'evm' }],
]);
