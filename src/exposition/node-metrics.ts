import { collectDefaultMetrics, Registry } from 'prom-client';
import type { Moment } from '../clock.js';
import { formatHeader, formatSeries, type Format } from '../metrics/text-format.js';
import { renderProcess, type ProcessState } from './exporter-metrics.js';

/* Metrics of Node.js, by prom-client, which only the daemon loads. */

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
