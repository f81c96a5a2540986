import type { Model } from './model.js';
import { executeRpc, type RpcChanges } from './json-rpc.js';
import {
  balanceResponse,
  chainParamsResponse,
  crosschainFlagsResponse,
  pendingNoncesResponse,
  signersKeyResponse,
  blockAtResponse,
  claimPositionResponse,
  latestBlockResponse,
  syncingResponse,
  validatorResponse,
} from './node-responses.js';

/*
 * The REST API of the node as a function: an HTTP request in, an HTTP response out. The paths are those of the dialect
 * `neutral` (docs/real-chains.md); errors and unknown parameters are treated as by the gRPC gateway of a real node.
 */

/** What a path serves. */
export const endpoints = [
  'module_state',
  'rate_limiter_input',
  'validators',
  'latest_block',
  'block',
  'syncing',
  'cctx',
  'validator',
  'claim_position',
  'balance',
  'supply',
  'external_contract',
  'crosschain_flags',
  'tss',
  'pending_nonces',
  'chain_params',
] as const;
export type Endpoint = (typeof endpoints)[number];

export interface QueryResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export const HEIGHT_HEADER = 'Grpc-Metadata-X-Cosmos-Block-Height';

/** Path templates. `*` is one path element. */
const PATHS: Readonly<Record<string, Endpoint>> = {
  '/bridge/v1/module_state': 'module_state',
  '/chain/crosschain/rateLimiterInput': 'rate_limiter_input',
  '/cosmos/staking/v1beta1/validators': 'validators',
  '/cosmos/base/tendermint/v1beta1/blocks/latest': 'latest_block',
  '/cosmos/base/tendermint/v1beta1/blocks/*': 'block',
  '/cosmos/base/tendermint/v1beta1/syncing': 'syncing',
  '/chain/crosschain/cctx/*': 'cctx',
  '/cosmos/staking/v1beta1/validators/*': 'validator',
  '/bridge/v1/oracle/event/*': 'claim_position',
  '/chain/observer/crosschain_flags': 'crosschain_flags',
  '/chain/observer/TSS': 'tss',
  '/chain/observer/pendingNonces': 'pending_nonces',
  '/chain/observer/get_chain_params': 'chain_params',
  '/cosmos/bank/v1beta1/balances/*/by_denom': 'balance',
  '/cosmos/bank/v1beta1/supply/by_denom': 'supply',
};
/** Those of the documents. */
export const endpointPaths: readonly string[] = Object.keys(PATHS).slice(0, 3);

/** The path of a document. */
export function pathOf(document: Endpoint): string {
  const [path] = Object.entries(PATHS).find(([, endpoint]) => endpoint === document) ?? [];
  if (path === undefined) throw new RangeError(`no path serves ${document}`);
  return path;
}

const templates = Object.entries(PATHS).map(([template, endpoint]) => ({
  endpoint,
  pattern: new RegExp(`^${template.replace('*', '([^/]+)')}$`),
}));

/** gRPC status codes, which error bodies carry as `code`. */
export const GRPC_CODES = { UNKNOWN: 2, INVALID_ARGUMENT: 3, NOT_FOUND: 5, UNIMPLEMENTED: 12, INTERNAL: 13 } as const;

const MAX_INT64 = 2n ** 63n - 1n;

export interface Query {
  readonly endpoint: Endpoint;
  readonly parameters: URLSearchParams;
  /** The variable element of the path. */
  readonly argument?: string | undefined;
  /** The height at which the state is queried, from the header; the newest by default. */
  readonly height?: number | undefined;
  /** The body of a request to the external chain. */
  readonly rpc?: string;
}

/**
 * The query of a request, or the error response. Like the gateway of a real node, it responds with 501 both to an
 * unknown path and to an unknown method.
 */
export function parseRequest(method: string, target: string): Query | QueryResponse {
  const [path = '', ...search] = target.split('?');
  const template = templates.find(({ pattern }) => pattern.test(path));
  if (template === undefined) return errorResponse(501, GRPC_CODES.UNIMPLEMENTED, 'Not Implemented');
  if (method !== 'GET' && method !== 'HEAD') {
    return errorResponse(501, GRPC_CODES.UNIMPLEMENTED, 'Method Not Allowed');
  }
  const argument = template.pattern.exec(path)?.[1];
  return { endpoint: template.endpoint, parameters: new URLSearchParams(search.join('?')), argument };
}

/** Like the gateway, it ignores unknown parameters and takes the first of repeated ones. */
export function executeQuery(
  model: Model,
  { endpoint, parameters, argument, height, rpc = '[]' }: Query,
  changes?: RpcChanges,
): QueryResponse {
  switch (endpoint) {
    case 'module_state':
      return documentResponse(model, model.moduleState());
    case 'rate_limiter_input':
      return rateLimiterResponse(model, parameters);
    case 'validators':
      return validatorsResponse(model, parameters);
    case 'latest_block':
      return foundOr404(model, latestBlockResponse(model));
    case 'block':
      return foundOr404(model, blockAtResponse(model, argument));
    case 'syncing':
      return foundOr404(model, syncingResponse(model));
    case 'cctx':
      return cctxResponse(model, argument);
    case 'validator':
      return foundOr404(model, validatorResponse(model, argument));
    case 'claim_position':
      return foundOr404(model, claimPositionResponse(model, argument));
    case 'crosschain_flags':
      return foundOr404(model, crosschainFlagsResponse(model));
    case 'tss':
      return foundOr404(model, signersKeyResponse(model));
    case 'pending_nonces':
      return foundOr404(model, pendingNoncesResponse(model, parameters.get('pagination.key')));
    case 'chain_params':
      return foundOr404(model, chainParamsResponse(model));
    case 'balance':
      return foundOr404(model, balanceResponse(model, argument, parameters.get('denom')));
    case 'supply':
      return supplyResponse(model, parameters.get('denom') ?? '', height);
    case 'external_contract':
      return rpcResponse(executeRpc(model, rpc, changes));
  }
}

/** An unknown index is an invalid argument. */
function cctxResponse(model: Model, index: string | undefined): QueryResponse {
  const cctx = index === undefined ? undefined : model.cctx(index);
  return cctx === undefined
    ? errorResponse(400, GRPC_CODES.INVALID_ARGUMENT, 'not found')
    : documentResponse(model, { CrossChainTx: cctx });
}

function foundOr404(model: Model, response: unknown): QueryResponse {
  return response === undefined
    ? errorResponse(404, GRPC_CODES.NOT_FOUND, 'not found')
    : documentResponse(model, response);
}

function rateLimiterResponse(model: Model, parameters: URLSearchParams): QueryResponse {
  const limit = parseInt64(parameters, 'limit');
  const window = parseInt64(parameters, 'window');
  if (typeof limit === 'string') return errorResponse(400, GRPC_CODES.INVALID_ARGUMENT, limit);
  if (typeof window === 'string') return errorResponse(400, GRPC_CODES.INVALID_ARGUMENT, window);
  return documentResponse(model, model.rateLimiterInput({ limit, window }));
}

/** Like a node that has pruned its states, except those of the last module states. */
function supplyResponse(model: Model, denom: string, height: number | undefined): QueryResponse {
  const supplies = model.supplies(height);
  if (supplies === undefined)
    return errorResponse(400, GRPC_CODES.INVALID_ARGUMENT, `version ${height} does not exist`);
  const amount = String(supplies.get(denom.toLowerCase()) ?? 0n);
  const { body, headers } = documentResponse(model, { amount: { denom, amount } });
  return { status: 200, headers: { ...headers, [HEIGHT_HEADER]: String(height ?? model.height) }, body };
}

function rpcResponse(answers: unknown): QueryResponse {
  return { status: 200, headers: { 'Content-Type': 'application/json' }, body: Buffer.from(JSON.stringify(answers)) };
}

const DEFAULT_PAGE = 100n;

/** One page of the staking module. A key is the base64 form of the position of the next validator. */
function validatorsResponse(model: Model, parameters: URLSearchParams): QueryResponse {
  const limit = parseInt64(parameters, 'pagination.limit');
  if (typeof limit === 'string') return errorResponse(400, GRPC_CODES.INVALID_ARGUMENT, limit);
  const first = Number(Buffer.from(parameters.get('pagination.key') ?? '', 'base64').toString() || '0');
  if (!Number.isInteger(first)) return errorResponse(400, GRPC_CODES.INVALID_ARGUMENT, 'invalid pagination key');
  const all = model.stakingValidators();
  const last = first + Number(limit === undefined || limit === 0n ? DEFAULT_PAGE : limit);
  const next_key = last < all.length ? Buffer.from(String(last)).toString('base64') : null;
  return documentResponse(model, {
    validators: all.slice(first, last),
    pagination: { next_key, total: first === 0 ? String(all.length) : '0' },
  });
}

export function errorResponse(status: number, code: number, message: string): QueryResponse {
  const headers = { 'Content-Type': 'application/json' };
  return { status, headers, body: Buffer.from(JSON.stringify({ code, message, details: [] })) };
}

function documentResponse(model: Model, document: unknown): QueryResponse {
  const headers = { 'Content-Type': 'application/json', [HEIGHT_HEADER]: String(model.height) };
  return { status: 200, headers, body: Buffer.from(JSON.stringify(document)) };
}

/** The value of the parameter, `undefined` without one, or the error message as a string. */
function parseInt64(parameters: URLSearchParams, name: string): bigint | string | undefined {
  const text = parameters.get(name);
  if (text === null) return undefined;
  const mismatch = `type mismatch, parameter: ${name}, error: parsing ${JSON.stringify(text)}`;
  if (!/^\d+$/.test(text)) return `${mismatch}: not decimal digits`;
  const value = BigInt(text);
  return value > MAX_INT64 ? `${mismatch}: value out of range` : value;
}
