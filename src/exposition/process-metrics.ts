import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { Shard } from '../config/shard.js';
import { counter, families, gauge } from '../metrics/family.js';
import { renderFamilies } from '../metrics/render-families.js';
import { formatHeader, formatSeries, type Format } from '../metrics/text-format.js';
import type { Instant } from '../clock.js';

/** Labels of `bridge_exporter_build_info`. */
export interface BuildInfo {
  readonly version: string;
  /** Commit that was built, or `unknown`. */
  readonly revision: string;
  readonly nodeVersion: string;
}

/** What the recorder has done, as far as it is exported. */
interface RecorderCounts {
  readonly recorded: number;
  readonly failed: number;
  readonly bytes: number | undefined;
}

/** Metrics of the process and its configuration, collected by prom-client. */
export interface ProcessMetrics {
  readonly configLoaded: (hash: number, atEpochSeconds: number, targets: number) => void;
  readonly configRejected: () => void;
  /** The text at a point in time. The same promise for a second, so that frequent scrapes cost little, or until the next reload. */
  readonly render: (format: Format, now: Instant) => Promise<string>;
}

const MAX_AGE_MS = 1000;

/** Default metrics of prom-client: gauges named like counters fail `promtool check metrics`; lags are reset by every scrape. */
const EXCLUDED = [/^nodejs_active_\w+_total$/, /^nodejs_eventloop_lag_/];

/** OpenMetrics requires `le` to be a float; the default buckets of prom-client have integers. */
const GC_BUCKETS = [0.001, 0.01, 0.1, 0.5, 2.5];

export function createProcessMetrics(
  { version, revision, nodeVersion }: BuildInfo,
  { index, count }: Shard,
  recorder: () => RecorderCounts | undefined = () => undefined,
): ProcessMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, gcDurationBuckets: GC_BUCKETS });
  for (const { name } of registry.getMetricsAsArray()) {
    if (EXCLUDED.some((pattern) => pattern.test(name))) registry.removeSingleMetric(name);
  }
  const newGauge = <Label extends string = never>(name: string, help: string, labelNames: Label[] = []): Gauge<Label> =>
    new Gauge({ name, help, labelNames, registers: [registry] });
  newGauge(
    'bridge_exporter_build_info',
    'Version and revision of the exporter and version of Node.js, as labels of a constant 1.',
    ['version', 'revision', 'nodejs'],
  ).set({ version, revision, nodejs: nodeVersion }, 1);
  newGauge('bridge_exporter_shard_info', 'Index of the shard of this process, from 1, as a label of a constant 1.', [
    'shard',
  ]).set({ shard: String(index) }, 1);
  newGauge('bridge_exporter_shards', 'Configured number of shards.').set(count);
  const targetCount = newGauge('bridge_exporter_targets', 'Number of targets that this process polls.');
  const successful = newGauge(
    'bridge_exporter_config_last_reload_successful',
    'Whether the last reload of the configuration succeeded (1) or failed (0).',
  );
  const successAt = newGauge(
    'bridge_exporter_config_last_reload_success_timestamp_seconds',
    'Time of the last successful load of the configuration.',
  );
  const configHash = newGauge(
    'bridge_exporter_config_hash',
    'First 48 bits of the SHA-256 of the active configuration without its secrets, to compare instances.',
  );
  const cache = new Map<Format, { readonly text: Promise<string>; readonly collectedAtMs: number }>();
  return {
    configLoaded: (hash, atEpochSeconds, targets) => {
      successful.set(1);
      successAt.set(atEpochSeconds);
      configHash.set(hash);
      targetCount.set(targets);
      cache.clear();
    },
    configRejected: () => {
      successful.set(0);
      cache.clear();
    },
    // Not async, which would return another promise each time.
    render: (format, { monotonicMs }) => {
      const cached = cache.get(format);
      if (cached !== undefined && monotonicMs - cached.collectedAtMs < MAX_AGE_MS) return cached.text;
      const text = render(registry, recorder(), format);
      cache.set(format, { text, collectedAtMs: monotonicMs });
      return text;
    },
  };
}

/**
 * Formats the JSON of prom-client. Its own OpenMetrics output renames the counters of the registry permanently, and the format
 * is a property of the registry, so that concurrent scrapes in two formats would race.
 */
async function render(registry: Registry, recorder: RecorderCounts | undefined, format: Format): Promise<string> {
  const metrics = await registry.getMetricsAsJSON();
  const text = metrics
    .map(({ name, help, type, values }) => {
      const lines = values.map((value) => {
        const metricName = 'metricName' in value ? String(value.metricName) : name;
        const labels = Object.fromEntries(
          Object.entries(value.labels).map(([label, labelValue]) => [label, String(labelValue)]),
        );
        return formatSeries({ name: metricName, labels: Object.keys(labels) }, '', { labels, value: value.value });
      });
      return formatHeader({ name, type: String(type), help }, format) + lines.join('');
    })
    .join('');
  return recorder === undefined ? text : text + formatRecorder(recorder, format);
}

/** These are absent when nothing is recorded, which a metric of the registry without labels never is. */
const recorderFamilies = families<RecorderCounts>({
  bridge_exporter_recordings_total: counter({
    help: 'Total number of polls that the recorder has written.',
    value: ({ recorded }) => recorded,
  }),
  bridge_exporter_recording_failures_total: counter({
    help: 'Total number of polls that the recorder could not write.',
    value: ({ failed }) => failed,
  }),
  bridge_exporter_recordings_size_bytes: gauge({
    help: 'Size of all recorded polls in the directory of the recorder.',
    value: ({ bytes }) => bytes,
  }),
});

function formatRecorder(counts: RecorderCounts, format: Format): string {
  const texts = recorderFamilies.flatMap((family) =>
    renderFamilies([family], counts, '', Infinity).map(({ lines }) => formatHeader(family, format) + lines),
  );
  return texts.join('');
}
