/** A chain on which the hub signs transactions. */
export interface ExternalChain {
  readonly id: string;
  readonly name: string;
  /** Share of the traffic. */
  readonly weight: number;
  readonly startHeight: number;
  readonly blockMs: number;
  /** Minimum and maximum time from broadcast to the last confirmation vote. */
  readonly confirmationSeconds: readonly [number, number];
  /** Blocks from broadcast until the signers post the hash; 0: at once. */
  readonly blocksToHash: number;
  readonly gas: Asset;
  /** `undefined`: the chain has no tokens. */
  readonly erc20: Asset | undefined;
  readonly gasPrice: number;
  /** Clients send no nonce that is further above the lowest missed one; `undefined`: they do not look at the distance. */
  readonly lookahead: number | undefined;
  /** Calls and reverts occur only on chains with smart contracts. */
  readonly hasContracts: boolean;
}

export interface Asset {
  readonly coinType: 'Native' | 'Gas' | 'ERC20';
  readonly contract: string;
  readonly decimals: number;
  /** Value of one coin in hub coins, as configured in the rate limiter of the hub. */
  readonly hubCoins: bigint;
}

/** The default of the chain parameters of the hub. */
export const LOOKAHEAD = 60;

export const HUB_COIN: Asset = { coinType: 'Native', contract: '', decimals: 18, hubCoins: 1n };

export const EXTERNAL_CHAINS: readonly [ExternalChain, ...ExternalChain[]] = [
  {
    ...contractChain(2500n, '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'),
    id: '1',
    name: 'ethereum',
    weight: 25,
    startHeight: 21_400_000,
    blockMs: 12_000,
    confirmationSeconds: [150, 420],
  },
  {
    ...contractChain(600n, '0x55d398326f99059fF775485246999027B3197955'),
    id: '56',
    name: 'bsc',
    weight: 25,
    startHeight: 43_900_000,
    blockMs: 3000,
    confirmationSeconds: [60, 180],
  },
  {
    ...contractChain(2n, '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359'),
    id: '137',
    name: 'polygon',
    weight: 12,
    startHeight: 65_300_000,
    blockMs: 2100,
    confirmationSeconds: [120, 300],
  },
  {
    id: '8332',
    name: 'bitcoin',
    weight: 12,
    startHeight: 874_000,
    blockMs: 600_000,
    confirmationSeconds: [360, 540],
    // Signers of Bitcoin post the hash at broadcast.
    blocksToHash: 0,
    gas: gasCoin(8, 50_000n),
    erc20: undefined,
    gasPrice: 12,
    lookahead: undefined,
    hasContracts: false,
  },
  {
    ...contractChain(2500n, '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'),
    id: '8453',
    name: 'base',
    weight: 14,
    startHeight: 23_600_000,
    blockMs: 2000,
    confirmationSeconds: [45, 150],
  },
  {
    ...contractChain(2500n, '0xaf88d065e77c8cC2239327C5EDb3A432268e5831'),
    id: '42161',
    name: 'arbitrum',
    weight: 12,
    startHeight: 286_000_000,
    blockMs: 250,
    confirmationSeconds: [45, 150],
    lookahead: 30,
  },
];

/** The value of an amount in smallest units of the hub coin, truncated. */
export function valueOf(asset: Asset, amount: bigint): bigint {
  return (amount * asset.hubCoins * 10n ** 18n) / 10n ** BigInt(asset.decimals);
}

/** The amount of this value: the inverse of `valueOf`. */
export function amountWorth(asset: Asset, value: bigint): bigint {
  return (value * 10n ** BigInt(asset.decimals)) / (asset.hubCoins * 10n ** 18n);
}

/** Signers look for the outbound in blocks this often. */
const HASH_POLL_SECONDS = 10;

/** Seconds from broadcast until the hash is posted. */
export function secondsToHash({ blocksToHash, blockMs }: ExternalChain): number {
  return blocksToHash === 0 ? 0 : Math.ceil((blocksToHash * blockMs) / 1000) + HASH_POLL_SECONDS;
}

/** The common properties of chains with smart contracts: a gas coin and a dollar token. */
export function contractChain(hubCoins: bigint, dollarContract: string) {
  const erc20: Asset = { coinType: 'ERC20', contract: dollarContract, decimals: 6, hubCoins: 2n };
  // The outbound is in the next block, and the hash is posted when two more follow.
  return {
    gas: gasCoin(18, hubCoins),
    erc20,
    gasPrice: 3_000_000_000,
    lookahead: LOOKAHEAD,
    hasContracts: true,
    blocksToHash: 3,
  };
}

export function gasCoin(decimals: number, hubCoins: bigint): Asset {
  return { coinType: 'Gas', contract: '', decimals, hubCoins };
}
