import { exporterAlert, type Alert } from './alert.js';

/* Alerts that a running exporter cannot judge: about its absence, and the watchdog. */

export const exporterAlerts: readonly Alert[] = [
  exporterAlert({
    name: 'BridgeExporterAbsent',
    severity: 'critical',
    comment: `Does not use \`up\`, because a job can be renamed or lose its targets. In a store of several clusters, it fires for each cluster
without an exporter; without any exporter in a day, it fires once without a label.`,
    when: 'No exporter of the cluster is scraped.',
    expr: `group by (cluster) (last_over_time(bridge_exporter_build_info[1d]))
unless group by (cluster) (bridge_exporter_build_info)
or absent(last_over_time(bridge_exporter_build_info[1d]))`,
    forMinutes: 10,
    summary: 'No bridge-exporter is scraped.',
    description: 'Prometheus has scraped no bridge-exporter for 10 minutes, so no other bridge alert can fire.',
    action: 'Check that the exporter runs and that its scrape job has targets.',
    // Without any exporter, nothing is polled.
    inhibits: [{ alert: 'BridgeEndpointNotPolled' }],
  }),
  exporterAlert({
    name: 'BridgeExporterShardMissing',
    severity: 'critical',
    comment: 'The targets of a missing shard have no series, so no other alert fires for them.',
    when: 'Fewer shards of a job are scraped than `--targets.shard` says.',
    expr: `count by (cluster, namespace, job) (group by (cluster, namespace, job, shard) (bridge_exporter_shard_info))
  < max by (cluster, namespace, job) (bridge_exporter_shards)`,
    forMinutes: 5,
    keepFiringMinutes: 5,
    summary: 'Shards of bridge-exporter are missing.',
    description:
      'For 5 minutes, only {{ $value }} of the configured shards of bridge-exporter have been scraped in job {{ $labels.job }}, so the targets of the others are not monitored.',
    action: 'Check that all shards run with the same --targets.shard count and are scraped.',
  }),
  exporterAlert({
    name: 'BridgeEndpointNotPolled',
    severity: 'critical',
    comment: `Fires for the targets of an exporter that is no longer scraped, or that crashes before its first poll ends, although other exporters
run. A poll by any exporter of the cluster prevents it, so a renamed job or a new pod does not fire it. The threshold is 10 minutes,
because some configurations poll every few minutes.`,
    when: 'No exporter of the cluster has polled the document for 10 minutes, and one did within the last day.',
    expr: `time() - max by (cluster, target, document) (last_over_time(bridge_exporter_last_attempt_timestamp_seconds[1d])) > 600`,
    forMinutes: 5,
    summary: '{{ $labels.target }}: no exporter polls {{ $labels.document }}.',
    description:
      'The last poll of {{ $labels.document }} of {{ $labels.target }} by any bridge-exporter that Prometheus scrapes was {{ $value | humanizeDuration }} ago. No other alert on this document can fire.',
    action:
      'Check that the exporter of this target runs, does not crash and is scraped. If the target was removed on purpose, silence this alert for a day.',
  }),
];

export const watchdogAlerts: readonly Alert[] = [
  exporterAlert({
    name: 'BridgeWatchdog',
    severity: 'none',
    group: 'bridge-watchdog',
    comment: `It always fires by design.
pint disable alerts/comparison`,
    when: 'Always.',
    expr: 'vector(1)',
    summary: 'Alerting works end to end.',
    description: 'This alert always fires.',
    action: 'Route it to a service that raises an alarm when it stops arriving.',
  }),
];
