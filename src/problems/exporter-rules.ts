import { OUTDATED_MS } from '../config/config.js';
import type { Severity } from './problem.js';

/* The alerts that Prometheus judges: missing exporters, failing polls, and funds. */

/** An alert on the exporter, in at most five lines of PromQL. */
export interface ExporterRule {
  readonly name: string;
  /** `none` only for the watchdog. */
  readonly severity: Severity | 'none';
  readonly group: string;
  readonly expr: string;
  /** `for`: tolerates short failures. */
  readonly forMinutes: number;
  /** `keep_firing_for`: bridges gaps in the data, such as a restart. */
  readonly keepFiringMinutes: number;
  /** A template that begins with the target of an alert about a target. */
  readonly summary: string;
  readonly description: string;
  readonly action: string;
  readonly dashboard: string;
  readonly inhibits: readonly { readonly problem: string; readonly equal: readonly string[] }[];
  /** As of a problem: nothing in the document is current. */
  readonly inhibitsDocument: boolean;
}

type Optional = 'group' | 'forMinutes' | 'keepFiringMinutes' | 'dashboard' | 'inhibits' | 'inhibitsDocument';

function rule<Level extends ExporterRule['severity']>(
  declaration: Omit<ExporterRule, Optional> & Partial<Pick<ExporterRule, Optional>> & { readonly severity: Level },
): ExporterRule & { readonly severity: Level } {
  return {
    group: 'bridge-exporter',
    forMinutes: 0,
    keepFiringMinutes: 5,
    dashboard: 'bridge-exporter',
    inhibits: [],
    inhibitsDocument: false,
    ...declaration,
  };
}

export const OUTDATED_SECONDS = OUTDATED_MS / 1000;
/** How long a problem is unjudged until the alert fires. */
export const UNJUDGED_SECONDS = 600;
/** Share of `poll.max_body_size` from which on a response is near it. */
export const SIZE_RATIO = 0.8;
export const MISCONFIGURED_REASONS = ['bad_request', 'unauthorized'] as const;
export const SIZE_REASONS = ['too_large', 'response_too_large_upstream'] as const;

/** The time since the last success, else since the endpoint was added. */
const WITHOUT_SUCCESS =
  'time() - (bridge_exporter_last_success_timestamp_seconds or bridge_exporter_endpoint_added_timestamp_seconds)';
const ON_ENDPOINT = 'on (cluster, target, document)';
const CURRENT = `time() - bridge_exporter_last_success_timestamp_seconds <= ${OUTDATED_SECONDS}`;
const NOT_SERVED = 'bridge_exporter_document_not_served == 1 and on (cluster, target) bridge_exporter_up == 1';
const THE_POLLS = '{{ $labels.target }}: polls of {{ $labels.document }}';
const ENDPOINT = ['namespace', 'job', 'instance', 'target', 'document'];

/** Consequences of outdated data. */
const FAILING = [
  { problem: 'BridgeEndpointDown', equal: ENDPOINT },
  { problem: 'BridgeEndpointMisconfigured', equal: ENDPOINT },
];
const COMPARE_FIELDS =
  'Compare the fields that the status page names with the response of the node; bridge_exporter_invalid_values_total counts those with a wrong type.';

/** The rules on polls that the exporter also judges, for pages and the log (`engine/endpoint-conditions.ts`). */
export const endpointRules = {
  seriesDropped: rule({
    name: 'BridgeExporterSeriesDropped',
    severity: 'warning',
    expr: 'bridge_exporter_series_dropped > 0',
    forMinutes: 15,
    keepFiringMinutes: 15,
    summary: '{{ $labels.target }}: {{ $value }} series of {{ $labels.family }} exceed limits.max_series_per_family.',
    description:
      'A metric has more series than `limits.max_series_per_family`. The others are dropped, or added up in one series whose labels read `other`.',
    action: 'Raise limits.max_series_per_family.',
  }),
  stale: rule({
    name: 'BridgeSnapshotStale',
    severity: 'critical',
    // An exporter that is down has no series. Without another exporter, BridgeExporterAbsent fires.
    expr: `(${WITHOUT_SUCCESS.replaceAll('_seconds', '_seconds{document!="external_contract"}')} > ${OUTDATED_SECONDS}
  or time() - last_over_time(bridge_exporter_last_success_timestamp_seconds{document!="external_contract"}[1d]) > ${OUTDATED_SECONDS}
  and on (cluster, namespace, job, instance) up == 0 and on (cluster) bridge_exporter_build_info)
unless ${ON_ENDPOINT} ${CURRENT}
unless ${ON_ENDPOINT} (${NOT_SERVED})`,
    summary: `${THE_POLLS} have not succeeded for {{ $value | humanizeDuration }}.`,
    description:
      'No exporter has polled the document successfully for 10 minutes, or ever since it was added; or the only exporter that polls it is down. No other alert on the document can fire.',
    action:
      'Check that the exporter runs. The status page of the exporter has the last failure: check the node that it names. Until a poll succeeds, this part of the bridge is not monitored.',
    inhibits: FAILING,
    inhibitsDocument: true,
  }),
  staleOrNotServed: rule({
    name: 'BridgeSnapshotStale',
    severity: 'warning',
    expr: `${NOT_SERVED}
or ${WITHOUT_SUCCESS} > ${OUTDATED_SECONDS} and ${ON_ENDPOINT} ${CURRENT}
or ${WITHOUT_SUCCESS.replaceAll('_seconds', '_seconds{document="external_contract"}')} > ${OUTDATED_SECONDS}`,
    // A node that fails for both exporters does not fail at the same time.
    forMinutes: 5,
    summary: `{{ $labels.target }}: {{ if eq $value 1.0 }}the node does not serve {{ $labels.document }}{{ else }}polls of {{ $labels.document }} have not succeeded for {{ $value | humanizeDuration }} in {{ $labels.instance }}{{ end }}.`,
    description:
      'Polls of one exporter (others succeed), or of the contract, have failed for 10 minutes; or the node has never served this document of the target, only the other one.',
    action:
      'If the node does not serve the document, remove crosschain or bridge from the target (without a file: set CROSSCHAIN_URL or BRIDGE_URL to an empty value). Otherwise check the node of this exporter and the last failure on its status page.',
    inhibits: FAILING,
    inhibitsDocument: true,
  }),
  misconfigured: rule({
    name: 'BridgeEndpointMisconfigured',
    severity: 'warning',
    expr: `increase(bridge_exporter_poll_failures_total{reason=~"${MISCONFIGURED_REASONS.join('|')}"}[10m]) > 1
and ignoring (reason) bridge_exporter_up == 0`,
    forMinutes: 2,
    summary:
      '{{ $labels.target }}: {{ $labels.document }} is misconfigured: polls fail with reason {{ $labels.reason }}.',
    description:
      'Polls of the last 10 minutes failed with reason `bad_request` or `unauthorized`, and none has succeeded since.',
    action:
      'Correct what the last failure on the status page names: the configuration, the credentials, or what in front of the node refuses this machine.',
    inhibits: [{ problem: 'BridgeEndpointDown', equal: ENDPOINT }],
  }),
  down: rule({
    name: 'BridgeEndpointDown',
    severity: 'warning',
    expr: `bridge_exporter_up == 0
unless (${NOT_SERVED})`,
    forMinutes: 3,
    summary: `${THE_POLLS} fail.`,
    description:
      'Every poll fails. BridgeSnapshotStale is the critical alert, once the data is outdated, and the warning about a document that the node has never served.',
    action: 'Check the node and the way to it; the reason of the last failure on the status page says where.',
    inhibitsDocument: true,
  }),
  nearLimit: rule({
    name: 'BridgeResponseNearLimit',
    severity: 'warning',
    expr: `bridge_exporter_response_size_bytes / bridge_exporter_response_size_limit_bytes > ${SIZE_RATIO}
or increase(bridge_exporter_poll_failures_total{reason=~"${SIZE_REASONS.join('|')}"}[10m]) > 0`,
    forMinutes: 5,
    keepFiringMinutes: 10,
    summary:
      '{{ $labels.target }}: a response of {{ $labels.document }} {{ if lt $value 1.0 }}has {{ $value | humanizePercentage }} of its size limit{{ else }}was refused for its size{{ end }}.',
    description:
      'A response is larger than 80 % of `poll.max_body_size`, or one was refused for its size, here or by the node, within 10 minutes. Above the limit every poll fails.',
    action: 'Raise poll.max_body_size or the limit of the node, then reduce the backlog.',
  }),
  unjudgedCritical: rule({
    name: 'BridgeProblemUnjudged',
    severity: 'critical',
    expr: `time() - bridge_problem_unjudged_start_timestamp_seconds{severity="critical"} > ${UNJUDGED_SECONDS}`,
    summary: '{{ $labels.target }}: {{ $labels.problem }} was found, and can no longer be judged.',
    description:
      'A critical problem was there, and for 10 minutes it cannot be judged, because a field that it reads is missing or invalid.',
    action: `Go on as if it were still there. ${COMPARE_FIELDS}`,
  }),
  unjudged: rule({
    name: 'BridgeProblemUnjudged',
    severity: 'warning',
    expr: `time() - bridge_problem_unjudged_start_timestamp_seconds{severity!="critical"} > ${UNJUDGED_SECONDS}`,
    summary: '{{ $labels.target }}: {{ $labels.problem }} cannot be judged.',
    description:
      'A problem that could be judged before cannot be for 10 minutes, because a field that it reads is missing or invalid, or a query is not answered. Its alert cannot fire.',
    action: COMPARE_FIELDS,
  }),
} as const;

export const exporterRules: readonly ExporterRule[] = [
  rule({
    name: 'BridgeExporterAbsent',
    severity: 'critical',
    // Without `up`, because a job can be renamed or lose its targets. Without an exporter in a day, it fires once without a label.
    expr: `(group by (cluster) (last_over_time(bridge_exporter_build_info[1d])) unless group by (cluster) (bridge_exporter_build_info))
or absent(last_over_time(bridge_exporter_build_info[1d]))`,
    forMinutes: 10,
    summary: 'No bridge-exporter of the cluster is scraped.',
    description:
      'No exporter of a cluster that had one within a day has been scraped for 10 minutes, or none at all within a day. No other alert of the bridge can fire.',
    action: 'Check that the exporter runs and that its scrape job has targets.',
    inhibits: [{ problem: 'BridgeExporterDown', equal: [] }],
  }),
  rule({
    name: 'BridgeExporterDown',
    severity: 'warning',
    expr: `up == 0
and on (cluster, namespace, job, instance) last_over_time(bridge_exporter_build_info[1d])`,
    forMinutes: 10,
    summary: 'Exporter {{ $labels.instance }} cannot be scraped.',
    description:
      'A scrape target that was a bridge-exporter within a day has been down for 10 minutes. If another one polls its targets, only redundancy is lost; otherwise BridgeSnapshotStale is the critical alert.',
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
    // By default, a response of each endpoint is recorded every 5 minutes, well within the range.
    expr: 'increase(bridge_exporter_recording_failures_total[15m]) > 0',
    forMinutes: 10,
    summary: 'Exporter {{ $labels.instance }} cannot record responses.',
    description:
      'The recorder could not write responses in the last 15 minutes. Polls and metrics are not affected; the recording has a gap.',
    action: 'Read the reason on the status page or in the log: the disk is full, slow, read-only or not mounted.',
  }),
  endpointRules.seriesDropped,
  rule({
    name: 'BridgeEndpointNotPolled',
    severity: 'critical',
    expr: 'time() - bridge_exporter_last_attempt_timestamp_seconds{document!="external_contract"} > 900',
    summary:
      '{{ $labels.target }}: exporter {{ $labels.instance }} has not polled {{ $labels.document }} for {{ $value | humanizeDuration }}.',
    description:
      'The exporter is scraped, and has not polled the document for 15 minutes: it hangs, or is far too slow. This exporter judges nothing of the document meanwhile.',
    action:
      'Save the log of the exporter, then restart it. BridgeSnapshotStale fires as well unless another exporter polls the document.',
    inhibits: [{ problem: 'BridgeSnapshotStale', equal: ENDPOINT }],
    inhibitsDocument: true,
  }),
  endpointRules.stale,
  endpointRules.staleOrNotServed,
  endpointRules.misconfigured,
  endpointRules.down,
  endpointRules.nearLimit,
  endpointRules.unjudgedCritical,
  endpointRules.unjudged,
  rule({
    name: 'BridgeWatchedOrchestratorFundsLow',
    severity: 'warning',
    group: 'bridge',
    expr: `bridge_watched_orchestrator_balance_amount == 0
or bridge_watched_orchestrator_balance_amount
  < ignoring (orchestrator, name, denom) group_left () bridge_watched_orchestrator_balance_limit_amount
or bridge_watched_orchestrator_balance_amount
  < (max_over_time(bridge_watched_orchestrator_balance_amount[3d]) - bridge_watched_orchestrator_balance_amount) / 3`,
    forMinutes: 15,
    keepFiringMinutes: 15,
    summary:
      '{{ $labels.target }}: your validator {{ or $labels.name $labels.orchestrator }} has {{ $value }} {{ $labels.denom }} left, in smallest units.',
    description:
      'The balance of an orchestrator of `watch` is 0, is below `watch_min_balance`, or lasts less than a day at the rate of the last 3 days.',
    action:
      'Send coins of the hub to the orchestrator; without them it neither signs nor votes, and the validator is jailed.',
    dashboard: 'bridge-validator',
  }),
];

export const watchdog: ExporterRule = rule({
  name: 'BridgeWatchdog',
  severity: 'none',
  group: 'bridge-watchdog',
  keepFiringMinutes: 0,
  expr: 'vector(1)',
  summary: 'Alerting works end to end.',
  description: 'Always fires, as proof that alerting works end to end.',
  action: 'Route it to a service that raises an alarm when it stops arriving.',
});
