import { OUTDATED_SECONDS, SIZE_RATIO } from '../../src/problems/polls.js';
import { rules } from '../../src/problems/rules.js';
import { commonVariables } from './filters.js';
import { type Dashboard, graph, type Row, table } from './grafana.js';
import { severityTexts } from './problem-table.js';
import { CLUSTER, ALERT_FILTERS, EXPORTER_FILTERS, FILTERS } from './queries.js';

const ENDPOINT = `{{${CLUSTER}}} {{target}} {{document}} {{instance}}`;
const INSTANCE = `{{${CLUSTER}}} {{instance}}`;

const ofTargets = (metric: string): string => `${metric}{${FILTERS}}`;
const byEndpoint = (metric: string): string =>
  `max by (${CLUSTER}, target, document, namespace, job, instance) (${ofTargets(metric)})`;
const countOf = (metric: string, window: string): string => `increase(${ofTargets(metric)}[${window}]) > 0`;

/** Process metrics have no target: those of the exporters that poll a selected target. */
const ofProcess = (expr: (filters: string) => string): string =>
  `${expr(EXPORTER_FILTERS)} and on (${CLUSTER}, namespace, job, instance) ${ofTargets('bridge_exporter_polls_total')}`;

const withVersion = (expr: (filters: string) => string): string =>
  `max by (${CLUSTER}, job, instance, version, nodejs) ((${ofProcess(expr)}) * on (${CLUSTER}, namespace, job, instance) group_left (version, nodejs) bridge_exporter_build_info{${EXPORTER_FILTERS}})`;

/** The alerts whose notifications lead to this dashboard. */
const ALERT_NAMES = new Set(rules.flatMap(({ name, dashboard }) => (dashboard === 'bridge-exporter' ? name : [])));
const EXPORTER_ALERTS = `alertname=~"${Array.from(ALERT_NAMES).join('|')}", ${ALERT_FILTERS}`;

const current: Row = {
  title: 'Is the data current?',
  panels: [
    table({
      title: 'Endpoints',
      description:
        'Is every document polled, and is the data current? Ages: of the data, of the last attempt, and of the newest block of the node. Size: of the response, as a share of poll.max_body_size. After a failed poll the values of the last success stay until stale_after, then they are absent. The status page has the reason of the failure.',
      noValue: 'no exporter is scraped',
      labels: { target: 'Target', document: 'Document', instance: 'Exporter' },
      widths: { Document: 150, Exporter: 220 },
      lastLabels: { job: 'Job', [CLUSTER]: 'Cluster' },
      columns: [
        {
          title: 'Last poll',
          expr: byEndpoint('bridge_exporter_up'),
          unit: 'none',
          texts: { '0': ['failed', 'orange'], '1': ['ok', 'green'] },
        },
        {
          title: 'Age of data',
          expr: `time() - ${byEndpoint('bridge_exporter_last_success_timestamp_seconds')}`,
          unit: 'dtdhms',
          thresholds: [
            ['transparent', null],
            ['red', OUTDATED_SECONDS],
          ],
        },
        {
          title: 'Last attempt',
          expr: `time() - ${byEndpoint('bridge_exporter_last_attempt_timestamp_seconds')}`,
          unit: 'dtdhms',
        },
        {
          title: 'Newest block',
          expr: `time() - ${byEndpoint('bridge_node_block_timestamp_seconds')}`,
          unit: 'dtdhms',
        },
        {
          title: 'Catching up',
          expr: byEndpoint('bridge_node_syncing'),
          unit: 'none',
          texts: { '0': ['no', 'transparent'], '1': ['yes', 'orange'] },
        },
        {
          title: 'Size used',
          expr: `${byEndpoint('bridge_exporter_response_size_bytes')} / ${byEndpoint('bridge_exporter_response_size_limit_bytes')}`,
          unit: 'percentunit',
          decimals: 1,
          thresholds: [
            ['transparent', null],
            ['orange', SIZE_RATIO],
          ],
        },
      ],
      sortBy: [{ column: 'Age of data', isDescending: true }],
    }),
    table({
      title: 'Alerts on the exporter',
      description:
        'Is an exporter or its data missing, and are the alert rules evaluated at all? BridgeWatchdog, the last row, always fires. Whether notifications arrive is not shown here.',
      noValue: 'the alert rules are not evaluated: not even BridgeWatchdog fires',
      width: 12,
      labels: { alertname: 'Alert', severity: 'Severity', target: 'Target', document: 'Document' },
      labelTexts: { Severity: severityTexts },
      widths: { Alert: 220, Document: 150 },
      sortBy: [{ column: 'Severity', isDescending: false }],
      lastLabels: { [CLUSTER]: 'Cluster' },
      columns: [
        {
          title: 'For',
          // The watchdog has no severity that is sorted after the others.
          expr: `label_replace(time() - min by (alertname, severity, ${CLUSTER}, target, document) (ALERTS_FOR_STATE{${EXPORTER_ALERTS}} and ignoring (alertstate) ALERTS{alertstate="firing", ${EXPORTER_ALERTS}}), "severity", "works", "severity", "none")`,
          unit: 'dtdhms',
        },
      ],
    }),
    table({
      title: 'Missing metrics',
      description:
        'Which metrics are absent because a field that they read is missing or invalid? Their panels have no data, and problems that read them are unjudged. The status page names the fields.',
      noValue: 'every metric of the last documents could be derived',
      width: 12,
      labels: { target: 'Target', document: 'Document', family: 'Metric' },
      widths: { Metric: 320, Document: 150 },
      lastLabels: { [CLUSTER]: 'Cluster' },
      columns: [
        {
          title: 'Exporters',
          expr: `count by (${CLUSTER}, target, document, family) (${ofTargets('bridge_exporter_family_withdrawn')} == 1)`,
          unit: 'short',
        },
      ],
    }),
    table({
      title: 'Exporters',
      description:
        'Which version was deployed, since when does it run, and did it load its configuration? Different hashes are different configurations.',
      noValue: 'no exporter is scraped',
      height: 6,
      labels: { instance: 'Exporter', version: 'Version', nodejs: 'Node.js' },
      lastLabels: { job: 'Job', [CLUSTER]: 'Cluster' },
      columns: [
        {
          title: 'Runs for',
          expr: withVersion((filters) => `time() - process_start_time_seconds{${filters}}`),
          unit: 'dtdhms',
        },
        {
          title: 'Last reload',
          expr: withVersion((filters) => `bridge_exporter_config_last_reload_successful{${filters}}`),
          unit: 'none',
          texts: { '0': ['failed', 'orange'], '1': ['ok', 'green'] },
        },
        {
          title: 'Loaded for',
          expr: withVersion(
            (filters) => `time() - bridge_exporter_config_last_reload_success_timestamp_seconds{${filters}}`,
          ),
          unit: 'dtdhms',
        },
        {
          title: 'Configuration',
          expr: withVersion((filters) => `bridge_exporter_config_hash{${filters}}`),
          unit: 'none',
        },
      ],
    }),
    graph({
      title: 'Age of the data',
      description: 'Since when has a poll not succeeded? A sawtooth as high as the poll interval is normal.',
      noValue: 'no exporter is scraped',
      unit: 's',
      min: 0,
      thresholds: [
        ['text', null],
        ['red', OUTDATED_SECONDS],
      ],
      series: [{ expr: `time() - ${ofTargets('bridge_exporter_last_success_timestamp_seconds')}`, legend: ENDPOINT }],
    }),
    graph({
      title: 'Failed polls in 5 minutes',
      description:
        'For which reason do polls fail? The reasons are in docs/failures.md: unauthorized and bad_request are of the configuration, the others mostly of the node or the network.',
      noValue: 'no poll failed',
      unit: 'short',
      min: 0,
      series: [
        {
          expr: countOf('bridge_exporter_poll_failures_total', '5m'),
          legend: `{{${CLUSTER}}} {{target}} {{document}} {{reason}} {{instance}}`,
        },
      ],
    }),
  ],
};

const polls: Row = {
  title: 'Polls and documents',
  isCollapsed: true,
  panels: [
    graph({
      title: 'Duration of polls by phase',
      description:
        'Is the node slow, or the exporter? Phase fetch is the node and the network; decode and derive are the exporter and grow with the response.',
      noValue: 'no poll has ended',
      unit: 's',
      min: 0,
      isStacked: true,
      series: [
        {
          expr: ofTargets('bridge_exporter_poll_duration_seconds'),
          legend: `{{${CLUSTER}}} {{target}} {{document}} {{phase}} {{instance}}`,
        },
      ],
    }),
    graph({
      title: 'Response size',
      description:
        'Does the response grow towards its limit? Growth over days is a backlog, or validator sets that nobody relays.',
      noValue: 'no response was complete',
      unit: 'bytes',
      min: 0,
      series: [{ expr: ofTargets('bridge_exporter_response_size_bytes'), legend: ENDPOINT }],
    }),
    graph({
      title: 'Failed queries in 5 minutes',
      description:
        'Which other questions does the node not answer? They cost only the metrics of the query; the log has the reason.',
      noValue: 'no query failed',
      unit: 'short',
      min: 0,
      series: [
        {
          expr: countOf('bridge_exporter_node_query_failures_total', '5m'),
          legend: `{{${CLUSTER}}} {{target}} {{document}} {{query}} {{instance}}`,
        },
      ],
    }),
    graph({
      title: 'Invalid and unknown values in 15 minutes',
      description:
        'Does the node send what the exporter does not understand? Then it has another version: replay its response.',
      noValue: 'every value is valid and known',
      unit: 'short',
      min: 0,
      series: [
        {
          expr: countOf('bridge_exporter_invalid_values_total', '15m'),
          legend: `{{${CLUSTER}}} {{target}} {{field}} invalid {{instance}}`,
        },
        {
          expr: countOf('bridge_exporter_unknown_values_total', '15m'),
          legend: `{{${CLUSTER}}} {{target}} {{field}} unknown {{instance}}`,
        },
      ],
    }),
    graph({
      title: 'Height regressions in 15 minutes',
      description: 'Does the node go back? One node behind a load balancer lags: use the address of a single node.',
      noValue: 'no regression',
      unit: 'short',
      min: 0,
      series: [{ expr: countOf('bridge_exporter_snapshot_regressions_total', '15m'), legend: ENDPOINT }],
    }),
    graph({
      title: 'Series over the limit',
      description:
        'Which metrics have too many series? What is over limits.max_series_per_family is left out, or summed up as other.',
      noValue: 'no series is over the limit',
      unit: 'short',
      min: 0,
      series: [
        {
          expr: ofTargets('bridge_exporter_series_dropped'),
          legend: `{{${CLUSTER}}} {{target}} {{document}} {{family}} {{instance}}`,
        },
      ],
    }),
  ],
};

const process: Row = {
  title: 'Process',
  isCollapsed: true,
  panels: [
    graph({
      title: 'Memory',
      description:
        'Does the process need more and more memory? It follows the size of the responses; a line that rises for days is a leak, please report it.',
      noValue: 'no exporter is scraped',
      unit: 'bytes',
      min: 0,
      series: [
        { expr: ofProcess((filters) => `process_resident_memory_bytes{${filters}}`), legend: `${INSTANCE} resident` },
        { expr: ofProcess((filters) => `nodejs_heap_size_used_bytes{${filters}}`), legend: `${INSTANCE} heap` },
      ],
    }),
    graph({
      title: 'CPU',
      description:
        'Is the process busy, and with garbage collection? A share of 100 % is one core. Much garbage collection means too little memory.',
      noValue: 'no exporter is scraped',
      unit: 'percentunit',
      min: 0,
      series: [
        {
          expr: ofProcess((filters) => `rate(process_cpu_seconds_total{${filters}}[$__rate_interval])`),
          legend: `${INSTANCE} CPU`,
        },
        {
          expr: ofProcess(
            (filters) =>
              `sum by (${CLUSTER}, namespace, job, instance) (rate(nodejs_gc_duration_seconds_sum{${filters}}[$__rate_interval]))`,
          ),
          legend: `${INSTANCE} garbage collection`,
        },
      ],
    }),
  ],
};

export const exporter: Dashboard = {
  uid: 'bridge-exporter',
  title: 'Bridge / Exporter',
  description: 'Is the data current and complete? If not, the other dashboards are not reliable.',
  variables: commonVariables,
  rows: [current, polls, process],
};
