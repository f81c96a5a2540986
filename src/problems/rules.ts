import { exporterRules, UNLESS_POLLED_BY_ANOTHER, watchdog, type ExporterRule } from './exporter-rules.js';
import { pollProblems, type PollProblem } from './polls.js';
import type { Problem, Severity } from './problem.js';
import { problems } from './problems.js';

/* The alert rules. The rule on a problem compares its age with its limit. */

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
  const ofRule = same.filter(({ afterMinutes }) => afterMinutes === problem.afterMinutes);
  if (ofRule[0] !== problem) return [];
  const labels = ofRule.length < same.length ? { document: problem.document } : undefined;
  return [createRule(problem, groups[problem.document], KEEP_FIRING_MINUTES, labels)];
});

function createRule(
  problem: Problem | PollProblem,
  group: string,
  keepFiringMinutes: number,
  labels: Readonly<Record<string, string>> = {},
): Rule {
  const { name, severity, afterMinutes, description, dashboard } = problem;
  const matchers = Object.entries({ ...labels, problem: name, severity }).map(
    ([label, value]) => `${label}="${value}"`,
  );
  const expr = `time() - bridge_problem_start_timestamp_seconds{${matchers.join(',')}} > ${afterMinutes * 60}`;
  return {
    name,
    severity,
    group,
    expr: name === 'BridgeSnapshotStale' ? `${expr}\n${UNLESS_POLLED_BY_ANOTHER}` : expr,
    forMinutes: 0,
    keepFiringMinutes: severity === 'info' ? 0 : keepFiringMinutes,
    description,
    dashboard,
    labels,
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
  ...pollProblems.map((problem) => createRule(problem, 'bridge-exporter', KEEP_FIRING_OF_POLLS_MINUTES)),
  ...problemRules,
  { ...watchdog, group: 'bridge-watchdog', keepFiringMinutes: 0, dashboard: 'bridge-exporter', labels: {} },
];
