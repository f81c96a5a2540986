import { judgedAlerts } from './memory.js';
import type { AlertLabels } from './verdict.js';

/** A firing alert, as inhibitions compare it. */
export interface InhibitableAlert {
  readonly alert: string;
  readonly severity: string;
  readonly labels: AlertLabels;
}

/** The labels that the critical and the warning form of an alert have in common when they are about the same subject. */
export const SUBJECT_LABELS = ['orchestrator', 'chain_id', 'list'] as const;

/**
 * Whether one of these firing alerts of the same endpoint inhibits another one. An endpoint that is down inhibits nothing here: what was
 * wrong with its last data is still the best knowledge until the data is outdated.
 */
export function isInhibited(target: InhibitableAlert, firing: readonly InhibitableAlert[]): boolean {
  return firing.some((source) => source !== target && (includes(source, target) || inhibits(source, target)));
}

function inhibits(source: InhibitableAlert, target: InhibitableAlert): boolean {
  const declared = judgedAlerts.find(({ name, severity }) => name === source.alert && severity === source.severity);
  return (declared?.inhibits ?? []).some(
    ({ alert, severity = target.severity, equal = [] }) =>
      alert === target.alert && severity === target.severity && haveEqual(equal, source, target),
  );
}

/** A critical alert includes the warning for the same subject. */
function includes(source: InhibitableAlert, target: InhibitableAlert): boolean {
  const isWarning = source.severity === 'critical' && target.severity === 'warning';
  return isWarning && source.alert === target.alert && haveEqual(SUBJECT_LABELS, source, target);
}

function haveEqual(labels: readonly string[], a: InhibitableAlert, b: InhibitableAlert): boolean {
  return labels.every((label) => a.labels[label] === b.labels[label]);
}
