import { aggregate, MULTICALL3 } from '../../src/simulator/json-rpc.js';
import { BRIDGE, TOKEN } from './bridge-target.js';
import type { RpcRequest } from './rpc-node.js';

/*
 * An external chain that answers the calls of the bridge contract of `bridge-target.ts` and of tokens: batch 7 is executed, and its event not
 * yet observed. Selectors and slots are written down here, so that they check those of the library.
 */

export const OWNER = `0x${'a1'.repeat(20)}`;
export const IMPLEMENTATION = `0x${'b2'.repeat(20)}`;
/** Of the newest block. */
export const HEIGHT = 21_380_100n;

export interface ExternalChain {
  readonly answer: (request: RpcRequest) => unknown;
  readonly setBalance: (token: string, balance: bigint) => void;
  /** Sets the returned data of a call of a contract; `undefined` for a call that reverts. */
  readonly setResult: (contract: string, data: string, result: string | undefined) => void;
}

/** EIP-1967. */
const IMPLEMENTATION_SLOT = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc';
const CHAIN_ID = 1n;

const word = (value: bigint): string => value.toString(16).padStart(64, '0');
const argument = (address: string): string => word(BigInt(address));

/** `seconds` is the time of the newest block. */
export function createExternalChain(seconds = Math.floor(Date.now() / 1000)): ExternalChain {
  /** The results of the calls of each contract, by the data of the call. */
  const contracts = new Map<string, Map<string, string | undefined>>([
    [
      MULTICALL3,
      new Map([
        ['0x3408e470', `0x${word(CHAIN_ID)}`], // getChainId()
        ['0x42cbb15c', `0x${word(HEIGHT)}`], // getBlockNumber()
        ['0x0f28c97d', `0x${word(BigInt(seconds))}`], // getCurrentBlockTimestamp()
      ]),
    ],
    [
      BRIDGE,
      new Map([
        ['0x73b20547', `0x${word(103n)}`], // state_lastEventNonce()
        ['0xb56561fe', `0x${word(50n)}`], // state_lastValsetNonce()
        ['0xe5a2b5d2', `0x${word(2_863_311_530n)}`], // state_powerThreshold()
        ['0x5c975abb', `0x${word(0n)}`], // paused()
        ['0x8da5cb5b', `0x${argument(OWNER)}`], // owner()
        [`0x011b2174${argument(TOKEN)}`, `0x${word(7n)}`], // lastBatchNonce(address)
      ]),
    ],
  ]);

  function execute(to: string, data: string): string | undefined {
    const results = contracts.get(to.toLowerCase());
    // An account without code returns nothing.
    if (results === undefined) return '0x';
    // lastBatchNonce(address) and balanceOf(address) are 0 for addresses that are not known.
    const unknown = /^0x(?:011b2174|70a08231)/.test(data) ? `0x${word(0n)}` : undefined;
    return results.has(data) ? results.get(data) : unknown;
  }

  return {
    answer: ({ method, params }) => {
      switch (method) {
        case 'eth_syncing':
          return false;
        case 'eth_call': {
          const [{ to, data }, block] = params as [{ readonly to: string; readonly data: string }, string];
          if (block !== 'latest' || to !== MULTICALL3)
            throw new Error('the call is not one of Multicall3 at the newest block');
          return aggregate(data.slice(10), execute);
        }
        case 'eth_getStorageAt':
          return `0x${word(params[1] === IMPLEMENTATION_SLOT ? BigInt(IMPLEMENTATION) : 0n)}`;
        default:
          throw new Error(`unknown method ${method}`);
      }
    },
    setBalance: (token, balance) =>
      void contracts.set(token, new Map([[`0x70a08231${argument(BRIDGE)}`, `0x${word(balance)}`]])),
    setResult: (contract, data, result) => void contracts.get(contract)?.set(data, result),
  };
}
