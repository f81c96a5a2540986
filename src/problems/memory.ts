import type { Instant, Moment } from '../clock.js';
import type { DocumentName, TargetOptions } from '../document-types.js';
import { orElse } from '../facts/required-fields.js';
import { DAY_SECONDS } from '../units.js';
import { marksAfter, type Marks } from './marks.js';
import {
  isEnabled,
  limitSeconds,
  problemKey,
  severities,
  type Evidence,
  type Findings,
  type Found,
  type FoundValidator,
  type Problem,
  type Severity,
  type Subject,
  type Together,
} from './problem.js';
import { problems } from './problems.js';
import { withDetails, withList, type Sentence } from './sentence.js';

/*
 * Since when each problem is there. A judgement of a document, in order:
 *
 * 1. `find` of each problem returns `Findings`: a `Found` for each subject.
 * 2. A found subject is a candidate (`RememberedSubject`) until judgements that are some time apart agree. Then it is present, until several judgements
 *    have not found it for longer: neither an odd answer nor two nodes in turn behind one address begin or end a problem.
 * 3. The present subjects, of which unwatched validators are taken `Together`, are the present problems of the `Judgement`.
 * 4. The histories and marks of all problems are the `ProblemMemory` for the next document.
 *
 * engine/verdicts.ts turns the present problems into verdicts at a point in time.
 */

/** Judgements that agree over this time begin a problem. */
const BEGINS_AFTER_SECONDS = 20;
/** A present problem that two judgements or more have not found for this long has ended. */
const ENDS_AFTER_SECONDS = 120;
/** A smaller change of the offset is no setting of the clock. */
const CLOCK_SET_SECONDS = 1;
/** The subjects of a problem; the oldest are kept. */
const MAX_SUBJECTS = 200;
const MAX_ENDED = 50;
export const ENDED_SECONDS = 7 * DAY_SECONDS;

/** A subject of a problem, present or a candidate; or all unwatched validators together. */
export interface RememberedSubject {
  readonly subject: Subject;
  readonly progressKey: string;
  /** Unix seconds. */
  readonly startSeconds: number;
  /** Whether a document proves the start; otherwise the problem may have begun earlier. */
  readonly isProven: boolean;
  readonly sentence: Sentence;
  readonly action: string;
  readonly validators: readonly FoundValidator[];
  /** The first of the successive judgements with the subject. */
  readonly firstFoundAt: Instant;
  /** The last judgement with the subject. */
  readonly lastFoundAt: Instant;
  /** Whether the last judgement did not find the subject. */
  readonly isMissing: boolean;
}

type RememberedSubjects = ReadonlyMap<string, RememberedSubject>;

/** The memory of a problem. */
export interface RememberedProblem extends Marks {
  /** By `subjectKey`. */
  readonly present: RememberedSubjects;
  /** Subjects that may begin, or begin anew. */
  readonly candidates: RememberedSubjects;
  /** Since when the problem cannot be judged, in Unix seconds. */
  readonly unjudgedSeconds: number | undefined;
}

/** A past problem whose alert has fired. */
export interface EndedProblem {
  readonly name: string;
  readonly severity: Severity;
  readonly subject: Subject;
  readonly startSeconds: number;
  readonly endSeconds: number;
}

/** The memory of the problems of an endpoint. */
export interface ProblemMemory {
  /** The problems that were judged at least once, by `problemKey`. */
  readonly remembered: ReadonlyMap<string, RememberedProblem>;
  /** Newest first. */
  readonly ended: readonly EndedProblem[];
  /** At the last judgement. */
  readonly clockOffset?: number | undefined;
}

/** Another one for another shape: then the problems of a state file begin anew. */
export const PROBLEM_MEMORY_VERSION = 1;

export const NO_PROBLEMS: ProblemMemory = { remembered: new Map(), ended: [] };

/** A present subject with its problem; or a condition of the polls with its rule (engine/endpoint-conditions.ts). */
export interface PresentProblem extends Omit<
  RememberedSubject,
  'progressKey' | 'firstFoundAt' | 'lastFoundAt' | 'isMissing'
> {
  readonly problem: Pick<Problem, 'name' | 'severity' | 'inhibits' | 'inhibitsDocument'>;
  readonly limitSeconds: number;
}

/** A problem that cannot be judged, because a required field is missing or invalid. */
export interface UnjudgedProblem {
  readonly problem: Problem;
  /** The severity of the problem if it was present, else `warning`. */
  readonly severity: Severity;
  readonly sinceSeconds: number;
}

/** The result for a document. */
export interface Judgement {
  /** Worst first. */
  readonly present: readonly PresentProblem[];
  readonly unjudged: readonly UnjudgedProblem[];
  /** The names of the problems that could not be judged in any document of the endpoint. */
  readonly notJudgedHere: readonly string[];
}

type JudgingOptions = Pick<TargetOptions, 'problems' | 'isSinglePoll' | 'staleAfterMs'>;

/** Judges all problems of a document that was received at `now.at`. */
export function judgeProblems(
  memory: ProblemMemory,
  document: DocumentName,
  evidence: Evidence,
  now: Moment,
  options: JudgingOptions,
  all: readonly Problem[] = problems,
): Judgement & { readonly memory: ProblemMemory } {
  const { problems: settings = {} } = options;
  const { at, clockOffset } = now;
  // Starts that a document proves by times of the chain are as wrong as the clock was.
  const isClockSet = Math.abs(clockOffset - (memory.clockOffset ?? clockOffset)) > CLOCK_SET_SECONDS;
  const remembered = new Map<string, RememberedProblem>();
  const present: PresentProblem[] = [];
  const unjudged: UnjudgedProblem[] = [];
  const ended: EndedProblem[] = [];
  const notJudgedHere = new Set<string>();
  for (const problem of all) {
    const { name, severity } = problem;
    if (problem.document !== document || !isEnabled(problem, settings)) continue;
    const key = problemKey(problem);
    const before = memory.remembered.get(key);
    const after = judgeProblem(problem, before, evidence, at, { ...options, isClockSet });
    if (after === undefined) {
      notJudgedHere.add(name);
      continue;
    }
    remembered.set(key, after);
    const limit = limitSeconds(problem, settings);
    const histories = presentOf(problem, after);
    present.push(...histories.map((history) => ({ ...history, problem, limitSeconds: limit })));
    if (after.unjudgedSeconds !== undefined) {
      const lastSeverity = histories.length > 0 ? severity : 'warning';
      unjudged.push({ problem, severity: lastSeverity, sinceSeconds: after.unjudgedSeconds });
    }
    const gone = before === undefined ? [] : goneSince(presentOf(problem, before), histories);
    for (const { subject, startSeconds, lastFoundAt } of gone) {
      // The problem was exported until this judgement; during an outage, until its data was stale.
      const missingSeconds = at - lastFoundAt;
      const lastedSeconds = missingSeconds > outageSeconds(options) ? options.staleAfterMs / 1000 : missingSeconds;
      const endSeconds = lastFoundAt;
      // Problems below the limit come and go on a healthy bridge.
      if (endSeconds + lastedSeconds - startSeconds < limit) continue;
      ended.push({ name, severity, subject, startSeconds, endSeconds });
    }
  }
  return {
    memory: { remembered, ended: withEnded(memory.ended, ended, at), clockOffset },
    present: present.toSorted(bySeverity),
    unjudged,
    notJudgedHere: Array.from(notJudgedHere),
  };
}

function bySeverity({ problem: a }: PresentProblem, { problem: b }: PresentProblem): number {
  return severities.indexOf(a.severity) - severities.indexOf(b.severity);
}

const UNJUDGED: Findings = { inPart: [], isUnjudged: true };
const NO_SUBJECTS = { present: new Map<string, RememberedSubject>(), candidates: new Map<string, RememberedSubject>() };

/** `undefined` while the problem was never judged. */
function judgeProblem(
  problem: Problem,
  before: RememberedProblem | undefined,
  evidence: Evidence,
  at: Instant,
  options: JudgingOptions & { readonly isClockSet: boolean },
): RememberedProblem | undefined {
  const marks = marksAfter(problem.mark, evidence, before);
  const findings = orElse<Findings>(
    () => problem.find(evidence, marks.mark),
    () => UNJUDGED,
  );
  const { bySubject, isInPart, isUnjudged } = foundIn(findings);
  if (before === undefined && isUnjudged && bySubject.size === 0) return undefined;
  const last = before ?? NO_SUBJECTS;
  const isInterrupted = ({ lastFoundAt }: RememberedSubject): boolean => at - lastFoundAt > outageSeconds(options);
  // After an outage, a problem that is not found would have the age of the outage.
  const hasEnded = (history: RememberedSubject): boolean =>
    isInterrupted(history) || (history.isMissing && at - history.lastFoundAt >= ENDS_AFTER_SECONDS);
  // A subject that the document does not show may still be there.
  const isHidden = ([key]: [string, RememberedSubject]): boolean => isInPart && !bySubject.has(key);
  const candidates = new Map(Array.from(last.candidates).filter(isHidden));
  const present = new Map(Array.from(last.present).filter(isHidden));
  for (const [key, found] of bySubject) {
    const { progressKey = '' } = found;
    const history = last.present.get(key);
    const isNew = (earlier: RememberedSubject): boolean =>
      isInterrupted(earlier) && (earlier.isMissing || hasBegunSince(earlier, found));
    if (history?.progressKey === progressKey && !isNew(history)) {
      present.set(key, foundAgain(history, found, problem, at, options.isClockSet));
      continue;
    }
    const earlier = last.candidates.get(key);
    const candidate =
      earlier?.progressKey === progressKey && !isInterrupted(earlier)
        ? { ...earlier, ...textsOf(found, problem), lastFoundAt: at }
        : firstFound(found, problem, at);
    if (options.isSinglePoll === true || at - candidate.firstFoundAt >= BEGINS_AFTER_SECONDS) {
      present.set(key, { ...candidate, startSeconds: confirmedStart(candidate, found, at) });
    } else {
      candidates.set(key, candidate);
    }
  }
  // With another progress key, the old history stays until the next judgement confirms the new one.
  for (const [key, history] of last.present) {
    if (!present.has(key) && !hasEnded(history)) present.set(key, { ...history, isMissing: true });
  }
  const unjudgedSeconds = isUnjudged ? (before?.unjudgedSeconds ?? at) : undefined;
  return { present: withinLimit(present), candidates: withinLimit(candidates), unjudgedSeconds, ...marks };
}

function foundIn(findings: Findings) {
  const list = findings === undefined || 'headline' in findings ? [findings] : findings;
  const isInPart = 'inPart' in list;
  const found = (isInPart ? list.inPart : list).filter((each) => each !== undefined);
  const bySubject = new Map(found.map((each) => [subjectKey(each.subject ?? {}), each]));
  return { bySubject, isInPart, isUnjudged: isInPart && list.isUnjudged === true };
}

/** Without a judgement for longer, nothing proves that a problem lasted. An odd answer between polls at the longest interval is no outage. */
function outageSeconds({ staleAfterMs }: JudgingOptions): number {
  return (2 * staleAfterMs) / 1000;
}

/** Whether the document proves that the problem began after it was last found: during an outage, one can end and another begin. */
function hasBegunSince({ lastFoundAt }: RememberedSubject, { start }: Found): boolean {
  return start !== undefined && start > lastFoundAt;
}

function firstFound(found: Found, problem: Problem, at: Instant): RememberedSubject {
  const { subject = {}, progressKey = '' } = found;
  const times = { ...startOf(found, at), firstFoundAt: at, lastFoundAt: at, isMissing: false };
  return { subject, progressKey, ...times, ...textsOf(found, problem) };
}

/** A later document can prove an earlier start, and another one when the wall clock was set. */
function foundAgain(
  history: RememberedSubject,
  found: Found,
  problem: Problem,
  at: Instant,
  isClockSet: boolean,
): RememberedSubject {
  const { start } = found;
  const isCorrected = start !== undefined && (isClockSet || (!history.isProven && start < history.startSeconds));
  const corrected = isCorrected ? startOf(found, at) : {};
  return { ...history, ...corrected, ...textsOf(found, problem), lastFoundAt: at, isMissing: false };
}

/** A start is never after the poll: block times are estimates, and the wall clock can be wrong. Then the start is not proven. */
function startOf({ start = Infinity }: Found, at: Instant): Pick<RememberedSubject, 'startSeconds' | 'isProven'> {
  return { startSeconds: Math.min(start, at), isProven: start <= at };
}

function textsOf({ headline, list, details = [], action, validator }: Found, problem: Problem) {
  return {
    sentence: list === undefined ? withDetails(headline, ...details) : withList(headline, list, ...details),
    action: action ?? problem.action,
    validators: validator === undefined ? [] : [validator],
  };
}

/**
 * The start that the second document confirms. The first estimate may be by the parameter of the chain, because no block time is measured yet. If
 * the second estimate is later by more than the time between the documents, the first one was wrong.
 */
function confirmedStart({ startSeconds, firstFoundAt }: RememberedSubject, { start }: Found, at: Instant): number {
  const isFaster = start !== undefined && start - startSeconds > at - firstFoundAt;
  return isFaster ? Math.min(start, firstFoundAt) : startSeconds;
}

function withinLimit(histories: RememberedSubjects): RememberedSubjects {
  if (histories.size <= MAX_SUBJECTS) return histories;
  const sorted = Array.from(histories).toSorted(([, a], [, b]) => a.startSeconds - b.startSeconds);
  return new Map(sorted.slice(0, MAX_SUBJECTS));
}

/** Equal for equal labels in any order. */
function subjectKey(subject: Subject): string {
  return JSON.stringify(Object.entries(subject).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function goneSince(
  before: readonly RememberedSubject[],
  after: readonly RememberedSubject[],
): readonly RememberedSubject[] {
  const progressKeys = new Map(after.map(({ subject, progressKey }) => [subjectKey(subject), progressKey]));
  return before.filter(({ subject, progressKey }) => progressKeys.get(subjectKey(subject)) !== progressKey);
}

/** The problems that ended within a week, at most the newest 50. */
export function withEnded(before: readonly EndedProblem[], ended: readonly EndedProblem[], at: Instant) {
  const since = at - ENDED_SECONDS;
  if (ended.length === 0 && before.every(({ endSeconds }) => endSeconds >= since)) return before;
  return [...ended, ...before].filter(({ endSeconds }) => endSeconds >= since).slice(0, MAX_ENDED);
}

/** The present subjects of a problem, with unwatched validators taken together. */
function presentOf({ together }: Problem, { present }: RememberedProblem): readonly RememberedSubject[] {
  const histories = Array.from(present.values());
  if (together === undefined) return histories;
  const unwatched = histories.filter(({ subject }) => subject.watched === 'false');
  return [...histories.filter((history) => !unwatched.includes(history)), ...takenTogether(together, unwatched)];
}

/** A problem of several validators, which began when they had enough power; none with less power. */
function takenTogether(together: Together, histories: readonly RememberedSubject[]): readonly RememberedSubject[] {
  const byStart = histories.toSorted((a, b) => a.startSeconds - b.startSeconds);
  // A validator can be late with several things.
  const late = new Map<string, FoundValidator>();
  const last = byStart.find(({ validators }) => {
    for (const validator of validators) late.set(validator.externalAddress, validator);
    return powerOf(late.values()) >= together.minimumPower;
  });
  if (last === undefined) return [];
  for (const validator of byStart.flatMap(({ validators }) => validators))
    late.set(validator.externalAddress, validator);
  const validators = Array.from(late.values()).toSorted((a, b) => (b.power ?? 0) - (a.power ?? 0));
  const texts = { sentence: together.sentence(validators), action: together.action, validators };
  return [{ ...last, ...texts, subject: { watched: 'false' }, progressKey: '' }];
}

function powerOf(validators: Iterable<FoundValidator>): number {
  return Array.from(validators).reduce((sum, { power = 0 }) => sum + power, 0);
}

/** The memory after a document that was not recorded, because its result was that of the last document. */
export function repeatJudgement(memory: ProblemMemory, at: Instant): ProblemMemory {
  const foundAgainAt = (histories: RememberedSubjects): RememberedSubjects =>
    new Map(Array.from(histories, ([key, last]) => [key, last.isMissing ? last : { ...last, lastFoundAt: at }]));
  const remembered = new Map(
    Array.from(memory.remembered, ([key, problem]): [string, RememberedProblem] => [
      key,
      {
        ...problem,
        markWithoutLastDocument: problem.mark,
        present: foundAgainAt(problem.present),
        candidates: foundAgainAt(problem.candidates),
      },
    ]),
  );
  return { ...memory, remembered };
}
