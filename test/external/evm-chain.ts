import { createEVM, type EVM } from '@ethereumjs/evm';
import {
  bytesToHex,
  createAddressFromString,
  hexToBytes,
  setLengthLeft,
  type PrefixedHexString,
} from '@ethereumjs/util';
import type { RpcRequest } from './rpc-node.js';

/*
 * An external chain in this process: the EVM of a real implementation of an Ethereum node, with contracts that have the read functions
 * of a bridge. Selectors and slots are written down here, so that they check those of the library.
 */

/** Where the bridge keeps the value of each function. */
const BRIDGE_SLOTS = {
  '73b20547': 1, // state_lastEventNonce()
  b56561fe: 2, // state_lastValsetNonce()
  e5a2b5d2: 3, // state_powerThreshold()
  '5c975abb': 4, // paused()
  '8da5cb5b': 5, // owner()
} as const;
/** lastBatchNonce(address) and balanceOf(address): the argument is the slot. */
const MAPPINGS = ['011b2174', '70a08231'] as const;

/** EIP-1967. */
const IMPLEMENTATION_SLOT = '360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc';

/** The code of a contract: for each selector, a jump to code that returns the value of a slot. */
function assemble(): string {
  const push = (hex: string): string => (0x5f + hex.length / 2).toString(16) + hex;
  const branches = [
    ...Object.entries(BRIDGE_SLOTS).map(([selector, slot]) => ({
      selector,
      slot: push(slot.toString(16).padStart(2, '0')),
    })),
    // PUSH1 4, CALLDATALOAD
    ...MAPPINGS.map((selector) => ({ selector, slot: `${push('04')}35` })),
  ];
  // PUSH1 0, CALLDATALOAD, PUSH1 224, SHR
  const start = `${push('00')}35${push('e0')}1c`;
  // REVERT without data
  const end = `${push('00')}${push('00')}fd`;
  // DUP1, PUSH4 selector, EQ, PUSH2 destination, JUMPI
  const jumpBytes = 11;
  const bodies = branches.map(
    // JUMPDEST, the slot, SLOAD, PUSH1 0, MSTORE, RETURN of 32 bytes
    ({ slot }) => `5b${slot}54${push('00')}52${push('20')}${push('00')}f3`,
  );
  let destination = start.length / 2 + branches.length * jumpBytes + end.length / 2;
  const jumps = branches.map(({ selector }, index) => {
    const jump = `80${push(selector)}14${push(destination.toString(16).padStart(4, '0'))}57`;
    destination += (bodies[index]?.length ?? 0) / 2;
    return jump;
  });
  return start + jumps.join('') + end + bodies.join('');
}

const word = (value: bigint | string): Uint8Array =>
  setLengthLeft(hexToBytes(`0x${typeof value === 'bigint' ? evenHex(value) : value}`), 32);

function evenHex(value: bigint): string {
  const hex = value.toString(16);
  return hex.length % 2 === 0 ? hex : `0${hex}`;
}

/** The values of the bridge contract. */
export interface BridgeValues {
  readonly eventNonce: bigint;
  readonly valsetNonce: bigint;
  readonly powerThreshold: bigint;
  readonly paused: bigint;
  readonly owner: string;
  readonly implementation: string;
}

export interface EvmChain {
  readonly answer: (request: RpcRequest) => Promise<unknown>;
  readonly setBatchNonce: (token: string, nonce: bigint) => Promise<void>;
  readonly setBalance: (token: string, balance: bigint) => Promise<void>;
}

const CHAIN_ID = 1n;

/** `height` and `seconds` are those of the newest block. */
export async function createEvmChain(
  bridge: string,
  values: BridgeValues,
  { height, seconds }: { readonly height: bigint; readonly seconds: number },
): Promise<EvmChain> {
  const evm = await createEVM();
  const store = async (contract: string, slot: string, value: bigint | string): Promise<void> => {
    await evm.stateManager.putStorage(addressOf(contract), word(slot), trimmed(word(value)));
  };
  await evm.stateManager.putCode(addressOf(bridge), hexToBytes(`0x${assemble()}`));
  const { eventNonce, valsetNonce, powerThreshold, paused, owner, implementation } = values;
  const slots = [eventNonce, valsetNonce, powerThreshold, paused, owner.slice(2)];
  for (const [index, value] of slots.entries()) {
    // oxlint-disable-next-line no-await-in-loop -- the state manager writes one after the other
    await store(bridge, `0${index + 1}`, value);
  }
  await store(bridge, IMPLEMENTATION_SLOT, implementation.slice(2));
  return {
    answer: async (request) => answer(evm, request, height, seconds),
    setBatchNonce: async (token, nonce) => store(bridge, token.slice(2), nonce),
    setBalance: async (token, balance) => {
      await evm.stateManager.putCode(addressOf(token), hexToBytes(`0x${assemble()}`));
      await store(token, bridge.slice(2), balance);
    },
  };
}

async function answer(evm: EVM, { method, params }: RpcRequest, height: bigint, seconds: number): Promise<unknown> {
  const quantity = (value: bigint): string => `0x${value.toString(16)}`;
  switch (method) {
    case 'eth_chainId':
      return quantity(CHAIN_ID);
    case 'eth_syncing':
      return false;
    case 'eth_getBlockByNumber': {
      const [number] = params;
      if (number !== 'latest' && number !== quantity(height)) return null;
      return { number: quantity(height), timestamp: quantity(BigInt(seconds)), transactions: [] };
    }
    case 'eth_call': {
      const [call, block] = params as [{ to: string; data: PrefixedHexString }, string];
      if (block !== quantity(height)) throw new Error('the call is not pinned to the block');
      const { execResult } = await evm.runCall({ to: addressOf(call.to), data: hexToBytes(call.data) });
      if (execResult.exceptionError !== undefined) throw new Error('execution reverted');
      return bytesToHex(execResult.returnValue);
    }
    case 'eth_getStorageAt': {
      const [contract, slot] = params as [string, PrefixedHexString];
      const value = await evm.stateManager.getStorage(addressOf(contract), hexToBytes(slot));
      return bytesToHex(setLengthLeft(value, 32));
    }
    default:
      throw new Error(`unknown method ${method}`);
  }
}

function addressOf(text: string): ReturnType<typeof createAddressFromString> {
  return createAddressFromString(text);
}

/** The state manager stores values without leading zeros. */
function trimmed(value: Uint8Array): Uint8Array {
  const first = value.findIndex((byte) => byte !== 0);
  return first === -1 ? new Uint8Array() : value.slice(first);
}
