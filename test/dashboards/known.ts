import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { moduleStateDocument, rateLimiterInputDocument } from '../../src/documents.js';
import { createProcessMetrics } from '../../src/exposition/process-metrics.js';
import { ENDPOINT_LABELS, endpointFamilies } from '../../src/exposition/endpoint-metrics.js';
import { seriesOf } from '../support/exposition-text.js';

/** What the exporter shows under a name. */
export interface Known {
  readonly type: string;
  readonly labels: ReadonlySet<string>;
}

/** What Prometheus adds to every series it scrapes. */
const SCRAPE_LABELS = ['job', 'instance', '__name__'];

/** The families that dashboards, rules and documents may refer to, from the code. */
export async function knownMetrics(): Promise<ReadonlyMap<string, Known>> {
  const chain = [...moduleStateDocument.families, ...rateLimiterInputDocument.families];
  return new Map([
    ...chain.map(({ name, type, labels }) => [name, { type, labels: withScrape(['target', ...labels]) }] as const),
    ...endpointFamilies.map(
      ({ name, type, labels }) => [name, { type, labels: withScrape([...ENDPOINT_LABELS, ...labels]) }] as const,
    ),
    ...(await processMetrics()),
  ]);
}

function withScrape(labels: readonly string[]): ReadonlySet<string> {
  return new Set([...SCRAPE_LABELS, ...labels]);
}

async function processMetrics(): Promise<(readonly [string, Known])[]> {
  const metrics = createProcessMetrics({ version: '0.0.0', nodeVersion: '20' });
  metrics.configLoaded(1, 1);
  const text = await metrics.render('text');
  const series = seriesOf(text);
  return [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].flatMap(([, name = '', type = '']) => {
    // The histogram of collections has no series before the first.
    if (type === 'histogram') {
      return ['_bucket', '_sum', '_count'].map(
        (suffix) => [name + suffix, { type: 'counter', labels: withScrape(['kind', 'le']) }] as const,
      );
    }
    const own = series.filter((one) => one.name === name);
    const labels = own.flatMap(({ labels: written }) =>
      [...written.matchAll(/(\w+)="/g)].map(([, label = '']) => label),
    );
    return [[name, { type, labels: withScrape(labels) }] as const];
  });
}

/** Written by Prometheus for the alerts. */
const ALERT_LABELS = ['alertname', 'alertstate', 'severity', 'target', 'endpoint', 'orchestrator', 'chain_id'];
export const alertMetrics: ReadonlyMap<string, Known> = new Map(
  ['ALERTS', 'ALERTS_FOR_STATE'].map((name) => [name, { type: 'gauge', labels: new Set(ALERT_LABELS) }]),
);

export interface Rule {
  readonly alert?: string;
  readonly record?: string;
  readonly expr: string | number;
}

export const rules: readonly Rule[] = (
  parse(readFileSync(new URL('../../prometheus/alerts.yml', import.meta.url), 'utf8')) as {
    readonly groups: readonly { readonly rules: readonly Rule[] }[];
  }
).groups.flatMap((group) => group.rules);
