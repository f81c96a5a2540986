import type { Instant, Moment } from '../clock.js';
import type { DocumentName, TargetOptions } from '../document-types.js';
import { orElse } from '../facts/required-fields.js';
import { DAY_SECONDS } from '../units.js';
import { marksAfter, type Marks } from './marks.js';
import {
  isEnabled,
  limitSeconds,
  OTHERS_UNJUDGED,
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
import {
  isUnconfirmed,
  nextSpares,
  presentDisagreement,
  repeatedDifferences,
  shownFrom,
  withOpinion,
  withoutOpinion,
  type Accusation,
  type Difference,
  type Disagreement,
  type Opinion,
  type Spare,
} from './second-opinion.js';
import { joinTexts, labelTexts, numberAndNames } from './sentence.js';

/*
 * Since when each problem is there. A judgement of a document, in order:
 *
 * 1. `find` of each problem returns `Findings`: a `Found` for each subject.
 * 2. The `SubjectHistory` of a found subject begins or goes on, and becomes present; that of another subject ends.
 * 3. The present subjects, of which unwatched validators are taken `Together`, are the present problems of the
 *    `Judgement`.
 * 4. The histories and marks of all problems are the `ProblemMemory` for the next document.
 *
 * engine/verdicts.ts turns the present problems into verdicts at a point in time.
 *
 * One odd answer, or two nodes in turn behind one address, neither begin nor reset a problem. Four rules see to that,
 * because each covers what the others do not:
 *
 * - A document with a lower height than the last one fails its poll (`findRegression` in engine/step.ts). Without a
 *   height it is judged, and so is the third such document since the last success.
 * - A subject is present only after judgements that are some time apart, of which each has found it: an odd answer
 *   begins nothing.
 * - A present subject ends only after at least two judgements, over some time, of which none has found it: an odd
 *   answer ends nothing. Another progress key is another history, and ends the old one when it is present.
 * - A debounced mark skips a document that the next one contradicts (marks.ts). Otherwise an odd answer would be found
 *   after it is gone: as a change for hours, or as a rollback for a day; and a silence of hours would begin anew.
 */

/** Judgements that agree over this time begin a problem. */
const BEGINS_AFTER_SECONDS = 20;
/** A present problem that two judgements or more have not found for this long has ended. */
const ENDS_AFTER_SECONDS = 120;
/** The histories of a problem; the oldest are kept. */
const MAX_HISTORIES = 200;
const MAX_ENDED = 50;
export const ENDED_SECONDS = 7 * DAY_SECONDS;

/** A subject of a problem with a progress key; or all unwatched validators together. */
export interface SubjectHistory {
  readonly subject: Subject;
  readonly progressKey: string;
  readonly startSeconds: Instant;
  /** Whether a document proves the start; otherwise the problem may have begun earlier. */
  readonly isProven: boolean;
  /** Whether a time of the chain proves it, so that it moves when the wall clock is set. */
  readonly isProvenByChain: boolean;
  readonly summary: string;
  readonly details: string;
  readonly action: string;
  /** When summary and action changed. */
  readonly textsAt: Instant;
  readonly validators: readonly FoundValidator[];
  /** The first of the successive judgements with the subject. */
  readonly firstFoundAt: Instant;
  /** The last judgement with the subject. */
  readonly lastFoundAt: Instant;
  /** Whether the last judgement did not find the subject. */
  readonly isMissing: boolean;
  /** Whether judgements have agreed on it. Otherwise it may begin, or begin anew with another progress key. */
  readonly isPresent: boolean;
  /** Only of a doubtful problem of an endpoint with several nodes (second-opinion.ts). */
  readonly accusation?: Accusation | undefined;
  readonly opinion?: Opinion | undefined;
  /** Whether it is not shown yet, because another node does not show it. */
  readonly isDelayed?: true | undefined;
}

type SubjectHistories = ReadonlyMap<string, SubjectHistory>;

/** The memory of a problem. */
export interface RememberedProblem extends Marks {
  /** By `historyKey`. */
  readonly histories: SubjectHistories;
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
  /** The last judgement; `undefined` before the first. */
  readonly judged?: Moment | undefined;
  readonly disagreement?: Disagreement | undefined;
  /** The nodes whose document shows a problem that the one in use does not. */
  readonly spares?: readonly Spare[] | undefined;
}

/** Another one for another shape: then the problems of a state file begin anew. */
export const PROBLEM_MEMORY_VERSION = 3;

export const NO_PROBLEMS: ProblemMemory = { remembered: new Map(), ended: [] };

/** A present subject with its problem, or a problem of the polls. */
export interface PresentProblem extends Omit<
  SubjectHistory,
  | 'progressKey'
  | 'isProvenByChain'
  | 'textsAt'
  | 'firstFoundAt'
  | 'lastFoundAt'
  | 'isMissing'
  | 'isPresent'
  | 'accusation'
  | 'opinion'
  | 'isDelayed'
> {
  readonly problem: Pick<Problem, 'name' | 'severity' | 'age' | 'isUrgent' | 'isDoubtful'>;
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
  /** Worst first, at most `maxSeries`. */
  readonly present: readonly PresentProblem[];
  /** The number of the others. */
  readonly dropped: number;
  readonly unjudged: readonly UnjudgedProblem[];
  /** The names of the problems that could not be judged in any document of the endpoint. */
  readonly notJudgedHere: readonly string[];
  /** Whether another node is asked for its document. */
  readonly isOpinionWanted: boolean;
}

type JudgingOptions = Pick<TargetOptions, 'problems' | 'isSinglePoll' | 'staleAfterMs' | 'maxSeries'>;

/** Judges all problems of a document that was received at `now.at`. */
export function judgeProblems(
  memory: ProblemMemory,
  document: DocumentName,
  nodeEvidence: Evidence,
  now: Moment,
  options: JudgingOptions,
  all: readonly Problem[] = problems,
): Judgement & { readonly memory: ProblemMemory } {
  const { problems: settings = {} } = options;
  const { at } = now;
  const { judged: last = now } = memory;
  const remembered = new Map<string, RememberedProblem>();
  const present: PresentProblem[] = [];
  const unjudged: UnjudgedProblem[] = [];
  const ended: EndedProblem[] = [];
  const notJudgedHere = new Set<string>();
  const judged = all.filter((problem) => problem.document === document && isEnabled(problem, settings));
  const { disagreement, evidence } = compareWithOpinion(judged, memory, nodeEvidence, now, options);
  let isOpinionWanted = false;
  for (const problem of judged) {
    const { name, severity } = problem;
    const key = problemKey(problem);
    const before = memory.remembered.get(key);
    const after = judgeProblem(problem, before, evidence, now, last, options);
    if (after === undefined) {
      notJudgedHere.add(name);
      continue;
    }
    remembered.set(key, after);
    const limit = limitSeconds(problem, settings);
    isOpinionWanted ||= options.isSinglePoll !== true && isWanted(problem, after, at, limit);
    const histories = selectPresent(problem, after);
    present.push(...histories.map((history) => ({ ...history, problem, limitSeconds: limit })));
    if (after.unjudgedSeconds !== undefined) {
      const lastSeverity = histories.length > 0 ? severity : 'warning';
      unjudged.push({ problem, severity: lastSeverity, sinceSeconds: after.unjudgedSeconds });
    }
    const gone = before === undefined ? [] : goneSince(selectPresent(problem, before), histories);
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
    memory: { ...memory, remembered, ended: withEnded(memory.ended, ended, at), judged: now, disagreement },
    present: present.toSorted(bySeverity).slice(0, options.maxSeries),
    dropped: Math.max(0, present.length - options.maxSeries),
    unjudged,
    notJudgedHere: Array.from(notJudgedHere),
    isOpinionWanted,
  };
}

/**
 * Compares the doubtful problems of a document with those of another node, if it was asked: what only the first one
 * shows is a problem of its own.
 */
function compareWithOpinion(
  judged: readonly Problem[],
  memory: ProblemMemory,
  evidence: Evidence,
  now: Moment,
  options: JudgingOptions,
): { readonly evidence: Evidence; readonly disagreement: Disagreement | undefined } {
  const { at } = now;
  const known = presentDisagreement(memory.disagreement, at);
  const spareDifferences = repeatedDifferences(memory, at);
  if (evidence.opinion === undefined)
    return { evidence: { ...evidence, differences: spareDifferences }, disagreement: known };
  const opinion = { ...evidence.opinion, disagreedSince: known?.since };
  const asked = { ...evidence, opinion, differences: spareDifferences };
  const disputed = judged.flatMap((problem) => {
    if (problem.isDoubtful !== true) return [];
    const before = memory.remembered.get(problemKey(problem));
    const { histories = new Map<string, SubjectHistory>() } =
      judgeProblem(problem, before, asked, now, memory.judged ?? now, options) ?? {};
    const limit = limitSeconds(problem, options.problems ?? {});
    const differing = Array.from(histories.values()).filter(
      (each) => each.lastFoundAt === at && each.opinion?.agrees === false && shownFrom(each, limit) <= at,
    );
    return selectSubjects(problem, differing).map((each) => ({ ...each, from: shownFrom(each, limit) }));
  });
  if (disputed.length === 0) return { evidence: asked, disagreement: known };
  const differences = disputed.flatMap(({ isDelayed, summary, from }): Difference[] =>
    isDelayed === true ? [{ summary, since: from, other: opinion.source, isShownByOther: false }] : [],
  );
  const since = Math.min(known?.since ?? Infinity, ...disputed.map(({ from }) => from));
  return { evidence: { ...asked, differences: [...differences, ...spareDifferences] }, disagreement: { since, at } };
}

/**
 * The memory after a document of a node that is not in use, with the problems that the last document of the one in use
 * does not have.
 */
export function withSpare(
  memory: ProblemMemory,
  document: DocumentName,
  source: string,
  evidence: Evidence,
  now: Moment,
  options: JudgingOptions,
): ProblemMemory {
  const judged = judgeProblems(memory, document, evidence, now, { ...options, isSinglePoll: true });
  const doubtful = problems.filter((problem) => problem.document === document && problem.isDoubtful === true);
  const found = doubtful.flatMap((problem) => {
    const key = problemKey(problem);
    const histories = Array.from(memory.remembered.get(key)?.histories.values() ?? []);
    const foundBefore = histories.filter(({ isMissing }) => !isMissing);
    const known = new Set(selectSubjects(problem, foundBefore).map(({ subject }) => subjectKey(subject)));
    return judged.present.filter(
      (each) => problemKey({ ...each.problem, document }) === key && !known.has(subjectKey(each.subject)),
    );
  });
  return { ...memory, spares: nextSpares(memory.spares ?? [], source, found, now.at) };
}

/** Whether another node is asked about the problem. */
function isWanted(problem: Problem, { histories }: RememberedProblem, at: Instant, limit: number): boolean {
  const unconfirmed = Array.from(histories.values()).filter((history) => isUnconfirmed(history, at, limit));
  return unconfirmed.length > 0 && selectSubjects(problem, unconfirmed).length > 0;
}

function bySeverity({ problem: a }: PresentProblem, { problem: b }: PresentProblem): number {
  return severities.indexOf(a.severity) - severities.indexOf(b.severity);
}

/** What a judgement of a problem depends on besides its histories. */
interface Judging {
  readonly problem: Problem;
  readonly at: Instant;
  readonly lastJudgedAt: Instant;
  readonly options: JudgingOptions;
}

/**
 * What is found begins or is kept; what is not found is kept or ends. `undefined` while the problem was never judged.
 */
function judgeProblem(
  problem: Problem,
  before: RememberedProblem | undefined,
  evidence: Evidence,
  now: Moment,
  lastJudged: Moment,
  options: JudgingOptions,
): RememberedProblem | undefined {
  const marks = marksAfter(problem.mark, evidence, before);
  const findings = orElse<Findings>(
    () => problem.find(evidence, marks.mark),
    () => OTHERS_UNJUDGED,
  );
  const { bySubject, isShown, isUnjudged } = foundIn(findings, now);
  if (before === undefined && isUnjudged && bySubject.size === 0) return undefined;
  const judging = { problem, at: now.at, lastJudgedAt: lastJudged.at, options };
  const last = new Map(
    Array.from(before?.histories ?? [], ([key, history]) => [key, atSetClock(history, lastJudged, now)]),
  );
  const limit = limitSeconds(problem, options.problems ?? {});
  const found = new Map(
    Array.from(bySubject, ([subject, each]) => {
      const history = last.get(historyKey(each));
      const kept = history !== undefined && !isOther(history, each, judging) ? history : undefined;
      const after = confirmed(kept ? keep(kept, each, judging) : begin(each, judging), each, judging);
      const isFoundIn = (inOpinion: Findings): boolean | undefined => {
        const { bySubject: shown, isShown } = foundIn(inOpinion, now);
        return shown.has(subject) || (isShown(each.subject ?? {}) ? false : undefined);
      };
      const compared = { evidence, at: now.at, limitSeconds: limit, before: kept, markBefore: before?.mark, isFoundIn };
      return [subject, withOpinion(after, problem, compared)];
    }),
  );
  const missed = Array.from(last.values()).flatMap(
    (history) => keepMissed(history, found.get(subjectKey(history.subject)), isShown, judging) ?? [],
  );
  const unjudgedSeconds = isUnjudged ? (before?.unjudgedSeconds ?? now.at) : undefined;
  return { histories: withinLimit([...found.values(), ...missed]), unjudgedSeconds, ...marks };
}

function foundIn(findings: Findings, { clockOffset }: Moment) {
  const list = [findings].flat().filter((each) => each !== undefined);
  const found = list
    .filter((each) => 'summary' in each)
    .map((each) => (each.chainStart === undefined ? each : { ...each, start: each.chainStart - clockOffset }));
  const notShown = list.filter((each) => 'notShown' in each);
  const keys = notShown.map(({ notShown: subject }) => (subject === 'others' ? subject : subjectKey(subject)));
  return {
    bySubject: new Map(found.map((each) => [subjectKey(each.subject ?? {}), each])),
    isShown: (subject: Subject): boolean => !keys.includes('others') && !keys.includes(subjectKey(subject)),
    isUnjudged: notShown.some((each) => each.isUnjudged === true),
  };
}

/**
 * Without a judgement for longer, nothing proves that a problem lasted. An odd answer between polls at the longest
 * interval is no outage.
 */
function outageSeconds({ staleAfterMs }: JudgingOptions): number {
  return (2 * staleAfterMs) / 1000;
}

/**
 * Whether what is found after an outage is another problem: the old one had not begun, or was missing, or a document
 * proves a later start.
 */
function isOther(history: SubjectHistory, { start }: Found, judging: Judging): boolean {
  const hasBegunSince = start !== undefined && start > history.lastFoundAt;
  return isInterrupted(history, judging) && (!history.isPresent || history.isMissing || hasBegunSince);
}

function isInterrupted({ lastFoundAt }: SubjectHistory, { at, options }: Judging): boolean {
  return at - lastFoundAt > outageSeconds(options);
}

function begin(found: Found, { problem, at }: Judging): SubjectHistory {
  const { subject = {}, progressKey = '' } = found;
  const times = { ...proveStart(found, at), firstFoundAt: at, lastFoundAt: at };
  return { subject, progressKey, ...times, isMissing: false, isPresent: false, ...makeTexts(found, problem, at) };
}

/** A later document can prove an earlier start. */
function keep(history: SubjectHistory, found: Found, { problem, at }: Judging): SubjectHistory {
  const { start } = found;
  const isCorrected = start !== undefined && !history.isProven && start < history.startSeconds;
  const corrected = isCorrected ? proveStart(found, at) : {};
  return { ...history, ...corrected, ...makeTexts(found, problem, at, history), lastFoundAt: at, isMissing: false };
}

/**
 * A history that the document has not; `undefined` if it has ended. `found` is the same subject, perhaps with another
 * progress key.
 */
function keepMissed(
  history: SubjectHistory,
  found: SubjectHistory | undefined,
  isShown: (subject: Subject) => boolean,
  judging: Judging,
): SubjectHistory | undefined {
  // A subject that the document does not show may still be there.
  if (found === undefined && !isShown(history.subject)) {
    const { problem, at, options } = judging;
    const limit = limitSeconds(problem, options.problems ?? {});
    return isForgotten(history, judging) ? undefined : withoutOpinion(history, at, limit);
  }
  if (found?.progressKey === history.progressKey) return undefined;
  // With another progress key, the old history stays until the new one is present.
  if (!history.isPresent || found?.isPresent === true) return undefined;
  // After an outage, a problem that is not found would have the age of the outage.
  if (isInterrupted(history, judging)) return undefined;
  const isOver = history.isMissing && judging.at - history.lastFoundAt >= ENDS_AFTER_SECONDS;
  return isOver ? undefined : { ...history, isMissing: true };
}

/** A problem that has not fired before an outage does not fire because of it. */
function isForgotten({ lastFoundAt, startSeconds }: SubjectHistory, { problem, at, lastJudgedAt, options }: Judging) {
  const limit = limitSeconds(problem, options.problems ?? {});
  return at - lastJudgedAt > outageSeconds(options) && lastFoundAt - startSeconds < limit;
}

/** A start that is proven by a time of the chain was as wrong as the wall clock was. */
function atSetClock(history: SubjectHistory, last: Moment, now: Moment): SubjectHistory {
  if (!history.isProvenByChain || last.clockOffset === now.clockOffset) return history;
  const start = history.startSeconds + last.clockOffset - now.clockOffset;
  return { ...history, ...proveStart({ start, chainStart: start }, now.at) };
}

/**
 * A start is never after the poll: block times are estimates, and the wall clock can be wrong. Then the start is not
 * proven.
 */
function proveStart({ start = Infinity, chainStart }: Pick<Found, 'start' | 'chainStart'>, at: Instant) {
  const isProven = start <= at;
  return { startSeconds: Math.min(start, at), isProven, isProvenByChain: isProven && chainStart !== undefined };
}

/** Summary and action are labels of a series, which must not change with each document. */
const TEXTS_SECONDS = 300;

function makeTexts(
  { summary, details = [], action, validator }: Found,
  problem: Problem,
  at: Instant,
  last?: SubjectHistory,
) {
  const isKept = last !== undefined && at - last.textsAt < TEXTS_SECONDS;
  const texts = isKept ? last : { ...labelTexts(summary, action ?? problem.action), textsAt: at };
  return {
    summary: texts.summary,
    action: texts.action,
    textsAt: texts.textsAt,
    details: joinTexts('; ', ...details),
    validators: validator === undefined ? [] : [validator],
  };
}

/**
 * A subject is present when judgements agree. The last one confirms the start: the first estimate may be by the
 * parameter of the chain, because no block time is measured yet. If the last estimate is later by more than the time
 * between the documents, the first one was wrong.
 */
function confirmed(history: SubjectHistory, { start }: Found, { at, options }: Judging): SubjectHistory {
  const { isPresent, startSeconds, firstFoundAt } = history;
  const lastedSeconds = at - firstFoundAt;
  if (isPresent || (options.isSinglePoll !== true && lastedSeconds < BEGINS_AFTER_SECONDS)) return history;
  const isFaster = start !== undefined && start - startSeconds > lastedSeconds;
  const confirmedSeconds = isFaster ? Math.min(start, firstFoundAt) : startSeconds;
  return { ...history, startSeconds: confirmedSeconds, isPresent: true };
}

function withinLimit(histories: readonly SubjectHistory[]): SubjectHistories {
  const oldest =
    histories.length <= MAX_HISTORIES
      ? histories
      : histories.toSorted((a, b) => a.startSeconds - b.startSeconds).slice(0, MAX_HISTORIES);
  return new Map(oldest.map((history) => [historyKey(history), history]));
}

function historyKey({ subject = {}, progressKey = '' }: Pick<Found, 'subject' | 'progressKey'>): string {
  return `${subjectKey(subject)} ${progressKey}`;
}

/** Equal for equal labels in any order. */
function subjectKey(subject: Subject): string {
  return JSON.stringify(Object.entries(subject).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function goneSince(before: readonly SubjectHistory[], after: readonly SubjectHistory[]): readonly SubjectHistory[] {
  const progressKeys = new Map(after.map(({ subject, progressKey }) => [subjectKey(subject), progressKey]));
  return before.filter(({ subject, progressKey }) => progressKeys.get(subjectKey(subject)) !== progressKey);
}

/** The problems that ended within a week, at most the newest 50. */
export function withEnded(before: readonly EndedProblem[], ended: readonly EndedProblem[], at: Instant) {
  const since = at - ENDED_SECONDS;
  if (ended.length === 0 && before.every(({ endSeconds }) => endSeconds >= since)) return before;
  return [...ended, ...before].filter(({ endSeconds }) => endSeconds >= since).slice(0, MAX_ENDED);
}

/** The present subjects of a problem. */
function selectPresent(problem: Problem, { histories }: RememberedProblem): readonly SubjectHistory[] {
  return selectSubjects(
    problem,
    Array.from(histories.values()).filter(({ isPresent, isDelayed }) => isPresent && isDelayed !== true),
  );
}

/** Subjects of a problem, with unwatched validators taken together. */
function selectSubjects({ together }: Problem, histories: readonly SubjectHistory[]): readonly SubjectHistory[] {
  if (together === undefined) return histories;
  const unwatched = histories.filter(({ subject }) => subject.watched === 'false');
  return [...histories.filter((history) => !unwatched.includes(history)), ...takenTogether(together, unwatched)];
}

/** A problem of several validators, which began when they had enough power; none with less power. */
function takenTogether(together: Together, histories: readonly SubjectHistory[]): readonly SubjectHistory[] {
  const byStart = histories.toSorted((a, b) => a.startSeconds - b.startSeconds);
  // A validator can be late with several things.
  const late = new Map<string, FoundValidator>();
  const last = byStart.find(({ validators }) => {
    for (const validator of validators) late.set(validator.externalAddress, validator);
    return addPower(late.values()) >= together.minimumPower;
  });
  if (last === undefined) return [];
  for (const validator of byStart.flatMap(({ validators }) => validators))
    late.set(validator.externalAddress, validator);
  const validators = Array.from(late.values()).toSorted((a, b) => (b.power ?? 0) - (a.power ?? 0));
  const { summary, action } = together;
  const texts = { summary, details: numberAndNames(validators), action, validators };
  return [{ ...last, ...texts, subject: { watched: 'false' }, progressKey: '' }];
}

function addPower(validators: Iterable<FoundValidator>): number {
  return Array.from(validators).reduce((sum, { power = 0 }) => sum + power, 0);
}

/** The memory after a document that was not recorded, because its result was that of the last document. */
export function repeatJudgement(memory: ProblemMemory, at: Instant): ProblemMemory {
  const foundAgainAt = (histories: SubjectHistories): SubjectHistories =>
    new Map(Array.from(histories, ([key, last]) => [key, last.isMissing ? last : { ...last, lastFoundAt: at }]));
  const remembered = new Map(
    Array.from(memory.remembered, ([key, problem]): [string, RememberedProblem] => [
      key,
      { ...problem, markWithoutLastDocument: problem.mark, histories: foundAgainAt(problem.histories) },
    ]),
  );
  return { ...memory, remembered };
}
