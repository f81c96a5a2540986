import type { Instant } from '../clock.js';
import { HOUR_MS, MINUTE_MS } from '../settings/units.js';

/*
 * When a query of a node is due, by what came of its earlier rounds of requests. A proxy that replaces its backend responds with 404 or 501
 * to every path, so what has been answered once is requested again within minutes, and a path that was never answered is not served
 * only after several refusals.
 */

/** What is remembered of the rounds of a query. Plain data. */
export interface QueryAttempts {
  /** When the last round began; `undefined` before the first. */
  readonly at: Instant | undefined;
  /** Whether a request was ever answered. */
  readonly hasAnswered: boolean;
  /** Rounds since the last answer. */
  readonly failedRounds: number;
  /** Of a query that was never answered: successive rounds in which every request was refused, while the document was served. */
  readonly refusedRounds: number;
}

export const NO_ATTEMPTS: QueryAttempts = { at: undefined, hasAnswered: false, failedRounds: 0, refusedRounds: 0 };

/** `refused`: the node, or a proxy, does not serve any path of the round. */
type Outcome = 'answered' | 'failed' | 'refused';

/** With a minute between them, more than a rolling update takes. */
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

export function afterStart(attempts: QueryAttempts, at: Instant): QueryAttempts {
  return { ...attempts, at };
}

export function afterRound(attempts: QueryAttempts, outcome: Outcome): QueryAttempts {
  if (outcome === 'answered') return { ...attempts, hasAnswered: true, failedRounds: 0, refusedRounds: 0 };
  const isRefused = outcome === 'refused' && !attempts.hasAnswered;
  return {
    ...attempts,
    failedRounds: attempts.failedRounds + 1,
    refusedRounds: isRefused ? attempts.refusedRounds + 1 : 0,
  };
}

/** A node that does not serve the document either proves nothing about the query. */
export function afterFailedPoll(attempts: QueryAttempts): QueryAttempts {
  return isNotServed(attempts) ? attempts : { ...attempts, refusedRounds: 0 };
}
