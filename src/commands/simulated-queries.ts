import type { Instant } from '../clock.js';
import { failure } from '../http/failure-reasons.js';
import type { EndpointState } from '../poll/endpoint-state.js';
import { queryContext } from '../poll/jobs.js';
import { pathOfPage } from '../queries/send-query.js';
import type { StepContext } from '../poll/step.js';
import type { NodeQuery, QueryRequest, QueryResult } from '../queries/query.js';
import { dueQueries, queryStatesOf, withAttempt, withResults, type QueryStates } from '../queries/query-state.js';
import type { QueryResponse } from '../simulator/query-service.js';

/** Responds to a request of a path with parameters. */
export type Respond = (path: string) => QueryResponse;

/** The states of the queries of an endpoint after those that are due were answered at once. */
export function answerQueries(options: StepContext, state: EndpointState, respond: Respond, at: Instant): QueryStates {
  const queries = queryStatesOf(options, state.queries);
  return dueQueries(queries, at).reduce((states, query) => {
    const context = queryContext(options, { ...state, queries: states }, at);
    if (context === undefined) return states;
    const requests = query.requests(context);
    if (requests.length === 0) return states;
    const results = requests.map((request) => [request, answerOf(query, request, respond)] as const);
    return withResults(withAttempt(states, query, at), query, context, results, at);
  }, queries);
}

function answerOf(query: NodeQuery, request: QueryRequest, respond: Respond): QueryResult {
  const { path } = request;
  const pages: unknown[] = [];
  let nextKey: string | undefined;
  do {
    const { status, body } = respond(nextKey === undefined ? path : pathOfPage(path, nextKey));
    if (status !== 200) {
      return { ...failure('status', `${path}: status ${status}`), isRefused: status === 501 };
    }
    const page = query.read(body, request);
    if (!page.ok) return { ...failure(page.reason, `${path}: ${page.message}`), isRefused: false };
    pages.push(page.value);
    ({ nextKey } = page);
  } while (nextKey !== undefined);
  return { ok: true, pages };
}
