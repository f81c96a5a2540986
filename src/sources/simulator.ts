import { asDecimalString } from '../chain/numeral.js';
import type { Clock, Instant } from '../clock.js';
import type { ContractExchange } from '../document-types.js';
import type { PollJob } from '../engine/jobs.js';
import type { ReceivedDocument, Source } from '../engine/source.js';
import type { HubSide } from '../facts/contract/hub-side.js';
import type { ContractReading, HubReading } from '../facts/contract/reading.js';
import { failure } from '../http/failure-reasons.js';
import { callsOf, denomOf, isBackingDue, NO_CONTRACT, requestOf } from '../queries/contract-document.js';
import { formatRequests } from '../queries/json-rpc.js';
import type { NodeQuery, QueryRequest, QueryResult } from '../queries/query.js';
import { createPageReader, type QueryExchange, type QueryPage } from '../queries/send-query.js';
import type { RpcChanges } from '../simulator/json-rpc.js';
import type { Model } from '../simulator/model.js';
import { executeQuery, HEIGHT_HEADER, parseRequest, type QueryResponse } from '../simulator/query-service.js';

/* A simulated chain as a source, without a network. It responds at once. */

/** Responds to a request of a path with parameters. */
type Respond = (path: string) => QueryResponse;

export function respondTo(model: Model, path: string): QueryResponse {
  const query = parseRequest('GET', path);
  return 'endpoint' in query ? executeQuery(model, query) : query;
}

export function createSimulatedNode(model: Model, now: Clock): Required<Source<PollJob>> {
  const respond = (path: string): QueryResponse => respondTo(model, path);
  return {
    document: async ({ paths, query }, { otherAnswers = {} }) => {
      const receivedAt = now().at;
      const foundPath = paths.find(({ dialect }) => dialect === 'neutral');
      if (foundPath !== undefined) {
        const path = foundPath.path + query;
        const { headers, body } = respond(path);
        return { ok: true, bytes: body, source: path, height: headers[HEIGHT_HEADER], receivedAt, foundPath };
      }
      const { hubSide, lastReading } = 'hubSide' in otherAnswers ? otherAnswers : {};
      return hubSide === undefined
        ? failure('schema', NO_CONTRACT)
        : simulatedContractBody(lastReading, hubSide, model, receivedAt);
    },
    query: async (_job, query, request) => exchangeOf(query, request, respond),
  };
}

/** The exchange of a request of a query. */
export function exchangeOf(query: NodeQuery, request: QueryRequest, respond: Respond): QueryExchange {
  const pages: QueryPage[] = [];
  const readPage = createPageReader(query, request, request.path);
  let next: string | QueryResult = request.path;
  while (typeof next === 'string') {
    const path: string = next;
    const { status, headers, body } = respond(path);
    const page = { path, height: headers[HEIGHT_HEADER], bytes: body };
    if (status === 200) {
      pages.push(page);
      next = readPage(page);
    } else next = { ...failure('status', `${path}: status ${status}`), isRefused: status === 501 };
  }
  return { request, pages, result: next };
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
        return supply === undefined ? [] : [[denom, asDecimalString(String(change(supply)))] as const];
      }),
    ),
  };
}
