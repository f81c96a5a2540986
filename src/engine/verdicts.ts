import { isoTime, wallSeconds, type Moment } from '../clock.js';
import { documents } from '../documents.js';
import { groupBy } from '../facts/grouping.js';
import type { RenderedFamily } from '../metrics/render-families.js';
import { formatTargetLabels } from '../metrics/text-format.js';
import { hides } from '../problems/hiding.js';
import type { PresentProblem } from '../problems/problem-memory.js';
import { PENDING_SHARE, pollProblems, presentPollProblems, withoutSuccessFor } from '../problems/polls.js';
import { problemId, problemLines, unjudgedLines, type ShownProblem } from '../problems/problem-families.js';
import {
  severities,
  subjectLabels,
  judgeUrgency,
  type FoundValidator,
  type Severity,
  type Subject,
  type Urgency,
} from '../problems/problem.js';
import type { ProblemName } from '../problems/problems.js';
import { ageText, joinTexts, type AgeKind } from '../problems/sentence.js';
import { exportedSuccess, isDocumentNotServed, lastPollSucceeded, type EndpointState } from './endpoint-state.js';

/*
 * The problems of a target at a point in time, for the pages, the log and `once`, with the starts and limits of the
 * alerts.
 */

/** A problem at a point in time. */
export interface Verdict extends ShownProblem {
  readonly target: string;
  /** `firing` when the age has reached the limit, else `pending`. */
  readonly state: 'firing' | 'pending';
  readonly ageSeconds: number;
  readonly ageKind: AgeKind;
  readonly urgency: Urgency;
  /** Whether it may have begun before `startSeconds`. */
  readonly mayBeOlder: boolean;
  /** The time from which on it fires, if it lasts, in Unix seconds. */
  readonly firesAtSeconds: number;
  readonly validators: readonly FoundValidator[];
  /** Who, how much, until when; may be empty. */
  readonly details: string;
}

/** What is wrong, and for how long: the heading of a page. */
export function formatHeading({ summary, ageKind, ageSeconds, mayBeOlder }: Omit<Verdict, 'validators'>): string {
  return joinTexts(', ', summary, ageText(ageKind, ageSeconds, !mayBeOlder));
}

/** The heading with the details. */
export function formatSentence(verdict: Omit<Verdict, 'validators'>): string {
  return joinTexts('; ', formatHeading(verdict), verdict.details);
}

/** Worst first. An unknown status may hide anything, so it comes before `pending` and `info`. */
export const statuses = ['critical', 'warning', 'unknown', 'pending', 'info', 'ok'] as const;
export type TargetStatus = (typeof statuses)[number];

export interface TargetVerdicts {
  readonly target: string;
  /**
   * The severity of the worst firing problem, if it is `critical` or `warning`. Otherwise `unknown` when an endpoint
   * was never polled or its data is withdrawn, `pending` when a problem is not firing yet, `info`, or `ok`.
   */
  readonly status: TargetStatus;
  /** Why the target cannot be judged; empty otherwise. */
  readonly unknown: readonly string[];
  /** The worst firing verdict of the last document of each endpoint whose data is withdrawn. */
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
  readonly heading: string;
}

/** The verdicts of all targets, in the order of the endpoints. */
export function listVerdicts(states: readonly EndpointState[], now: Moment): readonly TargetVerdicts[] {
  const byTarget = groupBy(states, ({ target }) => target);
  return Array.from(byTarget, ([target, targetStates]) => targetVerdicts(target, targetStates, now));
}

function targetVerdicts(target: string, states: readonly EndpointState[], now: Moment): TargetVerdicts {
  const all = presentVerdicts(states, now);
  const verdicts = all
    .filter(isShown)
    // The warning is included in the critical form of the same problem, and a pending verdict says nothing beside its
    // firing cause.
    .filter(({ alert, hiddenBy, state }) => hiddenBy === null || (hiddenBy !== alert && state === 'firing'))
    .toSorted(worstFirst);
  const unknown = states.flatMap((state) =>
    documents[state.document].isOptional || isNotServed(state, states) || exportedSuccess(state, now.at) !== undefined
      ? []
      : [withoutSuccessFor(state, now.at)],
  );
  const [worst] = verdicts;
  const isFiring = worst?.state === 'firing' && worst.severity !== 'info';
  const rest = worst === undefined ? 'ok' : worst.state === 'pending' ? 'pending' : worst.severity;
  return {
    target,
    status: isFiring ? worst.severity : unknown.length > 0 ? 'unknown' : rest,
    unknown,
    lastKnown: states.flatMap((state) => findLastKnown(state, now)),
    verdicts,
    notJudgedHere: Array.from(
      new Set(states.flatMap((state) => exportedSuccess(state, now.at)?.snapshot.judgement.notJudgedHere ?? [])),
    ),
  };
}

/** Whether the node has never served the document, and serves another document of the target. */
function isNotServed(state: EndpointState, targetStates: readonly EndpointState[]): boolean {
  return targetStates.some(lastPollSucceeded) && isDocumentNotServed(state);
}

/**
 * Everything that is wrong with a target, shown or not: the problems of the polls, then of the documents, in the order
 * of their declarations.
 */
function presentVerdicts(states: readonly EndpointState[], now: Moment): readonly Verdict[] {
  const pollVerdicts = states.flatMap((state) => {
    const { unjudged = [] } = exportedSuccess(state, now.at)?.snapshot.judgement ?? {};
    const moment = { at: now.at, isNotServed: isNotServed(state, states), unjudged };
    return presentPollProblems(state, moment).map((present) => createVerdict(state, present, now));
  });
  return withCauses([...pollVerdicts, ...states.flatMap((state) => verdictsOfDocument(state, now))]);
}

function verdictsOfDocument(state: EndpointState, now: Moment): readonly Verdict[] {
  const { present = [] } = exportedSuccess(state, now.at)?.snapshot.judgement ?? {};
  return present.map((problem) => createVerdict(state, problem, now));
}

/** There is no data since then: the problem may have ended. */
function findLastKnown(state: EndpointState, now: Moment): readonly LastKnown[] {
  const { lastSuccess } = state;
  if (lastSuccess === undefined || exportedSuccess(state, now.at) !== undefined) return [];
  const documentVerdicts = withCauses(verdictsOfDocument(state, { ...now, at: lastSuccess.at })).toSorted(worstFirst);
  const [worst] = firingVerdicts({ verdicts: documentVerdicts });
  if (worst === undefined || isNote(worst)) return [];
  const { document, alert, severity } = worst;
  return [{ document, alert, severity, at: isoTime(wallSeconds(lastSuccess.at, now)), heading: formatHeading(worst) }];
}

/** The series of the problems of all targets, by scraping at this time. */
export function problemSeries(states: readonly EndpointState[], now: Moment): readonly RenderedFamily[] {
  return Array.from(groupBy(states, ({ target }) => target).values()).flatMap((targetStates) => {
    const [first] = targetStates;
    const fixedLabels = formatTargetLabels(first?.target ?? '', first?.targetLabels);
    return [
      ...problemLines(presentVerdicts(targetStates, now), fixedLabels),
      ...targetStates.map((state) => {
        const { unjudged = [] } = exportedSuccess(state, now.at)?.snapshot.judgement ?? {};
        return unjudgedLines(unjudged, state.document, fixedLabels, now);
      }),
    ];
  });
}

function createVerdict({ target, document }: EndpointState, present: PresentProblem, now: Moment): Verdict {
  const { problem, isProven, limitSeconds, subject, summary, details, action, validators } = present;
  const age = Math.max(0, now.at - present.startSeconds);
  const startSeconds = wallSeconds(present.startSeconds, now);
  const alert = { document, alert: problem.name, severity: problem.severity, subject };
  return {
    target,
    ...alert,
    id: problemId(target, alert),
    state: age >= limitSeconds ? 'firing' : 'pending',
    startSeconds,
    ageSeconds: age,
    ageKind: problem.age ?? 'lasting',
    urgency: judgeUrgency(problem),
    mayBeOlder: !isProven,
    firesAtSeconds: startSeconds + limitSeconds,
    validators,
    summary,
    details,
    action,
    hiddenBy: null,
  };
}

/** Shorter problems are not shown. */
const SHOWN_AFTER_SECONDS = 120;

/**
 * Notes, and problems that may end soon, are not shown before they fire. Failing polls are shown at once, unless the
 * target is judged without the document.
 */
function isShown({ state, alert, document, severity, ageSeconds, startSeconds, firesAtSeconds }: Verdict): boolean {
  if (state === 'firing') return true;
  if (severity === 'info') return false;
  if (pollAlerts.has(alert) && alert !== 'BridgeProblemUnjudged' && !documents[document].isOptional) return true;
  return ageSeconds >= Math.max((firesAtSeconds - startSeconds) * PENDING_SHARE, SHOWN_AFTER_SECONDS);
}

const pollAlerts: ReadonlySet<string> = new Set(pollProblems.map(({ name }) => name));

/**
 * Each with the firing cause that has no firing cause itself; a critical problem before the warning of the same name.
 */
function withCauses(all: readonly Verdict[]): readonly Verdict[] {
  const firing = all.filter(({ state }) => state === 'firing');
  const findCauses = (effect: Verdict): readonly Verdict[] =>
    firing.filter((cause) => cause !== effect && hides(cause, effect));
  return all.map((effect) => {
    const causes = findCauses(effect);
    const first = causes.find((cause) => findCauses(cause).length === 0) ?? causes[0];
    const form = causes.find(({ alert }) => alert === effect.alert);
    const cause = form ?? first;
    return cause === undefined
      ? effect
      : { ...effect, hiddenBy: cause.alert, ...(form === undefined && { action: `Begin with ${cause.alert}.` }) };
  });
}

/**
 * The order of the pages: firing, then pending, notes last. Equal verdicts keep their order: problems of the polls,
 * then of the documents in the order of `problems`.
 */
function worstFirst(a: Verdict, b: Verdict): number {
  return (
    Number(a.hiddenBy !== null) - Number(b.hiddenBy !== null) ||
    Number(isNote(a)) - Number(isNote(b)) ||
    Number(a.state !== 'firing') - Number(b.state !== 'firing') ||
    severities.indexOf(a.severity) - severities.indexOf(b.severity)
  );
}

/** A note is for the record and no problem. */
export function isNote({ severity, state }: Pick<Verdict, 'severity' | 'state'>): boolean {
  return severity === 'info' && state === 'firing';
}

export function worstTargetFirst<Target extends { readonly status: TargetStatus }>(
  targets: readonly Target[],
): readonly Target[] {
  return targets.toSorted((a, b) => statuses.indexOf(a.status) - statuses.indexOf(b.status));
}

/** The firing verdicts that no other verdict inhibits. */
export function firingVerdicts<Each extends Pick<Verdict, 'state' | 'hiddenBy'>>({
  verdicts,
}: {
  readonly verdicts: readonly Each[];
}): readonly Each[] {
  return verdicts.filter(({ state, hiddenBy }) => state === 'firing' && hiddenBy === null);
}

/**
 * The severity of the worst firing verdict of these alerts, hidden or not. Labels of the alert must have the given
 * values.
 */
export function judgeSeverity(
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

/**
 * The firing verdicts of a target that the log, the recorder and the state file act on, by document, alert and subject.
 */
export type ReportedVerdicts = ReadonlyMap<string, Verdict>;

/**
 * The reported verdicts after a poll. A hidden verdict is reported when its cause has ended; a verdict that was
 * reported before stays, so that its end is reported. While the target cannot be judged, no verdict ends.
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
    const shown = verdict.hiddenBy === null ? verdict : before.get(key);
    return shown === undefined ? [] : [[key, shown]];
  });
  const notFiring = Array.from(before).filter(([key]) => !firing.has(key));
  return new Map(unknown.length > 0 ? [...notFiring, ...reported] : reported);
}

/** Whether a verdict has begun or ended. */
export function haveBegunOrEnded(before: ReportedVerdicts, after: ReportedVerdicts): boolean {
  return before.size !== after.size || Array.from(after.keys()).some((key) => !before.has(key));
}
