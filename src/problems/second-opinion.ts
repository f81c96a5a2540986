import type { Numeral } from '../chain/numeral.js';
import type { Instant } from '../clock.js';
import { HOUR_SECONDS, MINUTE_SECONDS } from '../units.js';
import { PENDING_SHARE } from './polls.js';
import type { Judging, ProblemMemory, RememberedProblem, SubjectHistory } from './problem-memory.js';
import { limitSeconds, problemKey, type Evidence, type Problem, type ProblemSettings } from './problem.js';
import { joinTexts, labelTexts } from './sentence.js';
import { isNotShown, selectSubjects, subjectKey } from './subjects.js';

/*
 * A node can lie, or be broken. The documents of spares, which are the nodes that are not in use, are judged as well,
 * for the problems that a single node can cause (`needsConfirmation`): by the same `find`, with the mark from before
 * the finding of the node in use. The last document of each spare is compared with each document of the node in use.
 *
 * A spare is asked for its document once an hour, each minute while it shows a problem that the node in use does not,
 * and with each poll that finds a problem which no spare has confirmed: from the first finding on; of a problem with a
 * limit, from a third of it on, because on a healthy bridge most end earlier.
 *
 * - Both show the problem: it goes on, and is confirmed, which stays so.
 * - Only the node in use shows it, and the document of the spare is not older: BridgeNodesDisagree is shown instead.
 * All
 *   disagreements together delay problems by at most three minutes, and a problem keeps its start, so that nobody gains
 *   more time by owning one node. It is delayed only while a spare contradicts each document.
 * - Only the spare shows it, in two documents: BridgeNodesDisagree.
 * - The document of the spare is older, or it does not answer: as without a spare.
 *
 * A difference ends with a document that does not show it, or ten minutes after the last document of the spare.
 */

/** All delays together, from when the first problem about which nodes disagree would have been shown. */
const DELAY_SECONDS = 3 * MINUTE_SECONDS;
/** After so long without a disagreement, the next one delays again. */
const FORGOTTEN_AFTER_SECONDS = HOUR_SECONDS;
/** For how long a spare is asked about a problem, and its last document counts. */
const ASKED_SECONDS = 10 * MINUTE_SECONDS;

/** A notification has no details. */
const NOT_CONFIRMED = 'Another node does not show it. ';

/** A node that is not in use, by its last document. */
export interface Spare {
  readonly source: string;
  readonly at: Instant;
  readonly height: Numeral | undefined;
  /** How far the node is behind the clock; `undefined` if unknown. */
  readonly lagSeconds: number | undefined;
  readonly findings: readonly SpareFinding[];
}

/** What a spare shows of a problem. */
export interface SpareFinding {
  /** See `problemKey`. */
  readonly problem: string;
  /** The shown subjects, by their key. */
  readonly shown: readonly string[];
  /** The subjects that it may have without showing them. */
  readonly notShown: readonly string[];
  /** The subjects that the node in use did not show at that time. */
  readonly onlyHere: readonly SubjectHistory[];
}

/** What was there before the document with the first finding. */
export interface FirstFinding {
  /** That of the document. */
  readonly height: Numeral | undefined;
  readonly mark: unknown;
}

/** What a spare has said about a finding, by its last document that proves something. */
export interface Opinion {
  readonly source: string;
  readonly at: Instant;
  readonly agrees: boolean;
}

/** When nodes began to disagree, and when they have disagreed last. */
export interface Disagreement {
  readonly since: Instant;
  readonly at: Instant;
}

/** A problem that one of the node in use and a spare shows. */
export interface Difference {
  readonly summary: string;
  readonly since: Instant;
  readonly spare: string;
  readonly isShownBySpare: boolean;
}

/** The spares after a document of one. */
export function nextSpares(before: readonly Spare[], spare: Spare): readonly Spare[] {
  const last = before.find(({ source }) => source === spare.source);
  const findings = spare.findings.map((finding) => {
    const known = last?.findings.find(({ problem }) => problem === finding.problem)?.onlyHere ?? [];
    const onlyHere = finding.onlyHere.map((history) => {
      const same = known.find(({ subject }) => subjectKey(subject) === subjectKey(history.subject));
      return same ? { ...history, startSeconds: same.startSeconds, firstFoundAt: same.firstFoundAt } : history;
    });
    return { ...finding, onlyHere };
  });
  return [...before.filter(({ source }) => source !== spare.source), { ...spare, findings }];
}

/** The spares whose last document counts. One that is in use since then is none. */
export function presentSpares({ spares = [] }: ProblemMemory, { nodes = [] }: Evidence, at: Instant): readonly Spare[] {
  return spares.filter(({ source, at: readAt }) => at - readAt < ASKED_SECONDS && !isInUse(nodes, source));
}

function isInUse(nodes: NonNullable<Evidence['nodes']>, source: string): boolean {
  return nodes.some((node) => node.isInUse && node.source === source);
}

/** The disagreement that is not forgotten. */
export function presentDisagreement({ disagreement }: ProblemMemory, at: Instant): Disagreement | undefined {
  return disagreement !== undefined && at - disagreement.at < FORGOTTEN_AFTER_SECONDS ? disagreement : undefined;
}

/** When a problem is shown, and a spare is asked about it. */
function shownFrom({ firstFoundAt, startSeconds }: SubjectHistory, limit: number): Instant {
  return Math.max(firstFoundAt, startSeconds + limit * PENDING_SHARE);
}

export function isDelayed({ delayedUntil }: SubjectHistory, at: Instant): boolean {
  return delayedUntil !== undefined && at < delayedUntil;
}

/** The history of a found subject with what spares say about it. `first`: what is so before its first finding. */
export function withOpinion(
  history: SubjectHistory,
  before: SubjectHistory | undefined,
  first: FirstFinding,
  { nodes }: Evidence,
  { problem, limit, now: { at }, spares, disagreement }: Judging,
): SubjectHistory {
  if (problem.needsConfirmation !== true || nodes === undefined) return history;
  const firstFinding = before === undefined ? first : before.firstFinding;
  // Found before there was another node.
  if (firstFinding === undefined) return history;
  // A node that is in use since then shows it now.
  const known =
    history.opinion?.agrees === false && isInUse(nodes, history.opinion.source) ? undefined : history.opinion;
  const opinions = known?.agrees === true ? [] : listOpinions(problem, history, firstFinding, spares);
  const opinion = opinions.find(({ agrees }) => agrees) ?? opinions.at(-1) ?? known;
  const compared = { ...history, firstFinding, opinion, delayedUntil: undefined };
  if (opinion === undefined) return compared;
  if (opinion.agrees) {
    const { confirmedAction } = problem;
    const texts = confirmedAction === undefined ? {} : labelTexts(history.summary, confirmedAction);
    return { ...compared, ...texts, details: joinTexts('; ', history.details, 'confirmed by 2 nodes') };
  }
  const details = joinTexts('; ', history.details, `not confirmed: ${opinion.source} does not show it`);
  const action = history.action.startsWith(NOT_CONFIRMED) ? history.action : `${NOT_CONFIRMED}${history.action}`;
  const from = shownFrom(history, limit);
  const wasShown = before?.isPresent === true && !isDelayed(before, before.lastFoundAt) && before.lastFoundAt >= from;
  const until = Math.min(from, disagreement?.since ?? Infinity) + DELAY_SECONDS;
  // Not if an earlier document was contradicted, and this one is not.
  const delayedUntil = opinion.at >= at && !wasShown && at < until ? until : undefined;
  return { ...compared, ...labelTexts(history.summary, action), details, delayedUntil };
}

/** What the spares say about a finding. One whose document is older, or lacks fields, says nothing. */
function listOpinions(
  problem: Problem,
  { subject, firstFoundAt }: SubjectHistory,
  { height }: FirstFinding,
  spares: readonly Spare[],
): readonly Opinion[] {
  return spares.flatMap((spare): Opinion[] => {
    const { source, at, findings } = spare;
    const finding = findings.find((each) => each.problem === problemKey(problem));
    if (finding === undefined || at < firstFoundAt || isOlder(spare, { height, at: firstFoundAt })) return [];
    const key = subjectKey(subject);
    const agrees = finding.shown.includes(key);
    return agrees || !isNotShown(finding.notShown, key) ? [{ source, at, agrees }] : [];
  });
}

/**
 * Whether the document of a spare is older than one of the node in use. A block that is made after that one was
 * received is younger, whatever height the node in use claims.
 */
export function isOlder(
  spare: Pick<Spare, 'at' | 'height' | 'lagSeconds'>,
  { height, at }: { readonly height: Numeral | undefined; readonly at: Instant },
): boolean {
  const isLower = height !== undefined && spare.height !== undefined && spare.height < height;
  return isLower && (spare.lagSeconds === undefined || spare.at - spare.lagSeconds < at);
}

/** Whether a spare is asked about a subject. */
export function isUnconfirmed(history: SubjectHistory, at: Instant, limit: number): boolean {
  const { firstFinding, opinion, lastFoundAt } = history;
  const askedSeconds = at - shownFrom(history, limit);
  const isOpen = firstFinding !== undefined && opinion?.agrees !== true && lastFoundAt === at;
  return isOpen && askedSeconds >= 0 && askedSeconds < ASKED_SECONDS;
}

type RememberedProblems = ReadonlyMap<string, RememberedProblem>;

/** The subjects in this document that a spare has contradicted since, with when they would have been shown. */
function listDisputed(problem: Problem, remembered: RememberedProblems, at: Instant, settings: ProblemSettings) {
  const limit = limitSeconds(problem, settings);
  const disputed = Array.from(remembered.get(problemKey(problem))?.histories.values() ?? []).filter(
    (history) =>
      history.lastFoundAt === at &&
      history.opinion?.agrees === false &&
      history.opinion.at >= at &&
      shownFrom(history, limit) <= at,
  );
  return selectSubjects(problem, disputed).map((history) => ({ history, from: shownFrom(history, limit) }));
}

/** The problems that only one of the node in use and a spare shows. */
export function findDifferences(
  problems: readonly Problem[],
  remembered: RememberedProblems,
  { spares, now: { at }, options: { problems: settings = {} } }: Judging,
): readonly Difference[] {
  return problems.flatMap((problem): Difference[] => {
    const delayed = listDisputed(problem, remembered, at, settings).filter(({ history }) => isDelayed(history, at));
    const onlyInUse = delayed.map(({ history: { summary, opinion }, from }): Difference => {
      return { summary, since: from, spare: opinion?.source ?? '', isShownBySpare: false };
    });
    const repeated = spares.flatMap((spare) =>
      selectMissing(problem, findOnlyHere(problem, spare), remembered)
        .filter(({ firstFoundAt }) => firstFoundAt < spare.at)
        .map(({ summary, startSeconds: since }): Difference => {
          return { summary, since, spare: spare.source, isShownBySpare: true };
        }),
    );
    return [...onlyInUse, ...repeated];
  });
}

/** Whether a spare shows a problem that the node in use does not. */
export function isDoubted(problems: readonly Problem[], { remembered, spares = [] }: ProblemMemory): boolean {
  return problems.some((problem) =>
    spares.some((spare) => selectMissing(problem, findOnlyHere(problem, spare), remembered).length > 0),
  );
}

function findOnlyHere(problem: Problem, { findings }: Spare): readonly SubjectHistory[] {
  return findings.find((finding) => finding.problem === problemKey(problem))?.onlyHere ?? [];
}

/** The subjects of a spare that the node in use does not show. */
export function selectMissing(
  problem: Problem,
  subjects: readonly SubjectHistory[],
  remembered: RememberedProblems,
): readonly SubjectHistory[] {
  const own = Array.from(remembered.get(problemKey(problem))?.histories.values() ?? []);
  const shown = selectSubjects(
    problem,
    own.filter(({ isMissing }) => !isMissing),
  );
  const known = new Set(shown.map(({ subject }) => subjectKey(subject)));
  return subjects.filter(({ subject }) => !known.has(subjectKey(subject)));
}

/** The disagreement after a document. */
export function disagreementAfter(
  before: Disagreement | undefined,
  problems: readonly Problem[],
  remembered: RememberedProblems,
  at: Instant,
  settings: ProblemSettings,
): Disagreement | undefined {
  const disputed = problems.flatMap((problem) => listDisputed(problem, remembered, at, settings));
  if (disputed.length === 0) return before;
  return { since: Math.min(before?.since ?? Infinity, ...disputed.map(({ from }) => from)), at };
}
