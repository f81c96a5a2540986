import { collectDefaultMetrics, Registry } from 'prom-client';
import type { Shard } from '../config/config.js';
import { counter, families, gauge, gauges, labeledGauge } from '../metrics/family.js';
import { renderFamilies, formatHeader, formatSeries, type Format } from '../metrics/text-format.js';
import type { RecorderStatus } from '../recorder/recorder.js';
import { wallSeconds, type Instant, type Moment } from '../clock.js';

/** Labels of `bridge_exporter_build_info`. */
export interface BuildInfo {
  readonly version: string;
  /** Commit that was built, or `unknown`. */
  readonly revision: string;
  readonly nodeVersion: string;
}

/** The active configuration. */
interface ConfigFacts {
  readonly hash: number;
  readonly loadedAt: Instant;
  /** Number of targets that this process polls. */
  readonly targets: number;
}

interface ProcessState {
  readonly build: BuildInfo;
  readonly shard: Shard;
  readonly config: ConfigFacts;
  /** Whether the last reload has failed. */
  readonly isConfigRejected: boolean;
  readonly clockOffset: number;
  readonly targetsHash: () => number;
  /** `undefined` when nothing is recorded. */
  readonly recorder: RecorderStatus | undefined;
}

export const processFamilies = families<ProcessState>({
  bridge_exporter_build_info: labeledGauge({
    help: 'Version and revision of the exporter and version of Node.js, as labels.',
    // One series per process.
    labels: ['version', 'revision', 'nodejs'],
    derive: ({ build: { version, revision, nodeVersion } }) => [
      { labels: { version, revision, nodejs: nodeVersion }, value: 1 },
    ],
  }),
  bridge_exporter_shard_info: labeledGauge({
    help: 'Index of the shard of this process, from 1, as a label.',
    // One series per process.
    labels: ['shard'],
    derive: ({ shard }) => [{ labels: { shard: String(shard.index) }, value: 1 }],
  }),
  // prettier-ignore
  ...gauges<ProcessState>([
    ['bridge_exporter_shards', ({ shard }) => shard.count, 'Configured number of shards.'],
    ['bridge_exporter_targets', ({ config }) => config.targets, 'Number of targets that this process polls.'],
    ['bridge_exporter_targets_hash', ({ targetsHash }) => targetsHash(),
      'Hash of the endpoints that this process polls, to find exporters with the same endpoints.'],
    ['bridge_exporter_config_last_reload_successful', ({ isConfigRejected }) => (isConfigRejected ? 0 : 1),
      'Whether the last reload of the configuration succeeded.'],
    ['bridge_exporter_config_last_reload_success_timestamp_seconds', ({ config, clockOffset }) => wallSeconds(config.loadedAt, { clockOffset }),
      'Time of the last successful load of the configuration.'],
    ['bridge_exporter_config_hash', ({ config }) => config.hash, 'Hash of the active configuration without its secrets, to compare instances.'],
  ]),
  bridge_exporter_recorder_last_write_successful: gauge({
    help: 'Whether the last write of the recorder succeeded.',
    // Absent before the first attempt.
    value: ({ recorder }) =>
      recorder === undefined || recorder.recorded + recorder.failed === 0
        ? undefined
        : Number(recorder.failure === undefined),
  }),
  bridge_exporter_recordings_total: counter({
    help: 'Total number of polls that the recorder has written.',
    value: ({ recorder }) => recorder?.recorded,
  }),
  bridge_exporter_recording_failures_total: counter({
    help: 'Total number of polls that the recorder could not write.',
    value: ({ recorder }) => recorder?.failed,
  }),
  bridge_exporter_recordings_size_bytes: gauge({
    help: 'Size of all recorded polls in the directory of the recorder.',
    value: ({ recorder }) => recorder?.bytes,
  }),
});

export function renderProcess(state: ProcessState, format: Format): string {
  return processFamilies
    .flatMap((family) =>
      renderFamilies([family], state, '', Infinity).map(({ text }) => formatHeader(family, format) + text),
    )
    .join('');
}

/**
 * Default metrics of prom-client: gauges named like counters fail `promtool check metrics`; lags are reset by every
 * scrape.
 */
const EXCLUDED = [/^nodejs_active_\w+_total$/, /^nodejs_eventloop_lag_/];

/** OpenMetrics requires `le` to be a float; the default buckets of prom-client have integers. */
const GC_BUCKETS = [0.001, 0.01, 0.1, 0.5, 2.5];

function createNodeRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, gcDurationBuckets: GC_BUCKETS });
  for (const { name } of registry.getMetricsAsArray()) {
    if (EXCLUDED.some((pattern) => pattern.test(name))) registry.removeSingleMetric(name);
  }
  return registry;
}

/**
 * Formats the JSON of prom-client. The OpenMetrics output of prom-client renames the counters of the registry
 * permanently, and the format is a property of the registry, so that concurrent scrapes in two formats would race.
 */
async function renderNode(registry: Registry, format: Format): Promise<string> {
  const metrics = await registry.getMetricsAsJSON();
  return metrics
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
}

/** Renders the metrics of Node.js, of the process and of its configuration. */
export type RenderProcessMetrics = (format: Format, now: Moment) => Promise<string>;

export function createProcessMetrics(readState: () => Omit<ProcessState, 'clockOffset'>): RenderProcessMetrics {
  const registry = createNodeRegistry();
  return async (format, { clockOffset }) =>
    (await renderNode(registry, format)) + renderProcess({ ...readState(), clockOffset }, format);
}
