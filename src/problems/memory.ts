import { DAY_SECONDS, msBetween, type Instant } from '../clock.js';
import { OUTDATED_MS } from '../config/config.js';
import type { DocumentName, TargetOptions } from '../document-types.js';
import { orElse, WITHDRAWN } from '../facts/required-fields.js';
import {
  isEnabled,
  limitSeconds,
  problemKey,
  severities,
  type Findings,
  type Found,
  type FoundValidator,
  type JudgedBy,
  type Evidence,
  type Problem,
  type ProblemSettings,
  type Severity,
  type Subject,
} from './problem.js';
import { marksAfter, type Marks } from './marks.js';
import { problems } from './problems.js';
import type { Sentence } from './sentence.js';

/*
 * Since when each problem is there. One odd answer, or two nodes in turn behind one address, neither begin nor end a problem: it begins when
 * judgements that are some time apart agree, and ends when several have not found it for longer. What a document shows (`Found`) is a candidate
 * until they agree, then present; with its limit and texts it is a `PresentProblem`, of which poll/verdicts.ts makes a verdict.
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

/** What was found last, as far as the texts need it; `undefined` after a restart, until it is found again. */
type Texts = Pick<Found, 'sentence' | 'action' | 'validator'>;

/** One subject of a problem, since when it has the problem. */
interface KnownSubject {
  readonly subject: Subject;
  readonly identity: string;
  /** When it began, in Unix seconds. */
  readonly startSeconds: number;
  /** Whether a document proves that; otherwise it may have begun earlier. */
  readonly isProven: boolean;
  readonly texts?: Texts | undefined;
}

/** A subject that has the problem. */
interface PresentSubject extends KnownSubject {
  /** The last judgement that found it. */
  readonly foundAt: Instant;
  /** Whether the last judgement did not find it: one is not enough to end it. */
  readonly isMissing: boolean;
}

/** A subject that has the problem when the next judgements agree. */
interface Candidate extends KnownSubject {
  /** The first of the successive judgements that found it. */
  readonly since: Instant;
}

/** What is remembered of one problem. */
export interface RememberedProblem extends Marks {
  /** The subjects that have the problem, by key. */
  readonly present: ReadonlyMap<string, PresentSubject>;
  /** What may begin, or begin anew. */
  readonly candidates: ReadonlyMap<string, Candidate>;
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

/** A problem that is there, of one subject, or of all validators together that are not watched. */
export interface PresentProblem {
  readonly problem: JudgedBy;
  readonly subject: Subject;
  readonly startSeconds: number;
  readonly isProven: boolean;
  readonly limitSeconds: number;
  readonly sentence: Sentence;
  readonly action: string;
  /** The validators that the problem is about. */
  readonly validators: readonly FoundValidator[];
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

/** Judges all problems of a document that was received at `at`. */
export function judgeProblems(
  before: ProblemMemory,
  document: DocumentName,
  evidence: Evidence,
  at: Instant,
  { problems: settings = {}, isSinglePoll = false }: Pick<TargetOptions, 'problems' | 'isSinglePoll'>,
  all: readonly Problem[] = problems,
): Judgement & { readonly memory: ProblemMemory } {
  const judged = all.filter((problem) => problem.document === document && isEnabled(problem, settings));
  const remembered = new Map<string, RememberedProblem>();
  const ended: EndedProblem[] = [];
  const notJudgedHere = new Set<string>();
  for (const problem of judged) {
    const key = problemKey(problem);
    const known = before.remembered.get(key);
    const after = judgeProblem(problem, known, evidence, at, isSinglePoll);
    if (after === undefined) {
      notJudgedHere.add(problem.name);
      continue;
    }
    remembered.set(key, after);
    if (known !== undefined) {
      ended.push(...endedBetween(problem, known, after, limitSeconds(problem, settings), at));
    }
  }
  const memory = { remembered, ended: withEnded(before.ended, ended, at) };
  return { memory, notJudgedHere: Array.from(notJudgedHere), ...presentIn(memory, judged, settings) };
}

/** `undefined` while the problem was never judged. */
function judgeProblem(
  problem: Problem,
  before: RememberedProblem | undefined,
  evidence: Evidence,
  at: Instant,
  isSinglePoll: boolean,
): RememberedProblem | undefined {
  const marks = marksAfter(problem.mark, evidence, before);
  const findings = orElse<Findings | typeof WITHDRAWN>(
    () => problem.find(evidence, marks.mark),
    () => WITHDRAWN,
  );
  if (findings === WITHDRAWN) {
    return before && { ...before, ...marks, unjudgedSeconds: before.unjudgedSeconds ?? at.epochSeconds };
  }
  const { found, isComplete } = 'found' in findings ? findings : { found: findings, isComplete: true };
  const known = before ?? { present: new Map(), candidates: new Map() };
  const bySubject = new Map(found.map((one) => [subjectKey(one.subject ?? {}), one]));
  const candidates = new Map<string, Candidate>();
  const present = new Map<string, PresentSubject>();
  for (const [key, one] of bySubject) {
    const last = known.present.get(key);
    const { identity = '', subject = {} } = one;
    if (last?.identity === identity && !isInterrupted(last, at)) {
      present.set(key, { ...last, ...earlierStart(last, one), foundAt: at, isMissing: false, texts: one });
      continue;
    }
    const earlier = known.candidates.get(key);
    const candidate = earlier?.identity === identity ? { ...earlier, texts: one } : newCandidate(subject, one, at);
    if (isSinglePoll || msBetween(candidate.since, at) >= BEGINS_AFTER_MS) {
      const { since: _since, ...begun } = candidate;
      present.set(key, {
        ...begun,
        startSeconds: confirmedStart(candidate, one, at),
        foundAt: at,
        isMissing: false,
      });
    } else {
      candidates.set(key, candidate);
      // What progress has changed begins anew when the next judgement agrees.
      if (last !== undefined && !hasEnded(last, at)) present.set(key, { ...last, isMissing: true });
    }
  }
  for (const [key, last] of known.present) {
    if (bySubject.has(key)) continue;
    if (!isComplete) present.set(key, last);
    else if (!hasEnded(last, at)) present.set(key, { ...last, isMissing: true });
  }
  return { present: oldest(present), candidates: oldest(candidates), unjudgedSeconds: undefined, ...marks };
}

/**
 * Whether a problem that a judgement has not found has ended: the one before has not found it either, or the last one that has is outdated. After
 * an outage, its age would be that of the outage.
 */
function hasEnded({ foundAt, isMissing }: PresentSubject, at: Instant): boolean {
  const missingMs = msBetween(foundAt, at);
  return missingMs >= OUTDATED_MS || (isMissing && missingMs >= ENDS_AFTER_MS);
}

/** Whether the last judgement has not found it, and an outage followed: then it is another one that is found after it. */
function isInterrupted({ foundAt, isMissing }: PresentSubject, at: Instant): boolean {
  return isMissing && msBetween(foundAt, at) > OUTDATED_MS;
}

/** The start that a document proves after others that did not. */
function earlierStart({ startSeconds, isProven }: PresentSubject, { start }: Found) {
  return !isProven && start !== undefined && start < startSeconds ? { startSeconds: start, isProven: true } : undefined;
}

function newCandidate(subject: Subject, { identity = '', start, ...texts }: Found, at: Instant): Candidate {
  const isProven = start !== undefined;
  // A start is never after the poll: block times are estimates.
  const startSeconds = Math.min(start ?? at.epochSeconds, at.epochSeconds);
  return { subject, identity, startSeconds, isProven, texts, since: at };
}

/**
 * The start that the second document confirms. The first one may date it with the parameter of the chain, because no block time is measured yet: if
 * the second one dates it later by more than the time between both, the first estimate was wrong.
 */
function confirmedStart({ startSeconds, since }: Candidate, { start }: Found, at: Instant): number {
  const isFaster = start !== undefined && start - startSeconds > msBetween(since, at) / 1000;
  return isFaster ? Math.min(start, since.epochSeconds) : startSeconds;
}

function oldest<Known extends KnownSubject>(subjects: ReadonlyMap<string, Known>): ReadonlyMap<string, Known> {
  if (subjects.size <= MAX_SUBJECTS) return subjects;
  const sorted = Array.from(subjects).toSorted(([, a], [, b]) => a.startSeconds - b.startSeconds);
  return new Map(sorted.slice(0, MAX_SUBJECTS));
}

/** The key of a subject, which is the same for the same labels in any order. */
function subjectKey(subject: Subject): string {
  return JSON.stringify(Object.entries(subject).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** What has ended above its limit: below it, most end on any healthy bridge. */
function endedBetween(
  problem: Problem,
  before: RememberedProblem,
  after: RememberedProblem,
  limit: number,
  at: Instant,
): readonly EndedProblem[] {
  const { name, severity } = problem;
  const presentOf = ({ present }: RememberedProblem): readonly PresentProblem[] =>
    presentSubjects(problem, Array.from(present.values()), limit);
  const still = new Set(presentOf(after).map(({ subject }) => subjectKey(subject)));
  return presentOf(before).flatMap(({ subject, startSeconds }) => {
    const key = subjectKey(subject);
    // `undefined` of what is one problem together.
    const last = before.present.get(key);
    const isThere = last === undefined ? still.has(key) : after.present.get(key)?.identity === last.identity;
    const endSeconds = (last?.foundAt ?? at).epochSeconds;
    return isThere || endSeconds - startSeconds < limit ? [] : [{ name, severity, subject, startSeconds, endSeconds }];
  });
}

/** The problems that ended within a week, at most the newest 50. */
export function withEnded(before: readonly EndedProblem[], ended: readonly EndedProblem[], at: Instant) {
  const since = at.epochSeconds - ENDED_SECONDS;
  if (ended.length === 0 && before.every(({ endSeconds }) => endSeconds >= since)) return before;
  return [...ended, ...before].filter(({ endSeconds }) => endSeconds >= since).slice(0, MAX_ENDED);
}

/** The problems that are there, and those that cannot be judged. */
function presentIn(
  { remembered }: ProblemMemory,
  all: readonly Problem[],
  settings: ProblemSettings,
): Pick<Judgement, 'present' | 'unjudged'> {
  const present: PresentProblem[] = [];
  const unjudged: UnjudgedProblem[] = [];
  for (const problem of all) {
    const known = remembered.get(problemKey(problem));
    if (known === undefined) continue;
    const subjects = Array.from(known.present.values());
    present.push(...presentSubjects(problem, subjects, limitSeconds(problem, settings)));
    if (known.unjudgedSeconds !== undefined) {
      const severity = subjects.length > 0 ? problem.severity : 'warning';
      unjudged.push({ problem, severity, sinceSeconds: known.unjudgedSeconds });
    }
  }
  return { present: present.toSorted(bySeverity), unjudged };
}

function bySeverity({ problem: a }: PresentProblem, { problem: b }: PresentProblem): number {
  return severities.indexOf(a.severity) - severities.indexOf(b.severity);
}

function presentSubjects(
  problem: Problem,
  subjects: readonly PresentSubject[],
  limit: number,
): readonly PresentProblem[] {
  const isOther = ({ subject }: KnownSubject): boolean => problem.together !== undefined && subject.watched === 'false';
  const single = subjects.filter((known) => !isOther(known)).map((known) => presentSubject(problem, known, limit));
  return [...single, ...presentTogether(problem, subjects.filter(isOther), limit)];
}

/** What is known after a restart, until the problem is found again: the summary without what it is about. */
function plainSummary({ name, summary }: Problem): string {
  return summary.includes('{{') ? name : summary.replace(/\.$/, '');
}

function presentSubject(problem: Problem, known: KnownSubject, limit: number): PresentProblem {
  const { subject, startSeconds, isProven, texts } = known;
  return {
    problem,
    subject,
    startSeconds,
    isProven,
    limitSeconds: limit,
    sentence: texts?.sentence ?? { fact: `${plainSummary(problem)} (for {duration})`, separator: '; ', details: '' },
    action: texts?.action ?? problem.action,
    validators: texts?.validator === undefined ? [] : [texts.validator],
  };
}

/** Validators that are not watched are one problem, which began when enough of the power was part of it. */
function presentTogether(
  problem: Problem,
  subjects: readonly PresentSubject[],
  limit: number,
): readonly PresentProblem[] {
  const { together } = problem;
  if (together === undefined) return [];
  const byStart = subjects.toSorted((a, b) => a.startSeconds - b.startSeconds);
  let power = 0;
  const last = byStart.find((subject) => {
    power += subject.texts?.validator?.power ?? 0;
    return power >= together.minimumPower;
  });
  if (last === undefined) return [];
  const validators = byStart
    .flatMap(({ texts }) => texts?.validator ?? [])
    .toSorted((a, b) => (b.power ?? 0) - (a.power ?? 0));
  return [
    {
      problem,
      subject: { watched: 'false' },
      startSeconds: last.startSeconds,
      isProven: last.isProven,
      limitSeconds: limit,
      sentence: together.sentence(validators),
      action: together.action,
      validators,
    },
  ];
}

/** The memory after a document that was not recorded, because it had the same result as the last one. */
export function repeatJudgement(memory: ProblemMemory, at: Instant): ProblemMemory {
  const remembered = new Map(
    Array.from(memory.remembered, ([key, known]): [string, RememberedProblem] => [
      key,
      {
        ...known,
        markWithoutLastDocument: known.mark,
        present: new Map(
          Array.from(known.present, ([id, last]) => [id, last.isMissing ? last : { ...last, foundAt: at }]),
        ),
      },
    ]),
  );
  return { ...memory, remembered };
}
