import type { Instant } from '../clock.js';
import type { Findings, Found, FoundValidator, Problem, Severity, Subject, Together } from './problem.js';
import { COMMON_CAUSE, isCommon, MOST_RATIO, numberAndNames } from './sentence.js';

/* The subjects of a problem in one document. */

/** A subject of a problem with a progress key; or all unwatched validators together. */
export interface SubjectHistory {
  readonly subject: Subject;
  readonly progressKey: string;
  readonly startAt: Instant;
  /** Whether a document proves the start; otherwise the problem may have begun earlier. */
  readonly isProven: boolean;
  /** The start in Unix seconds, if a time of the chain proves it: it moves when the wall clock is set. */
  readonly chainStart?: number | undefined;
  readonly summary: string;
  readonly details: string;
  readonly action: string;
  readonly validators: readonly FoundValidator[];
  /** See `Found.chains`. */
  readonly chains?: readonly string[] | undefined;
  /** The first of the successive judgements with the subject. */
  readonly firstFoundAt: Instant;
  /** The last judgement with the subject. */
  readonly lastFoundAt: Instant;
  /** Whether the last judgement did not find the subject. */
  readonly isMissing: boolean;
  /** Since when the problem is present (problem-memory.ts); `undefined` before. */
  readonly presentAt?: Instant | undefined;
}

/** A present subject with its problem, or a problem of the polls. */
export interface PresentProblem extends Omit<SubjectHistory, 'progressKey' | 'chainStart' | 'firstFoundAt'> {
  readonly problem: Pick<Problem, 'name' | 'severity' | 'age' | 'isUrgent' | 'afterMinutes'>;
}

/** A problem that cannot be judged, because a required field is missing or invalid. */
export interface UnjudgedProblem {
  readonly problem: Problem;
  /** The severity of the problem if it was present, else `warning`. */
  readonly severity: Severity;
  readonly since: Instant;
}

export function readFindings(findings: Findings) {
  const list = [findings].flat().filter((each) => each !== undefined);
  const found = list.filter((each) => 'summary' in each);
  const notShown = list.filter((each) => 'notShown' in each);
  return {
    bySubject: new Map(found.map((each) => [subjectKey(each.subject ?? {}), each])),
    /** The keys of the subjects that the document may have without showing them. */
    notShown: notShown.map(({ notShown: subject }) => (subject === 'others' ? subject : subjectKey(subject))),
    isUnjudged: notShown.some((each) => each.isUnjudged === true),
    isOutdated: notShown.some((each) => each.isOutdated === true),
  };
}

export function historyKey({ subject = {}, progressKey = '' }: Pick<Found, 'subject' | 'progressKey'>): string {
  return `${subjectKey(subject)} ${progressKey}`;
}

/** Equal for equal labels in any order. */
export function subjectKey(subject: Subject): string {
  return JSON.stringify(Object.entries(subject).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * The present subjects of a problem. Unwatched validators are joined into one; with two thirds of the power, watched
 * ones are joined, too.
 */
export function selectPresent({ together }: Problem, all: Iterable<SubjectHistory>): readonly SubjectHistory[] {
  const histories = Array.from(all).filter(({ presentAt }) => presentAt !== undefined);
  if (together === undefined) return histories;
  const { summaryOfMost: summary } = together;
  if (summary !== undefined && areMost(histories.flatMap(({ validators }) => validators))) {
    return joinValidators({ minimumPower: MOST_RATIO, summary, action: COMMON_CAUSE }, histories);
  }
  const unwatched = histories.filter(({ subject }) => subject.watched === 'false');
  const watched = histories.filter(({ subject }) => subject.watched !== 'false');
  return [...watched, ...joinValidators(together, unwatched)];
}

/** The joint problem of several validators, which began when they had the minimum power. Empty below that power. */
function joinValidators(together: Together, histories: readonly SubjectHistory[]): readonly SubjectHistory[] {
  const last = findEnough(together, histories, ({ startAt }) => startAt);
  if (last === undefined) return [];
  const presentAt = findEnough(together, histories, (history) => history.presentAt ?? Infinity)?.presentAt;
  const all = histories.toSorted((a, b) => a.startAt - b.startAt).flatMap((history) => history.validators);
  const late = new Map(all.map((validator) => [validator.externalAddress, validator]));
  const validators = Array.from(late.values()).toSorted((a, b) => (b.power ?? 0) - (a.power ?? 0));
  const { summary, action } = together;
  const missing = histories.filter(({ isMissing }) => isMissing);
  const found = histories.filter(({ isMissing }) => !isMissing);
  const isMissing = findEnough(together, found, ({ startAt }) => startAt) === undefined;
  const lastFoundAt = Math.min(last.lastFoundAt, ...missing.map((history) => history.lastFoundAt));
  const texts = { summary, details: numberAndNames(validators), action, validators };
  return [{ ...last, ...texts, presentAt, isMissing, lastFoundAt, subject: { watched: 'false' }, progressKey: '' }];
}

/** The first history in this order with which the validators have the minimum power. */
function findEnough(
  { minimumPower }: Together,
  histories: readonly SubjectHistory[],
  order: (history: SubjectHistory) => number,
): SubjectHistory | undefined {
  // The power of a validator that is late with several things counts once.
  const late = new Set<string>();
  let total = 0;
  return histories
    .toSorted((a, b) => order(a) - order(b))
    .find(({ validators }) => {
      for (const { externalAddress, power = 0 } of validators) {
        if (!late.has(externalAddress)) total += power;
        late.add(externalAddress);
      }
      return total >= minimumPower;
    });
}

/** Whether so many validators are late that they have a common cause. */
export function areMost(validators: readonly FoundValidator[]): boolean {
  const late = new Map(validators.map((validator) => [validator.externalAddress, validator]));
  const power = Array.from(late.values()).reduce((sum, { power: share = 0 }) => sum + share, 0);
  return isCommon(late.size, power);
}
