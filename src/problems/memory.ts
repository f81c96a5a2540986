import { msBetween, type Instant } from '../clock.js';
import type { DocumentName, TargetOptions } from '../document-types.js';
import { orElse } from '../facts/required-fields.js';
import { DAY_SECONDS } from '../units.js';
import {
  isEnabled,
  limitSeconds,
  problemKey,
  severities,
  type Evidence,
  type Findings,
  type Found,
  type FoundValidator,
  type JudgedBy,
  type Problem,
  type Severity,
  type Subject,
  type Together,
} from './problem.js';
import { problems } from './problems.js';
import { withDetails, withList, type Sentence } from './sentence.js';

/*
 * Since when each problem is there. One odd answer, or two nodes in turn behind one address, neither begin nor end a problem: what a document
 * shows (`Found`) is a candidate until judgements that are some time apart agree. Then it is present, until several judgements have not found it
 * for longer. Of what is present, poll/verdicts.ts makes verdicts.
 */

/** Judgements that agree over this time begin a problem. */
const BEGINS_AFTER_MS = 20_000;
/** A problem that two judgements or more have not found for this long has ended. */
const ENDS_AFTER_MS = 120_000;
/** More subjects of a problem are not remembered; the oldest are kept. */
const MAX_SUBJECTS = 200;
/** The problems that ended last. */
const MAX_ENDED = 50;
export const ENDED_SECONDS = 7 * DAY_SECONDS;

/** One subject of a problem, or all validators together that are not watched, present or still a candidate. */
interface SubjectHistory {
  readonly subject: Subject;
  readonly identity: string;
  /** When it began, in Unix seconds. */
  readonly startSeconds: number;
  /** Whether a document proves that; otherwise it may have begun earlier. */
  readonly isProven: boolean;
  readonly sentence: Sentence;
  readonly action: string;
  /** The validators that it is about. */
  readonly validators: readonly FoundValidator[];
  /** The first of the successive judgements that found it. */
  readonly since: Instant;
  /** The last judgement that found it. */
  readonly foundAt: Instant;
  /** Whether the last judgement did not find it: one is not enough to end it. */
  readonly isMissing: boolean;
}

type SubjectHistories = ReadonlyMap<string, SubjectHistory>;

interface Marks {
  readonly mark: unknown;
  /** The mark without the last document that has counted; `undefined` if the mark is not debounced. */
  readonly markWithoutLastDocument: unknown;
}

/** What is remembered of one problem. */
export interface RememberedProblem extends Marks {
  /** The subjects that have the problem, by key. */
  readonly present: SubjectHistories;
  /** What may begin, or begin anew. */
  readonly candidates: SubjectHistories;
  /** Since when it cannot be judged, in Unix seconds. */
  readonly unjudgedSeconds: number | undefined;
}

/** A problem that is over, after its alert has fired. */
export interface EndedProblem {
  readonly name: string;
  readonly severity: Severity;
  readonly subject: Subject;
  readonly startSeconds: number;
  readonly endSeconds: number;
}

/** What is remembered of the problems of an endpoint. */
export interface ProblemMemory {
  /** What is remembered of the problems that were judged at least once, by `problemKey`. */
  readonly remembered: ReadonlyMap<string, RememberedProblem>;
  /** The newest first. */
  readonly ended: readonly EndedProblem[];
}

export const NO_PROBLEMS: ProblemMemory = { remembered: new Map(), ended: [] };

/** A problem that is there. */
export interface PresentProblem extends Omit<SubjectHistory, 'identity' | 'since' | 'foundAt' | 'isMissing'> {
  readonly problem: JudgedBy;
  readonly limitSeconds: number;
}

/** A problem that cannot be judged, because a field that it reads is missing or invalid. */
export interface UnjudgedProblem {
  readonly problem: Problem;
  /** That of the problem if it was there, else `warning`. */
  readonly severity: Severity;
  readonly sinceSeconds: number;
}

/** What was found in a document. */
export interface Judgement {
  /** Worst first. */
  readonly present: readonly PresentProblem[];
  readonly unjudged: readonly UnjudgedProblem[];
  /** The names of the problems that could not be judged in any document of the endpoint. */
  readonly notJudgedHere: readonly string[];
}

type JudgingOptions = Pick<TargetOptions, 'problems' | 'isSinglePoll' | 'staleAfterMs'>;

/** Judges all problems of a document that was received at `at`. */
export function judgeProblems(
  memory: ProblemMemory,
  document: DocumentName,
  evidence: Evidence,
  at: Instant,
  options: JudgingOptions,
  all: readonly Problem[] = problems,
): Judgement & { readonly memory: ProblemMemory } {
  const { problems: settings = {} } = options;
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
    const after = judgeProblem(problem, before, evidence, at, options);
    if (after === undefined) {
      notJudgedHere.add(name);
      continue;
    }
    remembered.set(key, after);
    const limit = limitSeconds(problem, settings);
    const subjects = subjectsOf(problem, after);
    present.push(...subjects.map((subject) => ({ ...subject, problem, limitSeconds: limit })));
    if (after.unjudgedSeconds !== undefined) {
      const lastSeverity = subjects.length > 0 ? severity : 'warning';
      unjudged.push({ problem, severity: lastSeverity, sinceSeconds: after.unjudgedSeconds });
    }
    const gone = before === undefined ? [] : subjectsGone(subjectsOf(problem, before), subjects);
    for (const { subject, startSeconds, foundAt } of gone) {
      // It was exported until this judgement; during an outage, until its data was stale.
      const missingMs = msBetween(foundAt, at);
      const lastedMs = missingMs > outageMs(options) ? options.staleAfterMs : missingMs;
      const endSeconds = foundAt.epochSeconds;
      // Below its limit, most end on any healthy bridge.
      if (endSeconds + lastedMs / 1000 - startSeconds < limit) continue;
      ended.push({ name, severity, subject, startSeconds, endSeconds });
    }
  }
  return {
    memory: { remembered, ended: withEnded(memory.ended, ended, at) },
    present: present.toSorted(bySeverity),
    unjudged,
    notJudgedHere: Array.from(notJudgedHere),
  };
}

function bySeverity({ problem: a }: PresentProblem, { problem: b }: PresentProblem): number {
  return severities.indexOf(a.severity) - severities.indexOf(b.severity);
}

const NOT_JUDGED: Findings = { inPart: [], isUnjudged: true };
const NOTHING_KNOWN = { present: new Map<string, SubjectHistory>(), candidates: new Map<string, SubjectHistory>() };

/** `undefined` while the problem was never judged. */
function judgeProblem(
  problem: Problem,
  before: RememberedProblem | undefined,
  evidence: Evidence,
  at: Instant,
  options: JudgingOptions,
): RememberedProblem | undefined {
  const marks = marksAfter(problem.mark, evidence, before);
  const findings = orElse<Findings>(
    () => problem.find(evidence, marks.mark),
    () => NOT_JUDGED,
  );
  const { found, isInPart, isUnjudged } = allOf(findings);
  if (before === undefined && isUnjudged && found.length === 0) return undefined;
  const known = before ?? NOTHING_KNOWN;
  const bySubject = new Map(found.map((one) => [subjectKey(one.subject ?? {}), one]));
  const isInterrupted = ({ foundAt }: SubjectHistory): boolean => msBetween(foundAt, at) > outageMs(options);
  // After an outage, the age of what was not found again would be that of the outage.
  const hasEnded = (last: SubjectHistory): boolean =>
    isInterrupted(last) || (last.isMissing && msBetween(last.foundAt, at) >= ENDS_AFTER_MS);
  // What is not listed may still be there.
  const isHidden = ([key]: [string, SubjectHistory]): boolean => isInPart && !bySubject.has(key);
  const candidates = new Map(Array.from(known.candidates).filter(isHidden));
  const present = new Map(Array.from(known.present).filter(isHidden));
  for (const [key, one] of bySubject) {
    const { identity = '' } = one;
    const last = known.present.get(key);
    if (last?.identity === identity && !(isInterrupted(last) && (last.isMissing || hasBegunSince(last, one)))) {
      present.set(key, foundAgain(last, one, problem, at));
      continue;
    }
    const earlier = known.candidates.get(key);
    const candidate =
      earlier?.identity === identity && !isInterrupted(earlier)
        ? { ...earlier, ...textsOf(one, problem), foundAt: at }
        : firstFound(one, problem, at);
    if (options.isSinglePoll === true || msBetween(candidate.since, at) >= BEGINS_AFTER_MS) {
      present.set(key, { ...candidate, startSeconds: confirmedStart(candidate, one, at) });
    } else {
      candidates.set(key, candidate);
    }
  }
  // What progress has changed begins anew when the next judgement agrees.
  for (const [key, last] of known.present) {
    if (!present.has(key) && !hasEnded(last)) present.set(key, { ...last, isMissing: true });
  }
  const unjudgedSeconds = isUnjudged ? (before?.unjudgedSeconds ?? at.epochSeconds) : undefined;
  return { present: oldest(present), candidates: oldest(candidates), unjudgedSeconds, ...marks };
}

function allOf(findings: Findings) {
  const all = findings === undefined || 'headline' in findings ? [findings] : findings;
  const isInPart = 'inPart' in all;
  const found = (isInPart ? all.inPart : all).filter((one) => one !== undefined);
  return { found, isInPart, isUnjudged: isInPart && all.isUnjudged === true };
}

/** Without a judgement for this long, nothing proves that a problem lasted. One odd answer between polls that are as far apart as can be is no outage. */
function outageMs({ staleAfterMs }: JudgingOptions): number {
  return 2 * staleAfterMs;
}

/** Whether the document proves that the problem began after it was last found: during an outage, one can end and another begin. */
function hasBegunSince({ foundAt }: SubjectHistory, { start }: Found): boolean {
  return start !== undefined && start > foundAt.epochSeconds;
}

function firstFound(found: Found, problem: Problem, at: Instant): SubjectHistory {
  const { subject = {}, identity = '', start } = found;
  // A start is never after the poll: block times are estimates.
  const startSeconds = Math.min(start ?? at.epochSeconds, at.epochSeconds);
  const times = { startSeconds, isProven: start !== undefined, since: at, foundAt: at, isMissing: false };
  return { subject, identity, ...times, ...textsOf(found, problem) };
}

/** A document can prove an earlier start after others that did not. A start in the future is now: the clock was set back. */
function foundAgain(last: SubjectHistory, found: Found, problem: Problem, at: Instant): SubjectHistory {
  const { start } = found;
  const isEarlier = !last.isProven && start !== undefined && start < last.startSeconds;
  const startSeconds = Math.min(isEarlier ? start : last.startSeconds, at.epochSeconds);
  const isProven = last.isProven || isEarlier;
  return { ...last, startSeconds, isProven, ...textsOf(found, problem), foundAt: at, isMissing: false };
}

function textsOf({ headline, list, details = [], action, validator }: Found, problem: Problem) {
  return {
    sentence: list === undefined ? withDetails(headline, ...details) : withList(headline, list, ...details),
    action: action ?? problem.action,
    validators: validator === undefined ? [] : [validator],
  };
}

/**
 * The start that the second document confirms. The first one may date it with the parameter of the chain, because no block time is measured yet: if
 * the second one dates it later by more than the time between both, the first estimate was wrong.
 */
function confirmedStart({ startSeconds, since }: SubjectHistory, { start }: Found, at: Instant): number {
  const isFaster = start !== undefined && start - startSeconds > msBetween(since, at) / 1000;
  return isFaster ? Math.min(start, since.epochSeconds) : startSeconds;
}

function oldest(subjects: SubjectHistories): SubjectHistories {
  if (subjects.size <= MAX_SUBJECTS) return subjects;
  const sorted = Array.from(subjects).toSorted(([, a], [, b]) => a.startSeconds - b.startSeconds);
  return new Map(sorted.slice(0, MAX_SUBJECTS));
}

/** The key of a subject, which is the same for the same labels in any order. */
function subjectKey(subject: Subject): string {
  return JSON.stringify(Object.entries(subject).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function subjectsGone(before: readonly SubjectHistory[], after: readonly SubjectHistory[]): readonly SubjectHistory[] {
  const identities = new Map(after.map(({ subject, identity }) => [subjectKey(subject), identity]));
  return before.filter(({ subject, identity }) => identities.get(subjectKey(subject)) !== identity);
}

/** The problems that ended within a week, at most the newest 50. */
export function withEnded(before: readonly EndedProblem[], ended: readonly EndedProblem[], at: Instant) {
  const since = at.epochSeconds - ENDED_SECONDS;
  if (ended.length === 0 && before.every(({ endSeconds }) => endSeconds >= since)) return before;
  return [...ended, ...before].filter(({ endSeconds }) => endSeconds >= since).slice(0, MAX_ENDED);
}

/** The subjects that have a problem. Validators that are not watched are one together. */
function subjectsOf(problem: Problem, { present }: RememberedProblem): readonly SubjectHistory[] {
  const subjects = Array.from(present.values());
  const { together } = problem;
  if (together === undefined) return subjects;
  const others = subjects.filter(({ subject }) => subject.watched === 'false');
  return [...subjects.filter((one) => !others.includes(one)), ...takenTogether(together, others)];
}

/** One problem of several subjects, which began when enough of the power was part of it; none without so much power. */
function takenTogether(together: Together, subjects: readonly SubjectHistory[]): readonly SubjectHistory[] {
  const byStart = subjects.toSorted((a, b) => a.startSeconds - b.startSeconds);
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
  return [{ ...last, ...texts, subject: { watched: 'false' }, identity: '' }];
}

function powerOf(validators: Iterable<FoundValidator>): number {
  return Array.from(validators).reduce((sum, { power = 0 }) => sum + power, 0);
}

/** The memory after a document that was not recorded, because it had the same result as the last one. */
export function repeatJudgement(memory: ProblemMemory, at: Instant): ProblemMemory {
  const foundAgainAt = (subjects: SubjectHistories): SubjectHistories =>
    new Map(Array.from(subjects, ([key, last]) => [key, last.isMissing ? last : { ...last, foundAt: at }]));
  const remembered = new Map(
    Array.from(memory.remembered, ([key, known]): [string, RememberedProblem] => [
      key,
      {
        ...known,
        markWithoutLastDocument: known.mark,
        present: foundAgainAt(known.present),
        candidates: foundAgainAt(known.candidates),
      },
    ]),
  );
  return { ...memory, remembered };
}

/*
 * How one odd document is kept out of a mark that is debounced. Such a mark is kept twice: after all documents, and without the last one. With the
 * next document both are continued. If they agree, the last document was not odd. If they differ, it is skipped.
 *
 * For example, the mark is the highest nonce, as text, and three documents have 5, 90 and 6. After the second one, the mark is 90, without it 5. The third one leaves
 * 90 as it is and makes 6 of 5: they differ, so the mark is 6. With 91 in the third one, both would be 91.
 */

const NO_MARKS: Marks = { mark: undefined, markWithoutLastDocument: undefined };

/** A mark that cannot be read stays. */
function marksAfter(definition: Problem['mark'], evidence: Evidence, before: Marks = NO_MARKS): Marks {
  const { mark, markWithoutLastDocument } = before;
  return orElse<Marks>(
    () => {
      const after = definition?.next(evidence, mark);
      if (definition?.isDebounced !== true) return { mark: after, markWithoutLastDocument: undefined };
      if (markWithoutLastDocument === undefined) return { mark: after, markWithoutLastDocument: mark };
      const afterWithoutLastDocument = definition.next(evidence, markWithoutLastDocument);
      const agreed = agreedMark(after, afterWithoutLastDocument);
      return agreed === undefined
        ? { mark: afterWithoutLastDocument, markWithoutLastDocument }
        : { mark: agreed, markWithoutLastDocument: mark };
    },
    () => ({ mark, markWithoutLastDocument }),
  );
}

/** The mark with the minimum of each pair of numbers, which are times or small counts; `undefined` if the marks differ in anything else. */
function agreedMark(a: unknown, b: unknown): unknown {
  if (typeof a === 'number' && typeof b === 'number') return Math.min(a, b);
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null)
    return Object.is(a, b) ? a : undefined;
  const entries = Object.entries(a).map(([key, value]) => [key, agreedMark(value, Reflect.get(b, key))] as const);
  if (entries.length !== Object.keys(b).length || entries.some(([, value]) => value === undefined)) return undefined;
  return Array.isArray(a) ? entries.map(([, value]) => value) : Object.fromEntries(entries);
}
