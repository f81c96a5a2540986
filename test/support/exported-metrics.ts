import { allFamilies } from '../../src/exposition/metrics-page.js';
import { ENDPOINT_LABELS, pollFamilies } from '../../src/exposition/exporter-metrics.js';
import { createProcessMetrics } from '../../src/exposition/node-metrics.js';
import { clock } from './clock.js';
import type { FamilyHeader } from '../../src/metrics/family.js';
import { problemDue, problemInfo, problemStart, problemUnjudged } from '../../src/problems/problem-families.js';
import { seriesOf } from './exposition-text.js';

export interface MetricInfo {
  readonly type: string;
  readonly labels: ReadonlySet<string>;
}

/** The labels that Prometheus adds to every series it scrapes. */
const SCRAPE_LABELS = ['cluster', 'namespace', 'job', 'instance', '__name__'];

const familiesOfEndpoints: ReadonlySet<FamilyHeader> = new Set([
  problemInfo,
  problemStart,
  problemDue,
  problemUnjudged,
  ...pollFamilies,
]);

/** All metrics of the exporter by name, from the code. */
export async function exportedMetrics(): Promise<ReadonlyMap<string, MetricInfo>> {
  const ofTargets = allFamilies.map((family): [string, MetricInfo] => {
    const { name, type, labels } = family;
    const common = familiesOfEndpoints.has(family) ? ENDPOINT_LABELS : ['target'];
    return [name, { type, labels: withScrapeLabels([...common, ...labels]) }];
  });
  return new Map([...ofTargets, ...(await processMetrics())]);
}

function withScrapeLabels(labels: readonly string[]): ReadonlySet<string> {
  return new Set([...SCRAPE_LABELS, ...labels]);
}

export const SAMPLE_PROCESS = {
  build: { version: '1.2.3', revision: 'abc', nodeVersion: '20' },
  shard: { index: 1, count: 1 },
  config: { hash: 1, loadedAt: clock().at, targets: 1 },
  isConfigRejected: false,
  targetsHash: () => 0,
  recorder: undefined,
};

const RECORDER = { directory: '/recordings', interval: 0, max_size: 1 };

async function processMetrics(): Promise<(readonly [string, MetricInfo])[]> {
  const recorder = { recorded: 1, failed: 0, bytes: 0, failure: undefined, settings: RECORDER };
  const render = createProcessMetrics(() => ({ ...SAMPLE_PROCESS, recorder }));
  const text = await render('text', clock());
  const series = seriesOf(text);
  return [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].flatMap(([, name = '', type = '']) => {
    // The garbage collection histogram has no series before the first collection.
    if (type === 'histogram') {
      return ['_bucket', '_sum', '_count'].map(
        (suffix) => [name + suffix, { type: 'counter', labels: withScrapeLabels(['kind', 'le']) }] as const,
      );
    }
    const ofMetric = series.filter((one) => one.name === name);
    const labels = ofMetric.flatMap(({ labels: labelText }) =>
      [...labelText.matchAll(/(\w+)="/g)].map(([, label = '']) => label),
    );
    return [[name, { type, labels: withScrapeLabels(labels) }] as const];
  });
}

const ALERT_LABELS = new Set([...SCRAPE_LABELS, 'target', ...problemStart.labels, 'alertname', 'alertstate']);

/** The series that Prometheus creates. */
export const prometheusMetrics: ReadonlyMap<string, MetricInfo> = new Map([
  ['up', { type: 'gauge', labels: new Set(SCRAPE_LABELS) }],
  ['ALERTS', { type: 'gauge', labels: ALERT_LABELS }],
  ['ALERTS_FOR_STATE', { type: 'gauge', labels: ALERT_LABELS }],
]);
