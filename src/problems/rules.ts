import { exporterRules, UNLESS_POLLED_BY_ANOTHER, watchdog, type ExporterRule } from './exporter-rules.js';
import { pollProblems, type PollProblem } from './polls.js';
import type { Problem, Severity } from './problem.js';
import { problems } from './problems.js';

/* The alert rules. The rule on a problem compares its age with its limit. */

export interface Rule extends Omit<ExporterRule, 'severity' | 'inhibits' | 'inhibitsDocument' | 'isOfCluster'> {
  readonly group: string;
  /** `none` only for the watchdog. */
  readonly severity: Severity | 'none';
  /** `keep_firing_for`: bridges gaps in the data, such as a restart. */
  readonly keepFiringMinutes: number;
  readonly dashboard: string;
  /** Labels besides the severity, to distinguish rules of an alert. */
  readonly labels: Readonly<Record<string, string>>;
  /** Absent for a rule that Prometheus judges. Its summary and action are those of `bridge_problem_info`. */
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

/** Problems with the same name and severity in several documents share a rule unless their limits differ. */
function hasOtherLimit({ name, severity, afterMinutes }: Problem): boolean {
  return problems.some(
    (other) => other.name === name && other.severity === severity && other.afterMinutes !== afterMinutes,
  );
}

function isFirstOfItsRule(problem: Problem): boolean {
  const { name, severity, afterMinutes } = problem;
  const first = problems.find(
    (other) => other.name === name && other.severity === severity && other.afterMinutes === afterMinutes,
  );
  return first === problem;
}

function createRule(problem: Problem | PollProblem): Rule {
  const { name, severity, afterMinutes, summary, description, action, dashboard } = problem;
  const document = 'document' in problem && hasOtherLimit(problem) ? problem.document : undefined;
  const matcher = document === undefined ? '' : `document="${document}",`;
  const problemMinutes = 'document' in problem ? KEEP_FIRING_MINUTES : KEEP_FIRING_OF_POLLS_MINUTES;
  const expr = `time() - bridge_problem_start_timestamp_seconds{${matcher}problem="${name}",severity="${severity}"} > ${afterMinutes * 60}`;
  return {
    name,
    severity,
    group: 'document' in problem ? groups[problem.document] : 'bridge-exporter',
    expr: name === 'BridgeSnapshotStale' ? `${expr}\n${UNLESS_POLLED_BY_ANOTHER}` : expr,
    forMinutes: 0,
    keepFiringMinutes: severity === 'info' ? 0 : problemMinutes,
    summary,
    description,
    action,
    dashboard,
    labels: document === undefined ? {} : { document },
    problem,
  };
}

/** All rules, in the order of prometheus/alerts.yml. */
export const rules: readonly Rule[] = [
  ...exporterRules.map((rule) => ({
    ...rule,
    group: 'bridge-exporter',
    keepFiringMinutes: KEEP_FIRING_OF_POLLS_MINUTES,
    dashboard: 'bridge-exporter',
    labels: {},
  })),
  ...pollProblems.map(createRule),
  ...problems.filter(isFirstOfItsRule).map(createRule),
  { ...watchdog, group: 'bridge-watchdog', keepFiringMinutes: 0, dashboard: 'bridge-exporter', labels: {} },
];
