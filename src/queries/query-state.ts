import { ageSeconds, type Instant } from '../clock.js';
import type { PollError } from '../http/failure-reasons.js';
import type { FamilyHeader } from '../metrics/family.js';
import type { FamilyLines } from '../metrics/render-families.js';
import { HOUR_MS, MINUTE_MS } from '../config/units.js';
import { cctxOutcome } from './cctx-outcome.js';
import { chainParams, crosschainFlags, pendingNonces, signersKey } from './chain-switches.js';
import { latestBlock, syncing } from './node-status.js';
import type { NodeQuery, QueryContext, QueryRequest, QueryResult } from './query.js';
import { validators } from './validators.js';
import { claimPosition, orchestratorBalance, stakingStatus } from './watched-validators.js';
import type { StepContext } from '../document-types.js';

/* When the queries of an endpoint are due, and what they have found. Each round of requests replaces it as a whole. */

/** All queries, in the order of the exposition. */
export const nodeQueries: readonly NodeQuery[] = [
  validators,
  latestBlock,
  syncing,
  stakingStatus,
  claimPosition,
  orchestratorBalance,
  crosschainFlags,
  signersKey,
  pendingNonces,
  chainParams,
  cctxOutcome,
];

/** The families of all queries, in the order of the exposition. */
export const nodeQueryFamilies: readonly FamilyHeader[] = nodeQueries.flatMap(({ families }) => families);

/** What one query of an endpoint has found. */
export interface QueryState {
  readonly attempts: QueryAttempts;
  /** Number of failed requests, without those of a query that the node does not serve. */
  readonly failures: number;
  /** Why a request of the last round failed. */
  readonly failure: PollError | undefined;
  /** The answers by the key of their request. */
  readonly answers: ReadonlyMap<string, QueryAnswer>;
}

export interface QueryAnswer {
  readonly at: Instant;
  readonly pages: readonly unknown[];
  readonly families: readonly FamilyLines[];
}

/** The states of the queries of an endpoint, by name. */
export type QueryStates = ReadonlyMap<string, QueryState>;

/** The rounds of requests of a query. */
export interface QueryAttempts {
  /** When the last round began; `undefined` before the first. */
  readonly at: Instant | undefined;
  /** Whether a request was ever answered. */
  readonly hasAnswered: boolean;
  /** Rounds since the last answer. */
  readonly failedRounds: number;
  /** Successive rounds in which every request of a query that was never answered was refused, while the document was served. */
  readonly refusedRounds: number;
}

export const NO_ATTEMPTS: QueryAttempts = { at: undefined, hasAnswered: false, failedRounds: 0, refusedRounds: 0 };

/** The states of the queries that are enabled. Those of `before` are kept. */
export function queryStatesOf(options: StepContext, before: QueryStates = new Map()): QueryStates {
  const initial: QueryState = { attempts: NO_ATTEMPTS, failures: 0, failure: undefined, answers: new Map() };
  const enabled = nodeQueries.filter(({ isEnabled }) => isEnabled(options));
  return new Map(enabled.map(({ name }) => [name, before.get(name) ?? initial]));
}

/** The enabled queries of which the next round of requests is due. */
export function dueQueries(states: QueryStates, now: Instant): readonly NodeQuery[] {
  return nodeQueries.filter(({ name, intervalMs }) => {
    const state = states.get(name);
    return state !== undefined && isDue(state.attempts, intervalMs, now);
  });
}

/*
 * A proxy that replaces its backend responds with 404 or 501 to every path, so what has been answered once is requested again within minutes,
 * and a path that was never answered is not served only after several refusals.
 */

/** The pauses between the rounds double from a minute on, so that together they last longer than a rolling update. */
const REFUSED_ROUNDS = 5;
const MAX_RETRY_MS = 10 * MINUTE_MS;

/** Whether the query is not known to the node, as far as that can be told. */
export function isNotServed({ refusedRounds }: QueryAttempts): boolean {
  return refusedRounds >= REFUSED_ROUNDS;
}

/** Whether it is time for the next round. A query that is not served is requested every hour. */
export function isDue(attempts: QueryAttempts, intervalMs: number, now: Instant): boolean {
  return attempts.at === undefined || now.monotonicMs - attempts.at.monotonicMs >= waitMs(attempts, intervalMs);
}

function waitMs(attempts: QueryAttempts, intervalMs: number): number {
  const { failedRounds, refusedRounds } = attempts;
  if (isNotServed(attempts)) return Math.max(intervalMs, HOUR_MS);
  if (failedRounds === 0) return intervalMs;
  const retryMs = Math.min(MINUTE_MS * 2 ** (failedRounds - 1), MAX_RETRY_MS);
  return refusedRounds > 0 ? retryMs : Math.min(intervalMs, retryMs);
}

/** `refused`: the node, or a proxy, does not serve any path of the round. */
type Outcome = 'answered' | 'failed' | 'refused';

export function afterRound(attempts: QueryAttempts, outcome: Outcome): QueryAttempts {
  if (outcome === 'answered') return { ...attempts, hasAnswered: true, failedRounds: 0, refusedRounds: 0 };
  const isRefused = outcome === 'refused' && !attempts.hasAnswered;
  return {
    ...attempts,
    failedRounds: attempts.failedRounds + 1,
    refusedRounds: isRefused ? attempts.refusedRounds + 1 : 0,
  };
}

/** The states after a poll of the document that has failed: a node that does not serve it proves nothing about a query that it refuses. */
export function withFailedPoll(states: QueryStates): QueryStates {
  return mapStates(states, (state) =>
    isNotServed(state.attempts) ? state : { ...state, attempts: { ...state.attempts, refusedRounds: 0 } },
  );
}

/** The states after the beginning of a round of requests. */
export function withAttempt(states: QueryStates, { name }: NodeQuery, at: Instant): QueryStates {
  return withChange(states, name, (state) => ({ ...state, attempts: { ...state.attempts, at } }));
}

/**
 * The states after one round of requests. An answer stays when the next request for it fails, until it is stale; it goes when others are
 * requested and it is not.
 */
export function withResults(
  states: QueryStates,
  query: NodeQuery,
  context: QueryContext,
  results: readonly (readonly [QueryRequest, QueryResult])[],
  at: Instant,
): QueryStates {
  const failed = results.flatMap(([, result]) => (result.ok ? [] : [result]));
  const isRefused = failed.length === results.length && failed.every((result) => result.isRefused);
  const outcome = isRefused ? 'refused' : failed.length < results.length ? 'answered' : 'failed';
  const answersAfter = ({ answers }: QueryState) =>
    results.flatMap(([request, result]): [string, QueryAnswer][] => {
      const { key } = request;
      const known = answers.get(key);
      if (!result.ok) return known === undefined ? [] : [[key, known]];
      return [[key, { at, pages: result.pages, families: query.render(request, context, result.pages) }]];
    });
  return withChange(states, query.name, (before) => ({
    attempts: afterRound(before.attempts, outcome),
    failures: before.failures + (isRefused && isNotServed(before.attempts) ? 0 : failed.length),
    failure: failed[0]?.error,
    answers: new Map(answersAfter(before)),
  }));
}

function withChange(states: QueryStates, name: string, change: (state: QueryState) => QueryState): QueryStates {
  const before = states.get(name);
  return before === undefined ? states : new Map(states).set(name, change(before));
}

function mapStates(states: QueryStates, change: (state: QueryState, name: string) => QueryState): QueryStates {
  return new Map(Array.from(states, ([name, state]) => [name, change(state, name)]));
}

/** The states with the answers that are at most `staleAfterMs` old. Those of a query that is sent less often live as much longer. */
export function withoutStaleAnswers(states: QueryStates, staleAfterMs: number, now: Instant): QueryStates {
  const longer = new Map(nodeQueries.map(({ name, intervalMs }) => [name, intervalMs >= HOUR_MS ? intervalMs : 0]));
  return mapStates(states, (state, name) => {
    const maxAgeMs = staleAfterMs + (longer.get(name) ?? 0);
    const fresh = Array.from(state.answers).filter(([, { at }]) => ageSeconds(at, now) * 1000 <= maxAgeMs);
    return fresh.length === state.answers.size ? state : { ...state, answers: new Map(fresh) };
  });
}

/** The series of the answers that are not stale. */
export function answeredFamilies(states: QueryStates, staleAfterMs: number, now: Instant): readonly FamilyLines[] {
  return Array.from(withoutStaleAnswers(states, staleAfterMs, now).values()).flatMap(({ answers }) =>
    Array.from(answers.values()).flatMap(({ families }) => families),
  );
}
