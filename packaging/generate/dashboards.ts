import { format } from 'prettier';
import { dashboards } from '../../grafana/source/dashboards.js';
import { dashboardJson } from '../../grafana/source/grafana.js';
import { fillDefaults } from '../../grafana/source/queries.js';
import { markdownTable, withTables } from './tables.js';

/** The dashboards by their path: with the placeholders of the mixin and the chart, and as Grafana loads them. */
export const dashboardFiles: Readonly<Record<string, () => Promise<string>>> = Object.fromEntries(
  Object.entries(dashboards).flatMap(([file, dashboard]) => [
    [`mixin/dashboards/${file}`, async () => canonicalJson(dashboardJson(dashboard))],
    [
      `grafana/dashboards/${file}`,
      async () => canonicalJson(JSON.parse(fillDefaults(JSON.stringify(dashboardJson(dashboard))))),
    ],
  ]),
);

export function dashboardReference(): string {
  const rows = Object.entries(dashboards).map(([file, { title, description }]) => [
    `${title} (\`${file}\`)`,
    description,
  ]);
  return withTables('docs/dashboards.md', [markdownTable(['dashboard', 'question'], rows)]);
}

/** With sorted keys. */
async function canonicalJson(value: unknown): Promise<string> {
  return format(JSON.stringify(sortKeys(value)), { parser: 'json', printWidth: 120 });
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sortKeys(inner)]));
}
