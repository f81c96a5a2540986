import { describe, expect, it } from 'vitest';
import type { Instant } from '../../src/clock.js';
import { failure } from '../../src/http/failure-reasons.js';
import { initialState } from '../../src/poll/endpoint-state.js';
import { step } from '../../src/poll/step.js';
import { HOUR_MS, MINUTE_MS } from '../../src/config/units.js';
import {
  afterRound,
  isDue,
  isNotServed,
  NO_ATTEMPTS,
  withFailedPoll,
  type QueryAttempts,
} from '../../src/queries/query-state.js';
import { bridgeContext } from '../support/snapshots.js';

const at = (minutes: number): Instant => ({ epochSeconds: minutes * 60, monotonicMs: minutes * MINUTE_MS });

/** The attempts after these rounds, the last of which began at 0. */
const after = (...outcomes: readonly Parameters<typeof afterRound>[1][]): QueryAttempts => ({
  ...outcomes.reduce(afterRound, NO_ATTEMPTS),
  at: at(0),
});

/** The attempts after a failed poll of the document. */
function afterFailedPoll(attempts: QueryAttempts): QueryAttempts {
  const state = { attempts, failures: 0, failure: undefined, answers: new Map() };
  return withFailedPoll(new Map([['syncing', state]])).get('syncing')?.attempts ?? NO_ATTEMPTS;
}

/** The minutes after which the next round is due. */
function waitOf(attempts: QueryAttempts, intervalMs: number): number {
  return (
    Array.from({ length: 241 }, (_, half) => half / 4).find((minutes) => isDue(attempts, intervalMs, at(minutes))) ??
    Infinity
  );
}

const refusals = (count: number) => Array.from({ length: count }, () => 'refused' as const);

describe('the next round of a query', () => {
  it('is due at once, and then after the interval', () => {
    expect(isDue(NO_ATTEMPTS, HOUR_MS, at(0))).toBe(true);
    expect([0, MINUTE_MS, HOUR_MS].map((interval) => waitOf(after('answered'), interval))).toEqual([0, 1, 60]);
  });

  it.each(['failed', 'refused'] as const)(
    'is due within minutes after rounds that were %s, once one was answered',
    (outcome) => {
      const waits = [1, 2, 3, 4, 5, 6, 20].map((count) => {
        const attempts = after('answered', ...Array.from({ length: count }, () => outcome));
        expect(isNotServed(attempts)).toBe(false);
        return [0, MINUTE_MS, HOUR_MS].map((interval) => waitOf(attempts, interval));
      });
      expect(waits).toEqual([1, 2, 4, 8, 10, 10, 10].map((minutes) => [0, 1, minutes]));
      expect(waitOf(after('answered', outcome, outcome, 'answered'), HOUR_MS)).toBe(60);
    },
  );

  it('is due after an hour when the query was refused five times and never answered', () => {
    const waits = [1, 2, 3, 4].map((count) =>
      [0, MINUTE_MS, HOUR_MS].map((interval) => waitOf(after(...refusals(count)), interval)),
    );
    expect(waits).toEqual([1, 2, 4, 8].map((minutes) => [minutes, minutes, minutes]));
    expect(isNotServed(after(...refusals(4)))).toBe(false);
    for (const count of [5, 6, 100]) {
      expect(isNotServed(after(...refusals(count)))).toBe(true);
      expect(waitOf(after(...refusals(count)), 0)).toBe(60);
    }
    expect(isNotServed(after(...refusals(5), 'answered'))).toBe(false);
  });

  it('is that of a query whose refusals count from 0 after a failed poll of its endpoint', () => {
    const key = { target: 'a', document: 'module_state' } as const;
    const query = { attempts: after(...refusals(4)), failures: 4, failure: undefined, answers: new Map() };
    const before = {
      ...initialState({ ...key, maxBodyBytes: 1, staleAfterMs: 1 }, at(0)),
      queries: new Map([['syncing', query]]),
    };
    const poll = { outcome: failure('status', 'down'), phaseSeconds: {} };
    const { queries } = step(before, poll, bridgeContext(), at(1));
    expect(queries.get('syncing')).toEqual({ ...query, attempts: { ...query.attempts, refusedRounds: 0 } });
  });

  it.each<readonly [string, (attempts: QueryAttempts) => QueryAttempts]>([
    ['another failure', (attempts) => afterRound(attempts, 'failed')],
    ['a failed poll of the document', afterFailedPoll],
  ])('counts refusals from 0 after %s, until they are enough', (_, change) => {
    expect(isNotServed(afterRound(change(after(...refusals(4))), 'refused'))).toBe(false);
    expect(isNotServed(refusals(5).reduce(afterRound, change(after(...refusals(4)))))).toBe(true);
    expect(isNotServed(afterFailedPoll(after(...refusals(5))))).toBe(true);
  });
});
