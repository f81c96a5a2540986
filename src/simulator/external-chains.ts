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
  /** Maximum distance of a nonce that clients send from the lowest missed nonce; `undefined`: no maximum. */
  readonly lookahead: number | undefined;
  /** Calls and reverts occur only on chains with smart contracts. */
  readonly hasContracts: boolean;
}

export interface Asset {
  /** `Cmd`: a command of an administrator of the hub. */
  readonly coinType: 'Native' | 'Gas' | 'ERC20' | 'Cmd';
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

/** Traffic and times on a main network, for the chains of all scenarios. */
const HABITS: Readonly<Record<string, Pick<ExternalChain, 'weight' | 'confirmationSeconds'>>> = {
  '1': { weight: 18, confirmationSeconds: [200, 420] },
  '56': { weight: 22, confirmationSeconds: [40, 120] },
  '137': { weight: 14, confirmationSeconds: [300, 660] },
  // Besides two blocks: the observers look once a minute, then vote.
  '8332': { weight: 2, confirmationSeconds: [30, 120] },
  '8453': { weight: 20, confirmationSeconds: [150, 420] },
  '42161': { weight: 8, confirmationSeconds: [50, 150] },
};

const BITCOIN_ID = '8332';

export function isBitcoin({ id }: ExternalChain): boolean {
  return id === BITCOIN_ID;
}

/** The hub no longer sends anything there. */
const UNUSED_CHAIN: ExternalChain = {
  ...contractChain(2500n, '0x07865c6E87B9F70255377e024ace6630C1Eaa37F'),
  id: '5',
  name: 'goerli',
  weight: 0,
  startHeight: 10_400_000,
  blockMs: 12_000,
  confirmationSeconds: [150, 420],
};

export function isUnused({ id }: ExternalChain): boolean {
  return id === UNUSED_CHAIN.id;
}

const [first, ...others] = EXTERNAL_CHAINS;
const withHabits = (chain: ExternalChain): ExternalChain => ({ ...chain, ...HABITS[chain.id] });

export const MAINNET_CHAINS: readonly [ExternalChain, ...ExternalChain[]] = [
  withHabits(first),
  ...others.map(withHabits),
  {
    ...contractChain(20n, '0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E'),
    id: '43114',
    name: 'avalanche',
    weight: 3,
    startHeight: 60_100_000,
    blockMs: 1700,
    confirmationSeconds: [50, 200],
  },
  {
    id: '900',
    name: 'solana',
    weight: 7,
    startHeight: 345_000_000,
    blockMs: 400,
    confirmationSeconds: [30, 120],
    blocksToHash: 1,
    gas: gasCoin(9, 100n),
    erc20: undefined,
    gasPrice: 0,
    lookahead: LOOKAHEAD,
    hasContracts: false,
  },
  {
    id: '105',
    name: 'sui',
    weight: 3,
    startHeight: 190_000_000,
    blockMs: 3000,
    confirmationSeconds: [20, 90],
    blocksToHash: 1,
    gas: gasCoin(9, 2n),
    erc20: undefined,
    gasPrice: 1000,
    lookahead: LOOKAHEAD,
    hasContracts: false,
  },
  UNUSED_CHAIN,
];

/** The names of all chains in use, by chain id. */
export const chainNames: Readonly<Record<string, string>> = Object.fromEntries(
  MAINNET_CHAINS.filter((chain) => !isUnused(chain)).map(({ id, name }) => [id, name]),
);

/** The value of an amount in smallest units of the hub coin, truncated. */
export function hubCoinValue(asset: Asset, amount: bigint): bigint {
  return (amount * asset.hubCoins * 10n ** 18n) / 10n ** BigInt(asset.decimals);
}

/** The amount of this value: the inverse of `hubCoinValue`. */
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
function contractChain(hubCoins: bigint, dollarContract: string) {
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

function gasCoin(decimals: number, hubCoins: bigint): Asset {
  return { coinType: 'Gas', contract: '', decimals, hubCoins };
}
