import type { Clock, Instant } from '../clock.js';
import type { PollJob } from '../engine/jobs.js';
import type { ReceivedDocument, Source } from '../engine/source.js';
import { failure } from '../http/failure-reasons.js';
import { callRequest, contractCall, NO_CONTRACT, type ContractAnswers } from '../facts/contract/multicall.js';
import type { NodeQuery, QueryExchange, QueryRequest, QueryResult } from '../queries/query.js';
import { createPageReader } from '../queries/send-query.js';
import type { RpcChanges } from '../simulator/json-rpc.js';
import type { Model } from '../simulator/model.js';
import {
  executeQuery,
  HEIGHT_HEADER,
  parseRequest,
  type Query,
  type QueryResponse,
} from '../simulator/query-service.js';

/* A simulated chain as a source, without a network. It responds at once. */

/** Responds to a request of a query, or of a further page at another path. */
type Respond = (path: string, request: QueryRequest) => QueryResponse;

export function respondTo(
  model: Model,
  path: string,
  { json, height }: Partial<QueryRequest> = {},
  changes?: RpcChanges,
): QueryResponse {
  const query = json === undefined ? parseRequest('GET', path) : rpcQuery(json);
  if (!('endpoint' in query)) return query;
  return executeQuery(model, { ...query, ...(height !== undefined && { height: Number(height) }) }, changes);
}

export function createSimulatedNode(model: Model, now: Clock): Required<Pick<Source<PollJob>, 'document' | 'query'>> {
  const respond: Respond = (path, request) => respondTo(model, path, request);
  return {
    document: async ({ paths, query }, { hubSide }) => {
      const receivedAt = now().at;
      const servedPath = paths.find(({ dialect }) => dialect === 'neutral');
      if (servedPath !== undefined) {
        const path = servedPath.path + query;
        const { headers, body } = respondTo(model, path);
        return { ok: true, bytes: body, source: path, height: headers[HEIGHT_HEADER], receivedAt, servedPath };
      }
      return simulatedContractBody({ hubSide }, model, receivedAt) ?? failure('schema', NO_CONTRACT);
    },
    query: async (_job, query, request) => createExchange(query, request, respond),
  };
}

/** The exchange of a request of a query. */
export function createExchange(query: NodeQuery, request: QueryRequest, respond: Respond): QueryExchange {
  const readPage = createPageReader(query, request, request.path);
  let height: string | undefined;
  let next: string | QueryResult = request.path;
  while (typeof next === 'string') {
    const path: string = next;
    const { status, headers, body } = respond(path, request);
    height = headers[HEIGHT_HEADER];
    if (status === 200) next = readPage({ height, bytes: body });
    else next = { ...failure('status', `${path}: status ${status}`), isRefused: status === 501 };
  }
  return { request, height, result: next };
}

/**
 * The response to a poll of the contract of a simulated chain, without a network; `undefined` before a module state
 * says where it is.
 */
export function simulatedContractBody(
  additionalInput: ContractAnswers,
  model: Model,
  at: Instant,
  changes?: RpcChanges,
): ReceivedDocument<'external_contract'> | undefined {
  const { hubSide } = additionalInput;
  if (hubSide === undefined) return undefined;
  const call = contractCall(hubSide);
  const { body: bytes } = executeQuery(model, rpcQuery(callRequest(call)), changes);
  const source = 'external chain';
  return { ok: true, bytes, source, height: undefined, receivedAt: at, additionalInput: { ...additionalInput, call } };
}

function rpcQuery(rpc: string): Query {
  return { endpoint: 'external_contract', parameters: new URLSearchParams(), rpc };
}
