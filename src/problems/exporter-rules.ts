import { OUTDATED_SECONDS, snapshotStale } from './polls.js';
import type { Inhibition, Severity } from './problem.js';

/*
 * The alerts that Prometheus judges, because an exporter cannot judge itself: that it is missing, hangs, or could not
 * load or write a file.
 */

/** An alert on the exporter, in at most three lines of PromQL that look at the present. */
export interface ExporterRule {
  readonly name: string;
  readonly severity: Severity;
  readonly expr: string;
  /** `for`: tolerates short failures. */
  readonly forMinutes: number;
  /** A template. */
  readonly summary: string;
  readonly description: string;
  readonly action: string;
  readonly inhibits: readonly Inhibition[];
  /** As of a problem: nothing in the document is current. */
  readonly inhibitsDocument: boolean;
  /** Whether it hides alerts of all exporters of the cluster. */
  readonly isOfCluster: boolean;
}

type Optional = 'inhibits' | 'inhibitsDocument' | 'isOfCluster';

function rule(declaration: Omit<ExporterRule, Optional> & Partial<Pick<ExporterRule, Optional>>): ExporterRule {
  return { inhibits: [], inhibitsDocument: false, isOfCluster: false, ...declaration };
}

const EXPORTER = 'cluster, namespace, job, instance';

export const exporterRules: readonly ExporterRule[] = [
  rule({
    name: 'BridgeExporterAbsent',
    severity: 'critical',
    // Without `up`, because a job can be renamed or lose its targets. Without an exporter in a day, it fires once
    // without a label.
    expr: `(group by (cluster) (last_over_time(bridge_exporter_build_info[1d])) unless group by (cluster) (bridge_exporter_build_info))
or absent(last_over_time(bridge_exporter_build_info[1d]))`,
    forMinutes: 10,
    summary: 'No bridge-exporter of the cluster is scraped.',
    description:
      'No exporter of a cluster that had one within a day has been scraped for 10 minutes, or none at all within a day. No other alert of the bridge can fire.',
    action: 'Check that the exporter runs and that its scrape job has targets.',
    inhibits: [{ problem: 'BridgeExporterDown' }],
    isOfCluster: true,
  }),
  rule({
    name: 'BridgeExporterDown',
    severity: 'critical',
    // The hash is of the polled targets, and becomes a label.
    expr: `up == 0 and on (${EXPORTER}) (
  count_values by (${EXPORTER}) ("hash", last_over_time(bridge_exporter_targets_hash[1d]))
  unless on (cluster, hash) count_values by (cluster) ("hash", bridge_exporter_targets_hash))`,
    forMinutes: 10,
    summary: 'Exporter {{ $labels.instance }} cannot be scraped, and no other one polls its targets.',
    description:
      'A scrape target that was a bridge-exporter within a day has been down for 10 minutes, and no other exporter of the cluster polls the same targets. Nobody watches them.',
    action: 'Check that the exporter runs, and that Prometheus reaches it.',
  }),
  rule({
    name: 'BridgeExporterDown',
    severity: 'warning',
    expr: `up == 0 and on (${EXPORTER}) last_over_time(bridge_exporter_build_info[1d])`,
    forMinutes: 10,
    summary: 'Exporter {{ $labels.instance }} cannot be scraped.',
    description:
      'A scrape target that was a bridge-exporter within a day has been down for 10 minutes. Another one polls its targets, so only redundancy is lost.',
    action: 'Check that the exporter runs, and that Prometheus reaches it.',
  }),
  rule({
    name: 'BridgeExporterShardMissing',
    severity: 'critical',
    expr: `count by (cluster, namespace, job) (group by (cluster, namespace, job, shard) (bridge_exporter_shard_info))
  < max by (cluster, namespace, job) (bridge_exporter_shards)`,
    forMinutes: 5,
    summary: 'Only {{ $value }} shards of bridge-exporter are scraped in job {{ $labels.job }}.',
    description:
      'Fewer shards of a job are scraped than `--targets.shard` says. The targets of a missing shard have no series, so no other alert fires for them.',
    action: 'Check that all shards run with the same --targets.shard count and are scraped.',
  }),
  rule({
    name: 'BridgeExporterConfigReloadFailed',
    severity: 'warning',
    expr: 'bridge_exporter_config_last_reload_successful == 0',
    forMinutes: 5,
    summary: 'Exporter {{ $labels.instance }} could not load its configuration.',
    description: 'The last reload of the configuration failed; the one before stays active.',
    action: 'Correct the configuration that the log or --config.check rejects, and reload.',
  }),
  rule({
    name: 'BridgeExporterRecorderFailing',
    severity: 'warning',
    expr: 'bridge_exporter_recorder_last_write_successful == 0',
    forMinutes: 10,
    summary: 'Exporter {{ $labels.instance }} cannot record responses.',
    description:
      'The recorder has not been able to write responses for 10 minutes. Polls and metrics are not affected; the recording has a gap.',
    action: 'Read the reason on the status page or in the log: the disk is full, slow, read-only or not mounted.',
  }),
  rule({
    name: 'BridgeEndpointNotPolled',
    severity: 'critical',
    expr: `time() - bridge_exporter_last_attempt_timestamp_seconds{document!="external_contract"} > ${OUTDATED_SECONDS}`,
    forMinutes: 0,
    summary:
      '{{ $labels.target }}: exporter {{ $labels.instance }} has not polled {{ $labels.document }} for {{ $value | humanizeDuration }}.',
    description:
      'The exporter is scraped, and has not polled the document for 10 minutes: it hangs, or is far too slow. This exporter judges nothing of the document meanwhile.',
    action:
      'Save the log of the exporter, then restart it: until then, this part of the bridge is not monitored by it.',
    inhibits: [{ problem: 'BridgeSnapshotStale', equal: ['document'] }, ...snapshotStale.inhibits],
    inhibitsDocument: true,
  }),
];

/**
 * Another exporter of the target has polled the document: then this exporter's failing polls are a warning
 * (BridgeEndpointDown).
 */
export const UNLESS_POLLED_BY_ANOTHER = `unless on (cluster, target, document)
  time() - bridge_exporter_last_success_timestamp_seconds <= ${OUTDATED_SECONDS}`;

export const watchdog = {
  name: 'BridgeWatchdog',
  severity: 'none',
  expr: 'vector(1)',
  forMinutes: 0,
  summary: 'Alerting works end to end.',
  description: 'Always fires, as proof that alerting works end to end.',
  action: 'Route it to a service that raises an alarm when it stops arriving.',
} as const;
