import {
  barPanel,
  type Dashboard,
  type Row,
  stateTimelinePanel,
  statPanel,
  tablePanel,
  timeSeriesPanel,
} from './grafana.js';
import { commonVariables } from './filters.js';
import { ALERT_FILTERS, EXPORTER_FILTERS, FILTERS } from './queries.js';
import { dataAge, orangeFromOne, redBelowOne, responseSizeRatio } from './thresholds.js';

const ENDPOINT = '{{cluster}} {{target}} {{document}} {{instance}}';
const INSTANCE = '{{cluster}} {{instance}}';

const UP_WORDS = { '0': ['failed', 'orange'], '1': ['ok', 'green'] } as const;

/** Restricts process metrics, which have no target, to the exporters that poll a selected target. */
function ofSelectedExporters(expr: string): string {
  return `${expr} and on (cluster, namespace, job, instance) bridge_exporter_polls_total{${FILTERS}}`;
}

/** A process metric, which has no target. */
function processMetric(metric: string): string {
  return `${metric}{${EXPORTER_FILTERS}}`;
}

function ofSelectedTargets(metric: string): string {
  return `${metric}{${FILTERS}}`;
}

const age = `time() - ${ofSelectedTargets('bridge_exporter_last_success_timestamp_seconds')}`;
const sizeShare = `${ofSelectedTargets('bridge_exporter_response_size_bytes')} / ${ofSelectedTargets('bridge_exporter_response_size_limit_bytes')}`;

const currentData: Row = {
  title: 'Is the data current?',
  panels: [
    tablePanel({
      title: 'Endpoints',
      description:
        'One row per endpoint and exporter that polls it. After a failed poll, the chain metrics keep the values of the last success until stale_after; after that they are absent, and the other dashboards are empty. The status page of the exporter explains the failure.',
      height: 8,
      rowLabels: { cluster: 'Cluster', target: 'Target', document: 'Document', job: 'Job', instance: 'Exporter' },
      columns: [
        { title: 'Last poll', expr: byEndpoint('bridge_exporter_up'), unit: 'none', valueTexts: UP_WORDS },
        {
          title: 'Served',
          expr: `${byEndpoint('bridge_exporter_document_not_served')} or 0 * ${byEndpoint('bridge_exporter_up')}`,
          unit: 'none',
          valueTexts: { '0': ['yes', 'green'], '1': ['never', 'orange'] },
        },
        {
          title: 'Age of data',
          expr: `time() - ${byEndpoint('bridge_exporter_last_success_timestamp_seconds')}`,
          unit: 's',
          decimals: 0,
          thresholds: dataAge,
        },
        {
          title: 'Last attempt',
          expr: `time() - ${byEndpoint('bridge_exporter_last_attempt_timestamp_seconds')}`,
          unit: 's',
          decimals: 0,
          thresholds: dataAge,
        },
        {
          title: 'Failed in 15 min',
          expr: `sum by (cluster, target, document, namespace, job, instance) (increase(${ofSelectedTargets('bridge_exporter_poll_failures_total')}[15m]))`,
          unit: 'short',
          decimals: 0,
          thresholds: orangeFromOne,
        },
        { title: 'Response size', expr: byEndpoint('bridge_exporter_response_size_bytes'), unit: 'bytes', decimals: 1 },
        {
          title: 'Size limit used',
          expr: `${byEndpoint('bridge_exporter_response_size_bytes')} / ${byEndpoint('bridge_exporter_response_size_limit_bytes')}`,
          unit: 'percentunit',
          decimals: 1,
          thresholds: responseSizeRatio,
        },
      ],
      sortBy: { column: 'Age of data', isDescending: true },
    }),
    tablePanel({
      title: 'Problems that cannot be judged',
      description:
        'Problems that could be judged before, and cannot be because a field that they read is missing or invalid, or a query is not answered, for 10 minutes. Their alerts cannot fire; BridgeProblemUnjudged does. Empty when every problem is judged, as in the demo.',
      width: 12,
      height: 6,
      rowLabels: { cluster: 'Cluster', target: 'Target', problem: 'Problem', severity: 'Severity' },
      columns: [
        {
          title: 'For',
          expr: `time() - min by (cluster, target, problem, severity) (${ofSelectedTargets('bridge_problem_unjudged_start_timestamp_seconds')}) > 600`,
          unit: 's',
          decimals: 0,
        },
      ],
      noValue: 'none',
    }),
    tablePanel({
      title: 'Metrics that are withdrawn',
      description:
        'Metrics that the exporter could not derive from the last response, because a field that they read is missing or invalid. Their panels and alerts have no data. The status page names the fields. Empty when every metric is derived, as in the demo.',
      width: 12,
      height: 6,
      rowLabels: { cluster: 'Cluster', target: 'Target', family: 'Metric' },
      columns: [
        {
          title: 'Exporters',
          expr: `count by (cluster, target, family) (${ofSelectedTargets('bridge_exporter_family_withdrawn')} == 1)`,
          unit: 'short',
        },
      ],
      noValue: 'none',
    }),
    statPanel({
      title: 'Alert rules',
      description:
        'Whether Prometheus evaluates the alert rules: BridgeWatchdog always fires. When they are not evaluated, no other alert fires either. It does not tell whether notifications arrive.',
      width: 6,
      height: 6,
      unit: 'none',
      valueTexts: { '0': ['not evaluated', 'red'], '1': ['evaluated', 'green'] },
      noValue: 'not evaluated',
      series: [
        {
          expr: `clamp_max(count by (cluster) (ALERTS{alertname="BridgeWatchdog", alertstate="firing", ${ALERT_FILTERS}}), 1)`,
          legend: '{{cluster}}',
        },
      ],
    }),
    stateTimelinePanel({
      title: 'Successful and failed polls',
      description:
        'Whether the last poll succeeded. A gap means that the exporter was not scraped. Short bars of another color are temporary failures.',
      unit: 'none',
      valueTexts: UP_WORDS,
      series: [{ expr: ofSelectedTargets('bridge_exporter_up'), legend: ENDPOINT }],
    }),
    timeSeriesPanel({
      title: 'Age of the data',
      description:
        'Time since the last successful poll. A sawtooth as high as the poll interval is normal. A rising line is an endpoint that fails or an exporter that does not poll.',
      unit: 's',
      min: 0,
      width: 12,
      thresholds: dataAge,
      series: [{ expr: age, legend: ENDPOINT }],
    }),
  ],
};

function byEndpoint(metric: string): string {
  return `max by (cluster, target, document, namespace, job, instance) (${ofSelectedTargets(metric)})`;
}

const polls: Row = {
  title: 'Polls',
  panels: [
    timeSeriesPanel({
      title: 'Polls in 5 minutes',
      height: 10,
      description:
        'Finished polls, successful or not. If there are fewer than the interval allows, responses are slow or the process is overloaded.',
      unit: 'short',
      min: 0,
      series: [{ expr: `increase(${ofSelectedTargets('bridge_exporter_polls_total')}[5m])`, legend: ENDPOINT }],
    }),
    timeSeriesPanel({
      title: 'Failed polls in 5 minutes by reason',
      noValue: 'no failed poll',
      height: 10,
      description:
        'Failure reasons are documented in docs/failures.md. unauthorized and bad_request are caused by the configuration, the others mostly by the node or the network. Empty when no poll failed, as in the demo.',
      unit: 'short',
      min: 0,
      series: [
        {
          expr: `increase(${ofSelectedTargets('bridge_exporter_poll_failures_total')}[5m]) > 0`,
          legend: '{{cluster}} {{target}} {{document}} {{reason}} {{instance}}',
        },
      ],
    }),
    timeSeriesPanel({
      title: 'Age of the newest block of the node',
      noValue: 'no answer',
      height: 10,
      description:
        'Time since the newest block of the node. A few seconds are normal; with a node that is behind, everything on these dashboards is as old. Empty when the node does not know the query, or node_queries is off.',
      unit: 's',
      min: 0,
      series: [
        { expr: `time() - ${ofSelectedTargets('bridge_exporter_node_block_timestamp_seconds')}`, legend: ENDPOINT },
      ],
    }),
    stateTimelinePanel({
      title: 'Nodes that catch up',
      description: 'Whether the node says that it is catching up with the chain; its documents are old until it has.',
      unit: 'none',
      valueTexts: { '0': ['up to date', 'green'], '1': ['catching up', 'orange'] },
      series: [{ expr: ofSelectedTargets('bridge_exporter_node_syncing'), legend: ENDPOINT }],
    }),
    timeSeriesPanel({
      title: 'Failed queries in 5 minutes',
      noValue: 'no failed query',
      height: 10,
      description:
        'Failed requests of other queries of the node, by query. They cost only the metrics of the query; the log has the reason. Empty when none fails, as in the demo.',
      unit: 'short',
      min: 0,
      series: [
        {
          expr: `increase(${ofSelectedTargets('bridge_exporter_node_query_failures_total')}[5m]) > 0`,
          legend: '{{cluster}} {{target}} {{document}} {{query}} {{instance}}',
        },
      ],
    }),
    timeSeriesPanel({
      title: 'Duration of the last poll by phase',
      height: 10,
      description:
        'fetch is the time of the node and the network; decode and derive are the time of the exporter, which grows with the size of the response. If fetch is near poll.timeout, the node is overloaded or the timeout is too short.',
      unit: 's',
      min: 0,
      isStacked: true,
      series: [
        {
          expr: ofSelectedTargets('bridge_exporter_poll_duration_seconds'),
          legend: '{{cluster}} {{target}} {{document}} {{phase}} {{instance}}',
        },
      ],
    }),
    timeSeriesPanel({
      title: 'Response size',
      height: 10,
      description:
        'Decoded size of the last complete response body. The dashed line is the maximum size. A size that grows for days is a backlog or an accumulation of unrelayed validator sets.',
      unit: 'bytes',
      min: 0,
      series: [
        { expr: ofSelectedTargets('bridge_exporter_response_size_bytes'), legend: ENDPOINT },
        {
          expr: ofSelectedTargets('bridge_exporter_response_size_limit_bytes'),
          legend: `${ENDPOINT} limit`,
          isReference: true,
        },
      ],
    }),
    barPanel({
      title: 'Response size relative to the limit',
      height: 10,
      description:
        'Size of the last response divided by poll.max_body_size. Increase the limit before it is reached, if the process has enough memory. Nodes have their own limit, often 10 MiB in another encoding.',
      unit: 'percentunit',
      decimals: 1,
      min: 0,
      max: 1,
      width: 8,
      thresholds: responseSizeRatio,
      series: [{ expr: sizeShare, legend: ENDPOINT }],
    }),
    timeSeriesPanel({
      title: 'Hub height regressions in 15 minutes',
      height: 10,
      description:
        'Responses with a lower hub height than the one before: one node behind a load balancer lags, or a node was rolled back. Configure the URL of a single node.',
      unit: 'short',
      min: 0,
      series: [
        { expr: `increase(${ofSelectedTargets('bridge_exporter_snapshot_regressions_total')}[15m])`, legend: ENDPOINT },
      ],
    }),
  ],
};

const completeness: Row = {
  title: 'Missing data',
  panels: [
    timeSeriesPanel({
      title: 'Invalid values in 15 minutes by field',
      noValue: 'every value is valid',
      height: 5,
      description:
        'Values of the wrong type. Metrics that depend on the field are absent. The node has another version: replay its response. Empty when every value is valid, as in the demo.',
      unit: 'short',
      min: 0,
      series: [
        {
          expr: `increase(${ofSelectedTargets('bridge_exporter_invalid_values_total')}[15m])`,
          legend: '{{cluster}} {{target}} {{document}} {{field}} {{instance}}',
        },
      ],
    }),
    timeSeriesPanel({
      title: 'Unknown values in 15 minutes by field',
      noValue: 'every value is known',
      height: 5,
      description:
        'Statuses and coin types that the exporter does not know and exports as other. The node is newer than the exporter. Empty when every value is known, as in the demo.',
      unit: 'short',
      min: 0,
      series: [
        {
          expr: `increase(${ofSelectedTargets('bridge_exporter_unknown_values_total')}[15m])`,
          legend: '{{cluster}} {{target}} {{document}} {{field}} {{instance}}',
        },
      ],
    }),
    timeSeriesPanel({
      title: 'Series over the limit by metric',
      noValue: 'no series is dropped',
      height: 5,
      description:
        'Series that are omitted or summed up as other because of limits.max_series_per_family. Increase the limit, or watch only your own orchestrators. Empty when no series is dropped, as in the demo.',
      unit: 'short',
      min: 0,
      series: [
        {
          expr: `${ofSelectedTargets('bridge_exporter_series_dropped')} > 0`,
          legend: '{{cluster}} {{target}} {{document}} {{family}} {{instance}}',
        },
      ],
    }),
  ],
};

function withVersion(expr: string): string {
  return ofSelectedExporters(
    `max by (cluster, namespace, job, instance, version, nodejs) ((${expr}) * on (cluster, namespace, job, instance) group_left (version, nodejs) ${processMetric('bridge_exporter_build_info')})`,
  );
}

const process: Row = {
  title: 'Process',
  panels: [
    tablePanel({
      title: 'Exporters',
      description:
        'Version and configuration of each exporter. Exporters with different hashes have different configurations.',
      width: 16,
      height: 6,
      rowLabels: { cluster: 'Cluster', job: 'Job', instance: 'Exporter', version: 'Version', nodejs: 'Node.js' },
      columns: [
        {
          title: 'Uptime',
          expr: withVersion(`time() - ${processMetric('process_start_time_seconds')}`),
          unit: 's',
          decimals: 0,
        },
        { title: 'Configuration hash', expr: withVersion(processMetric('bridge_exporter_config_hash')), unit: 'none' },
      ],
    }),
    statPanel({
      title: 'Last reload',
      description:
        'Whether the last reload of the configuration succeeded. After a failed reload, the previous configuration is active; the log contains all problems.',
      unit: 'none',
      valueTexts: { '0': ['failed', 'red'], '1': ['ok', 'green'] },
      thresholds: redBelowOne,
      noValue: 'no data',
      height: 6,
      series: [
        { expr: ofSelectedExporters(processMetric('bridge_exporter_config_last_reload_successful')), legend: INSTANCE },
      ],
    }),
    statPanel({
      title: 'Last successful reload',
      description: 'Time since the last successful reload of the configuration, or since the start.',
      unit: 's',
      decimals: 0,
      noValue: 'no data',
      height: 6,
      series: [
        {
          expr: ofSelectedExporters(
            `time() - ${processMetric('bridge_exporter_config_last_reload_success_timestamp_seconds')}`,
          ),
          legend: INSTANCE,
        },
      ],
    }),
    timeSeriesPanel({
      title: 'Memory',
      description:
        'Resident memory of the process, and the parts of it used by the heap of the main thread and by external buffers. It rises and falls with the size of the responses. A line that rises for days is a leak; please report it.',
      unit: 'bytes',
      min: 0,
      series: [
        { expr: ofSelectedExporters(processMetric('process_resident_memory_bytes')), legend: `${INSTANCE} resident` },
        { expr: ofSelectedExporters(processMetric('nodejs_heap_size_used_bytes')), legend: `${INSTANCE} heap in use` },
        { expr: ofSelectedExporters(processMetric('nodejs_external_memory_bytes')), legend: `${INSTANCE} buffers` },
      ],
    }),
    timeSeriesPanel({
      title: 'CPU',
      description: 'CPU usage; 100 % is one core. Decoding large responses every few seconds takes the most.',
      unit: 'percentunit',
      min: 0,
      series: [
        {
          expr: ofSelectedExporters(`rate(${processMetric('process_cpu_seconds_total')}[$__rate_interval])`),
          legend: INSTANCE,
        },
      ],
    }),
    timeSeriesPanel({
      title: 'Garbage collection',
      description:
        'Share of time spent in garbage collection, by kind. If major collections take much time, the memory is too small for the responses.',
      unit: 'percentunit',
      min: 0,
      series: [
        {
          expr: ofSelectedExporters(`rate(${processMetric('nodejs_gc_duration_seconds_sum')}[$__rate_interval])`),
          legend: `${INSTANCE} {{kind}}`,
        },
      ],
    }),
    timeSeriesPanel({
      title: 'Open file descriptors',
      description: 'Share of the maximum number of file descriptors. Near 100 %, scrapes and polls fail.',
      unit: 'percentunit',
      min: 0,
      width: 12,
      series: [
        {
          expr: ofSelectedExporters(`${processMetric('process_open_fds')} / ${processMetric('process_max_fds')}`),
          legend: INSTANCE,
        },
      ],
    }),
    timeSeriesPanel({
      title: 'Active resources by type',
      description:
        'Resources that keep the Node.js event loop alive, such as sockets, timers and threads. A type that only rises is a leak; please report it.',
      unit: 'short',
      min: 0,
      width: 12,
      series: [{ expr: ofSelectedExporters(processMetric('nodejs_active_resources')), legend: `${INSTANCE} {{type}}` }],
    }),
  ],
};

export const exporter: Dashboard = {
  uid: 'bridge-exporter',
  title: 'Bridge / Exporter',
  description: 'Is the data current and complete? If not, the other dashboards are not reliable.',
  tags: ['exporter'],
  variables: commonVariables,
  rows: [currentData, polls, completeness, process],
};
