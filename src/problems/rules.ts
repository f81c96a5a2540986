import { OUTDATED_SECONDS, pollProblems, snapshotStale, type PollProblem } from './polls.js';
import type { Inhibition, Problem, Severity } from './problem.js';
import { problems } from './problems.js';

/* The alert rules. The rule on a problem compares its age with its limit. */

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
  readonly inhibits?: readonly Inhibition[];
  /** As of a problem: nothing in the document is current. */
  readonly inhibitsDocument?: true;
  /** Whether it hides alerts of all exporters of the cluster. */
  readonly isOfCluster?: true;
}

const EXPORTER = 'cluster, namespace, job, instance';

export const exporterRules: readonly ExporterRule[] = [
  {
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
  },
  {
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
  },
  {
    name: 'BridgeExporterDown',
    severity: 'warning',
    expr: `up == 0 and on (${EXPORTER}) last_over_time(bridge_exporter_build_info[1d])`,
    forMinutes: 10,
    summary: 'Exporter {{ $labels.instance }} cannot be scraped.',
    description:
      'A scrape target that was a bridge-exporter within a day has been down for 10 minutes. Another one polls its targets, so only redundancy is lost.',
    action: 'Check that the exporter runs, and that Prometheus reaches it.',
  },
  {
    name: 'BridgeExporterShardMissing',
    severity: 'critical',
    expr: `count by (cluster, namespace, job) (group by (cluster, namespace, job, shard) (bridge_exporter_shard_info))
  < max by (cluster, namespace, job) (bridge_exporter_shards)`,
    forMinutes: 5,
    summary: 'Only {{ $value }} shards of bridge-exporter are scraped in job {{ $labels.job }}.',
    description:
      'Fewer shards of a job are scraped than `--targets.shard` says. The targets of a missing shard have no series, so no other alert fires for them.',
    action: 'Check that all shards run with the same --targets.shard count and are scraped.',
  },
  {
    name: 'BridgeExporterConfigReloadFailed',
    severity: 'warning',
    expr: 'bridge_exporter_config_last_reload_successful == 0',
    forMinutes: 5,
    summary: 'Exporter {{ $labels.instance }} could not load its configuration.',
    description: 'The last reload of the configuration failed; the one before stays active.',
    action: 'Correct the configuration that the log or --config.check rejects, and reload.',
  },
  {
    name: 'BridgeExporterRecorderFailing',
    severity: 'warning',
    expr: 'bridge_exporter_recorder_last_write_successful == 0',
    forMinutes: 10,
    summary: 'Exporter {{ $labels.instance }} cannot record responses.',
    description:
      'The recorder has not been able to write responses for 10 minutes. Polls and metrics are not affected; the recording has a gap.',
    action: 'Read the reason on the status page or in the log: the disk is full, slow, read-only or not mounted.',
  },
  {
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
    inhibits: [{ problem: 'BridgeSnapshotStale', equal: ['document'] }, ...(snapshotStale.inhibits ?? [])],
    inhibitsDocument: true,
  },
];

/**
 * Another exporter of the target has polled the document: then this exporter's failing polls are a warning
 * (BridgeEndpointDown).
 */
const unlessPolledByAnother = (limit: number): string => `unless on (cluster, target, document)
  time() - bridge_exporter_last_success_timestamp_seconds <= ${limit}`;

const watchdog = {
  name: 'BridgeWatchdog',
  severity: 'none',
  expr: 'vector(1)',
  forMinutes: 0,
  summary: 'Alerting works end to end.',
  description: 'Always fires, as proof that alerting works end to end.',
  action: 'Route it to a service that raises an alarm when it stops arriving.',
} as const;

export interface Rule
  extends
    Pick<ExporterRule, 'name' | 'expr' | 'forMinutes' | 'description'>,
    // A rule on a problem has those of `bridge_problem_info`.
    Partial<Pick<ExporterRule, 'summary' | 'action'>> {
  readonly group: string;
  /** `none` only for the watchdog. */
  readonly severity: Severity | 'none';
  /** `keep_firing_for`: bridges gaps in the data, such as a restart. */
  readonly keepFiringMinutes: number;
  readonly dashboard: string;
  /** Labels besides the severity, to distinguish rules of an alert. */
  readonly labels: Readonly<Record<string, string>>;
  /** Absent for a rule that Prometheus judges. */
  readonly problem?: Problem | PollProblem;
}

const groups = {
  module_state: 'bridge',
  external_contract: 'contract',
  rate_limiter_input: 'crosschain',
} as const;

/**
 * Bridges gaps in the data, until another alert fires: BridgeExporterAbsent, BridgeSnapshotStale and
 * BridgeEndpointNotPolled after 10 minutes.
 */
const KEEP_FIRING_MINUTES = 15;
/** Of alerts on the exporter and its polls. */
const KEEP_FIRING_OF_POLLS_MINUTES = 5;

const isSameAlert = (a: Problem, b: Problem): boolean => a.name === b.name && a.severity === b.severity;

/** Problems with the same name and severity in several documents share a rule unless their limits differ. */
const problemRules = problems.flatMap((problem) => {
  const same = problems.filter((other) => isSameAlert(problem, other));
  const inRule = same.filter(({ afterMinutes }) => afterMinutes === problem.afterMinutes);
  if (inRule[0] !== problem) return [];
  const labels = inRule.length < same.length ? { document: problem.document } : undefined;
  const { document, dashboard } = problem;
  return [createRule(problem, { group: groups[document], dashboard }, KEEP_FIRING_MINUTES, labels)];
});

function createRule(
  problem: Problem | PollProblem,
  { group, dashboard }: Pick<Rule, 'group' | 'dashboard'>,
  keepFiringMinutes: number,
  labels: Readonly<Record<string, string>> = {},
): Rule {
  const { name, severity, afterMinutes, description } = problem;
  const matchers = Object.entries({ ...labels, problem: name, severity }).map(
    ([label, value]) => `${label}="${value}"`,
  );
  const limit = afterMinutes * 60;
  const expr = `time() - bridge_problem_start_timestamp_seconds{${matchers.join(',')}} > ${limit}`;
  return {
    name,
    severity,
    group,
    expr: name === 'BridgeSnapshotStale' ? `${expr}\n${unlessPolledByAnother(limit)}` : expr,
    forMinutes: 0,
    keepFiringMinutes: severity === 'info' ? 0 : keepFiringMinutes,
    description,
    dashboard,
    labels,
    problem,
  };
}

const ofExporter = { group: 'bridge-exporter', dashboard: 'bridge-exporter' };

/** All rules, in the order of prometheus/alerts.yml. */
export const rules: readonly Rule[] = [
  ...exporterRules.map((rule) => ({
    ...rule,
    ...ofExporter,
    keepFiringMinutes: KEEP_FIRING_OF_POLLS_MINUTES,
    labels: {},
  })),
  ...pollProblems.map((problem) => createRule(problem, ofExporter, KEEP_FIRING_OF_POLLS_MINUTES)),
  ...problemRules,
  { ...watchdog, group: 'bridge-watchdog', keepFiringMinutes: 0, dashboard: 'bridge-exporter', labels: {} },
];
