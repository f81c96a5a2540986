import type { DocumentName } from '../documents.js';
import { ageSeconds, type Instant } from '../poll/clock.js';
import type { Severity } from '../alerts/alert.js';
import type { TargetVerdicts, Verdict } from '../alerts/judge.js';
import type { AlertLabels } from '../alerts/view.js';
import { dashboardUrl, runbookUrl, type ExternalLinks } from './external-links.js';
import type { EndpointView } from './endpoint-view.js';
import { ago, isoTime } from './time.js';

/*
 * View models of the verdicts, for the pages and the JSON of `/pending`.
 */

export type TargetStatus = TargetVerdicts['status'];

/** Worst first. What cannot be judged may hide anything, so it comes before what is only for the record. */
export const statuses = ['critical', 'warning', 'unknown', 'info', 'ok'] as const satisfies readonly TargetStatus[];

export interface TargetView {
  readonly target: string;
  readonly status: TargetStatus;
  /** Why the target cannot be judged. */
  readonly unknown: readonly string[];
  /** ISO 8601; `null` before the first poll. */
  readonly observedSince: string | null;
  readonly observedSeconds: number | null;
  /** Worst first. */
  readonly verdicts: readonly VerdictView[];
}

export interface VerdictView {
  readonly alert: string;
  readonly severity: Severity;
  readonly state: Verdict['state'];
  readonly document: DocumentName;
  /** ISO 8601. */
  readonly since: string;
  readonly ageSeconds: number;
  /** When it fires at the latest, unless it ends before, ISO 8601; `null` while it fires. */
  readonly firesAt: string | null;
  /** The labels of each alert that it corresponds to: one per validator, chain or field. */
  readonly subjects: readonly AlertLabels[];
  readonly summary: string;
  readonly action: string;
  readonly runbook: string;
  /** `null` unless `links.dashboards` is configured. */
  readonly dashboard: string | null;
}

export function targetViews(
  targets: readonly TargetVerdicts[],
  endpoints: readonly EndpointView[],
  links: ExternalLinks,
  now: Instant,
): readonly TargetView[] {
  const failures = failuresByTarget(endpoints);
  return targets.map(({ target, status, unknown, verdicts, observedSince }) => {
    // An endpoint that fails for less time than its alert requires is no verdict, but the target must not look healthy.
    const failing = status === 'ok' ? (failures.get(target) ?? []) : [];
    return {
      target,
      status: failing.length > 0 ? 'unknown' : status,
      unknown: [...unknown, ...failing],
      observedSince: observedSince ? isoTime(observedSince.epochSeconds) : null,
      observedSeconds: observedSince ? ageSeconds(observedSince, now) : null,
      verdicts: verdicts.map((verdict) => verdictView(verdict, links, now)),
    };
  });
}

function failuresByTarget(endpoints: readonly EndpointView[]): ReadonlyMap<string, readonly string[]> {
  const failures = new Map<string, string[]>();
  for (const { target, document, up, lastFailure } of endpoints) {
    if (up !== false || lastFailure === null) continue;
    const text = `the last poll of ${document} failed ${ago(lastFailure.ageSeconds)} (${lastFailure.reason})`;
    failures.set(target, [...(failures.get(target) ?? []), text]);
  }
  return failures;
}

function verdictView(verdict: Verdict, links: ExternalLinks, now: Instant): VerdictView {
  const { target, alert, severity, state, document, since, firesAt, subjects, summary, action } = verdict;
  return {
    alert,
    severity,
    state,
    document,
    since: isoTime(since.epochSeconds),
    ageSeconds: ageSeconds(since, now),
    firesAt: state === 'firing' ? null : isoTime(firesAt.epochSeconds),
    subjects,
    summary,
    action,
    runbook: runbookUrl(links, alert),
    dashboard: dashboardUrl(links, alert, target),
  };
}

/** The target with the worst status, the first one if there are several. */
export function worstTarget(targets: readonly TargetView[]): TargetView | undefined {
  return targets.toSorted((a, b) => statuses.indexOf(a.status) - statuses.indexOf(b.status))[0];
}

export function firingVerdicts({ verdicts }: TargetView): readonly VerdictView[] {
  return verdicts.filter(({ state }) => state === 'firing');
}

/** The severity of the worst firing verdict about one of these alerts. A label that an alert has must have the given value. */
export function severityOf(
  target: TargetView | undefined,
  alerts: readonly string[],
  labels: AlertLabels = {},
): Severity | undefined {
  if (target === undefined) return undefined;
  const matches = (subject: AlertLabels): boolean =>
    Object.entries(labels).every(([name, value]) => (subject[name] ?? value) === value);
  return firingVerdicts(target).find(({ alert, subjects }) => alerts.includes(alert) && subjects.some(matches))
    ?.severity;
}
