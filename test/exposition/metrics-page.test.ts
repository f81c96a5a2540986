import fc from 'fast-check';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createMetricsPage, renderEndpoints, type MetricsPage } from '../../src/exposition/metrics-page.js';
import { createProcessMetrics, type ProcessState } from '../../src/exposition/process-metrics.js';
import type { Moment } from '../../src/clock.js';
import { recordedStates } from '../support/endpoint-states.js';
import { BRIDGE, bridgeResult } from '../pages/sample-snapshots.js';
import { SAMPLE_PROCESS } from '../support/exported-metrics.js';
import { fuzzRuns } from '../support/fuzz.js';
import { NOW, sampleSnapshots } from '../support/sample-endpoints.js';

const at = (ms: number): Moment => ({ at: ms / 1000, clockOffset: 0 });

const NO_PROCESS_METRICS = { version: () => '', render: async () => '' };

const SUCCESS = bridgeResult({ last_observed_nonce: '7', batches: [], unbatched_transfers: [] });
const LIMITS = { maxBodyBytes: 1024, staleAfterMs: 60_000 };

const textOf = async (page: MetricsPage, ms: number): Promise<string> =>
  (await page('text', 'identity', at(ms))).toString();

/** Metrics of a process whose configuration and last reload change with the state. */
const processMetrics = (state: Partial<Pick<ProcessState, 'config' | 'isConfigRejected'>> = {}) =>
  createProcessMetrics(() => ({ ...SAMPLE_PROCESS, ...state }));

describe('the metrics page', () => {
  it('joins the metrics of endpoints and process, and ends with # EOF in OpenMetrics', async () => {
    const snapshots = recordedStates([BRIDGE], LIMITS);
    const page = createMetricsPage(snapshots, {
      version: () => '',
      render: async (format) => `process ${format}\n`,
    });
    const text = (await page('text', 'identity', at(0))).toString();
    expect(text).toBe(`${renderEndpoints(snapshots.states(), 'text', at(0))}process text\n`);
    const openmetrics = (await page('openmetrics', 'identity', at(0))).toString();
    expect(openmetrics).toBe(
      `${renderEndpoints(snapshots.states(), 'openmetrics', at(0))}process openmetrics\n# EOF\n`,
    );
    expect(gunzipSync(await page('openmetrics', 'gzip', at(0))).toString()).toBe(openmetrics);
  });

  it('is rendered and compressed once for all scrapes between two changes, concurrent ones included', async () => {
    const snapshots = recordedStates([BRIDGE], LIMITS);
    const page = createMetricsPage(snapshots, processMetrics());
    const [one, other] = await Promise.all([page('text', 'identity', at(0)), page('text', 'identity', at(0))]);
    expect(other).toBe(one);
    expect(await page('text', 'identity', at(999))).toBe(one);
    const [gzip, otherGzip] = await Promise.all([page('text', 'gzip', at(999)), page('text', 'gzip', at(999))]);
    expect(otherGzip).toBe(gzip);
    expect(gunzipSync(gzip)).toEqual(one);
    snapshots.record(BRIDGE, SUCCESS, at(999));
    expect((await page('text', 'identity', at(999))).toString()).toContain('bridge_last_observed_nonce{');
    expect(gunzipSync(await page('text', 'gzip', at(999))).toString()).toContain('bridge_last_observed_nonce');
  });

  it('collects process metrics at most once a second, and at once after a reload', async () => {
    const state = { isConfigRejected: false };
    const metrics = processMetrics(state);
    const collections = new Set<number>();
    const page = createMetricsPage(recordedStates([], LIMITS), {
      version: metrics.version,
      render: async (format, now) => {
        collections.add(now.at);
        return metrics.render(format, now);
      },
    });
    for (const ms of [0, 999, 1000, 1001, 1999]) await page('text', 'identity', at(ms));
    expect(Array.from(collections)).toEqual([0, 1]);
    state.isConfigRejected = true;
    await page('text', 'identity', at(1999));
    expect(Array.from(collections)).toEqual([0, 1, 1.999]);
  });

  it('withdraws the series of a stale endpoint without another poll', async () => {
    const snapshots = sampleSnapshots();
    const page = createMetricsPage(snapshots, NO_PROCESS_METRICS);
    const later = { at: NOW.at + 3600, clockOffset: 0 };
    expect((await page('text', 'identity', NOW)).toString()).toMatch(/^bridge_last_observed_nonce\{/m);
    expect((await page('text', 'identity', later)).toString()).not.toMatch(/^bridge_last_observed_nonce\{/m);
  });

  it('is never out of date by either clock, and is rendered again only after a change', async () => {
    const contexts = [0, 1, 2].map((index) => ({ ...BRIDGE, target: String(index) }));
    // Pages with different endpoints are different.
    const results = contexts.map(({ target }) => bridgeResult({ last_observed_nonce: target }));
    const step = fc.record({
      polled: fc.option(fc.nat(2)),
      passedMs: fc.nat(700),
      setByMs: fc.oneof(fc.constant(0), fc.integer({ min: -2000, max: 2000 })),
    });
    const property = fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const snapshots = recordedStates(contexts, { maxBodyBytes: 1024, staleAfterMs: 1000 });
      const page = createMetricsPage(snapshots, NO_PROCESS_METRICS);
      let now = { at: 1e6, clockOffset: 0 };
      let last: Buffer | undefined;
      for (const { polled, passedMs, setByMs } of steps) {
        const [context, result] = [contexts[polled ?? -1], results[polled ?? -1]];
        if (context !== undefined && result !== undefined) snapshots.record(context, result, now);
        now = {
          at: now.at + (passedMs + setByMs) / 1000,
          clockOffset: 0,
        };
        const body = await page('text', 'identity', now);
        expect(body.toString()).toBe(renderEndpoints(snapshots.states(), 'text', now));
        if (last?.equals(body) === true) expect(body).toBe(last);
        last = body;
      }
    });
    await fc.assert(property, { numRuns: fuzzRuns(40) });
  });

  it('shows the state of the last reload at once', async () => {
    const state = { config: { hash: 1, loadedAt: at(1).at, targets: 1 }, isConfigRejected: false };
    const page = createMetricsPage(recordedStates([], LIMITS), processMetrics(state));
    expect(await textOf(page, 0)).toMatch(/^bridge_exporter_config_last_reload_successful 1$/m);
    state.isConfigRejected = true;
    expect(await textOf(page, 0)).toMatch(/^bridge_exporter_config_last_reload_successful 0$/m);
    state.config = { hash: 2, loadedAt: at(2).at, targets: 1 };
    expect(await textOf(page, 0)).toMatch(/^bridge_exporter_config_hash 2$/m);
  });
});
