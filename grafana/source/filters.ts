import { datasourceVariable, labelVariable, type Link, textVariable, type Variable } from './grafana.js';
import { CLUSTER, EXPORTER_FILTERS, FILTERS, SELECTOR } from './queries.js';

/* The variables that all dashboards share, and the links that pass their values on. */

/** Prometheus adds the labels job and instance to every series it scrapes, but cluster and namespace depend on its configuration. */
export const commonVariables: readonly Variable[] = [
  datasourceVariable,
  labelVariable('cluster', 'Cluster', `bridge_exporter_build_info{${SELECTOR}}`, undefined, CLUSTER),
  labelVariable('namespace', 'Namespace', `bridge_exporter_build_info{${SELECTOR}${CLUSTER}=~"$cluster"}`),
  labelVariable(
    'job',
    'Job',
    `bridge_exporter_build_info{${SELECTOR}${CLUSTER}=~"$cluster", namespace=~"$namespace"}`,
    '.+',
  ),
  labelVariable(
    'instance',
    'Instance',
    `bridge_exporter_build_info{${SELECTOR}${CLUSTER}=~"$cluster", namespace=~"$namespace", job=~"$job"}`,
    '.+',
  ),
  labelVariable('target', 'Target', `bridge_exporter_polls_total{${EXPORTER_FILTERS}}`),
];

export const chainVariable = labelVariable('chain_id', 'Chain id', `crosschain_cctxs{${FILTERS}}`);

/** Grafana does not know the address of the exporter. */
export const exporterUrlVariable = textVariable('exporter_url', 'Exporter URL', 'http://localhost:10917');

/** Opens another dashboard with the same variables and time range, and the target of the row of a table. */
export function rowLink(title: string, uid: string): Link {
  const exporters =
    '${datasource:queryparam}&${cluster:queryparam}&${namespace:queryparam}&${job:queryparam}&${instance:queryparam}';
  const target = '${__data.fields["Target"]:percentencode}';
  return { title, url: `/d/${uid}?${exporters}&var-target=${target}&\${__url_time_range}` };
}

/** Opens the page of the exporter with the items behind the values of the row. `raw`, because Grafana encodes variables in links. */
export const pendingItemsLink: Link = {
  title: 'Pending items',
  url: '${exporter_url:raw}/pending?target=${__data.fields["Target"]:percentencode}',
  isNewTab: true,
};

/** Opens that page at the problem of the row, by its hidden id. */
export const problemLink: Link = {
  title: 'Problem',
  url: '${exporter_url:raw}/pending?target=${__data.fields["Target"]:percentencode}#${__data.fields["Id"]:raw}',
  isNewTab: true,
};

export const runbookLink: Link = {
  title: 'Runbook',
  url: 'https://github.com/bridge-exporter/bridge-exporter/blob/main/docs/runbook.md#${__data.fields["Problem"]:raw}',
  isNewTab: true,
};
