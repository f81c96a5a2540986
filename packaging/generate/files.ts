import { alertReference } from './alert-reference.js';
import { chartReadme, valuesSchema } from './chart.js';
import { composePrometheus } from './compose.js';
import { configurationReference } from './configuration-reference.js';
import { coverageReference } from './coverage-reference.js';
import { dashboardFiles, dashboardReference } from './dashboards.js';
import { failureReference, metricReference } from './metric-reference.js';
import { alertsYaml, mixinAlerts } from './rules.js';
import { configJsonSchema } from './settings.js';

type Text = string | undefined;

/**
 * The files that `npm run generate` writes, by their path: all that follows from the source alone. Paths are relative to the working directory,
 * which is the root of the project. `undefined` stands for a program that is not installed.
 */
export const generatedFiles: Readonly<Record<string, () => Text | Promise<Text>>> = {
  'prometheus/alerts.yml': alertsYaml,
  'mixin/alerts.json': mixinAlerts,
  ...dashboardFiles,
  'deploy/compose/prometheus.yml': composePrometheus,
  'deploy/helm/bridge-exporter/values.schema.json': valuesSchema,
  'deploy/helm/bridge-exporter/README.md': chartReadme,
  'docs/alerts.md': alertReference,
  'docs/dashboards.md': dashboardReference,
  'docs/configuration.md': configurationReference,
  'docs/configuration.schema.json': () => `${JSON.stringify(configJsonSchema, null, 2)}\n`,
  'docs/metrics.md': metricReference,
  'docs/failures.md': failureReference,
  'contributing/coverage.md': coverageReference,
};
