import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { Instant } from '../poll/clock.js';
import { formatSeries, formatTitle, type Format } from '../metrics/text-format.js';
import { VERSION } from '../cli/version.js';

/** What the process tells of itself, by prom-client, which is good at it. */
export interface ProcessMetrics {
  readonly configLoaded: (hash: number, atEpochSeconds: number) => void;
  readonly configRefused: () => void;
  /** The same promise again while its numbers are new enough. */
  readonly expose: (format: Format, now: Instant) => Promise<string>;
}

/** Gauges with counter names, which `promtool check metrics` refuses, and lags that each scraper resets for the others. */
const LEFT_OUT = [/^nodejs_active_\w+_total$/, /^nodejs_eventloop_lag_/];

/** Scrapers that come together get the same numbers. */
const MAX_AGE_MS = 1000;

/** OpenMetrics wants `le` to look like a float; prom-client's own buckets have integers. */
const GC_BUCKETS = [0.001, 0.01, 0.1, 0.5, 2.5];

export function createProcessMetrics(nodeVersion: string): ProcessMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, gcDurationBuckets: GC_BUCKETS });
  for (const { name } of registry.getMetricsAsArray()) {
    if (LEFT_OUT.some((pattern) => pattern.test(name))) registry.removeSingleMetric(name);
  }
  const registers = [registry];
  new Gauge({
    name: 'bridge_exporter_build_info',
    help: 'Version of the exporter and of Node.js, in its labels; always 1.',
    labelNames: ['version', 'nodejs'],
    registers,
  }).set({ version: VERSION, nodejs: nodeVersion }, 1);
  const successful = new Gauge({
    name: 'bridge_exporter_config_last_reload_successful',
    help: 'Whether the last configuration that was read could be used. Unit: 1 for yes, 0 for no.',
    registers,
  });
  const successAt = new Gauge({
    name: 'bridge_exporter_config_last_reload_success_timestamp_seconds',
    help: 'When a configuration was last read that could be used. Unit: seconds since 1970.',
    registers,
  });
  const configHash = new Gauge({
    name: 'bridge_exporter_config_hash',
    help: 'Fingerprint of the configuration in use, to tell instances apart. Unit: first 48 bits of a SHA-256.',
    registers,
  });
  const known = new Map<Format, { readonly atMs: number; readonly text: Promise<string> }>();
  return {
    configLoaded: (hash, atEpochSeconds) => {
      successful.set(1);
      successAt.set(atEpochSeconds);
      configHash.set(hash);
      known.clear();
    },
    configRefused: () => {
      successful.set(0);
      known.clear();
    },
    expose: (format, { monotonicMs: atMs }) => {
      const last = known.get(format);
      if (last !== undefined && atMs - last.atMs < MAX_AGE_MS) return last.text;
      const text = expose(registry, format);
      known.set(format, { atMs, text });
      return text;
    },
  };
}

/**
 * Prints from prom-client's JSON: its own OpenMetrics printer renames the counters in the registry for good, and takes the
 * format from the registry, which two scrapers would race for. Nothing here waits for anything outside the process.
 */
async function expose(registry: Registry, format: Format): Promise<string> {
  const metrics = await registry.getMetricsAsJSON();
  return metrics
    .map(({ name, help, type, values }) => {
      const lines = values.map((value) => {
        const metricName = 'metricName' in value ? String(value.metricName) : name;
        const labels = Object.entries(value.labels);
        return formatSeries({ name: metricName, labels: labels.map(([label]) => label) }, '', {
          labels: labels.map(([, labelValue]) => String(labelValue)),
          value: value.value,
        });
      });
      return formatTitle(name, String(type), help, format) + lines.join('');
    })
    .join('');
}
