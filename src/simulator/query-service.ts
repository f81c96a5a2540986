import { HUB_CHAIN_ID } from './cctx.js';
import { executeRpc, type RpcChanges } from './json-rpc.js';
import type { Model } from './model.js';
import { chainParams, runbookQueries } from './runbook-queries.js';
import { MIN_SIGNED_RATIO } from './signed-blocks.js';

/*
 * The REST API of the node as a function: an HTTP request in, an HTTP response out. The paths are those of the dialect
 * `neutral` (docs/real-chains.md); errors and unknown parameters are treated as by the gRPC gateway of a real node.
 */

export interface QueryResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export const HEIGHT_HEADER = 'Grpc-Metadata-X-Cosmos-Block-Height';

/** gRPC status codes, which error bodies carry as `code`. */
export const GRPC_CODES = { UNKNOWN: 2, INVALID_ARGUMENT: 3, NOT_FOUND: 5, UNIMPLEMENTED: 12, INTERNAL: 13 } as const;

const MAX_INT64 = 2n ** 63n - 1n;

export interface Query {
  readonly endpoint: Endpoint;
  readonly parameters: URLSearchParams;
  /** The variable element of the path, or the first of them. */
  readonly argument?: string | undefined;
  /** All of them. */
  readonly elements?: readonly string[];
  /** The height at which the state is queried, from the header; the newest by default. */
  readonly height?: number | undefined;
  /** The body of a request to the external chain. */
  readonly rpc?: string;
}

interface Resource {
  /** `*` is one path element. The external chain is no resource of the REST API. */
  readonly path?: string;
  readonly respond: (model: Model, query: Query, changes: RpcChanges | undefined) => QueryResponse;
}

const readArgument = ({ argument = '' }: Query): string => argument;

type RunbookQuery = keyof typeof runbookQueries;

/** One entry for each query of the runbook. */
const ofRunbook = Object.fromEntries(
  Object.entries(runbookQueries).map(([name, { path, respond }]) => [
    name,
    {
      path,
      respond: (model: Model, { elements = [], parameters }: Query) =>
        foundResponse(model, respond(model, { path: elements, parameters })),
    },
  ]),
) as unknown as Record<RunbookQuery, Required<Resource>>;

const resources = {
  module_state: { path: '/bridge/v1/module_state', respond: (model) => documentResponse(model, model.moduleState()) },
  rate_limiter_input: { path: '/chain/crosschain/rateLimiterInput', respond: rateLimiterResponse },
  validators: { path: '/cosmos/staking/v1beta1/validators', respond: validatorsResponse },
  latest_block: {
    path: '/cosmos/base/tendermint/v1beta1/blocks/latest',
    respond: (model) => documentResponse(model, createBlock(model.node)),
  },
  block: { path: '/cosmos/base/tendermint/v1beta1/blocks/*', respond: blockResponse },
  status: {
    path: '/cosmos/base/node/v1beta1/status',
    respond: (model) => documentResponse(model, nodeStatus(model.node)),
  },
  syncing: {
    path: '/cosmos/base/tendermint/v1beta1/syncing',
    respond: (model) => documentResponse(model, { syncing: model.node.isSyncing }),
  },
  current_plan: { path: '/cosmos/upgrade/v1beta1/current_plan', respond: currentPlanResponse },
  cctx: { path: '/chain/crosschain/cctx/*', respond: cctxResponse },
  validator: { path: '/cosmos/staking/v1beta1/validators/*', respond: validatorResponse },
  claim_position: { path: '/bridge/v1/oracle/event/*', respond: claimPositionResponse },
  balance: { path: '/cosmos/bank/v1beta1/balances/*/by_denom', respond: balanceResponse },
  signing_info: { path: '/cosmos/slashing/v1beta1/signing_infos/*', respond: signingInfoResponse },
  slashing_params: { path: '/cosmos/slashing/v1beta1/params', respond: slashingParamsResponse },
  supply: { path: '/cosmos/bank/v1beta1/supply/by_denom', respond: supplyResponse },
  external_contract: { respond: (model, { rpc = '{}' }, changes) => rpcResponse(executeRpc(model, rpc, changes)) },
  crosschain_flags: { path: '/chain/observer/crosschain_flags', respond: crosschainFlagsResponse },
  tss: { path: '/chain/observer/TSS', respond: signersKeyResponse },
  pending_nonces: { path: '/chain/observer/pendingNonces', respond: pendingNoncesResponse },
  chain_params: { path: '/chain/observer/get_chain_params', respond: chainParamsResponse },
  ...ofRunbook,
} satisfies Readonly<Record<string, Resource>>;

/** The queries of the node. */
export type Endpoint = keyof typeof resources;

// The type of the object has no other keys.
export const endpoints = Object.keys(resources) as readonly Endpoint[];

/** The path of a document, or of the list of validators. */
export function endpointPath(endpoint: 'module_state' | 'rate_limiter_input' | 'validators'): string {
  return resources[endpoint].path;
}

const templates = endpoints.flatMap((endpoint) => {
  const { path }: Resource = resources[endpoint];
  return path === undefined ? [] : [{ endpoint, pattern: new RegExp(`^${path.replaceAll('*', '([^/]+)')}$`) }];
});

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
  const [, ...elements] = template.pattern.exec(path) ?? [];
  const parameters = new URLSearchParams(search.join('?'));
  return { endpoint: template.endpoint, parameters, argument: elements[0], elements };
}

/** Like the gateway, ignores unknown parameters and all but the first value of a parameter. */
export function executeQuery(model: Model, query: Query, changes?: RpcChanges): QueryResponse {
  const { respond }: Resource = resources[query.endpoint];
  return respond(model, query, changes);
}

export function errorResponse(status: number, code: number, message: string): QueryResponse {
  const headers = { 'Content-Type': 'application/json' };
  return { status, headers, body: Buffer.from(JSON.stringify({ code, message, details: [] })) };
}

const invalidArgument = (message: string): QueryResponse => errorResponse(400, GRPC_CODES.INVALID_ARGUMENT, message);

function documentResponse(model: Model, document: unknown): QueryResponse {
  const headers = { 'Content-Type': 'application/json', [HEIGHT_HEADER]: String(model.height) };
  return { status: 200, headers, body: Buffer.from(JSON.stringify(document)) };
}

/** The gateway responds with 404 if there is no such thing. */
function foundResponse(model: Model, document: object | undefined): QueryResponse {
  return document === undefined
    ? errorResponse(404, GRPC_CODES.NOT_FOUND, 'not found')
    : documentResponse(model, document);
}

function rpcResponse(answers: unknown): QueryResponse {
  return { status: 200, headers: { 'Content-Type': 'application/json' }, body: Buffer.from(JSON.stringify(answers)) };
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

function rateLimiterResponse(model: Model, { parameters }: Query): QueryResponse {
  const limit = parseInt64(parameters, 'limit');
  const window = parseInt64(parameters, 'window');
  if (typeof limit === 'string') return invalidArgument(limit);
  if (typeof window === 'string') return invalidArgument(window);
  return documentResponse(model, model.rateLimiterInput({ limit, window }));
}

/** An unknown index is an invalid argument. */
function cctxResponse(model: Model, query: Query): QueryResponse {
  const cctx = model.cctx(readArgument(query));
  return cctx === undefined ? invalidArgument('not found') : documentResponse(model, { CrossChainTx: cctx });
}

/** Like a node that has pruned all states except the states of the last served module states. */
function supplyResponse(
  model: Model,
  { parameters, height }: Query,
  { supply: changed = (supply) => supply }: RpcChanges = {},
): QueryResponse {
  const supplies = model.supplies(height);
  if (supplies === undefined) return invalidArgument(`version ${height} does not exist`);
  const denom = parameters.get('denom') ?? '';
  const amount = String(changed(supplies.get(denom.toLowerCase()) ?? 0n));
  const { body, headers } = documentResponse(model, { amount: { denom, amount } });
  return { status: 200, headers: { ...headers, [HEIGHT_HEADER]: String(height ?? model.height) }, body };
}

const DEFAULT_PAGE = 100n;

/** One page of the staking module. A key is the base64 form of the position of the next validator. */
function validatorsResponse(model: Model, { parameters }: Query): QueryResponse {
  const limit = parseInt64(parameters, 'pagination.limit');
  if (typeof limit === 'string') return invalidArgument(limit);
  const first = Number(Buffer.from(parameters.get('pagination.key') ?? '', 'base64').toString() || '0');
  if (!Number.isInteger(first)) return invalidArgument('invalid pagination key');
  const all = model.bridge.stakingValidators();
  const last = first + Number(limit === undefined || limit === 0n ? DEFAULT_PAGE : limit);
  const next_key = last < all.length ? Buffer.from(String(last)).toString('base64') : null;
  return documentResponse(model, {
    validators: all.slice(first, last),
    pagination: { next_key, total: first === 0 ? String(all.length) : '0' },
  });
}

/** Nanoseconds, as a real node writes them. */
function blockTime(timeMs: number): string {
  return `${new Date(timeMs).toISOString().slice(0, -1)}123456Z`;
}

/** The newest block of the node service (StatusResponse). */
function nodeStatus({ height, timeMs }: { readonly height: number; readonly timeMs: number }): object {
  const hash = Buffer.alloc(32, height).toString('base64');
  return {
    earliest_store_height: '1',
    height: String(height),
    timestamp: blockTime(timeMs),
    app_hash: hash,
    validator_hash: hash,
  };
}

/** A block of the CometBFT service (GetLatestBlockResponse, GetBlockByHeightResponse), with a few transactions. */
function createBlock({ height, timeMs }: { readonly height: number; readonly timeMs: number }): object {
  const header = { chain_id: 'hub-1', height: String(height), time: blockTime(timeMs) };
  const block = { header, data: { txs: [Buffer.alloc(2000, height).toString('base64')] } };
  return { block_id: { hash: Buffer.alloc(32, height).toString('base64') }, block, sdk_block: block };
}

function blockResponse(model: Model, query: Query): QueryResponse {
  const { node, blockTimeMs } = model;
  const height = /^\d{1,15}$/.test(readArgument(query)) ? Number(query.argument) : Infinity;
  const isKnown = height <= node.height;
  return foundResponse(
    model,
    isKnown ? createBlock({ height, timeMs: node.timeMs - (node.height - height) * blockTimeMs }) : undefined,
  );
}

function currentPlanResponse(model: Model): QueryResponse {
  const { upgradePlan: planned } = model;
  const plan = planned && {
    name: planned.name,
    time: '0001-01-01T00:00:00Z',
    height: String(planned.height),
    info: '',
    upgraded_client_state: null,
  };
  return documentResponse(model, { plan: plan ?? null });
}

function validatorResponse(model: Model, { argument: operator }: Query): QueryResponse {
  const validator = model.bridge.stakingValidators().find((candidate) => candidate.operator_address === operator);
  return foundResponse(model, validator && { validator });
}

/** The hub keeps the last claim of a validator that has left. */
function claimPositionResponse(model: Model, query: Query): QueryResponse {
  const address = readArgument(query);
  const isRegistered = model.bridge.state().orchestrator_addresses.some(({ orchestrator }) => orchestrator === address);
  const { lastEventNonce = 1, externalHeight = 1 } = model.bridge.orchestrator(address) ?? {};
  return foundResponse(
    model,
    isRegistered
      ? {
          last_claim_event: {
            external_event_nonce: String(lastEventNonce),
            external_event_height: String(externalHeight),
          },
        }
      : undefined,
  );
}

function signingInfoResponse(model: Model, query: Query): QueryResponse {
  const info = model.bridge.signingInfo(readArgument(query));
  return foundResponse(model, info && { val_signing_info: info });
}

function slashingParamsResponse(model: Model): QueryResponse {
  const params = {
    signed_blocks_window: String(model.bridge.signedBlocks.window),
    min_signed_per_window: MIN_SIGNED_RATIO.toFixed(18),
    downtime_jail_duration: '600s',
    slash_fraction_double_sign: '0.050000000000000000',
    slash_fraction_downtime: '0.000100000000000000',
  };
  return documentResponse(model, { params });
}

/** Any account has a balance of any coin. */
function balanceResponse(model: Model, query: Query): QueryResponse {
  const denom = query.parameters.get('denom');
  const isHubCoin = denom === model.moduleState().state.params.hub_coin_denom;
  const amount = isHubCoin ? model.bridge.orchestrator(readArgument(query))?.balance : undefined;
  return documentResponse(model, { balance: { denom, amount: String(amount ?? 0n) } });
}

function crosschainFlagsResponse(model: Model): QueryResponse {
  const { isOutboundEnabled } = model;
  return documentResponse(model, {
    crosschain_flags: { isInboundEnabled: true, isOutboundEnabled, gasPriceIncreaseFlags: null },
  });
}

function signersKeyResponse(model: Model): QueryResponse {
  const { tssPubkey } = model.crosschain;
  return documentResponse(model, { TSS: { tss_pubkey: tssPubkey, tss_participant_list: [], keyGenZetaHeight: '1' } });
}

/** By default fewer than a real node sends, so that there are several pages. */
const NONCES_PER_PAGE = 10;

/** Page by page, with the nonces of an earlier key and of the hub itself, which a real hub keeps. */
function pendingNoncesResponse(model: Model, { parameters }: Query): QueryResponse {
  const pageKey = parameters.get('pagination.key');
  const { tssPubkey: tss, nonces } = model.crosschain;
  const rows = [
    ...nonces.map(({ chainId, low, high }) => ({ nonce_low: low, nonce_high: high, chain_id: chainId, tss })),
    { nonce_low: 0, nonce_high: 0, chain_id: HUB_CHAIN_ID, tss },
    ...nonces.map(({ chainId }) => ({ nonce_low: 5000, nonce_high: 5000, chain_id: chainId, tss: 'earlier' })),
  ].map((row) => ({ ...row, nonce_low: String(row.nonce_low), nonce_high: String(row.nonce_high) }));
  const first = pageKey === null ? 0 : Number(Buffer.from(pageKey, 'base64').toString());
  const next = first + (Number(parameters.get('pagination.limit')) || NONCES_PER_PAGE);
  const next_key = next < rows.length ? Buffer.from(String(next)).toString('base64') : null;
  return documentResponse(model, { pending_nonces: rows.slice(first, next), pagination: { next_key, total: '0' } });
}

function chainParamsResponse(model: Model): QueryResponse {
  return documentResponse(model, { chain_params: { chain_params: model.crosschain.chains.map(chainParams) } });
}
