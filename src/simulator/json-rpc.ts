import * as z from 'zod';
import type { ContractState } from './external-contract.js';
import type { Model } from './model.js';

/*
 * JSON-RPC of a node of the external chain, as far as a bridge contract is read: the contract, its tokens, and
 * Multicall3. Written from the documentation of the contracts, and with none of the code that reads them.
 */

export const RPC_PATH = '/external';

const rpcRequest = z.object({ id: z.unknown(), method: z.string(), params: z.array(z.unknown()) });

/** Changes of the contract, of its tokens, or of the newest block of the node. */
export interface RpcChanges {
  readonly contract?: (state: ContractState) => Partial<ContractState>;
  readonly chainId?: number;
  /** How old the newest block of the node is, besides the time since that of the chain. */
  readonly lagSeconds?: number;
  /** The supply of each token on the hub. */
  readonly supply?: (supply: bigint) => bigint;
}

const EXTERNAL_BLOCK_SECONDS = 12;

/** EIP-1967. */
const IMPLEMENTATION_SLOT = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc';

const INVALID_REQUEST = -32_600;
const METHOD_NOT_FOUND = -32_601;
const EXECUTION_ERROR = 3;

class RpcError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** The answer to the body of a request. */
export function executeRpc(model: Model, body: string, changes: RpcChanges = {}): object {
  const request = rpcRequest.safeParse(JSON.parse(body));
  if (!request.success)
    return { jsonrpc: '2.0', id: null, error: { code: INVALID_REQUEST, message: 'invalid request' } };
  const { id } = request.data;
  try {
    return { jsonrpc: '2.0', id, result: answer(model, request.data, changes) };
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return { jsonrpc: '2.0', id, error: { code: error.code, message: error.message } };
  }
}

/** The newest block of the node, with the state of the contract after it. */
interface Block {
  readonly chainId: number;
  readonly height: number;
  readonly seconds: number;
  readonly state: ContractState;
}

function newestBlock(model: Model, { contract, chainId, lagSeconds = 0 }: RpcChanges): Block {
  const height = model.external.height - Math.floor(lagSeconds / EXTERNAL_BLOCK_SECONDS);
  const state = model.bridge.contract.stateAt(height);
  if (state === undefined) throw new RpcError(-32_000, 'header not found');
  return {
    chainId: chainId ?? Number(model.moduleState().state.params.bridge_chain_id),
    height,
    seconds: model.external.seconds - (model.external.height - height) * EXTERNAL_BLOCK_SECONDS,
    state: { ...state, ...contract?.(state) },
  };
}

function answer(model: Model, { method, params }: z.infer<typeof rpcRequest>, changes: RpcChanges): unknown {
  const block = newestBlock(model, changes);
  switch (method) {
    case 'eth_syncing':
      return false;
    case 'eth_getBlockByNumber':
      return { number: quantity(block.height), timestamp: quantity(block.seconds), transactions: [] };
    case 'eth_call': {
      const { to = '', data = '' } = Object(params[0]) as { to?: string; data?: string };
      const returned = call(model, to.toLowerCase(), data, block);
      if (returned === undefined) throw new RpcError(EXECUTION_ERROR, 'execution reverted');
      return returned;
    }
    case 'eth_getStorageAt':
      return params[1] === IMPLEMENTATION_SLOT ? word(block.state.implementation) : word(0);
    default:
      throw new RpcError(METHOD_NOT_FOUND, `the method ${method} does not exist`);
  }
}

/** The returned data of a call; `undefined` for one that reverts. */
function call(model: Model, to: string, data: string, block: Block): string | undefined {
  const { state } = block;
  const bridge = model.moduleState().state.params.bridge_external_address.toLowerCase();
  const selector = data.slice(0, 10);
  const argument = `0x${data.slice(-40)}`.toLowerCase();
  if (to === MULTICALL3) return multicall(model, selector, data, block);
  if (to !== bridge) {
    const balance = selector === '0x70a08231' && argument === bridge ? state.balances.get(to) : undefined;
    return balance === undefined ? undefined : word(balance);
  }
  switch (selector) {
    case '0x73b20547':
      return word(state.eventNonce);
    case '0xb56561fe':
      return word(state.valsetNonce);
    case '0xe5a2b5d2':
      return word(state.powerThreshold);
    case '0x5c975abb':
      return word(Number(state.paused));
    case '0x8da5cb5b':
      return word(state.owner);
    case '0x011b2174':
      return word(state.batchNonces.get(argument) ?? 0);
    default:
      return undefined;
  }
}

/** Multicall3 (https://www.multicall3.com/abi) has this address on most chains. */
export const MULTICALL3 = '0xca11bde05977b3631167028862be2a173976ca11';

function multicall(model: Model, selector: string, data: string, block: Block): string | undefined {
  switch (selector) {
    // getChainId()
    case '0x3408e470':
      return word(block.chainId);
    // getBlockNumber()
    case '0x42cbb15c':
      return word(block.height);
    // getCurrentBlockTimestamp()
    case '0x0f28c97d':
      return word(block.seconds);
    // aggregate3((address target, bool allowFailure, bytes callData)[])
    case '0x82ad56cb':
      return aggregate(data.slice(10), (to, callData) => call(model, to, callData, block));
    default:
      return undefined;
  }
}

/** The results of the calls; `undefined` when one reverts that must not. */
export function aggregate(
  parameters: string,
  execute: (to: string, data: string) => string | undefined,
): string | undefined {
  // Two digits are a byte, 64 a word.
  const digitsAt = (byte: number, bytes = 32): string => parameters.slice(2 * byte, 2 * (byte + bytes));
  const integerAt = (byte: number): number => Number(`0x${digitsAt(byte)}`);
  const array = integerAt(0);
  const results: string[] = [];
  for (let index = 0; index < integerAt(array); index += 1) {
    const tuple = array + 32 + integerAt(array + 32 + 32 * index);
    const callData = tuple + integerAt(tuple + 64);
    const returned = execute(`0x${digitsAt(tuple).slice(24)}`, `0x${digitsAt(callData + 32, integerAt(callData))}`);
    if (returned === undefined && integerAt(tuple + 32) === 0) return undefined;
    results.push(encodedResult(returned));
  }
  let offset = 32 * results.length;
  const offsets = results.map((result) => {
    const own = word(offset).slice(2);
    offset += result.length / 2;
    return own;
  });
  return word(32) + word(results.length).slice(2) + offsets.join('') + results.join('');
}

/** (bool success, bytes returnData) */
function encodedResult(returned: string | undefined): string {
  const bytes = returned?.slice(2) ?? '';
  const words = [word(returned === undefined ? 0 : 1), word(64), word(bytes.length / 2)];
  return words.map((one) => one.slice(2)).join('') + bytes.padEnd(Math.ceil(bytes.length / 64) * 64, '0');
}

function quantity(value: number): string {
  return `0x${value.toString(16)}`;
}

/** 32 bytes with a number or an address. */
function word(value: bigint | number | string): string {
  const hex = typeof value === 'string' ? value.slice(2) : value.toString(16);
  return `0x${hex.padStart(64, '0')}`;
}
