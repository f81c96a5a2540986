import { BEHIND_SECONDS } from '../queries/node-status.js';
import { duration } from '../text/format.js';
import type { Severity } from '../problems/problem.js';
import type { TargetVerdicts, Verdict } from '../poll/verdicts.js';
import { sentenceText } from '../problems/sentence.js';
import { subjectLabels, type Subject } from '../problems/problem.js';
import { dashboardUrl, runbookUrl, type ExternalLinks } from './external-links.js';
import type { EndpointView } from './view.js';
import { isoTime } from './time.js';

/*
 * The verdicts of a target as the pages show them.
 */

export type TargetStatus = TargetVerdicts['status'];

/** Worst first. What cannot be judged may hide anything, so it comes before what may become an alert, or is only for the record. */
export const statuses = [
  'critical',
  'warning',
  'unknown',
  'pending',
  'info',
  'ok',
] as const satisfies readonly TargetStatus[];

export interface TargetView {
  readonly target: string;
  readonly status: TargetStatus;
  /** Why the target cannot be judged. */
  readonly unknown: readonly string[];
  /** The names of the problems that an endpoint has never had the fields for. */
  readonly notJudgedHere: readonly string[];
  /** Worst first. */
  readonly verdicts: readonly VerdictView[];
}

export type VerdictView = Readonly<ReturnType<typeof verdictView>>;

export function targetView(
  { target, status, unknown, verdicts, notJudgedHere }: TargetVerdicts,
  endpoints: readonly EndpointView[],
  links: ExternalLinks,
): TargetView {
  // A node that is behind is a verdict only when two judgements agree, but until then the target must not look healthy.
  const behind = status === 'ok' || status === 'info' ? endpoints.flatMap(nodeBehind) : [];
  return {
    target,
    status: behind.length > 0 ? 'unknown' : status,
    unknown: [...unknown, ...behind],
    notJudgedHere,
    verdicts: verdicts.map((verdict) => verdictView(verdict, links)),
  };
}

function nodeBehind({ document, node: { behindSeconds } }: EndpointView): readonly string[] {
  return behindSeconds === null || behindSeconds <= BEHIND_SECONDS
    ? []
    : [`the node of ${document} is ${duration(behindSeconds)} behind`];
}

function verdictView({ target, startSeconds, firesAtSeconds, ...verdict }: Verdict, links: ExternalLinks) {
  const isFiring = verdict.state === 'firing';
  return {
    ...verdict,
    /** The sentence as text. */
    summary: sentenceText(verdict.sentence),
    /** ISO 8601. */
    since: isoTime(startSeconds),
    /** When it fires at the latest, unless it ends before, ISO 8601; `null` while it fires. */
    firesAt: isFiring ? null : isoTime(firesAtSeconds),
    firesInSeconds: isFiring ? null : firesAtSeconds - startSeconds - verdict.ageSeconds,
    runbook: runbookUrl(links, verdict.alert),
    /** `null` unless `links.dashboards` is configured. */
    dashboard: dashboardUrl(links, verdict.alert, target),
  };
}

export function worstTargetFirst<Target extends TargetView>(targets: readonly Target[]): readonly Target[] {
  return targets.toSorted((a, b) => statuses.indexOf(a.status) - statuses.indexOf(b.status));
}

/** Without those that another one inhibits. */
export function firingVerdicts({ verdicts }: TargetView): readonly VerdictView[] {
  return verdicts.filter(({ state, inhibitedBy }) => state === 'firing' && inhibitedBy === null);
}

/** The severity of the worst firing verdict about one of these alerts, inhibited or not. A label that an alert has must have the given value. */
export function severityOf(
  { verdicts }: TargetView,
  alerts: readonly string[],
  labels: Subject = {},
): Severity | undefined {
  const matches = (subject: Subject): boolean =>
    subjectLabels.every(
      (name) => labels[name] === undefined || subject[name] === undefined || labels[name] === subject[name],
    );
  return verdicts.find(({ state, alert, subject }) => state === 'firing' && alerts.includes(alert) && matches(subject))
    ?.severity;
}
