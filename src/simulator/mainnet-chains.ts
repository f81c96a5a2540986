import { contractChain, EXTERNAL_CHAINS, type ExternalChain, gasCoin, LOOKAHEAD } from './external-chains.js';

/** Traffic and times of the chains of the other scenarios on a main network. */
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
export const BITCOIN_BLOCK_SECONDS = 600;
/** Signers consider a transaction final after this number of blocks. */
export const BITCOIN_CONFIRMATIONS = 2;

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
