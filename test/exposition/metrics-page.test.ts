import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Instant } from '../../src/poll/clock.js';
import { renderExposition } from '../../src/exposition/exposition.js';
import { createMetricsPage } from '../../src/exposition/metrics-page.js';
import { createProcessMetrics } from '../../src/exposition/process-metrics.js';
import { createSnapshots } from '../../src/poll/snapshots.js';
import { NOW, sampleSnapshots } from '../support/sample-endpoints.js';
import { bridgeAnswer } from '../pages/polled.js';

const at = (ms: number): Instant => ({ epochSeconds: ms / 1000, monotonicMs: ms });

describe('the page of the metrics', () => {
  it('is made once a change, and its gzip with it', async () => {
    const texts = { version: 1, ofEndpoints: 'a 1\n', ofProcess: Promise.resolve('b 1\n') };
    const page = createMetricsPage({
      version: () => texts.version,
      ofEndpoints: () => texts.ofEndpoints,
      ofProcess: () => texts.ofProcess,
    });
    const first = await page('text', at(0));
    expect(first.plain.toString()).toBe('a 1\nb 1\n');
    expect(gunzipSync(await first.gzip()).toString()).toBe('a 1\nb 1\n');
    expect(await page('text', at(1))).toBe(first);
    expect(await first.gzip()).toBe(await first.gzip());
    expect((await page('openmetrics', at(1))).plain.toString()).toBe('a 1\nb 1\n# EOF\n');
    texts.version = 2;
    texts.ofEndpoints = 'a 2\n';
    expect((await page('text', at(1))).plain.toString()).toBe('a 2\nb 1\n');
    texts.ofProcess = Promise.resolve('b 2\n');
    const [one, other] = await Promise.all([page('text', at(1)), page('text', at(1))]);
    expect(one.plain.toString()).toBe('a 2\nb 2\n');
    expect(other).toBe(one);
  });

  it('shows no answer that has grown too old, though nothing was polled since', async () => {
    const snapshots = sampleSnapshots();
    const page = createMetricsPage({
      version: snapshots.version,
      ofEndpoints: (format, now) => renderExposition(snapshots, format, now),
      ofProcess: async () => '',
    });
    const later = { epochSeconds: NOW.epochSeconds + 3600, monotonicMs: NOW.monotonicMs + 3_600_000 };
    expect((await page('text', NOW)).plain.toString()).toMatch(/^bridge_last_observed_nonce\{/m);
    expect((await page('text', later)).plain.toString()).not.toMatch(/^bridge_last_observed_nonce\{/m);
  });

  it('is made anew whenever another endpoint would be shown, by whichever clock, and only then', () => {
    const keys = [0, 1, 2].map((index) => ({ target: String(index), endpoint: 'module_state' as const }));
    const staleAfterMs = 1000;
    const answer = bridgeAnswer({ batches: [], unbatched_transfers: [] });
    expect(answer.result.ok).toBe(true);
    const step = fc.record({
      polled: fc.option(fc.nat(2)),
      passedMs: fc.nat(700),
      setByMs: fc.oneof(fc.constant(0), fc.integer({ min: -2000, max: 2000 })),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const snapshots = createSnapshots(keys, { maxBodyBytes: 1024, staleAfterMs });
        const now = { epochSeconds: 1e6, monotonicMs: 5000 };
        const shown = (): string =>
          snapshots
            .all()
            .map((state) => `${state.polls} ${snapshots.isShown(state, now)}`)
            .join();
        const versions = new Map<number, string>();
        for (const { polled, passedMs, setByMs } of steps) {
          const key = keys[polled ?? -1];
          if (key !== undefined) snapshots.record(key, answer, { ...now });
          now.monotonicMs += passedMs;
          now.epochSeconds += (passedMs + setByMs) / 1000;
          const before = [...versions.values()].at(-1);
          const version = snapshots.version({ ...now });
          expect(versions.get(version) ?? shown()).toBe(shown());
          if (before === shown() && setByMs >= 0) expect(versions.has(version)).toBe(true);
          versions.set(version, shown());
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('has numbers of the process that are a second old at most, and what the configuration is at once', async () => {
    const metrics = createProcessMetrics('20');
    metrics.configLoaded(1, 1);
    const first = await metrics.expose('text', at(0));
    expect(await metrics.expose('text', at(999))).toBe(first);
    const second = await metrics.expose('text', at(1000));
    expect(second).not.toBe(first);
    metrics.configRefused();
    expect(await metrics.expose('text', at(1000))).toMatch(/^bridge_exporter_config_last_reload_successful 0$/m);
    metrics.configLoaded(2, 2);
    expect(await metrics.expose('text', at(1000))).toMatch(/^bridge_exporter_config_hash 2$/m);
  });
});
