import { describe, expect, it } from 'vitest';
import { defaultBridgeSettings } from '../../src/config/endpoint-config.js';
import { renderEndpoints } from '../../src/exposition/metrics-page.js';
import { failureReasonNames } from '../../src/http/failure-reasons.js';
import type { Moment } from '../../src/clock.js';
import { recordedStates, type RecordedStates } from '../support/endpoint-states.js';
import type { PollResult } from '../../src/engine/step.js';
import { seriesOf, valueIn } from '../support/exposition-text.js';
import { pollOf, TARGET_OPTIONS } from '../support/polls.js';
import { NOW, sampleModel, sampleSnapshots } from '../support/sample-endpoints.js';
import type { StepContext } from '../../src/document-types.js';

const STALE_AFTER_MS = 60_000;
const CONTEXT: StepContext<'module_state'> = {
  ...TARGET_OPTIONS,
  staleAfterMs: STALE_AFTER_MS,
  document: 'module_state',
  settings: defaultBridgeSettings,
};

const at = (ms: number): Moment => ({ at: 1000 + ms / 1000, clockOffset: 0 });

/** A poll of a document of this hub height, with one chain series of this value. */
function success(height: string | undefined, value = 1): PollResult {
  return pollOf(CONTEXT, { state: { last_outgoing_batch_id: value } }, { height });
}

const FAILED: PollResult = { outcome: { ok: false, error: { reason: 'timeout', message: 'slow' } }, phaseSeconds: {} };

function fresh(): {
  snapshots: RecordedStates;
  text: (ms: number) => string;
  poll: (outcome: PollResult, ms: number) => void;
} {
  const snapshots = recordedStates([CONTEXT], { maxBodyBytes: 1024, staleAfterMs: STALE_AFTER_MS });
  return {
    snapshots,
    text: (ms) => renderEndpoints(snapshots.states(), 'text', at(ms)),
    poll: (outcome, ms) => void snapshots.record(CONTEXT, outcome, at(ms)),
  };
}

describe('the exposition', () => {
  it('of a sample chain matches the golden file', async () => {
    await expect(renderEndpoints(sampleSnapshots().states(), 'text', NOW)).toMatchFileSnapshot(
      'golden/exposition.prom',
    );
  });

  it('in OpenMetrics differs only in the names of counters in HELP and TYPE', () => {
    const snapshots = sampleSnapshots();
    const text = renderEndpoints(snapshots.states(), 'text', NOW).split('\n');
    const openmetrics = renderEndpoints(snapshots.states(), 'openmetrics', NOW).split('\n');
    const different = openmetrics.filter((line, index) => line !== text[index]);
    expect(openmetrics).toHaveLength(text.length);
    expect(different.filter((line) => !/^# (?:HELP|TYPE) (?!\S+_total )/.test(line))).toEqual([]);
    const counters = text.filter((line) => /^# TYPE \S+ counter$/.test(line));
    expect(counters).toContain('# TYPE bridge_exporter_polls_total counter');
    expect(different.filter((line) => line.startsWith('# TYPE'))).toEqual(
      counters.map((line) => line.replace('_total ', ' ')),
    );
  });

  it.each(['text', 'openmetrics'] as const)(
    'has the labels of a target after the label target in every series as %s',
    (format) => {
      const labels = { network: 'main "net"', zone: 'a\\b' };
      const plain = renderEndpoints(sampleSnapshots().states(), format, NOW);
      const labeled = renderEndpoints(sampleSnapshots(sampleModel(), labels).states(), format, NOW);
      const own = String.raw`,network="main \"net\"",zone="a\\b"`;
      expect(labeled).not.toBe(plain);
      expect(
        labeled.replaceAll(
          /(\{target="[^"]*")([^\n]*)/g,
          (_line, target: string, rest: string) => target + rest.replace(own, ''),
        ),
      ).toBe(plain);
      const series = labeled.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
      expect(series.filter((line) => !line.includes(`{target="demo"${own}`))).toEqual([]);
    },
  );

  it('starts with counters at 0, and without gauges', () => {
    const { text } = fresh();
    expect(seriesOf(text(0)).filter(({ name, value }) => !name.endsWith('_total') || value !== 0)).toEqual([]);
    for (const reason of failureReasonNames) {
      expect(valueIn(text(0), 'bridge_exporter_poll_failures_total', `reason="${reason}"`)).toBe(0);
    }
  });

  it('contains the last success through failures until it is stale', () => {
    const { text, poll } = fresh();
    poll(success('1'), 0);
    poll(FAILED, 30_000);
    expect(valueIn(text(STALE_AFTER_MS), 'bridge_last_outgoing_batch_id')).toBe(1);
    expect(valueIn(text(STALE_AFTER_MS), 'bridge_exporter_up')).toBe(0);
    expect(valueIn(text(STALE_AFTER_MS + 1), 'bridge_last_outgoing_batch_id')).toBeUndefined();
    expect(valueIn(text(STALE_AFTER_MS + 1), 'bridge_exporter_up')).toBe(0);
    poll(success('2', 5), STALE_AFTER_MS + 2);
    expect(valueIn(text(STALE_AFTER_MS + 2), 'bridge_last_outgoing_batch_id')).toBe(5);
  });

  it('withdraws a success that became stale while the machine was suspended', () => {
    const { snapshots, poll } = fresh();
    poll(success('1'), 0);
    const slept = { at: 1000 + 3600, clockOffset: 0 };
    expect(
      valueIn(renderEndpoints(snapshots.states(), 'text', slept), 'bridge_last_outgoing_batch_id'),
    ).toBeUndefined();
  });

  it('counts all polls, and failures by reason', () => {
    const { text, poll } = fresh();
    for (const [ms, outcome] of [FAILED, success('1'), FAILED, FAILED].entries()) poll(outcome, ms);
    expect(valueIn(text(5), 'bridge_exporter_polls_total')).toBe(4);
    expect(valueIn(text(5), 'bridge_exporter_poll_failures_total', 'reason="timeout"')).toBe(3);
    expect(valueIn(text(5), 'bridge_exporter_last_success_timestamp_seconds')).toBe(1000.001);
    expect(valueIn(text(5), 'bridge_exporter_last_attempt_timestamp_seconds')).toBe(1000.003);
    expect(valueIn(text(5), 'bridge_exporter_response_size_bytes'), 'without a complete body').toBeUndefined();
  });

  it('rejects a response of a lower height twice and accepts the third in a row', () => {
    const { text, poll } = fresh();
    const state = (): unknown[] => [
      valueIn(text(9), 'bridge_last_outgoing_batch_id'),
      valueIn(text(9), 'bridge_exporter_up'),
      valueIn(text(9), 'bridge_exporter_snapshot_regressions_total'),
      valueIn(text(9), 'bridge_exporter_poll_failures_total', 'reason="regression"'),
    ];
    poll(success('100', 1), 0);
    poll(success('90', 2), 1);
    expect(state()).toEqual([1, 0, 1, 1]);
    poll(FAILED, 2);
    poll(success('91', 3), 3);
    expect(state()).toEqual([1, 0, 2, 2]);
    poll(success('92', 4), 4);
    expect(state()).toEqual([4, 1, 3, 2]);
    poll(success('92', 5), 5);
    expect(state(), 'an equal height is no regression').toEqual([5, 1, 3, 2]);
  });

  it('counts regressions in a row from 0 again after another response', () => {
    const { text, poll } = fresh();
    const heights = ['100', '90', '90', '100', '90', '90'];
    for (const [ms, height] of heights.entries()) poll(success(height, ms), ms);
    expect(valueIn(text(9), 'bridge_last_outgoing_batch_id')).toBe(3);
    expect(valueIn(text(9), 'bridge_exporter_poll_failures_total', 'reason="regression"')).toBe(4);
  });

  it('detects no regression without heights', () => {
    const { text, poll } = fresh();
    for (const [ms, height] of ['100', undefined, '1'].entries()) poll(success(height, ms), ms);
    expect(valueIn(text(9), 'bridge_last_outgoing_batch_id')).toBe(2);
  });
});
