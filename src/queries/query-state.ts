import type { Instant } from '../clock.js';
import type { PollError } from '../http/failure-reasons.js';
import type { RenderedFamily } from '../metrics/render-families.js';
import { HOUR_MS, MINUTE_MS } from '../units.js';
import type { NodeQuery, QueryContext } from './query.js';
import type { QueryExchange } from './send-query.js';

/* The state of a query of an endpoint, and when it is due. */

/** Each round of requests replaces it as a whole. */
export interface QueryState {
  readonly query: NodeQuery;
  /** The start of the last round of requests; `undefined` before the first. */
  readonly roundStartedAt: Instant | undefined;
  /** Whether a request of any round was answered. */
  readonly hasAnswered: boolean;
  /**
   * Successive rounds of a query without any answer in which every request was refused, while the document was served.
   */
  readonly refusedRounds: number;
  /** Number of failed requests, without refusals of an unsupported query. */
  readonly failures: number;
  /** The first failure of the last round. */
  readonly failure: PollError | undefined;
  /** The answers by the key of their request. */
  readonly answers: ReadonlyMap<string, QueryAnswer>;
}

export interface QueryAnswer {
  /** When it was complete. */
  readonly at: Instant;
  /** What the query keeps of it. */
  readonly value: unknown;
  readonly renderedFamilies: readonly RenderedFamily[];
}

/** The states of the queries of an endpoint, by name. */
export type QueryStates = ReadonlyMap<string, QueryState>;

export function initialQueryState(query: NodeQuery): QueryState {
  return {
    query,
    roundStartedAt: undefined,
    hasAnswered: false,
    refusedRounds: 0,
    failures: 0,
    failure: undefined,
    answers: new Map(),
  };
}

/*
 * A proxy that replaces its backend responds with 404 or 501 to every path. So a query with an earlier answer stays
 * supported, and a query without any answer is unsupported only after successive refusals beside a document that was
 * served.
 */

const REFUSED_ROUNDS = 3;

/** The most time until a query that has failed is sent again. */
const MAX_RETRY_MS = 5 * MINUTE_MS;

/** Whether the node does not support the query, as far as refusals prove it. */
export function isUnsupported({ refusedRounds }: QueryState): boolean {
  return refusedRounds >= REFUSED_ROUNDS;
}

/** Whether it is time for the next round. An unsupported query is sent every hour. */
export function isDue(state: QueryState, now: Instant): boolean {
  const { roundStartedAt } = state;
  return roundStartedAt === undefined || (now - roundStartedAt) * 1000 >= waitMs(state);
}

function waitMs(state: QueryState): number {
  const { intervalMs } = state.query;
  if (isUnsupported(state)) return Math.max(intervalMs, HOUR_MS);
  return state.failure === undefined ? intervalMs : Math.min(intervalMs, MAX_RETRY_MS);
}

/**
 * The state after a round of requests. An answer stays when its next request fails, until it is stale, and goes when it
 * is not requested any more.
 */
export function afterRound(
  before: QueryState,
  context: QueryContext,
  exchanges: readonly QueryExchange[],
  startedAt: Instant,
  at: Instant,
): QueryState {
  const { query } = before;
  const failed = exchanges.flatMap(({ result }) => (result.ok ? [] : [result]));
  const isAnswered = failed.length < exchanges.length;
  /** The node, or a proxy, does not serve any path of the round. */
  const isRefused = failed.length > 0 && !isAnswered && failed.every((result) => result.isRefused);
  const answers = exchanges.flatMap(({ request, result }): [string, QueryAnswer][] => {
    const { key } = request;
    const last = before.answers.get(key);
    if (!result.ok) return last === undefined ? [] : [[key, last]];
    return [[key, { at, ...query.keep(result.value, request, context) }]];
  });
  return {
    query,
    roundStartedAt: startedAt,
    hasAnswered: before.hasAnswered || isAnswered,
    refusedRounds: isRefused && !before.hasAnswered ? before.refusedRounds + 1 : 0,
    failures: before.failures + (isRefused && isUnsupported(before) ? 0 : failed.length),
    failure: failed[0]?.error,
    answers: new Map(answers),
  };
}

/** The states after a failed poll: a node that does not serve its document proves nothing by refusals of queries. */
export function withFailedPoll(states: QueryStates): QueryStates {
  return mapStates(states, (state) => (isUnsupported(state) ? state : { ...state, refusedRounds: 0 }));
}

/** The states at the first poll of another node: what a node says of itself and refuses is not true of another one. */
export function forOtherNode(states: QueryStates): QueryStates {
  return mapStates(states, (state) =>
    state.query.isOfNode
      ? { ...initialQueryState(state.query), failures: state.failures }
      : {
          ...state,
          refusedRounds: 0,
          hasAnswered: false,
          ...(isUnsupported(state) && { roundStartedAt: undefined }),
        },
  );
}

function mapStates(states: QueryStates, change: (state: QueryState) => QueryState): QueryStates {
  return new Map(Array.from(states, ([name, state]) => [name, change(state)]));
}

/**
 * The states without stale answers. Between two rounds of a query with an interval above a minute, an answer is not
 * stale: `staleAfterMs` counts from the end of the interval.
 */
export function withoutStaleAnswers(states: QueryStates, staleAfterMs: number, now: Instant): QueryStates {
  return mapStates(states, (state) => {
    const { intervalMs } = state.query;
    const maxAgeMs = staleAfterMs + (intervalMs > MINUTE_MS ? intervalMs : 0);
    const fresh = Array.from(state.answers).filter(([, { at }]) => (now - at) * 1000 <= maxAgeMs);
    return fresh.length === state.answers.size ? state : { ...state, answers: new Map(fresh) };
  });
}
