import type { Instant } from '../clock.js';
import type { HubSide } from '../facts/contract/hub-side.js';
import type { ContractReading, HubReading } from '../facts/contract/reading.js';
import { failure } from '../http/failure-reasons.js';
import { withQuery, type EndpointState } from '../poll/endpoint-state.js';
import type { ReceivedDocument } from '../poll/fetch.js';
import { callsOf, denomOf, isBackingDue, requestOf } from '../queries/contract-document.js';
import { formatRequests } from '../queries/json-rpc.js';
import { queryStatesOf } from '../queries/node-queries.js';
import { afterRound, isDue, type QueryStates } from '../queries/query-state.js';
import type { NodeQuery, QueryRequest, QueryResult } from '../queries/query.js';
import { pathOfPage } from '../queries/send-query.js';
import type { RpcChanges } from '../simulator/json-rpc.js';
import type { Model } from '../simulator/model.js';
import { executeQuery, parseRequest, type QueryResponse } from '../simulator/query-service.js';
import { queryContext } from '../poll/query-runner.js';
import type { ContractExchange, StepContext } from '../document-types.js';

/* The responses of a simulated chain to all requests except for documents, without a network. */

/** Responds to a request of a path with parameters. */
type Respond = (path: string) => QueryResponse;

export function respondTo(model: Model, path: string): QueryResponse {
  const query = parseRequest('GET', path);
  return 'endpoint' in query ? executeQuery(model, query) : query;
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
    const { status, body } = respond(path);
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

/** Differences from the simulated chains: in the node of the external chain, and in the supply on the hub. */
export interface ContractChanges extends RpcChanges {
  readonly supply?: (supply: bigint) => bigint;
}

/** The response to a poll of the contract of a simulated chain, without a network: the calls of the poll, and the answers of the chains. */
export function simulatedContractBody(
  lastReading: ContractReading | undefined,
  hubSide: HubSide,
  model: Model,
  at: Instant,
  changes: ContractChanges = {},
): ReceivedDocument & { readonly otherAnswers: ContractExchange } {
  const lagBlocks = Math.floor((changes.lagSeconds ?? 0) / 12);
  const block = `0x${(model.external.height - lagBlocks).toString(16)}`;
  const known = { hubSide, lastReading };
  const calls = callsOf(known, block, at);
  const rpc = formatRequests(calls.map(requestOf));
  const query = { endpoint: 'external_contract', parameters: new URLSearchParams(), rpc } as const;
  const { body: bytes } = executeQuery(model, query, changes);
  const denoms = isBackingDue(known, at) ? hubSide.backing.map(({ contract }) => denomOf(contract)) : [];
  const otherAnswers = { ...known, calls, hub: hubReading(denoms, hubSide, model, changes) };
  return { ok: true, bytes, source: 'external chain', height: undefined, receivedAt: at, otherAnswers };
}

function hubReading(
  denoms: readonly string[],
  { height }: HubSide,
  model: Model,
  { supply: change = (supply) => supply }: ContractChanges,
): HubReading {
  const supplies = model.supplies(Number(height));
  return {
    blockSeconds: model.node.timeMs / 1000,
    supplies: new Map(
      denoms.flatMap((denom) => {
        const supply = supplies?.get(denom.toLowerCase());
        return supply === undefined ? [] : [[denom, change(supply)] as const];
      }),
    ),
  };
}
