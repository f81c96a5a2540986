import { z } from 'zod';
import type { ContractState } from './external-contract.js';
import type { Model } from './model.js';

/*
 * JSON-RPC of a node of the external chain, as far as a bridge contract is read: a batch of requests in, the answers out. Written from the
 * documentation of the contract, and with none of the code that reads it.
 */

export const RPC_PATH = '/external';

const rpcRequest = z.object({ id: z.unknown(), method: z.string(), params: z.array(z.unknown()) });

/** Changes of the contract, or of the newest block of the node. */
export interface RpcChanges {
  readonly contract?: (state: ContractState) => Partial<ContractState>;
  readonly chainId?: number;
  /** How old the newest block of the node is, besides the time since that of the chain. */
  readonly lagSeconds?: number;
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

/** The body of the answer to the body of a request. */
export function executeRpc(model: Model, body: string, changes: RpcChanges = {}): unknown {
  const json: unknown = JSON.parse(body);
  return Array.isArray(json)
    ? json.map((request) => answerOne(model, request, changes))
    : answerOne(model, json, changes);
}

function answerOne(model: Model, json: unknown, changes: RpcChanges): object {
  const request = rpcRequest.safeParse(json);
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

function answer(model: Model, { method, params }: z.infer<typeof rpcRequest>, changes: RpcChanges): unknown {
  const { lagSeconds = 0 } = changes;
  const newest = model.external.height - Math.floor(lagSeconds / EXTERNAL_BLOCK_SECONDS);
  const secondsOf = (height: number): number =>
    model.external.seconds - (model.external.height - height) * EXTERNAL_BLOCK_SECONDS;
  const stateAt = (block: unknown): ContractState => {
    const height = block === 'latest' ? newest : Number(block);
    const state = height <= newest ? model.bridge.contract.stateAt(height) : undefined;
    if (state === undefined) throw new RpcError(-32_000, 'header not found');
    return { ...state, ...changes.contract?.(state) };
  };
  const [first, second, third] = params;
  switch (method) {
    case 'eth_chainId':
      return quantity(changes.chainId ?? Number(model.moduleState().state.params.bridge_chain_id));
    case 'eth_syncing':
      return false;
    case 'eth_blockNumber':
      return quantity(newest);
    case 'eth_getBlockByNumber': {
      const height = first === 'latest' ? newest : Number(first);
      return height <= newest ? { number: quantity(height), timestamp: quantity(secondsOf(height)) } : null;
    }
    case 'eth_call':
      return call(model, first, stateAt(second));
    case 'eth_getStorageAt': {
      const { implementation } = stateAt(third);
      return second === IMPLEMENTATION_SLOT ? word(implementation) : word(0);
    }
    default:
      throw new RpcError(METHOD_NOT_FOUND, `the method ${method} does not exist`);
  }
}

function call(model: Model, parameters: unknown, state: ContractState): string {
  const { to = '', data = '' } = Object(parameters) as { to?: string; data?: string };
  const bridge = model.moduleState().state.params.bridge_external_address.toLowerCase();
  const selector = data.slice(0, 10);
  const argument = `0x${data.slice(-40)}`.toLowerCase();
  if (to.toLowerCase() !== bridge) {
    const balance = selector === '0x70a08231' && argument === bridge ? state.balances.get(to.toLowerCase()) : undefined;
    if (balance === undefined) throw new RpcError(EXECUTION_ERROR, 'execution reverted');
    return word(balance);
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
      throw new RpcError(EXECUTION_ERROR, 'execution reverted');
  }
}

function quantity(value: number): string {
  return `0x${value.toString(16)}`;
}

/** 32 bytes with a number or an address. */
function word(value: bigint | number | string): string {
  const hex = typeof value === 'string' ? value.slice(2) : value.toString(16);
  return `0x${hex.padStart(64, '0')}`;
}
