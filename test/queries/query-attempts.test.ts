import { describe, expect, it } from 'vitest';
import type { Moment } from '../../src/clock.js';
import { failure } from '../../src/http/failure-reasons.js';
import { syncing } from '../../src/queries/node-status.js';
import {
  afterRound,
  initialQueryState,
  isDue,
  isUnsupported,
  newAnswers,
  type QueryContext,
  type QueryResult,
  type QueryState,
} from '../../src/queries/query.js';
import { HOUR_MS, MINUTE_MS } from '../../src/units.js';
import { answeredQueries } from '../support/answered-queries.js';
import { bridgeContext, bridgeSnapshot } from '../support/snapshots.js';

const at = (minutes: number): Moment => ({ at: minutes * 60, clockOffset: 0 });

const CONTEXT: QueryContext<'module_state'> = {
  ...bridgeContext(),
  ...bridgeSnapshot({ batches: [] }),
  dialect: 'neutral',
  operators: new Map(),
  answers: new Map(),
};

type Outcome = 'answered' | 'failed' | 'refused';

const RESULTS: Readonly<Record<Outcome, QueryResult>> = {
  answered: { ok: true, value: { isSyncing: false } },
  failed: { ...failure('timeout', 'slow'), isRefused: false },
  refused: { ...failure('status', 'responded with status 501'), isRefused: true },
};

function next(state: QueryState, outcome: Outcome): QueryState {
  const exchange = { request: { key: '', path: '' }, height: undefined, result: RESULTS[outcome] };
  return afterRound(state, CONTEXT, [exchange], at(0).at, at(0).at);
}

/** The state of a query after these rounds, the last of which began at 0. */
const after = (outcomes: readonly Outcome[], intervalMs = MINUTE_MS): QueryState =>
  outcomes.reduce(next, initialQueryState({ ...syncing, intervalMs }));

/** The minutes after which the next round is due, for intervals of 0, a minute and an hour. */
const waitsAfter = (...outcomes: readonly Outcome[]): (number | undefined)[] =>
  [0, MINUTE_MS, HOUR_MS].map((intervalMs) => {
    const state = after(outcomes, intervalMs);
    return Array.from({ length: 241 }, (_, quarter) => quarter / 4).find((minutes) => isDue(state, at(minutes).at));
  });

const times = (count: number, outcome: Outcome): Outcome[] => Array.from({ length: count }, () => outcome);

describe('the next round of a query', () => {
  it('is due at once, and then after the interval', () => {
    expect(isDue(after([]), at(0).at)).toBe(true);
    expect(waitsAfter('answered')).toEqual([0, 1, 60]);
  });

  it.each(['failed', 'refused'] as const)(
    'is due a minute after a round that was %s, twice as long after the next one, and at most five minutes',
    (outcome) => {
      const hourly = [1, 2, 3, 4, 20].map((count) => waitsAfter('answered', ...times(count, outcome)));
      expect(hourly).toEqual([1, 2, 4, 5, 5].map((minutes) => [0, 1, minutes]));
      expect(waitsAfter('failed'), 'from the beginning').toEqual([0, 1, 1]);
      expect(waitsAfter('answered', outcome, outcome, 'answered')).toEqual([0, 1, 60]);
    },
  );

  it('is due after an hour when the query was refused three times in a row and never answered', () => {
    const waits = [1, 2, 3, 100].map((count) => waitsAfter(...times(count, 'refused')));
    expect(waits).toEqual([
      [0, 1, 1],
      [0, 1, 2],
      [60, 60, 60],
      [60, 60, 60],
    ]);
    expect(waitsAfter(...times(3, 'refused'), 'answered')).toEqual([0, 1, 60]);
  });

  it('counts refusals from 0 after another failure', () => {
    const isServed = (...outcomes: readonly Outcome[]): boolean => !isUnsupported(after(outcomes));
    expect(isServed(...times(2, 'refused'), 'failed', ...times(2, 'refused'))).toBe(true);
    expect(isServed(...times(2, 'refused'), 'failed', ...times(3, 'refused'))).toBe(false);
  });

  it('counts failures, but not those of a query that the node does not serve', () => {
    expect([1, 3, 4, 9].map((count) => after(times(count, 'refused')).failures)).toEqual([1, 3, 3, 3]);
    expect(after(['answered', ...times(9, 'refused')]).failures).toBe(9);
  });
});

describe('an answer with a lower height', () => {
  /** Whether the last of these answers, a minute apart, is used. */
  const isUsed = (isOfNode: boolean, ...heights: readonly (number | undefined)[]): boolean => {
    const state = heights.reduce<QueryState>(
      (before, height, minute) => {
        const exchange = { request: { key: '', path: '/p' }, height: height?.toString(), result: RESULTS.answered };
        return afterRound(before, CONTEXT, [exchange], at(minute).at, at(minute).at);
      },
      initialQueryState({ ...syncing, isOfNode }),
    );
    return state.answers.get('')?.at === at(heights.length - 1).at;
  };

  it('is not used until it is the third in a row, because nodes behind one address can answer in turn', () => {
    expect([isUsed(false, 100, 100), isUsed(false, 100, undefined), isUsed(false, undefined, 1)]).not.toContain(false);
    expect([isUsed(false, 100, 99), isUsed(false, 100, 99, 98), isUsed(false, 100, 99, 98, 97)]).toEqual([
      false,
      false,
      true,
    ]);
    expect(isUsed(false, 100, 99, 98, 100, 99)).toBe(false);
  });

  it('is used when it is about the node itself, which is behind then', () => {
    expect(isUsed(true, 100, 99)).toBe(true);
  });
});

it('an answer counts in the document after it, also when it arrives while a document is requested, and once only', () => {
  const answered = (seconds: number) =>
    answeredQueries({ at: seconds, clockOffset: 0 }, { cctx: { index: '0x1', answer: 'pending' } }, '0x1');
  const countNew = (...[states, before]: Parameters<typeof newAnswers>) =>
    newAnswers(states, before).get('cctx')?.answers.size;
  expect(countNew(answered(10), undefined)).toBe(1);
  expect(countNew(answered(10), new Map())).toBe(1);
  expect(countNew(answered(10), answered(10))).toBe(0);
  expect(countNew(answered(20), answered(10))).toBe(1);
});
