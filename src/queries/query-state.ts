import { ageSeconds, type Instant } from '../clock.js';
import type { PollError } from '../http/failure-reasons.js';
import type { FamilyLines } from '../metrics/render-families.js';
import { HOUR_MS, MINUTE_MS } from '../units.js';
import type { NodeQuery, QueryContext, QueryRequest, QueryResult } from './query.js';

/* When a query of an endpoint is due, and what it has found. Each round of requests replaces it as a whole. */

/** What one query of an endpoint has found. */
export interface QueryState {
  readonly query: NodeQuery;
  /** When the last round of requests began; `undefined` before the first. */
  readonly at: Instant | undefined;
  /** Whether a request was ever answered. */
  readonly hasAnswered: boolean;
  /** Rounds since the last answer. */
  readonly failedRounds: number;
  /** Successive rounds in which every request of a query that was never answered was refused, while the document was served. */
  readonly refusedRounds: number;
  /** Number of failed requests, without those of a query that the node does not serve. */
  readonly failures: number;
  /** Why a request of the last round failed. */
  readonly failure: PollError | undefined;
  /** The answers by the key of their request. */
  readonly answers: ReadonlyMap<string, QueryAnswer>;
}

export interface QueryAnswer {
  readonly at: Instant;
  readonly value: unknown;
  readonly families: readonly FamilyLines[];
}

/** The states of the queries of an endpoint, by name. */
export type QueryStates = ReadonlyMap<string, QueryState>;

export function initialQueryState(query: NodeQuery): QueryState {
  return {
    query,
    at: undefined,
    hasAnswered: false,
    failedRounds: 0,
    refusedRounds: 0,
    failures: 0,
    failure: undefined,
    answers: new Map(),
  };
}

/*
 * A proxy that replaces its backend responds with 404 or 501 to every path, so what has been answered once is requested again within minutes,
 * and a path that was never answered is not served only after several refusals.
 */

/** The pauses between the rounds double from a minute on, so that together they last longer than a rolling update. */
const REFUSED_ROUNDS = 5;
const MAX_RETRY_MS = 10 * MINUTE_MS;

/** Whether the query is not known to the node, as far as that can be told. */
export function isNotServed({ refusedRounds }: QueryState): boolean {
  return refusedRounds >= REFUSED_ROUNDS;
}

/** Whether it is time for the next round. A query that is not served is requested every hour. */
export function isDue(state: QueryState, now: Instant): boolean {
  return state.at === undefined || now.monotonicMs - state.at.monotonicMs >= waitMs(state);
}

function waitMs(state: QueryState): number {
  const { query, failedRounds, refusedRounds } = state;
  if (isNotServed(state)) return Math.max(query.intervalMs, HOUR_MS);
  if (failedRounds === 0) return query.intervalMs;
  const retryMs = Math.min(MINUTE_MS * 2 ** (failedRounds - 1), MAX_RETRY_MS);
  return refusedRounds > 0 ? retryMs : Math.min(query.intervalMs, retryMs);
}

/**
 * The state after one round of requests. An answer stays when the next request for it fails, until it is stale; it goes when others are
 * requested and it is not.
 */
export function afterRound(
  before: QueryState,
  context: QueryContext,
  results: readonly (readonly [QueryRequest, QueryResult])[],
  startedAt: Instant,
  at: Instant,
): QueryState {
  const { query } = before;
  const failed = results.flatMap(([, result]) => (result.ok ? [] : [result]));
  const isAnswered = failed.length < results.length;
  /** The node, or a proxy, does not serve any path of the round. */
  const isRefused = failed.length > 0 && !isAnswered && failed.every((result) => result.isRefused);
  const answers = results.flatMap(([request, result]): [string, QueryAnswer][] => {
    const { key } = request;
    const known = before.answers.get(key);
    if (!result.ok) return known === undefined ? [] : [[key, known]];
    return [[key, { at, value: result.value, families: query.render(request, context, result.value) }]];
  });
  return {
    query,
    at: startedAt,
    hasAnswered: before.hasAnswered || isAnswered,
    failedRounds: isAnswered ? 0 : before.failedRounds + 1,
    refusedRounds: isRefused && !before.hasAnswered ? before.refusedRounds + 1 : 0,
    failures: before.failures + (isRefused && isNotServed(before) ? 0 : failed.length),
    failure: failed[0]?.error,
    answers: new Map(answers),
  };
}

/** The states after a poll of the document that has failed: a node that does not serve it proves nothing about a query that it refuses. */
export function withFailedPoll(states: QueryStates): QueryStates {
  return mapStates(states, (state) => (isNotServed(state) ? state : { ...state, refusedRounds: 0 }));
}

function mapStates(states: QueryStates, change: (state: QueryState) => QueryState): QueryStates {
  return new Map(Array.from(states, ([name, state]) => [name, change(state)]));
}

/** The states with the answers that are at most `staleAfterMs` old. Those of a query that is sent less often live as much longer. */
export function withoutStaleAnswers(states: QueryStates, staleAfterMs: number, now: Instant): QueryStates {
  return mapStates(states, (state) => {
    const { intervalMs } = state.query;
    const maxAgeMs = staleAfterMs + (intervalMs >= HOUR_MS ? intervalMs : 0);
    const fresh = Array.from(state.answers).filter(([, { at }]) => ageSeconds(at, now) * 1000 <= maxAgeMs);
    return fresh.length === state.answers.size ? state : { ...state, answers: new Map(fresh) };
  });
}
