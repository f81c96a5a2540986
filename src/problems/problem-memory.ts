import type { Instant, Moment } from '../clock.js';
import type { DocumentName, TargetOptions } from '../document-types.js';
import { orElse } from '../facts/required-fields.js';
import type { InParts } from '../tasks.js';
import { MINUTE_SECONDS } from '../units.js';
import type { AlertMemory } from './due.js';
import { latestMark, marksAfter, type Marks } from './marks.js';
import {
  HEIGHT,
  isEnabled,
  limitSeconds,
  OTHERS_NOT_SHOWN,
  OTHERS_UNJUDGED,
  problemKey,
  severities,
  type Evidence,
  type Findings,
  type Found,
  type Problem,
} from './problem.js';
import { problems } from './problems.js';
import { joinTexts, labelTexts } from './sentence.js';
import {
  historyKey,
  readFindings,
  selectPresent,
  subjectKey,
  type PresentProblem,
  type SubjectHistory,
  type UnjudgedProblem,
} from './subjects.js';

/*
 * Since when each problem exists. Its alert fires at the start plus the limit, but not before the problem is present.
 *
 * - A judgement finds a subject, misses it, or cannot show it, because a list is truncated, withdrawn or not polled. A
 *   subject that it cannot show keeps its history.
 * - An answer of a query is judged once, by the first document after it: with polls every 30 s, every 60 to 90 s. Until
 *   the next answer, its findings are kept.
 * - Found: the finding continues the history of its subject and progress key, or begins one. The start is the time that
 *   the document proves, else now, and never later. Of a present problem, it moves only to an earlier proven time.
 * - Present: judgements at least 20 s apart have found it, and none in between has missed it (`once`: one judgement).
 *   Before that, the first miss ends it.
 * - Gone: two judgements have missed a present problem, and the last one that found it is 120 s old or older.
 * - Progress: a subject has one present history at most. It stays until that of a new progress key is present.
 * - Outage (longer than twice `stale_after`): a present problem that the first document finds goes on, unless a later
 *   start is proven. One that it misses ends at once; one that it cannot show goes on if its alert has fired.
 * - A debounced mark moves with a document, and back if the next document contradicts it (marks.ts).
 * - A document or an answer with a lower height is refused; the third in a row is accepted (engine/step.ts,
 *   queries/query.ts).
 *
 * So one odd answer, or two nodes that answer in turn, neither end nor begin a problem. Nodes that answer at random
 * can: by two finds in a row, or by misses for two minutes.
 */

/** Judgements that agree over this time begin a problem. */
const BEGINS_AFTER_SECONDS = 20;
/** A present problem that two judgements or more have not found for this long has ended. */
const ENDS_AFTER_SECONDS = 120;
/** The limit of BridgeProblemUnjudged. */
const UNJUDGED_TOLD_SECONDS = 10 * MINUTE_SECONDS;
const UNJUDGED_ENDS_AFTER_SECONDS = 20 * MINUTE_SECONDS;
/** Histories kept of a problem, the oldest first; `limits.max_series_per_family` if that is more. */
const KEPT_HISTORIES = 200;

type SubjectHistories = ReadonlyMap<string, SubjectHistory>;

/** The time in which a problem could not be judged, until now or until recently. */
interface Unjudged {
  readonly since: Instant;
  /** The first and the last document of the latest run of successive documents without a judgement. */
  readonly from: Instant;
  readonly until: Instant;
  /** Whether the last document belongs to that run. */
  readonly isNow: boolean;
}

/** The memory of a problem. */
export interface RememberedProblem extends Marks {
  /** By `historyKey`. */
  readonly histories: SubjectHistories;
  readonly unjudged: Unjudged | undefined;
}

/** The memory of the problems of an endpoint. */
export interface ProblemMemory {
  /** The problems that were judged at least once, by `problemKey`. */
  readonly remembered: ReadonlyMap<string, RememberedProblem>;
  /** The last judgement; `undefined` before the first. */
  readonly judgedAt?: Instant | undefined;
  /** The fields that no document has had. */
  readonly neverHad?: readonly string[] | undefined;
  /** Written by the engine, because it is about all documents of a target. */
  readonly alerts?: AlertMemory | undefined;
}

export const NO_PROBLEMS: ProblemMemory = { remembered: new Map() };

/** The result for a document. */
export interface Judgement {
  /** Worst first, at most `maxSeries`. */
  readonly present: readonly PresentProblem[];
  /** The number of present problems above `maxSeries`, and of histories above the limit of the memory. */
  readonly dropped: number;
  readonly unjudged: readonly UnjudgedProblem[];
  /** The names of the problems that could not be judged in any document of the endpoint. */
  readonly notJudgedHere: readonly string[];
}

type JudgingOptions = Pick<TargetOptions, 'problemSettings' | 'isSinglePoll' | 'staleAfterMs' | 'maxSeries'>;

/** Judges all problems of a document that was received at `now.at`. */
export function* judgeProblems(
  memory: ProblemMemory,
  document: DocumentName,
  evidence: Evidence,
  now: Moment,
  options: JudgingOptions,
  all: readonly Problem[] = problems,
): InParts<Judgement & { readonly memory: ProblemMemory }> {
  const { problemSettings: settings = {} } = options;
  const remembered = new Map<string, RememberedProblem>();
  const present: PresentProblem[] = [];
  const unjudged: UnjudgedProblem[] = [];
  const notJudgedHere = new Set<string>();
  const judged = all.filter((problem) => problem.document === document && isEnabled(problem, settings));
  const shownUntil = (memory.judgedAt ?? now.at) + options.staleAfterMs / 1000;
  // After so long without a judgement, nothing proves that a problem has lasted. One odd answer is no outage.
  const isAfterOutage = now.at - shownUntil > options.staleAfterMs / 1000;
  const neverHad = memory.neverHad?.filter((name) => evidence.lacking.includes(name)) ?? evidence.lacking;
  let dropped = 0;
  for (const problem of judged) {
    yield;
    const { name, severity } = problem;
    const key = problemKey(problem);
    const limit = limitSeconds(problem, settings);
    const before = memory.remembered.get(key);
    const judging = { problem, limit, now, shownUntil, isAfterOutage, neverHad, options };
    const complete = judgeProblem(before, evidence, judging);
    if (complete === undefined) {
      notJudgedHere.add(name);
      continue;
    }
    const after = { ...complete, histories: withinLimit(complete.histories, options) };
    dropped += complete.histories.size - after.histories.size;
    remembered.set(key, after);
    const histories = selectPresent(problem, after.histories.values());
    // A single poll proves nothing about when a problem became present.
    const isUnknown = options.isSinglePoll === true && { presentAt: undefined };
    present.push(...histories.map((history) => ({ ...history, ...isUnknown, problem })));
    if (after.unjudged !== undefined) {
      const { since, from, isNow } = after.unjudged;
      // A present problem that cannot be judged now is unjudged with its own severity. If unjudged documents alternate
      // with judged ones (`since` before `from`), only if it is due: a judged document soon finds a younger one.
      const isLost = isNow && histories.some(({ startAt }) => since === from || now.at - startAt >= limit);
      unjudged.push({ problem, ...(isLost ? { severity, since: from } : { severity: 'warning', since }) });
    }
  }
  return {
    memory: { ...memory, remembered, judgedAt: now.at, neverHad },
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
  /** `stale_after` after the last judgement: problems that have not fired by then are withdrawn. */
  readonly shownUntil: Instant;
  readonly isAfterOutage: boolean;
  readonly neverHad: readonly string[];
  readonly options: JudgingOptions;
}

/** The memory of a problem after a document; `undefined` until a document could be judged. */
function judgeProblem(
  before: RememberedProblem | undefined,
  evidence: Evidence,
  judging: Judging,
): RememberedProblem | undefined {
  const { problem, now, neverHad } = judging;
  const marks = marksAfter(problem.mark, evidence, before);
  const mark = latestMark(marks);
  const findings = orElse<Findings>(
    () => problem.find(evidence, mark),
    () =>
      before !== undefined && isWithdrawnByNeverHad(problem, evidence, mark, neverHad)
        ? OTHERS_NOT_SHOWN
        : OTHERS_UNJUDGED,
  );
  const { bySubject, notShown, isUnjudged, isOutdated } = readFindings(findings);
  if (before === undefined && isUnjudged && bySubject.size === 0) return undefined;
  const last = before?.histories ?? new Map<string, SubjectHistory>();
  const found = new Map(
    Array.from(bySubject, ([subject, each]) => [subject, findHistory(last.get(historyKey(each)), each, judging)]),
  );
  const missed = Array.from(last.values()).flatMap((history) => {
    const subject = subjectKey(history.subject);
    const isHidden = notShown.includes('others') || notShown.includes(subject);
    const after = missHistory(history, found.get(subject), isHidden, judging);
    if (after === undefined) return [];
    // From an outdated node, a kept problem of an unwatched validator does not end, but does not begin to fire.
    return isOutdated && history.subject.watched === 'false' ? { ...after, isMissing: true } : after;
  });
  const unjudged = unjudgedAfter(before?.unjudged, isUnjudged, now.at);
  const histories = new Map([...found.values(), ...missed].map((history) => [historyKey(history), history]));
  return { histories, unjudged, ...marks };
}

/**
 * Whether a field that no document has had withdraws the problem, such as one that older nodes or other dialects lack:
 * the last field that `find` reads before it throws. A problem that reads it only sometimes, as while there is a batch,
 * does not become unjudged, because nothing has changed.
 */
function isWithdrawnByNeverHad(
  { find }: Problem,
  evidence: Evidence,
  mark: unknown,
  neverHad: readonly string[],
): boolean {
  if (neverHad.length === 0) return false;
  let last = '';
  const observe = (values: object, path: string): object =>
    new Proxy(values, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        last = `${path}${String(name)}`;
        const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
        return isObject ? observe(value, `${last}.`) : value;
      },
    });
  const input = new Proxy(evidence.input, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (name === HEIGHT) last = HEIGHT;
      return name === 'state' || name === 'document' ? observe(value as object, '') : value;
    },
  });
  return orElse(
    () => {
      find({ ...evidence, input }, mark);
      return false;
    },
    () => neverHad.some((name) => last === name || last.startsWith(`${name}.`)),
  );
}

/**
 * A problem that was unjudged for 10 minutes stays so until 20 minutes have passed without an unjudged document.
 * Otherwise BridgeProblemUnjudged would fire again and again where rows lack a field in some documents only.
 */
function unjudgedAfter(before: Unjudged | undefined, isUnjudged: boolean, at: Instant): Unjudged | undefined {
  if (isUnjudged) {
    return { since: before?.since ?? at, from: before?.isNow === true ? before.from : at, until: at, isNow: true };
  }
  const wasTold = before !== undefined && before.until - before.since >= UNJUDGED_TOLD_SECONDS;
  return wasTold && at - before.until < UNJUDGED_ENDS_AFTER_SECONDS ? { ...before, isNow: false } : undefined;
}

/** The history of a finding: a continued one, or a new one. */
function findHistory(last: SubjectHistory | undefined, found: Found, judging: Judging): SubjectHistory {
  const { problem, now, options } = judging;
  const { subject = {}, progressKey = '', summary, details = [], action = problem.action, validator, chains } = found;
  const before = last === undefined || isOther(last, found, judging) ? undefined : last;
  const firstFoundAt = before?.firstFoundAt ?? now.at;
  const isAgreed = options.isSinglePoll === true || now.at - firstFoundAt >= BEGINS_AFTER_SECONDS;
  return {
    subject,
    progressKey,
    ...startAfter(before, found, firstFoundAt, now),
    ...labelTexts(summary, action),
    details: joinTexts('; ', ...details),
    validators: validator === undefined ? [] : [validator],
    ...(chains !== undefined && { chains }),
    firstFoundAt,
    lastFoundAt: now.at,
    isMissing: false,
    presentAt: before?.presentAt ?? (isAgreed ? now.at : undefined),
  };
}

/** Whether a finding after an outage is a new problem: the old one was absent or missed, or the new one began later. */
function isOther(
  { presentAt, isMissing, lastFoundAt }: SubjectHistory,
  { start, chainStart }: Found,
  { isAfterOutage, now }: Judging,
): boolean {
  const provenStart = chainStart === undefined ? start : chainStart - now.clockOffset;
  return isAfterOutage && (presentAt === undefined || isMissing || (provenStart ?? -Infinity) > lastFoundAt);
}

/**
 * A start by heights is an estimate, at first by a block time from the parameters, because none is measured yet. Until
 * the problem is present, each document replaces the start; then it stays, because estimates would move it to and fro.
 */
function startAfter(
  before: SubjectHistory | undefined,
  found: Found,
  firstFoundAt: Instant,
  { at, clockOffset }: Moment,
): Pick<SubjectHistory, 'startAt' | 'isProven' | 'chainStart'> {
  // Block times are estimates, and the wall clock can be wrong: a start in the future proves nothing.
  const prove = (start: number) => ({ startAt: Math.min(start, firstFoundAt), isProven: start <= at });
  const chainStart = Math.min(before?.chainStart ?? Infinity, found.chainStart ?? Infinity);
  if (chainStart < Infinity) return { ...prove(chainStart - clockOffset), chainStart };
  const { startAt = firstFoundAt, isProven = false, presentAt } = before ?? {};
  const { start } = found;
  const isCorrected = start !== undefined && !isProven && start < startAt;
  if (start === undefined || (presentAt !== undefined && !isCorrected)) return { startAt, isProven };
  return prove(start);
}

/**
 * An earlier history after a document. `undefined` if it has ended, or is replaced by `found`: the new history of the
 * same subject, with the same progress key or another one.
 */
function missHistory(
  history: SubjectHistory,
  found: SubjectHistory | undefined,
  isHidden: boolean,
  { now, limit, shownUntil, isAfterOutage }: Judging,
): SubjectHistory | undefined {
  const { presentAt, lastFoundAt, startAt, progressKey, isMissing } = history;
  if (found === undefined && isHidden) {
    // A problem that cannot be shown after an outage goes on only if its alert had fired before the outage.
    return isAfterOutage && Math.max(startAt + limit, presentAt ?? Infinity) > shownUntil ? undefined : history;
  }
  const isReplaced = found !== undefined && (found.progressKey === progressKey || found.presentAt !== undefined);
  const isOver = isAfterOutage || (isMissing && now.at - lastFoundAt >= ENDS_AFTER_SECONDS);
  return isReplaced || presentAt === undefined || isOver ? undefined : { ...history, isMissing: true };
}

function withinLimit(histories: SubjectHistories, { maxSeries }: JudgingOptions): SubjectHistories {
  const limit = Math.max(KEPT_HISTORIES, maxSeries);
  if (histories.size <= limit) return histories;
  const oldestFirst = Array.from(histories).toSorted(([, a], [, b]) => a.startAt - b.startAt);
  return new Map(oldestFirst.slice(0, limit));
}
