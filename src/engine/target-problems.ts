import { isoTime, wallSeconds, type Moment } from '../clock.js';
import { documents } from '../documents.js';
import { groupBy } from '../facts/grouping.js';
import { type RenderedFamily, formatTargetLabels } from '../metrics/text-format.js';
import {
  firesAt,
  isSameButCritical,
  isOfPolls,
  judgeAlerts,
  rememberAlerts,
  type Alert,
  type DueProblem,
} from '../problems/due.js';
import { selectPresent, type PresentProblem } from '../problems/subjects.js';
import { PENDING_SHARE, presentPollProblems, withoutSuccessFor } from '../problems/polls.js';
import { problemId, problemLines, unjudgedLines, type ShownProblem } from '../problems/problem-families.js';
import {
  severities,
  isEnabled,
  judgeUrgency,
  limitSeconds,
  problemKey,
  subjectLabels,
  type FoundValidator,
  type Severity,
  type Subject,
  type Urgency,
} from '../problems/problem.js';
import { problems as declarations, type ProblemName } from '../problems/problems.js';
import { ageText, joinTexts, type AgeKind } from '../problems/sentence.js';
import { utcMinute } from '../text/format.js';
import { exportedSuccess, isDocumentNotServed, lastPollSucceeded, type EndpointState } from './endpoint-state.js';

/*
 * The problems of a target at a point in time, for the pages, the log and `once`, with the starts and limits of the
 * alerts.
 */

/** A problem at a point in time. */
export interface TargetProblem extends ShownProblem {
  readonly target: string;
  /** `firing` when its alert fires or a firing cause hides it, else `pending`. */
  readonly state: 'firing' | 'pending';
  readonly ageSeconds: number;
  readonly ageKind: AgeKind;
  readonly urgency: Urgency;
  /** Whether it may have begun before `startSeconds`. */
  readonly mayBeOlder: boolean;
  readonly validators: readonly FoundValidator[];
  /** The ids of the chains, of a joint problem of several. */
  readonly chains?: readonly string[];
  /** Who, how much, until when; may be empty. */
  readonly details: string;
}

type HeadingOf = Pick<TargetProblem, 'summary' | 'ageKind' | 'ageSeconds' | 'mayBeOlder'>;

/** What is wrong, and for how long: the heading of a page. */
export function formatHeading({ summary, ageKind, ageSeconds, mayBeOlder }: HeadingOf): string {
  return joinTexts(', ', summary, ageText(ageKind, ageSeconds, !mayBeOlder));
}

/** The heading with the details. */
export function formatSentence(problem: HeadingOf & Pick<TargetProblem, 'details'>): string {
  return joinTexts('; ', formatHeading(problem), problem.details);
}

/** Worst first. An unknown status may hide anything, so it comes before `pending` and `info`. */
export const statuses = ['critical', 'warning', 'unknown', 'pending', 'info', 'ok'] as const;
export type TargetStatus = (typeof statuses)[number];

export interface JudgedTarget {
  readonly target: string;
  /**
   * The severity of the worst firing problem, if it is `critical` or `warning`. Otherwise `unknown` when an endpoint
   * was never polled or its data is withdrawn, `pending` when a problem is not firing yet, `info`, or `ok`.
   */
  readonly status: TargetStatus;
  /** Why the target cannot be judged; empty otherwise. */
  readonly unknown: readonly string[];
  /** Worst first, problems with a cause last. */
  readonly problems: readonly TargetProblem[];
  /** The names of problems whose fields an endpoint has never had. */
  readonly notJudgedHere: readonly string[];
}

/** The problems of all targets, in the order of the endpoints. */
export function judgeTargets(states: readonly EndpointState[], now: Moment): readonly JudgedTarget[] {
  const byTarget = groupBy(states, ({ target }) => target);
  return Array.from(byTarget, ([target, targetStates]) => judgeTarget(target, targetStates, now));
}

function judgeTarget(target: string, states: readonly EndpointState[], now: Moment): JudgedTarget {
  const problems = withoutRepetitions(judgedProblems(states, now).filter(isShown)).toSorted(worstFirst);
  const unknown = states.flatMap((state) =>
    documents[state.document].isOptional || isNotServed(state, states) || exportedSuccess(state, now.at) !== undefined
      ? []
      : [withoutSuccessFor(state, now.at)],
  );
  const [worst] = problems;
  const isFiring = worst?.state === 'firing' && worst.severity !== 'info';
  const rest = worst === undefined ? 'ok' : worst.state === 'pending' ? 'pending' : worst.severity;
  return {
    target,
    status: isFiring ? worst.severity : unknown.length > 0 ? 'unknown' : rest,
    unknown,
    problems,
    notJudgedHere: Array.from(
      new Set(states.flatMap((state) => exportedSuccess(state, now.at)?.snapshot.judgement.notJudgedHere ?? [])),
    ),
  };
}

/** Whether the node has never served the document, and serves another document of the target. */
function isNotServed(state: EndpointState, targetStates: readonly EndpointState[]): boolean {
  return targetStates.some(lastPollSucceeded) && isDocumentNotServed(state);
}

/** A problem that is there, before it is judged when its alert fires. */
interface Candidate extends DueProblem {
  readonly state: EndpointState;
  readonly present: PresentProblem;
}

/**
 * All present problems of a target, shown or not: those of the polls, then those of the documents, in the order of
 * their declarations.
 */
function listCandidates(states: readonly EndpointState[], now: Moment): readonly Candidate[] {
  const toCandidate = (state: EndpointState, present: PresentProblem): Candidate => {
    const { target, document, problemSettings = {} } = state;
    const { problem, subject, startAt, presentAt, isMissing, lastFoundAt, isProven } = present;
    const alert = { document, alert: problem.name, severity: problem.severity, subject };
    const limit = limitSeconds({ ...problem, document }, problemSettings);
    const id = problemId(target, alert);
    return {
      ...alert,
      id,
      startAt,
      presentAt,
      missingSince: isMissing ? lastFoundAt : undefined,
      isProven,
      limitSeconds: limit,
      memory: state.problems.alerts,
      state,
      present,
    };
  };
  const pollCandidates = states.flatMap((state) => {
    const { unjudged = [] } = exportedSuccess(state, now.at)?.snapshot.judgement ?? {};
    const { isOptional } = documents[state.document];
    const moment = { at: now.at, isOptional, isNotServed: isNotServed(state, states), unjudged };
    return presentPollProblems(state, moment).map((present) => toCandidate(state, present));
  });
  const documentCandidates = states.flatMap((state) => {
    const all = presentProblems(state).map((present) => toCandidate(state, present));
    if (exportedSuccess(state, now.at) !== undefined) return all;
    // Alerts that fired before the data was withdrawn stay: without data, nothing proves an end.
    const withdrawnAt = (state.problems.judgedAt ?? -Infinity) + state.staleAfterMs / 1000;
    return all.filter((candidate) => firesAt(candidate) <= withdrawnAt);
  });
  return [...pollCandidates, ...documentCandidates];
}

/** The present problems by the last document; before the first one, by the memory of an earlier process. */
function presentProblems({ document, lastSuccess, problems: { remembered }, problemSettings = {} }: EndpointState) {
  const present =
    lastSuccess?.snapshot.judgement.present ??
    declarations.flatMap((problem) => {
      const { histories } = remembered.get(problemKey(problem)) ?? {};
      return selectPresent(problem, histories?.values() ?? []).map((history) => ({ ...history, problem }));
    });
  return present.filter(({ problem }) => isEnabled({ ...problem, document }, problemSettings));
}

function judgedProblems(states: readonly EndpointState[], now: Moment): readonly TargetProblem[] {
  return Array.from(judgeAlerts(listCandidates(states, now), now.at), ([candidate, alert]) =>
    createTargetProblem(candidate, alert, now),
  );
}

/** The state after a poll, with the memory of its alerts. `all`: the states of its target, including this one. */
export function withAlerts(state: EndpointState, all: readonly EndpointState[], now: Moment): EndpointState {
  const { judgedAt } = state.problems;
  const before =
    state.problems.alerts ?? (judgedAt === undefined ? undefined : { since: judgedAt, hidden: new Map(), fired: [] });
  if (before === undefined) return state;
  const alerts = judgeAlerts(listCandidates(all, now), now.at);
  const remembered = rememberAlerts(before, alerts, now.at, (candidate) => candidate.state === state);
  return { ...state, problems: { ...state.problems, alerts: remembered } };
}

/** The series of the problems of all targets, as a scrape at this time exports them. */
export function problemSeries(states: readonly EndpointState[], now: Moment): readonly RenderedFamily[] {
  return Array.from(groupBy(states, ({ target }) => target).values()).flatMap((targetStates) => {
    const [first] = targetStates;
    const fixedLabels = formatTargetLabels(first?.target ?? '', first?.targetLabels);
    return [
      ...problemLines(judgedProblems(targetStates, now), fixedLabels),
      ...targetStates.map((state) => {
        const { unjudged = [] } = exportedSuccess(state, now.at)?.snapshot.judgement ?? {};
        return unjudgedLines(unjudged, state.document, fixedLabels, now);
      }),
    ];
  });
}

function createTargetProblem(
  { state, present, id, alert, severity, subject, startAt }: Candidate,
  { firesAt: firesAtInstant, isHidden, cause, kept }: Alert,
  now: Moment,
): TargetProblem {
  const { problem, isProven, summary, details, action, validators, chains } = present;
  const isKept = cause === undefined && kept !== undefined;
  const fires = isKept ? Math.max(firesAtInstant, kept.until) : firesAtInstant;
  const { target, document, lastSuccess } = state;
  const isCurrent = isOfPolls({ alert }) || exportedSuccess(state, now.at) !== undefined;
  // Without a current document, the age grows on, but the details are those of the last document.
  const asOf =
    isCurrent || lastSuccess === undefined ? '' : `as of ${utcMinute(isoTime(wallSeconds(lastSuccess.at, now)))}`;
  return {
    target,
    document,
    alert,
    severity,
    subject,
    id,
    state: fires <= now.at ? 'firing' : 'pending',
    startSeconds: wallSeconds(startAt, now),
    ageSeconds: Math.max(0, now.at - startAt),
    ageKind: problem.age ?? 'lasting',
    urgency: judgeUrgency(problem),
    mayBeOlder: !isProven,
    firesAtSeconds: wallSeconds(fires, now),
    isHidden,
    validators,
    ...(chains !== undefined && { chains }),
    summary,
    details: joinTexts('; ', details, asOf),
    action,
    hiddenBy: cause?.alert ?? kept?.alert ?? null,
  };
}

/** Shorter problems are not shown. */
const SHOWN_AFTER_SECONDS = 120;

/**
 * Notes, and problems that may end soon, are not shown before they fire. Failing polls are shown at once, unless the
 * target is judged without the document.
 */
function isShown({
  state,
  alert,
  document,
  severity,
  ageSeconds,
  startSeconds,
  firesAtSeconds,
}: TargetProblem): boolean {
  if (state === 'firing') return true;
  if (severity === 'info') return false;
  if (isOfPolls({ alert }) && alert !== 'BridgeProblemUnjudged' && !documents[document].isOptional) return true;
  return ageSeconds >= Math.max((firesAtSeconds - startSeconds) * PENDING_SHARE, SHOWN_AFTER_SECONDS);
}

/**
 * Leaves out what another problem says. A warning and the critical problem of the same subject are one line, that of
 * the alert that fires first. A pending problem is left out while its cause fires.
 */
function withoutRepetitions(all: readonly TargetProblem[]): readonly TargetProblem[] {
  return all.flatMap((problem) => {
    const { hiddenBy, state, isHidden } = problem;
    const isCauseShown = all.some((cause) => cause.alert === hiddenBy && cause.state === 'firing');
    if (isCauseShown && (hiddenBy === problem.alert || state === 'pending')) return [];
    const worse = all.find((other) => isSameButCritical(other, problem));
    if (worse !== undefined && isHidden && worse.state === state) return [];
    if (worse !== undefined && !isHidden && worse.state === 'pending') {
      const later = `critical at ${utcMinute(isoTime(worse.firesAtSeconds))}`;
      return [{ ...problem, details: joinTexts('; ', problem.details, later) }];
    }
    const isLater = all.some((other) => isSameButCritical(problem, other) && !other.isHidden);
    return isLater ? [] : [problem];
  });
}

/**
 * The order of the pages: firing, then pending, notes last. Equal problems keep their order: problems of the polls,
 * then of the documents in the order of their declarations.
 */
function worstFirst(a: TargetProblem, b: TargetProblem): number {
  return (
    Number(a.hiddenBy !== null) - Number(b.hiddenBy !== null) ||
    Number(isNote(a)) - Number(isNote(b)) ||
    Number(a.state !== 'firing') - Number(b.state !== 'firing') ||
    severities.indexOf(a.severity) - severities.indexOf(b.severity)
  );
}

/** A note is for the record and no problem. */
export function isNote({ severity, state }: Pick<TargetProblem, 'severity' | 'state'>): boolean {
  return severity === 'info' && state === 'firing';
}

export function worstTargetFirst<Target extends { readonly status: TargetStatus }>(
  targets: readonly Target[],
): readonly Target[] {
  return targets.toSorted((a, b) => statuses.indexOf(a.status) - statuses.indexOf(b.status));
}

/** The firing problems that no other problem inhibits. */
export function firingProblems<Each extends Pick<TargetProblem, 'state' | 'hiddenBy'>>({
  problems,
}: {
  readonly problems: readonly Each[];
}): readonly Each[] {
  return problems.filter(({ state, hiddenBy }) => state === 'firing' && hiddenBy === null);
}

/**
 * The severity of the worst firing problem of these alerts, hidden or not. Labels of the alert must have the given
 * values, and a joint problem of chains the given chain.
 */
export function judgeSeverity(
  {
    problems,
  }: { readonly problems: readonly Pick<TargetProblem, 'state' | 'alert' | 'subject' | 'chains' | 'severity'>[] },
  alerts: readonly ProblemName[],
  labels: Subject = {},
): Severity | undefined {
  const { chain_id: chainId } = labels;
  const matches = ({ subject, chains }: Pick<TargetProblem, 'subject' | 'chains'>): boolean =>
    (chainId === undefined || chains?.includes(chainId) !== false) &&
    subjectLabels.every(
      (name) => labels[name] === undefined || subject[name] === undefined || labels[name] === subject[name],
    );
  return problems.find(
    (problem) => problem.state === 'firing' && alerts.some((name) => name === problem.alert) && matches(problem),
  )?.severity;
}
