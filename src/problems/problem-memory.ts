import type { Instant, Moment } from '../clock.js';
import type { DocumentName, TargetOptions } from '../document-types.js';
import { orElse } from '../facts/required-fields.js';
import type { InParts } from '../parts.js';
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
} from './problem.js';
import { problems } from './problems.js';
import { joinTexts, labelTexts } from './sentence.js';
import { historyKey, isNotShown, readFindings, selectSubjects, subjectKey } from './subjects.js';

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
/** So many histories of a problem are kept, the oldest, or `limits.max_series_per_family` if that is more. */
const KEPT_HISTORIES = 200;

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
  /** When they agreed. No alert fires before. */
  readonly presentAt?: Instant | undefined;
}

type SubjectHistories = ReadonlyMap<string, SubjectHistory>;

/** The memory of a problem. */
export interface RememberedProblem extends Marks {
  /** By `historyKey`. */
  readonly histories: SubjectHistories;
  /** Since when the problem cannot be judged, in Unix seconds. */
  readonly unjudgedSeconds: number | undefined;
}

/** The memory of the problems of an endpoint. */
export interface ProblemMemory {
  /** The problems that were judged at least once, by `problemKey`. */
  readonly remembered: ReadonlyMap<string, RememberedProblem>;
  /** The last judgement; `undefined` before the first. */
  readonly judged?: Moment | undefined;
}

/** Another one for another shape: then the problems of a state file begin anew. */
export const PROBLEM_MEMORY_VERSION = 6;

export const NO_PROBLEMS: ProblemMemory = { remembered: new Map() };

/** A present subject with its problem, or a problem of the polls. */
export interface PresentProblem extends Omit<
  SubjectHistory,
  'progressKey' | 'isProvenByChain' | 'textsAt' | 'firstFoundAt' | 'lastFoundAt' | 'isMissing' | 'isPresent'
> {
  readonly problem: Pick<Problem, 'name' | 'severity' | 'age' | 'isUrgent'>;
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
  /** The number of the others, and of the subjects that are not remembered. */
  readonly dropped: number;
  readonly unjudged: readonly UnjudgedProblem[];
  /** The names of the problems that could not be judged in any document of the endpoint. */
  readonly notJudgedHere: readonly string[];
}

type JudgingOptions = Pick<TargetOptions, 'problems' | 'isSinglePoll' | 'staleAfterMs' | 'maxSeries'>;

/** Judges all problems of a document that was received at `now.at`. */
export function* judgeProblems(
  memory: ProblemMemory,
  document: DocumentName,
  evidence: Evidence,
  now: Moment,
  options: JudgingOptions,
  all: readonly Problem[] = problems,
): InParts<Judgement & { readonly memory: ProblemMemory }> {
  const { problems: settings = {} } = options;
  const remembered = new Map<string, RememberedProblem>();
  const present: PresentProblem[] = [];
  const unjudged: UnjudgedProblem[] = [];
  const notJudgedHere = new Set<string>();
  const judged = all.filter((problem) => problem.document === document && isEnabled(problem, settings));
  let dropped = 0;
  for (const problem of judged) {
    yield;
    const { name, severity } = problem;
    const key = problemKey(problem);
    const limit = limitSeconds(problem, settings);
    const before = memory.remembered.get(key);
    const judging = { problem, limit, now, lastJudged: memory.judged ?? now, options };
    const complete = judgeProblem(before, evidence, judging);
    if (complete === undefined) {
      notJudgedHere.add(name);
      continue;
    }
    const after = { ...complete, histories: withinLimit(complete.histories, options) };
    dropped += complete.histories.size - after.histories.size;
    remembered.set(key, after);
    const histories = selectPresent(problem, after);
    present.push(...histories.map((history) => ({ ...history, problem, limitSeconds: limit })));
    if (after.unjudgedSeconds !== undefined) {
      const lastSeverity = histories.length > 0 ? severity : 'warning';
      unjudged.push({ problem, severity: lastSeverity, sinceSeconds: after.unjudgedSeconds });
    }
  }
  return {
    memory: { ...memory, remembered, judged: now },
    present: present.toSorted(bySeverity).slice(0, options.maxSeries),
    dropped: dropped + Math.max(0, present.length - options.maxSeries),
    unjudged,
    notJudgedHere: Array.from(notJudgedHere),
  };
}

function bySeverity({ problem: a }: PresentProblem, { problem: b }: PresentProblem): number {
  return severities.indexOf(a.severity) - severities.indexOf(b.severity);
}

/** What a judgement of a problem depends on besides its histories. */
interface Judging {
  readonly problem: Problem;
  readonly limit: number;
  readonly now: Moment;
  readonly lastJudged: Moment;
  readonly options: JudgingOptions;
}

function findWith(problem: Problem, evidence: Evidence, { mark }: Marks): Findings {
  return orElse<Findings>(
    () => problem.find(evidence, mark),
    () => OTHERS_UNJUDGED,
  );
}

/**
 * What is found begins or is kept; what is not found is kept or ends. `undefined` while the problem was never judged.
 */
function judgeProblem(
  before: RememberedProblem | undefined,
  evidence: Evidence,
  judging: Judging,
): RememberedProblem | undefined {
  const { problem, now, lastJudged } = judging;
  const marks = marksAfter(problem.mark, evidence, before);
  const { bySubject, notShown, isUnjudged } = readFindings(findWith(problem, evidence, marks), now);
  if (before === undefined && isUnjudged && bySubject.size === 0) return undefined;
  const last = new Map(
    Array.from(before?.histories ?? [], ([key, history]) => [key, atSetClock(history, lastJudged, now)]),
  );
  const found = new Map(
    Array.from(bySubject, ([subject, each]) => {
      const history = last.get(historyKey(each));
      const kept = history !== undefined && !isOther(history, each, judging) ? history : undefined;
      const after = kept ? keep(kept, each, judging) : begin(each, problem, now.at);
      return [subject, withPresence(after, each, judging)];
    }),
  );
  const missed = Array.from(last.values()).flatMap(
    (history) => keepMissed(history, found.get(subjectKey(history.subject)), notShown, judging) ?? [],
  );
  const unjudgedSeconds = isUnjudged ? (before?.unjudgedSeconds ?? now.at) : undefined;
  const histories = new Map([...found.values(), ...missed].map((history) => [historyKey(history), history]));
  return { histories, unjudgedSeconds, ...marks };
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

function isInterrupted({ lastFoundAt }: SubjectHistory, { now, options }: Judging): boolean {
  return now.at - lastFoundAt > outageSeconds(options);
}

function begin(found: Found, problem: Problem, at: Instant): SubjectHistory {
  const { subject = {}, progressKey = '' } = found;
  const times = { ...proveStart(found, at), firstFoundAt: at, lastFoundAt: at };
  return { subject, progressKey, ...times, isMissing: false, isPresent: false, ...makeTexts(found, problem, at) };
}

/** A later document can prove an earlier start. */
function keep(history: SubjectHistory, found: Found, { problem, now: { at } }: Judging): SubjectHistory {
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
  notShown: readonly string[],
  judging: Judging,
): SubjectHistory | undefined {
  // A subject that the document does not show may still be there.
  if (found === undefined && isNotShown(notShown, subjectKey(history.subject))) {
    return isForgotten(history, judging) ? undefined : history;
  }
  if (found?.progressKey === history.progressKey) return undefined;
  // With another progress key, the old history stays until the new one is present.
  if (!history.isPresent || found?.isPresent === true) return undefined;
  // After an outage, a problem that is not found would have the age of the outage.
  if (isInterrupted(history, judging)) return undefined;
  const isOver = history.isMissing && judging.now.at - history.lastFoundAt >= ENDS_AFTER_SECONDS;
  return isOver ? undefined : { ...history, isMissing: true };
}

/** A problem that has not fired before an outage does not fire because of it. */
function isForgotten({ lastFoundAt, startSeconds }: SubjectHistory, { limit, now, lastJudged, options }: Judging) {
  return now.at - lastJudged.at > outageSeconds(options) && lastFoundAt - startSeconds < limit;
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
 * A subject is present when judgements agree. The last one proves the start: the first estimate may be by the
 * parameter of the chain, because no block time is measured yet. If the last estimate is later by more than the time
 * between the documents, the first one was wrong.
 */
function withPresence(history: SubjectHistory, { start }: Found, { now, options }: Judging): SubjectHistory {
  const { isPresent, startSeconds, firstFoundAt } = history;
  const lastedSeconds = now.at - firstFoundAt;
  if (isPresent || (options.isSinglePoll !== true && lastedSeconds < BEGINS_AFTER_SECONDS)) return history;
  const isFaster = start !== undefined && start - startSeconds > lastedSeconds;
  return {
    ...history,
    startSeconds: isFaster ? Math.min(start, firstFoundAt) : startSeconds,
    isPresent: true,
    presentAt: now.at,
  };
}

function withinLimit(histories: SubjectHistories, { maxSeries }: JudgingOptions): SubjectHistories {
  const limit = Math.max(KEPT_HISTORIES, maxSeries);
  if (histories.size <= limit) return histories;
  const oldestFirst = Array.from(histories).toSorted(([, a], [, b]) => a.startSeconds - b.startSeconds);
  return new Map(oldestFirst.slice(0, limit));
}

/** The present subjects of a problem. */
function selectPresent(problem: Problem, { histories }: RememberedProblem): readonly SubjectHistory[] {
  return selectSubjects(
    problem,
    Array.from(histories.values()).filter(({ isPresent }) => isPresent),
  );
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
