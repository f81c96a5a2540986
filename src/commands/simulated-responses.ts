import type { Instant } from '../clock.js';
import { failure } from '../http/failure-reasons.js';
import { withQuery, type EndpointState } from '../poll/endpoint-state.js';
import type { ReceivedDocument } from '../poll/fetch.js';
import { callRequest, contractCall } from '../queries/contract-document.js';
import { queryStatesOf } from '../queries/node-queries.js';
import { afterRound, isDue, type QueryStates } from '../queries/query-state.js';
import type { NodeQuery, QueryRequest, QueryResult } from '../queries/query.js';
import { pathOfPage } from '../queries/send-query.js';
import type { RpcChanges } from '../simulator/json-rpc.js';
import type { Model } from '../simulator/model.js';
import { executeQuery, parseRequest, type Query, type QueryResponse } from '../simulator/query-service.js';
import { queryContext } from '../poll/query-runner.js';
import type { ContractAnswers, StepContext } from '../document-types.js';

/* The responses of a simulated chain to all requests except for documents, without a network. */

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

/** The states of the queries of an endpoint after immediate answers to all due queries. */
export function answerQueries(options: StepContext, before: EndpointState, respond: Respond, at: Instant): QueryStates {
  let state = { ...before, queries: queryStatesOf(options, before.queries) };
  for (const own of state.queries.values()) {
    const context = queryContext(options, state, at);
    const requests = context === undefined || !isDue(own, at) ? [] : own.query.requests(context);
    if (context === undefined || requests.length === 0) continue;
    const results = requests.map((request) => [request, answerOf(own.query, request, respond)] as const);
    state = withQuery(state, afterRound(own, context, results, at, at));
  }
  return state.queries;
}

function answerOf(query: NodeQuery, request: QueryRequest, respond: Respond): QueryResult {
  let found: { readonly value: unknown } | undefined;
  let path: string | undefined = request.path;
  while (path !== undefined) {
    const { status, body } = respond(path, request);
    if (status !== 200) {
      return { ...failure('status', `${request.path}: status ${status}`), isRefused: status === 501 };
    }
    const page = query.read(body, request);
    if (!page.ok) return { ...failure(page.reason, `${request.path}: ${page.message}`), isRefused: false };
    found = { value: found === undefined ? page.value : query.join(found.value, page.value) };
    path = page.nextKey === undefined ? undefined : pathOfPage(request.path, page.nextKey);
  }
  return { ok: true, value: found?.value };
}

/** The response to a poll of the contract of a simulated chain, without a network; `undefined` before a module state says where it is. */
export function simulatedContractBody(
  otherAnswers: ContractAnswers,
  model: Model,
  at: Instant,
  changes?: RpcChanges,
): ReceivedDocument<'external_contract'> | undefined {
  const { hubSide } = otherAnswers;
  if (hubSide === undefined) return undefined;
  const call = contractCall(hubSide);
  const { body: bytes } = executeQuery(model, rpcQuery(callRequest(call)), changes);
  const source = 'external chain';
  return { ok: true, bytes, source, height: undefined, receivedAt: at, otherAnswers: { ...otherAnswers, call } };
}

function rpcQuery(rpc: string): Query {
  return { endpoint: 'external_contract', parameters: new URLSearchParams(), rpc };
}
