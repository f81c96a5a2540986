import { describe, expect, it } from 'vitest';
import { initialMemory, memoryAfter, type JudgedEndpoint } from '../../src/alerts/endpoint-memory.js';
import { NO_TREND, TREND_MINUTES, trendAfter, type Trend } from '../../src/alerts/trend.js';
import { trendsHtml, trendViews, type TrendView } from '../../src/pages/trend.js';
import { initialState, stateAfter } from '../../src/poll/endpoint-state.js';
import { batch, idleState } from '../pending/bridge-state.js';
import {
  at,
  BRIDGE,
  bridgeResult,
  CROSSCHAIN,
  crosschainResult,
  FAILED,
  initialSnapshots,
  STALE_AFTER_SECONDS,
  transfer,
} from './sample-snapshots.js';

const limits = { maxBodyBytes: 1024, staleAfterMs: STALE_AFTER_SECONDS * 1000 };
const minute = (minutes: number) => at(60 * minutes);

/** The trend of cross-chain documents with these numbers of pending transactions, by the minute of their poll. */
function trendOf(totals: readonly (readonly [minutes: number, total: number | null])[]): Trend {
  return totals.reduce((trend: Trend, [minutes, total_pending]) => {
    const result = crosschainResult({ height: '5', total_pending, cctxs_missed: [], cctxs_pending: [] });
    const state = stateAfter(initialState(CROSSCHAIN, limits, at(0)), result, minute(minutes));
    return trendAfter(trend, state, minute(minutes));
  }, NO_TREND);
}

const every = (minutes: number, count: number, total: (index: number) => number) =>
  Array.from({ length: count }, (_, index) => [index * minutes, total(index)] as const);

function cctxsAt(trend: Trend, minutes: number): TrendView | undefined {
  return trendViews('rate_limiter_input', trend, minute(minutes)).find(({ name }) => name === 'cctxs');
}

describe('the trend of an endpoint', () => {
  it.each([
    ['grew by 212 in the last hour', every(5, 25, (index) => (index < 13 ? 100 : 312))],
    ['shrank by 12 in the last hour', every(5, 25, (index) => 24 - index)],
    ['unchanged in the last hour', every(0.5, 300, () => 7)],
    ['grew by 5 in the last 25 min', every(5, 6, (index) => index)],
    ['', every(0.5, 10, (index) => index)],
  ])('is in words: %s', (summary, totals) => {
    const trend = trendOf(totals);
    expect(cctxsAt(trend, totals.at(-1)?.[0] ?? 0)?.summary).toBe(summary);
  });

  it('does not compare with a value before an interruption as if it were of an hour ago', () => {
    const totals = [...every(5, 10, () => 100), [200, 150], [205, 155], [215, 160]] as const;
    expect(cctxsAt(trendOf(totals), 215)?.summary).toBe('grew by 10 in the last 15 min');
  });

  it('has at most one point per five minutes of the last six hours, and the last value', () => {
    const day = trendOf(every(1, 24 * 60, (index) => index));
    expect(day.points).toHaveLength(TREND_MINUTES / 5);
    const view = cctxsAt(day, 24 * 60 - 1);
    expect(view?.value).toBe(1439);
    expect(view?.points.length).toBe(TREND_MINUTES / 5 + 1);
    expect(view?.points.map(({ value }) => value).slice(-3)).toEqual([1430, 1435, 1439]);
    expect(view?.points.at(-1)?.at).toBe('2026-01-02T11:59:00.000Z');
  });

  it('has no value, instead of 0, when a field cannot be read', () => {
    expect(
      cctxsAt(
        trendOf([
          [0, 1],
          [5, 2],
          [10, null],
        ]),
        10,
      ),
    ).toBeUndefined();
    expect(
      cctxsAt(
        trendOf([
          [0, 1],
          [5, null],
          [10, 3],
        ]),
        10,
      )?.points.map(({ value }) => value),
    ).toEqual([1, 3]);
  });

  it('changes with successful polls only', () => {
    const states = initialSnapshots();
    const [, initial] = states.states();
    if (initial === undefined) throw new Error('there are two endpoints');
    const poll = ({ state, memory }: JudgedEndpoint, result: Parameters<typeof stateAfter>[1], minutes: number) => {
      const after = stateAfter(state, result, minute(minutes));
      return { state: after, memory: memoryAfter({ state, memory }, after) };
    };
    const document = { height: '5', total_pending: '0', cctxs_missed: [], cctxs_pending: [] };
    const polled = poll({ state: initial, memory: initialMemory }, crosschainResult(document), 0);
    expect(polled.memory.trend.latest?.values).toEqual(
      new Map([
        ['cctxs', 0],
        ['oldest_cctx', 0],
      ]),
    );
    expect(poll(polled, FAILED, 5).memory.trend).toBe(polled.memory.trend);
  });

  it('of a bridge has the transfers in and outside batches, the events and the oldest batch', () => {
    const state = {
      ...idleState,
      batches: [batch('1', '600', '940'), batch('2', '600', '970')],
      unbatched_transfers: [transfer('1', '1')],
      attestations: [
        ...idleState.attestations,
        { observed: false, height: '999', votes: [], claim: { event_nonce: '8' } },
      ],
    };
    const after = stateAfter(initialState(BRIDGE, limits, at(0)), bridgeResult(state, '1000'), at(0));
    const views = trendViews('module_state', trendAfter(NO_TREND, after, at(0)), at(0));
    expect(views.map(({ name, value, unit }) => [name, value, unit])).toEqual([
      ['transfers', 5, 'items'],
      ['events', 1, 'items'],
      ['oldest_batch', 120, 'seconds'],
    ]);
  });

  it('is a picture with a text, whose line has a gap where no poll succeeded', () => {
    const totals = [
      [0, 10],
      [5, 20],
      [60, 5],
      [65, 40],
    ] as const;
    const view = cctxsAt(trendOf(totals), 65);
    const { html } = trendsHtml(view === undefined ? [] : [view], minute(65).epochSeconds * 1000);
    expect(html).toContain('Missed and pending cctxs <b>40</b>');
    expect(html).toContain('Missed and pending cctxs over 6 hours: from 10 to 40, between 5 and 40');
    expect(html).toContain('<path d="M295 22.0L300 15.0M355 25.5L360 1.0"/>');
    expect(html).toContain('grew by 20 in the last hour');
  });

  it('is not shown in the first ten minutes', () => {
    const view = cctxsAt(
      trendOf([
        [0, 1],
        [5, 2],
      ]),
      5,
    );
    expect(trendsHtml(view === undefined ? [] : [view], minute(5).epochSeconds * 1000).html).toBe('');
  });
});
