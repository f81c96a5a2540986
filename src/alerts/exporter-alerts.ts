import { exporterAlert, type Alert } from './alert.js';
import { OUTDATED_SECONDS, outdatedExpr, CURRENT } from './endpoint-alerts.js';
import { EXPORTER, ON_ENDPOINT, ON_EXPORTER, parenthesized } from './promql.js';

/* Alerts that a running exporter cannot judge: about its absence, about other exporters, and the watchdog. */

const ON_JOB = 'on (cluster, namespace, job)';
const BY_JOB = 'by (cluster, namespace, job)';

/** A contract that is not polled is worth a warning at most, and its other alerts are absent, like without `external`. */
const lastAttempt = 'last_over_time(bridge_exporter_last_attempt_timestamp_seconds{document!="external_contract"}[1d])';

/** The time of the last poll of each endpoint, with the labels of the exporter that made it. */
const lastPoll = parenthesized(`${lastAttempt}
== ${ON_ENDPOINT} group_left () max by (cluster, target, document) (${lastAttempt})`);

/** When each running exporter first loaded a configuration within a day. Its restarts and reloads are no new exporter. */
const firstLoad = parenthesized(`min_over_time(bridge_exporter_config_last_reload_success_timestamp_seconds[1d])
and bridge_exporter_config_last_reload_success_timestamp_seconds`);

const newestLoad = `max ${BY_JOB} ${firstLoad}`;

const hashOfNewest = `max ${BY_JOB} ${parenthesized(`bridge_exporter_config_hash
and ${ON_EXPORTER} ${parenthesized(`${firstLoad}\n== ${ON_JOB} group_left () ${newestLoad}`)}`)}`;

/** A rolling update, during which the old and the new exporter run. */
const OVERLAP_SECONDS = 600;

/** The endpoints that the exporter of their last poll does not have any more. */
const removedByReload = `${lastPoll}
and ${ON_EXPORTER} bridge_exporter_build_info`;

/** The endpoints whose exporter is gone, and that has a newer one with another configuration as successor. */
const removedBySuccessor = `${lastPoll} - ${OVERLAP_SECONDS}
< ${ON_JOB} group_left () ${newestLoad}
and ${ON_EXPORTER} ${parenthesized(`last_over_time(bridge_exporter_config_hash[1d])
!= ${ON_JOB} group_left () ${hashOfNewest}`)}
unless ${ON_JOB} bridge_exporter_shards > 1`;

const removed = `${parenthesized(`${removedByReload}\nor\n${removedBySuccessor}`)}
unless ${ON_ENDPOINT} bridge_exporter_polls_total`;

/** The configuration of an exporter, once it has been the same for an hour. */
const steadyHash = 'bridge_exporter_config_hash == bridge_exporter_config_hash offset 1h';

const steadyHashOfTarget = parenthesized(`bridge_exporter_polls_total * 0
+ ${ON_EXPORTER} group_left () max by (${EXPORTER}) (${steadyHash})`);

const targetsWithSeveralHashes = `max by (cluster, target) ${steadyHashOfTarget}
!= min by (cluster, target) ${steadyHashOfTarget}`;

export const exporterAlerts: readonly Alert[] = [
  exporterAlert({
    name: 'BridgeExporterAbsent',
    severity: 'critical',
    // Does not use `up`, because a job can be renamed or lose its targets. In a store of several clusters, it fires
    // for each cluster without an exporter; without any exporter in a day, it fires once without a label.
    description:
      'No exporter of the cluster has been scraped for 10 minutes, so no other alert of the bridge can fire.',
    expr: `group by (cluster) (last_over_time(bridge_exporter_build_info[1d]))
unless group by (cluster) (bridge_exporter_build_info)
or absent(last_over_time(bridge_exporter_build_info[1d]))`,
    forMinutes: 10,
    summary: 'No bridge-exporter is scraped.',
    action: 'Check that the exporter runs and that its scrape job has targets.',
    // Without any exporter, nothing is polled.
    inhibits: [{ alert: 'BridgeEndpointNotPolled' }],
  }),
  exporterAlert({
    name: 'BridgeExporterShardMissing',
    severity: 'critical',
    description:
      'Fewer shards of a job are scraped than `--targets.shard` says. The targets of a missing shard have no series, so no other alert fires for them.',
    expr: `count by (cluster, namespace, job) (group by (cluster, namespace, job, shard) (bridge_exporter_shard_info))
  < max by (cluster, namespace, job) (bridge_exporter_shards)`,
    forMinutes: 5,
    keepFiringMinutes: 5,
    summary: 'Only {{ $value }} shards of bridge-exporter are scraped in job {{ $labels.job }}.',
    action: 'Check that all shards run with the same --targets.shard count and are scraped.',
  }),
  exporterAlert({
    name: 'BridgeExporterConfigReloadFailed',
    severity: 'warning',
    // An hour is longer than a rolling update.
    description:
      'The last reload of the configuration failed, or exporters of the same target have had different configurations for an hour.',
    expr: `bridge_exporter_config_last_reload_successful == 0
or
${steadyHash}
and ${ON_EXPORTER} ${parenthesized(`bridge_exporter_polls_total
and on (cluster, target) ${parenthesized(targetsWithSeveralHashes)}`)}`,
    forMinutes: 5,
    keepFiringMinutes: 5,
    summary: 'The configuration of {{ $labels.instance }} is not the one that it should have.',
    action:
      'Correct the configuration that the log or --config.check rejects, reload all exporters of the target and compare their page /config.',
  }),
  exporterAlert({
    name: 'BridgeExporterRecorderFailing',
    severity: 'warning',
    // By default, a response of each endpoint is recorded every 5 minutes, so a full disk is within the range at any
    // time.
    description:
      'The recorder could not write responses in the last 15 minutes. Polls and metrics are not affected; the recording has a gap.',
    expr: 'increase(bridge_exporter_recording_failures_total[15m]) > 0',
    forMinutes: 10,
    summary: 'Exporter {{ $labels.instance }} cannot record responses.',
    action: 'Read the reason on the status page or in the log: the disk is full, slow, read-only or not mounted.',
  }),
  exporterAlert({
    name: 'BridgeEndpointNotPolled',
    severity: 'critical',
    // Fires for the targets of an exporter that is no longer scraped, hangs, or crashes before its first poll ends,
    // although other exporters run. A poll by any exporter of the cluster prevents it, so a renamed job or a new pod
    // does not fire it. The threshold is 10 minutes, because some configurations poll every few minutes. A target
    // that no exporter has any more was removed on purpose when the exporter of the last poll runs without it, or
    // when the newest exporter of the job, which started after that poll or at most ten minutes before it,
    // has another configuration. Those of shards always differ.
    description:
      'No exporter of the cluster has polled the document for 10 minutes, although one did within the last day and the target was not removed. No other alert on the document can fire.',
    expr: `time() - ${lastPoll} > 600
unless ${ON_ENDPOINT} ${parenthesized(removed)}`,
    forMinutes: 5,
    summary:
      '{{ $labels.target }}: no exporter has polled {{ $labels.document }} for {{ $value | humanizeDuration }}; the last was {{ $labels.instance }}.',
    action: 'Check that the exporter of this target runs, does not hang or crash, and is scraped.',
  }),
  exporterAlert({
    name: 'BridgeSnapshotStale',
    severity: 'warning',
    // 5 minutes, because a node that fails for both exporters does not fail at the same time.
    description: `The last successful poll of one of several exporters, or of a contract, is more than ${OUTDATED_SECONDS / 60} minutes old, or none has succeeded. Another exporter has a current copy, or only alerts on the contract are suspended.`,
    expr: `${outdatedExpr('')}\nand ${ON_ENDPOINT} ${CURRENT}\nor ${outdatedExpr('{document="external_contract"}')}`,
    forMinutes: 5,
    keepFiringMinutes: 5,
    summary: '{{ $labels.target }}: the data of {{ $labels.document }} is outdated in {{ $labels.instance }}.',
    action: 'Check the node of this exporter and the last failure on its status page.',
    inhibits: [{ alert: 'BridgeEndpointDown', equal: ['namespace', 'job', 'instance', 'target', 'document'] }],
    inhibitsData: true,
  }),
];

export const watchdogAlerts: readonly Alert[] = [
  exporterAlert({
    name: 'BridgeWatchdog',
    severity: 'none',
    group: 'bridge-watchdog',
    description: 'Always fires, as proof that alerting works end to end.',
    expr: 'vector(1)',
    summary: 'Alerting works end to end.',
    action: 'Route it to a service that raises an alarm when it stops arriving.',
  }),
];
