import { ageSeconds, type Instant } from '../clock.js';
import type { Failure, PollError } from '../http/failure-reasons.js';
import type { FamilyLines } from '../metrics/render-families.js';
import { HOUR_MS } from '../settings/units.js';
import { type NodeQuery, type QueryContext, type QueryAnswers, type QueryOptions, type QueryRequest } from './query.js';
import { nodeQueries, nodeQueryOf } from './node-queries.js';
import {
  afterFailedPoll,
  afterRound,
  afterStart,
  isDue,
  isNotServed,
  NO_ATTEMPTS,
  type QueryAttempts,
} from './query-attempts.js';

/* What the queries of an endpoint have found. Each round of requests replaces it as a whole. */

/** What one query of an endpoint has found. */
export interface QueryState {
  readonly attempts: QueryAttempts;
  /** Number of failed requests, without those of a query that the node does not serve. */
  readonly failures: number;
  /** Why a request of the last round failed. */
  readonly failure: PollError | undefined;
  /** By the key of the request. */
  readonly answers: ReadonlyMap<string, QueryAnswer>;
}

export interface QueryAnswer {
  readonly at: Instant;
  readonly pages: readonly unknown[];
  readonly families: readonly FamilyLines[];
}

/** The states of the queries of an endpoint, by name. */
export type QueryStates = ReadonlyMap<string, QueryState>;

/** The response to one request. */
export type QueryResult =
  | { readonly ok: true; readonly pages: readonly unknown[] }
  /** `isRefused`: the path is not served. */
  | (Failure & { readonly isRefused: boolean });

const INITIAL_STATE: QueryState = {
  attempts: NO_ATTEMPTS,
  failures: 0,
  failure: undefined,
  answers: new Map(),
};

/** The states of the queries that are enabled. Those of `before` are kept. */
export function queryStatesOf(options: QueryOptions, before: QueryStates = new Map()): QueryStates {
  return new Map(
    nodeQueries
      .filter(({ isEnabled }) => isEnabled(options))
      .map(({ name }) => [name, before.get(name) ?? INITIAL_STATE]),
  );
}

/** The enabled queries of which the next round of requests is due. */
export function dueQueries(states: QueryStates, now: Instant): readonly NodeQuery[] {
  return nodeQueries.filter(({ name, intervalMs }) => {
    const state = states.get(name);
    return state !== undefined && isDue(state.attempts, intervalMs, now);
  });
}

export function withAttempt(states: QueryStates, { name }: NodeQuery, at: Instant): QueryStates {
  return withState(states, name, (before) => ({ ...before, attempts: afterStart(before.attempts, at) }));
}

/** The states after a poll of the document that has failed. */
export function withFailedPoll(states: QueryStates): QueryStates {
  return new Map(
    Array.from(states, ([name, state]) => [name, { ...state, attempts: afterFailedPoll(state.attempts) }]),
  );
}

/**
 * The states after one round of requests. An answer stays when the next request for it fails, until it is stale; it goes when others are
 * requested and it is not. A round without requests, for which the document lacks what they need, changes nothing.
 */
export function withResults(
  states: QueryStates,
  query: NodeQuery,
  context: QueryContext,
  results: readonly (readonly [QueryRequest, QueryResult])[],
  at: Instant,
): QueryStates {
  if (results.length === 0) return states;
  const failed = results.flatMap(([, result]) => (result.ok ? [] : [result]));
  const isRefused = failed.length === results.length && failed.every((result) => result.isRefused);
  const outcome = isRefused ? 'refused' : failed.length < results.length ? 'answered' : 'failed';
  return withState(states, query.name, (before) => ({
    attempts: afterRound(before.attempts, outcome),
    failures: before.failures + (isRefused && isNotServed(before.attempts) ? 0 : failed.length),
    failure: failed[0]?.error,
    answers: new Map(
      results.flatMap(([request, result]): [string, QueryAnswer][] => {
        const { key } = request;
        const known = before.answers.get(key);
        if (!result.ok) return known === undefined ? [] : [[key, known]];
        return [[key, { at, pages: result.pages, families: query.render(request, context, result.pages) }]];
      }),
    ),
  }));
}

function withState(states: QueryStates, name: string, change: (before: QueryState) => QueryState): QueryStates {
  const before = states.get(name);
  return before === undefined ? states : new Map([...states, [name, change(before)]]);
}

/** The answers that are at most `staleAfterMs` old. Those of a query that is sent less often live as much longer. */
function freshAnswers(states: QueryStates, staleAfterMs: number, now: Instant): [string, string, QueryAnswer][] {
  return nodeQueries.flatMap(({ name, intervalMs }) =>
    Array.from(states.get(name)?.answers ?? []).flatMap(([key, answer]): [string, string, QueryAnswer][] =>
      ageSeconds(answer.at, now) * 1000 <= staleAfterMs + (intervalMs >= HOUR_MS ? intervalMs : 0)
        ? [[name, key, answer]]
        : [],
    ),
  );
}

/** The series of the answers that are not stale. */
export function answeredFamilies(states: QueryStates, staleAfterMs: number, now: Instant): readonly FamilyLines[] {
  return freshAnswers(states, staleAfterMs, now).flatMap(([, , { families }]) => families);
}

/** The families of the queries that were not answered or refused yet, as after a restart. */
export function unansweredFamilies(states: QueryStates): ReadonlySet<string> {
  const unanswered = Array.from(states).filter(
    ([, { attempts }]) => !attempts.hasAnswered && attempts.failedRounds === 0,
  );
  return new Set(unanswered.flatMap(([name]) => nodeQueryOf(name).families.map((family) => family.name)));
}

/** The values of the answers that are not stale. */
export function answersOf(states: QueryStates, staleAfterMs: number, now: Instant): QueryAnswers {
  const answers = new Map<string, Map<string, readonly unknown[]>>();
  for (const [name, key, { pages }] of freshAnswers(states, staleAfterMs, now)) {
    answers.set(name, (answers.get(name) ?? new Map<string, readonly unknown[]>()).set(key, pages));
  }
  return answers;
}
