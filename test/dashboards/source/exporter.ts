import {
  bars,
  type Dashboard,
  datasourceVariable,
  labelVariable,
  type Row,
  stat,
  stateTimeline,
  table,
  timeseries,
} from './grafana.js';
import { TARGET } from './queries.js';
import { dataAge, oneIsGood, sizeOfLimit, someIsBusy } from './thresholds.js';

const ENDPOINT = '{{target}} {{endpoint}} {{instance}}';
const INSTANCE = '{{job}} {{instance}}';

const UP_WORDS = { '0': ['failed', 'orange'], '1': ['ok', 'green'] } as const;

/** Of the processes that poll a chosen target: what they tell of themselves names no target. */
function ofProcesses(expr: string): string {
  return `${expr} and on (job, instance) bridge_exporter_polls_total{${TARGET}}`;
}

function own(metric: string): string {
  return `${metric}{${TARGET}}`;
}

const age = `time() - ${own('bridge_exporter_last_success_timestamp_seconds')}`;
const sizeShare = `${own('bridge_exporter_response_size_bytes')} / ${own('bridge_exporter_response_size_limit_bytes')}`;

const glance: Row = {
  title: 'Is the data fresh?',
  panels: [
    table({
      title: 'Each endpoint at a glance',
      description:
        'One row for each endpoint of each target and each exporter that polls it. While the last poll failed, the chain figures are those of the last success, until stale_after; then they are absent, and no panel of the other dashboards can say anything. The status page of the exporter has the reason in words.',
      height: 8,
      keys: { target: 'Target', endpoint: 'Endpoint', job: 'Job', instance: 'Exporter' },
      columns: [
        { title: 'Last poll', expr: by('bridge_exporter_up'), unit: 'none', words: UP_WORDS },
        {
          title: 'Age of data',
          expr: `time() - ${by('bridge_exporter_last_success_timestamp_seconds')}`,
          unit: 's',
          decimals: 0,
          steps: dataAge,
        },
        {
          title: 'Last attempt',
          expr: `time() - ${by('bridge_exporter_last_attempt_timestamp_seconds')}`,
          unit: 's',
          decimals: 0,
          steps: dataAge,
        },
        {
          title: 'Failed in 15 minutes',
          expr: `sum by (target, endpoint, job, instance) (increase(${own('bridge_exporter_poll_failures_total')}[15m]))`,
          unit: 'short',
          decimals: 0,
          steps: someIsBusy,
        },
        { title: 'Answer', expr: by('bridge_exporter_response_size_bytes'), unit: 'bytes', decimals: 1 },
        {
          title: 'Of the size limit',
          expr: `${by('bridge_exporter_response_size_bytes')} / ${by('bridge_exporter_response_size_limit_bytes')}`,
          unit: 'percentunit',
          decimals: 1,
          steps: sizeOfLimit,
        },
      ],
      sortBy: { column: 'Age of data', isDescending: true },
    }),
    stateTimeline({
      title: 'Polls: succeeded or failed',
      description:
        'Whether the last poll succeeded. A gap is an exporter that was not scraped; short red bars are failures that ended by themselves.',
      unit: 'none',
      words: UP_WORDS,
      series: [{ expr: own('bridge_exporter_up'), legend: ENDPOINT }],
    }),
    timeseries({
      title: 'Age of the data',
      description:
        'Time since the last successful poll. A saw as high as the poll interval is health; a line that climbs is an endpoint that fails or an exporter that does not poll.',
      unit: 's',
      min: 0,
      width: 12,
      steps: dataAge,
      series: [{ expr: age, legend: ENDPOINT }],
    }),
  ],
};

function by(metric: string): string {
  return `max by (target, endpoint, job, instance) (${own(metric)})`;
}

const polls: Row = {
  title: 'Polls',
  panels: [
    timeseries({
      title: 'Polls in 5 minutes',
      description:
        'Polls that ended, whatever came of them. Fewer than the interval allows: answers are slow, or the process is busy.',
      unit: 'short',
      min: 0,
      series: [{ expr: `increase(${own('bridge_exporter_polls_total')}[5m])`, legend: ENDPOINT }],
    }),
    timeseries({
      title: 'Failed polls in 5 minutes, by reason',
      description:
        'Reasons as in the documentation of failures: unauthorized and bad_request are a wrong configuration, the others mostly the node or the way to it. Empty when no poll failed, as in the demo.',
      unit: 'short',
      min: 0,
      series: [
        {
          expr: `increase(${own('bridge_exporter_poll_failures_total')}[5m]) > 0`,
          legend: '{{target}} {{endpoint}} {{reason}} {{instance}}',
        },
      ],
    }),
    timeseries({
      title: 'Duration of the last poll, by phase',
      description:
        'Fetch is the node and the network; decode and derive are the exporter and grow with the size of the answer. Fetch near poll.timeout: the node is overloaded, or the timeout too short.',
      unit: 's',
      min: 0,
      isStacked: true,
      series: [
        {
          expr: own('bridge_exporter_poll_duration_seconds'),
          legend: '{{target}} {{endpoint}} {{phase}} {{instance}}',
        },
      ],
    }),
    timeseries({
      title: 'Size of the answers',
      description:
        'Decoded size of the last body that came whole, and the limit over which a body is refused (dashed). A size that grows for days is a backlog, or validator sets no one relays.',
      unit: 'bytes',
      min: 0,
      series: [
        { expr: own('bridge_exporter_response_size_bytes'), legend: ENDPOINT },
        {
          expr: own('bridge_exporter_response_size_limit_bytes'),
          legend: `${ENDPOINT} limit`,
          isReference: true,
        },
      ],
    }),
    bars({
      title: 'Share of the size limit',
      description:
        'How much of poll.max_body_size the last answer took. Raise the limit, within the memory of the process, before it is reached. Nodes have a limit of their own, often 10 MiB of another encoding.',
      unit: 'percentunit',
      decimals: 1,
      min: 0,
      max: 1,
      width: 8,
      steps: sizeOfLimit,
      series: [{ expr: sizeShare, legend: ENDPOINT }],
    }),
    timeseries({
      title: 'Steps back of the hub height in 15 minutes',
      description:
        'Answers of a lower hub height than the one before: a load balancer with a node that lags, or a node that was rolled back. Point the target at one node.',
      unit: 'short',
      min: 0,
      series: [{ expr: `increase(${own('bridge_exporter_snapshot_regressions_total')}[15m])`, legend: ENDPOINT }],
    }),
  ],
};

const completeness: Row = {
  title: 'What could not be shown',
  panels: [
    timeseries({
      title: 'Invalid values in 15 minutes, by field',
      description:
        'Values of the wrong kind; the figures that read the field are absent meanwhile. The node speaks another dialect or version: see the setting dialect. Empty when every value could be read, as in the demo.',
      unit: 'short',
      min: 0,
      series: [
        {
          expr: `increase(${own('bridge_exporter_invalid_values_total')}[15m])`,
          legend: '{{target}} {{endpoint}} {{field}} {{instance}}',
        },
      ],
    }),
    timeseries({
      title: 'Unknown values in 15 minutes, by field',
      description:
        'Statuses and coin types the exporter does not know, shown as other: the node is newer than the exporter. Empty when every value is known, as in the demo.',
      unit: 'short',
      min: 0,
      series: [
        {
          expr: `increase(${own('bridge_exporter_unknown_values_total')}[15m])`,
          legend: '{{target}} {{endpoint}} {{field}} {{instance}}',
        },
      ],
    }),
    timeseries({
      title: 'Series over the limit, by family',
      description:
        'Series left out or added up in other, for limits.max_series_per_family. Raise the limit, or watch only your own orchestrators. Empty when none is left out, as in the demo.',
      unit: 'short',
      min: 0,
      series: [
        {
          expr: `${own('bridge_exporter_series_dropped')} > 0`,
          legend: '{{target}} {{endpoint}} {{family}} {{instance}}',
        },
      ],
    }),
  ],
};

function withVersion(expr: string): string {
  return ofProcesses(
    `max by (job, instance, version, nodejs) ((${expr}) * on (job, instance) group_left (version, nodejs) bridge_exporter_build_info)`,
  );
}

const process: Row = {
  title: 'Process',
  panels: [
    table({
      title: 'Exporters',
      description:
        'Version, and whether the configuration on disk is the one in use: a refused one keeps the old, and the log says why. Different fingerprints are different configurations.',
      width: 16,
      height: 6,
      keys: { job: 'Job', instance: 'Exporter', version: 'Version', nodejs: 'Node.js' },
      columns: [
        {
          title: 'Runs for',
          expr: withVersion('time() - process_start_time_seconds'),
          unit: 's',
          decimals: 0,
        },
        { title: 'Fingerprint', expr: withVersion('bridge_exporter_config_hash'), unit: 'none' },
      ],
    }),
    stat({
      title: 'Last reload',
      description:
        'Whether the configuration that was read last could be used. Refused: the one before is still in use; the log has all problems.',
      unit: 'none',
      words: { '0': ['refused', 'red'], '1': ['in use', 'green'] },
      steps: oneIsGood,
      noValue: 'no data',
      height: 6,
      series: [{ expr: ofProcesses('bridge_exporter_config_last_reload_successful'), legend: INSTANCE }],
    }),
    stat({
      title: 'Configuration read',
      description: 'Time since a configuration was last read that could be used.',
      unit: 's',
      decimals: 0,
      noValue: 'no data',
      height: 6,
      series: [
        {
          expr: ofProcesses('time() - bridge_exporter_config_last_reload_success_timestamp_seconds'),
          legend: INSTANCE,
        },
      ],
    }),
    timeseries({
      title: 'Memory',
      description:
        'Resident memory of the process, and of it the heap of the main thread and buffers outside. It rises with the size of the answers and falls again; a line that only climbs for days is a leak worth reporting.',
      unit: 'bytes',
      min: 0,
      series: [
        { expr: ofProcesses('process_resident_memory_bytes'), legend: `${INSTANCE} resident` },
        { expr: ofProcesses('nodejs_heap_size_used_bytes'), legend: `${INSTANCE} heap in use` },
        { expr: ofProcesses('nodejs_external_memory_bytes'), legend: `${INSTANCE} buffers` },
      ],
    }),
    timeseries({
      title: 'Processor',
      description:
        'Processors in use, 100 % is one of them. Decoding large answers every few seconds is what takes it.',
      unit: 'percentunit',
      min: 0,
      series: [{ expr: ofProcesses('rate(process_cpu_seconds_total[5m])'), legend: INSTANCE }],
    }),
    timeseries({
      title: 'Garbage collection',
      description:
        'Share of time spent in garbage collection, by kind. Much of the major kind: the memory is too small for the answers.',
      unit: 'percentunit',
      min: 0,
      series: [
        {
          expr: ofProcesses('rate(nodejs_gc_duration_seconds_sum[5m])'),
          legend: `${INSTANCE} {{kind}}`,
        },
      ],
    }),
    timeseries({
      title: 'Open files',
      description: 'Share of the open files the process may have. Near 100 % it can no longer be scraped or poll.',
      unit: 'percentunit',
      min: 0,
      width: 12,
      series: [{ expr: ofProcesses('process_open_fds / process_max_fds'), legend: INSTANCE }],
    }),
    timeseries({
      title: 'Active resources, by type',
      description:
        'What keeps the process going: sockets, timers, threads. A type that only climbs is a leak worth reporting.',
      unit: 'short',
      min: 0,
      width: 12,
      series: [{ expr: ofProcesses('nodejs_active_resources'), legend: `${INSTANCE} {{type}}` }],
    }),
  ],
};

export const exporter: Dashboard = {
  uid: 'bridge-exporter',
  title: 'Exporter',
  description: 'Is the data fresh and whole? If not, no other dashboard can be trusted.',
  tags: ['exporter'],
  variables: [datasourceVariable, labelVariable('target', 'Target', 'bridge_exporter_polls_total')],
  rows: [glance, polls, completeness, process],
};
