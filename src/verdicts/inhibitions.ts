import type { AlertLabels, Severity } from './verdict.js';

/** A condition that includes another one, so that the other one is not worth a line. */
export interface Inhibition {
  readonly source: AlertMatcher;
  readonly target: AlertMatcher;
  /** The labels that both have in common, besides those of the endpoint. */
  readonly equal: readonly string[];
}

/** Matches alerts with these values; absent ones match any. */
export interface AlertMatcher {
  readonly alert?: string;
  readonly severity?: Severity;
}

export interface InhibitableAlert {
  readonly alert: string;
  readonly severity: Severity;
  readonly labels: AlertLabels;
}

/**
 * Those of prometheus/alertmanager.yml between conditions of one endpoint. An endpoint that is down inhibits nothing here: what was
 * wrong with its last data is still the best knowledge until the data is outdated.
 */
export const inhibitions: readonly Inhibition[] = [
  { source: { alert: 'BridgeSnapshotStale' }, target: { alert: 'BridgeEndpointDown' }, equal: [] },
  {
    source: { severity: 'critical' },
    target: { severity: 'warning' },
    equal: ['alertname', 'orchestrator', 'chain_id', 'list'],
  },
  {
    source: { alert: 'BridgeBacklogStuck', severity: 'critical' },
    target: { alert: 'BridgeBacklogHigh' },
    equal: [],
  },
  { source: { alert: 'BridgeBatchOverdue' }, target: { alert: 'BridgeBatchTimeoutNear' }, equal: [] },
  {
    source: { alert: 'BridgeOrchestratorDeadlineNear' },
    target: { alert: 'BridgeOrchestratorMissingConfirms' },
    equal: ['orchestrator'],
  },
  {
    source: { alert: 'CrosschainBacklogStuck' },
    target: { alert: 'CrosschainOldestPendingTooOld', severity: 'warning' },
    equal: ['chain_id'],
  },
  { source: { alert: 'CrosschainRateLimitExceeded' }, target: { alert: 'CrosschainRateLimitNear' }, equal: [] },
];

function matches(matcher: AlertMatcher, { alert, severity }: InhibitableAlert): boolean {
  return (matcher.alert ?? alert) === alert && (matcher.severity ?? severity) === severity;
}

/** Whether one of these firing alerts of the same endpoint inhibits another one. */
export function isInhibited(target: InhibitableAlert, firing: readonly InhibitableAlert[]): boolean {
  const labelOf = (alert: InhibitableAlert, label: string): string | undefined =>
    label === 'alertname' ? alert.alert : alert.labels[label];
  return inhibitions
    .filter((inhibition) => matches(inhibition.target, target))
    .some(({ source, equal }) =>
      firing.some(
        (other) =>
          other !== target &&
          matches(source, other) &&
          equal.every((label) => labelOf(other, label) === labelOf(target, label)),
      ),
    );
}
