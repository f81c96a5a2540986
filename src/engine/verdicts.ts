import { isoTime, wallSeconds, type Moment } from '../clock.js';
import type { DocumentName } from '../document-types.js';
import { documents } from '../documents.js';
import { groupBy } from '../facts/grouping.js';
import type { PresentProblem } from '../problems/memory.js';
import { severities, subjectLabels, type FoundValidator, type Severity, type Subject } from '../problems/problem.js';
import { problemNames, warningsHidingCritical, type ProblemName } from '../problems/problems.js';
import { endpointRules } from '../problems/exporter-rules.js';
import { withAge, type Sentence } from '../problems/sentence.js';
import {
  endpointConditions,
  PENDING_SHARE,
  SHOWN_AFTER_SECONDS,
  unjudgedConditions,
  withoutSuccess,
} from './endpoint-conditions.js';
import { exportedSuccess, isDocumentNotServed, lastPollSucceeded, type EndpointState } from './endpoint-state.js';

/* The problems of a target at a point in time, for the pages, the log and `once`, with the starts and limits of the alerts. */

/** A problem at a point in time. */
export interface Verdict {
  readonly target: string;
  readonly document: DocumentName;
  /** The name of the problem and of its alert. */
  readonly alert: string;
  readonly severity: Severity;
  /** `firing` when the age has reached the limit, else `pending`. */
  readonly state: 'firing' | 'pending';
  /** Unix seconds. */
  readonly startSeconds: number;
  readonly ageSeconds: number;
  /** Whether it may have begun before `startSeconds`. */
  readonly mayBeOlder: boolean;
  /** The time from which on it fires, if it lasts, in Unix seconds. */
  readonly firesAtSeconds: number;
  readonly subject: Subject;
  readonly validators: readonly FoundValidator[];
  /** The alert of its cause, if there is one. A cause has no cause. */
  readonly inhibitedBy: string | null;
  readonly sentence: Sentence;
  /** The first thing to do, about its cause if there is one. */
  readonly action: string;
}

/** Worst first. An unknown status may hide anything, so it comes before `pending` and `info`. */
export const statuses = ['critical', 'warning', 'unknown', 'pending', 'info', 'ok'] as const;
export type TargetStatus = (typeof statuses)[number];

export interface TargetVerdicts {
  readonly target: string;
  /**
   * The severity of the worst firing problem, if it is `critical` or `warning`. Otherwise `unknown` when an endpoint was never polled or its data is
   * outdated, `pending` when a problem is not firing yet, `info`, or `ok`.
   */
  readonly status: TargetStatus;
  /** Why the target cannot be judged; empty otherwise. */
  readonly unknown: readonly string[];
  /** The worst firing verdict of the last document of each endpoint with outdated data. */
  readonly lastKnown: readonly LastKnown[];
  /** Worst first, verdicts with a cause last. */
  readonly verdicts: readonly Verdict[];
  /** The names of problems whose fields an endpoint has never had. */
  readonly notJudgedHere: readonly string[];
}

/** A verdict at the last success of an endpoint. */
interface LastKnown extends Pick<Verdict, 'document' | 'alert' | 'severity'> {
  /** ISO 8601. */
  readonly at: string;
  readonly headline: string;
}

/** A verdict with the problem, which says what it inhibits. */
interface Judged extends Verdict {
  readonly problem: PresentProblem['problem'];
}

/** The verdicts of all targets, in the order of the endpoints. */
export function verdictsOf(states: readonly EndpointState[], now: Moment): readonly TargetVerdicts[] {
  const byTarget = groupBy(states, ({ target }) => target);
  return Array.from(byTarget, ([target, ofTarget]) => targetVerdicts(target, ofTarget, now));
}

function targetVerdicts(target: string, states: readonly EndpointState[], now: Moment): TargetVerdicts {
  const hasOtherSucceeded = states.some(lastPollSucceeded);
  const isMissingOnNode = (state: EndpointState): boolean => hasOtherSucceeded && isDocumentNotServed(state);
  const conditions = states.flatMap((state) => conditionsOf(state, now, isMissingOnNode(state)));
  const verdicts = withCauses([...conditions, ...states.flatMap((state) => problemsOf(state, now))]);
  const unknown = states.flatMap((state) =>
    documents[state.document].isOptional || isMissingOnNode(state) || exportedSuccess(state, now.at) !== undefined
      ? []
      : [withoutSuccess(state, now.at)],
  );
  const [worst] = verdicts;
  const isFiring = worst?.state === 'firing' && worst.severity !== 'info';
  const rest = worst === undefined ? 'ok' : worst.state === 'pending' ? 'pending' : worst.severity;
  return {
    target,
    status: isFiring ? worst.severity : unknown.length > 0 ? 'unknown' : rest,
    unknown,
    lastKnown: states.flatMap((state) => lastKnownOf(state, now)),
    verdicts,
    notJudgedHere: Array.from(
      new Set(states.flatMap((state) => exportedSuccess(state, now.at)?.snapshot.judgement.notJudgedHere ?? [])),
    ),
  };
}

/** There is no data since then: the problem may have ended. */
function lastKnownOf(state: EndpointState, now: Moment): readonly LastKnown[] {
  const { lastSuccess } = state;
  if (lastSuccess === undefined || exportedSuccess(state, now.at) !== undefined) return [];
  const [worst] = firingVerdicts({ verdicts: withCauses(problemsOf(state, { ...now, at: lastSuccess.at })) });
  if (worst === undefined || isNote(worst)) return [];
  const { document, alert, severity, sentence } = worst;
  return [{ document, alert, severity, at: isoTime(wallSeconds(lastSuccess.at, now)), headline: sentence.headline }];
}

function conditionsOf(state: EndpointState, now: Moment, isMissingOnNode: boolean): readonly Judged[] {
  const { unjudged = [] } = exportedSuccess(state, now.at)?.snapshot.judgement ?? {};
  const conditions = [
    ...endpointConditions(state, now.at, isMissingOnNode),
    ...unjudgedConditions(state, unjudged, now.at),
  ];
  const verdicts = conditions.map((condition) => verdictOf(state, condition, now));
  // The target is judged without its optional documents, so that a single failed poll of them is not shown.
  return documents[state.document].isOptional ? verdicts.filter(isShown) : verdicts;
}

function problemsOf(state: EndpointState, now: Moment): readonly Judged[] {
  const { present = [] } = exportedSuccess(state, now.at)?.snapshot.judgement ?? {};
  return present.map((problem) => verdictOf(state, problem, now)).filter(isShown);
}

function verdictOf({ target, document }: EndpointState, present: PresentProblem, now: Moment): Judged {
  const { problem, isProven, limitSeconds, subject, sentence, action, validators } = present;
  const age = Math.max(0, now.at - present.startSeconds);
  const startSeconds = wallSeconds(present.startSeconds, now);
  return {
    target,
    document,
    alert: problem.name,
    severity: problem.severity,
    state: age >= limitSeconds ? 'firing' : 'pending',
    startSeconds,
    ageSeconds: age,
    mayBeOlder: !isProven,
    firesAtSeconds: startSeconds + limitSeconds,
    subject,
    validators,
    sentence: withAge(sentence, age, isProven),
    action,
    inhibitedBy: null,
    problem,
  };
}

/** Notes, and problems that may end soon, are not shown before they fire. */
function isShown({ state, severity, ageSeconds, startSeconds, firesAtSeconds }: Judged): boolean {
  const least = Math.max((firesAtSeconds - startSeconds) * PENDING_SHARE, SHOWN_AFTER_SECONDS);
  return state === 'firing' || (severity !== 'info' && ageSeconds >= least);
}

/** Whether a problem hides another problem of its target. */
function inhibits({ problem, alert, severity, document, subject }: Judged, other: Judged): boolean {
  if (severity === 'info') return false;
  if (alert === other.alert && document === other.document) {
    // What cannot be judged is critical and a warning for different problems.
    if (alert === endpointRules.unjudged.name) return false;
    return severity === 'critical' && other.severity === 'warning' && haveEqual(subjectLabels, subject, other.subject);
  }
  const isCauseOfAll = problem.inhibitsDocument && document === other.document && problemNames.has(other.alert);
  const isHiddenByWarning = other.severity !== 'critical' && !warningsHidingCritical.has(other.alert);
  if (isCauseOfAll && (severity === 'critical' || isHiddenByWarning)) return true;
  return problem.inhibits.some(
    (inhibition) =>
      inhibition.problem === other.alert &&
      (inhibition.severity === undefined || inhibition.severity === other.severity) &&
      !(inhibition.exceptWatched === true && other.subject.watched === 'true') &&
      haveEqual(inhibition.equal ?? [], { ...subject, document }, { ...other.subject, document: other.document }),
  );
}

function haveEqual<Label extends string>(
  labels: readonly Label[],
  a: Readonly<Partial<Record<Label, string>>>,
  b: Readonly<Partial<Record<Label, string>>>,
): boolean {
  return labels.every((label) => a[label] === b[label]);
}

/** The order of the pages: firing, then pending, notes last. Equal verdicts keep their order: conditions, then problems in the order of `problems`. */
function worstFirst(a: Verdict, b: Verdict): number {
  return (
    Number(a.inhibitedBy !== null) - Number(b.inhibitedBy !== null) ||
    Number(isNote(a)) - Number(isNote(b)) ||
    Number(a.state !== 'firing') - Number(b.state !== 'firing') ||
    severities.indexOf(a.severity) - severities.indexOf(b.severity)
  );
}

/** A note is for the record and no problem. */
export function isNote({ severity, state }: Pick<Verdict, 'severity' | 'state'>): boolean {
  return severity === 'info' && state === 'firing';
}

/** Whether the critical form of the same problem fires. */
function isIncluded(verdict: Judged, all: readonly Judged[]): boolean {
  return all.some(
    (form) => form.alert === verdict.alert && form.state === 'firing' && form !== verdict && inhibits(form, verdict),
  );
}

/** The cause that has no cause. A pending verdict is not the cause of a firing verdict. */
function causeOf(verdict: Judged, all: readonly Judged[], seen: readonly Judged[] = []): Judged | undefined {
  const cause = all.find(
    (candidate) =>
      candidate !== verdict &&
      !seen.includes(candidate) &&
      (candidate.state === 'firing' || verdict.state !== 'firing') &&
      inhibits(candidate, verdict),
  );
  return cause && (causeOf(cause, all, [...seen, verdict]) ?? cause);
}

function withCauses(judged: readonly Judged[]): readonly Verdict[] {
  const all = judged.filter((verdict) => !isIncluded(verdict, judged));
  return (
    all
      .map((effect): Verdict => {
        const { problem: _problem, ...verdict } = effect;
        const cause = causeOf(effect, all);
        return cause ? { ...verdict, inhibitedBy: cause.alert, action: `Begin with ${cause.alert}.` } : verdict;
      })
      // A pending verdict says nothing beside its firing cause.
      .filter(({ inhibitedBy, state }) => inhibitedBy === null || state === 'firing')
      .toSorted(worstFirst)
  );
}

export function worstTargetFirst<Target extends { readonly status: TargetStatus }>(
  targets: readonly Target[],
): readonly Target[] {
  return targets.toSorted((a, b) => statuses.indexOf(a.status) - statuses.indexOf(b.status));
}

/** The firing verdicts that no other verdict inhibits. */
export function firingVerdicts<Each extends Pick<Verdict, 'state' | 'inhibitedBy'>>({
  verdicts,
}: {
  readonly verdicts: readonly Each[];
}): readonly Each[] {
  return verdicts.filter(({ state, inhibitedBy }) => state === 'firing' && inhibitedBy === null);
}

/** The severity of the worst firing verdict of these alerts, inhibited or not. Labels of the alert must have the given values. */
export function severityOf(
  { verdicts }: { readonly verdicts: readonly Pick<Verdict, 'state' | 'alert' | 'subject' | 'severity'>[] },
  alerts: readonly ProblemName[],
  labels: Subject = {},
): Severity | undefined {
  const matches = (subject: Subject): boolean =>
    subjectLabels.every(
      (name) => labels[name] === undefined || subject[name] === undefined || labels[name] === subject[name],
    );
  return verdicts.find(
    ({ state, alert, subject }) => state === 'firing' && alerts.some((name) => name === alert) && matches(subject),
  )?.severity;
}

/** The firing verdicts of a target that the log, the recorder and the state file act on, by document, alert and subject. */
export type ReportedVerdicts = ReadonlyMap<string, Verdict>;

/**
 * The reported verdicts after a poll. An inhibited verdict is reported when its cause has ended; a verdict that was reported before stays, so that its
 * end is reported. While the target cannot be judged, no verdict ends.
 */
export function reportedVerdicts(
  before: ReportedVerdicts,
  { verdicts, unknown }: Pick<TargetVerdicts, 'verdicts' | 'unknown'>,
): ReportedVerdicts {
  const firing = new Map<string, Verdict>();
  // The worst verdicts come first.
  for (const verdict of verdicts.filter(({ state }) => state === 'firing')) {
    const key = JSON.stringify([verdict.document, verdict.alert, verdict.subject]);
    if (!firing.has(key)) firing.set(key, verdict);
  }
  const reported = Array.from(firing).flatMap(([key, verdict]): [string, Verdict][] => {
    const shown = verdict.inhibitedBy === null ? verdict : before.get(key);
    return shown === undefined ? [] : [[key, shown]];
  });
  const notFiring = Array.from(before).filter(([key]) => !firing.has(key));
  return new Map(unknown.length > 0 ? [...notFiring, ...reported] : reported);
}

/** Whether a verdict has begun or ended. */
export function haveBegunOrEnded(before: ReportedVerdicts, after: ReportedVerdicts): boolean {
  return before.size !== after.size || Array.from(after.keys()).some((key) => !before.has(key));
}
