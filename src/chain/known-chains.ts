/** How a chain executes transactions, which decides what a hash tells and whether missed nonces block it. */
export type ChainType = 'evm' | 'bitcoin' | 'other';

interface KnownChain {
  readonly type: ChainType;
  /** How long a transaction may be pending; only if it is not the default. */
  readonly ageLimitMs?: number;
  /** Only if it is not the default. */
  readonly lookahead?: number;
}

const HOUR_MS = 3_600_000;

/** The chains that differ from an EVM chain with the usual limits, by chain id. Those without an EVM have ids of their own. */
export const knownChains: ReadonlyMap<string, KnownChain> = new Map<string, KnownChain>([
  // Two confirmations of ten minutes on average take more than 45 minutes in 6 of 100 cases, and more than 2 hours in 1 of 12,000.
  ['8332', { type: 'bitcoin', ageLimitMs: 2 * HOUR_MS }],
  // The test networks of Bitcoin.
  ['18332', { type: 'bitcoin' }],
  ['18333', { type: 'bitcoin' }],
  ['18334', { type: 'bitcoin' }],
  ['18444', { type: 'bitcoin' }],
  // Arbitrum.
  ['42161', { type: 'evm', lookahead: 30 }],
  // Sui, Solana and TON.
  ['105', { type: 'other' }],
  ['900', { type: 'other' }],
  ['2015140', { type: 'other' }],
]);

/** Chains without an entry are EVM chains. */
export function chainType(chainId: string): ChainType {
  return knownChains.get(chainId)?.type ?? 'evm';
}

export function chainIdsOfType(type: ChainType): readonly string[] {
  return Array.from(knownChains).flatMap(([chainId, known]) => (known.type === type ? [chainId] : []));
}

/** The default of the chain parameter `outbound_schedule_lookahead`: clients send no nonce that is further above the lowest missed one. */
export const LOOKAHEAD = 60;

/** `undefined` for a chain that is not scheduled by the distance of nonces. */
export function lookaheadOf(chainId: string): number | undefined {
  return chainType(chainId) === 'bitcoin' ? undefined : (knownChains.get(chainId)?.lookahead ?? LOOKAHEAD);
}
