import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Instant } from '../../src/endpoint-state.js';
import { expositionOf } from '../../src/exposition.js';
import { createMetricsPage } from '../../src/web/metrics-page.js';
import { createProcessMetrics } from '../../src/process-metrics.js';
import { NOW, sampleSnapshots } from '../sample-endpoints.js';

const at = (ms: number): Instant => ({ epochSeconds: ms / 1000, monotonicMs: ms });

describe('the page of the metrics', () => {
  it('is made once a change, and its gzip with it', async () => {
    const texts = { version: 1, ofEndpoints: 'a 1\n', ofProcess: 'b 1\n' };
    const page = createMetricsPage({
      version: () => texts.version,
      ofEndpoints: () => texts.ofEndpoints,
      ofProcess: async () => texts.ofProcess,
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
    texts.ofProcess = 'b 2\n';
    expect((await page('text', at(1))).plain.toString()).toBe('a 2\nb 2\n');
  });

  it('shows no answer that has grown too old, though nothing was polled since', async () => {
    const snapshots = sampleSnapshots();
    const page = createMetricsPage({
      version: snapshots.version,
      ofEndpoints: (format, now) => expositionOf(snapshots, format, now),
      ofProcess: async () => '',
    });
    const later = { epochSeconds: NOW.epochSeconds + 3600, monotonicMs: NOW.monotonicMs + 3_600_000 };
    expect((await page('text', NOW)).plain.toString()).toMatch(/^bridge_last_observed_nonce\{/m);
    expect((await page('text', later)).plain.toString()).not.toMatch(/^bridge_last_observed_nonce\{/m);
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
