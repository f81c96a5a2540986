import { describe, expect, it } from 'vitest';
import { hasTool } from '../support/tools.js';
import { metricsInRules, runAlerts, type Firing } from './promtool.js';
import { record, sampleTokens, type Phase, type Recording } from './recording.js';

/*
 * Two exporters that poll the same bridge, as described in docs/scale.md.
 */
const hasPromtool = hasTool('promtool');

describe('the alerts of two replicas', () => {
  it.skipIf(!hasPromtool)('fire for each replica, and continue for one when the other stops', () => {
    const incident: readonly Phase[] = [{ minutes: 20 }, { minutes: 25, scenario: 'conflicting-claims' }];
    const running = record([...incident, { minutes: 30 }], { keep: metricsInRules });
    const stopped = record([...incident, { minutes: 30, exporterDown: true }], { keep: metricsInRules });
    const firings = runAlerts(running, { 'other:10917': stopped })
      .filter(({ alert, severity }) => alert === 'BridgeConflictingClaims' && severity === 'critical')
      .toSorted((first, second) => second.until - first.until);
    const labels = { job: 'bridge', target: 'demo', document: 'module_state' };
    expect(firings).toMatchObject([
      { labels: { ...labels, instance: 'localhost:10917' }, from: 30, until: 74, count: 1 },
      // The series end at minute 44, and keep_firing_for extends the alert by 20 minutes.
      { labels: { ...labels, instance: 'other:10917' }, from: 30, until: 64, count: 1 },
    ]);
  });

  it.skipIf(!hasPromtool)('measure a standstill anew when an exporter restarts with another instance label', () => {
    const uninterrupted = record([{ minutes: 20 }, { minutes: 140, scenario: 'stuck' }], {
      keep: METRICS_OF_BACKLOG_STUCK,
      valsets: 1,
    });
    expect(criticalBacklogStuck(runAlerts(uninterrupted))).toEqual([[68, 159]]);
    const restarted = runAlerts(restrictTo(uninterrupted, 0, 90), {
      'other:10917': restrictTo(uninterrupted, 90, 160),
    });
    expect(criticalBacklogStuck(restarted)).toEqual([
      [68, 109],
      [140, 159],
    ]);
  });
});

describe('two exporters of different targets', () => {
  it.skipIf(!hasPromtool)('have an alert when one of them disappears', () => {
    const running = record([{ minutes: 60 }], { keep: metricsInRules, valsets: 1 });
    const stopped = record([{ minutes: 20 }, { minutes: 40, exporterDown: true }], {
      keep: metricsInRules,
      valsets: 1,
    });
    const series = new Map(
      Array.from(stopped.series, ([key, values]) => [key.replace('target="demo"', 'target="other"'), values]),
    );
    const firings = runAlerts(running, { 'other:10917': { ...stopped, series } });
    const exporter = { job: 'bridge', instance: 'other:10917' };
    const notPolled = { alert: 'BridgeEndpointNotPolled', severity: 'critical', from: 35, until: 59, count: 1 };
    expect(firings.filter(({ alert }) => alert !== 'BridgeWatchdog')).toEqual([
      { ...notPolled, labels: { ...exporter, target: 'other', document: 'module_state' } },
      { ...notPolled, labels: { ...exporter, target: 'other', document: 'rate_limiter_input' } },
    ]);
  });

  it.skipIf(!hasPromtool)('have an alert when one of them crashes again and again before it polls', () => {
    const running = record([{ minutes: 60 }], { keep: metricsInRules, valsets: 1 });
    const isScraped = (minute: number): boolean => minute < 20 || minute % 5 === 0;
    const crashing = new Map(
      Array.from(running.series, ([key, values]) => [
        key.replace('target="demo"', 'target="other"'),
        /build_info|polls_total/.test(key)
          ? values.map((value, minute) => (isScraped(minute) ? value : undefined))
          : values.slice(0, 20),
      ]),
    );
    const firings = runAlerts(running, { 'other:10917': { ...running, series: crashing } });
    expect(new Set(firings.map(({ alert }) => alert))).toEqual(new Set(['BridgeEndpointNotPolled', 'BridgeWatchdog']));
  });
});

const METRICS_OF_BACKLOG_STUCK = new Set([
  'bridge_token_unbatched_transfers',
  'bridge_token_top_batch_fees',
  'bridge_token_min_batch_fee',
  'bridge_token_newest_batch_nonce',
  'bridge_token_oldest_unbatched_transfer_id',
  'bridge_height',
  'bridge_exporter_last_success_timestamp_seconds',
]);

/** The first and last minute of each firing of the critical BridgeBacklogStuck for one token. */
function criticalBacklogStuck(firings: readonly Firing[]): [from: number, until: number][] {
  return firings
    .filter(({ alert, severity }) => alert === 'BridgeBacklogStuck' && severity === 'critical')
    .filter(({ labels }) => labels['token_contract'] === sampleTokens[0]?.contract)
    .toSorted((first, second) => first.from - second.from)
    .map(({ from, until }) => [from, until]);
}

/** The recording without the samples before `first` and from `end` on. */
function restrictTo({ series, ...rest }: Recording, first: number, end: number): Recording {
  const within = (values: readonly (number | undefined)[]): (number | undefined)[] =>
    values.map((value, sample) => (first <= sample && sample < end ? value : undefined));
  return { ...rest, series: new Map(Array.from(series, ([key, values]) => [key, within(values)])) };
}
