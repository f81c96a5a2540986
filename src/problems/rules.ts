import { exporterRules, watchdog, type ExporterRule } from './exporter-rules.js';
import type { Problem } from './problem.js';
import { problems } from './problems.js';

/* The alert rules. The rule on a problem compares its age with its limit. */

export interface Rule extends Omit<ExporterRule, 'inhibits' | 'inhibitsDocument'> {
  readonly linksToPending: boolean;
  /** Labels besides the severity, to distinguish rules of an alert. */
  readonly labels: Readonly<Record<string, string>>;
  /** Absent for a rule that Prometheus judges. */
  readonly problem?: Problem;
}

const groupOf = {
  module_state: 'bridge',
  external_contract: 'contract',
  rate_limiter_input: 'crosschain',
} as const;

/** Bridges gaps in the data, until another alert fires: BridgeExporterAbsent and BridgeSnapshotStale after 10 minutes, BridgeEndpointNotPolled after 15. */
const KEEP_FIRING_MINUTES = 15;

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

const AGE = '{{ $value | humanizeDuration }}';

function ruleOf(problem: Problem): Rule {
  const {
    name,
    severity,
    document,
    afterMinutes,
    summary,
    description,
    action,
    dashboard,
    linksToPending,
    atPresent = '',
  } = problem;
  const isOfDocument = hasOtherLimit(problem);
  const matcher = isOfDocument ? `document="${document}",` : '';
  return {
    name,
    severity,
    group: groupOf[document],
    expr: `time() - bridge_problem_start_timestamp_seconds{${matcher}problem="${name}",severity="${severity}"} > ${afterMinutes * 60}`,
    forMinutes: 0,
    keepFiringMinutes: severity === 'info' ? 0 : KEEP_FIRING_MINUTES,
    summary: `{{ $labels.target }}: ${summary.replace(/\.$/, '')} (${atPresent}${problem.beginsAtLimit ? `past the limit for ${AGE}` : `began ${AGE} ago`}).`,
    description,
    action,
    dashboard,
    linksToPending,
    labels: isOfDocument ? { document } : {},
    problem,
  };
}

/** All rules, in the order of prometheus/alerts.yml. */
export const rules: readonly Rule[] = [
  ...exporterRules.map((rule) => ({ ...rule, linksToPending: false, labels: {} })),
  ...problems.filter(isFirstOfItsRule).map(ruleOf),
  { ...watchdog, linksToPending: false, labels: {} },
];
