import type { Numeral } from '../chain/numeral.js';
import type { Instant } from '../clock.js';
import { orElse } from '../facts/required-fields.js';
import { HOUR_SECONDS, MINUTE_SECONDS } from '../units.js';
import { marksAfter } from './marks.js';
import type { PresentProblem, ProblemMemory, SubjectHistory } from './problem-memory.js';
import type { Evidence, Findings, Problem } from './problem.js';
import { PENDING_SHARE } from './polls.js';
import { joinTexts, labelTexts } from './sentence.js';

/*
 * A node can lie, or be broken. Before a problem is shown that such a node can cause (`isDoubtful`), another node is
 * asked for its document (engine.ts), and the same `find` judges it, with the mark from before the accusing document.
 * That is at the first finding; of a problem with a limit, when it has lasted for a third of it, because on a healthy
 * bridge most end earlier.
 *
 * - It shows the problem: the problem goes on, and is confirmed.
 * - It does not, and its document is not older: BridgeNodesDisagree is shown instead. All disagreements together
 *   delay problems by at most three minutes, and a problem keeps its start, so that nobody gains more time by owning
 *   one node.
 * - Its document is older, or it does not answer: the problem is shown as without another node. When it is older, it is
 *   asked again.
 */

/** All delays together, from when the first problem about which nodes disagree would have been shown. */
const DELAY_SECONDS = 3 * MINUTE_SECONDS;
/** After so long without a disagreement, the next one delays again. */
const FORGOTTEN_AFTER_SECONDS = HOUR_SECONDS;
/** For how long another node is asked about a problem, and what one has shown holds without another document of it. */
const ASKED_SECONDS = 10 * MINUTE_SECONDS;

/** The document of another node. */
export interface SecondOpinion {
  readonly source: string;
  /** How far the node is behind the clock; `undefined` if unknown. */
  readonly lagSeconds: number | undefined;
  readonly evidence: Evidence;
  /** See `Disagreement`. */
  readonly disagreedSince?: Instant | undefined;
}

/** What was there before the document with the first finding, with which another node is judged. */
export interface Accusation {
  /** That of the document. */
  readonly height: Numeral | undefined;
  readonly mark: unknown;
}

/**
 * What another node has said about a finding, by its last document that proves something. It stays when it confirms the
 * finding.
 */
export interface Opinion {
  readonly source: string;
  readonly agrees: boolean;
}

/** When nodes began to disagree, and when they have disagreed last. */
export interface Disagreement {
  readonly since: Instant;
  readonly at: Instant;
}

/** A problem that one of the node in use and another one shows. */
export interface Difference {
  readonly summary: string;
  readonly since: Instant;
  readonly other: string;
  readonly isShownByOther: boolean;
}

/** What a node that is not in use shows, and the one in use does not, by its last document. */
export interface Spare {
  readonly source: string;
  readonly at: Instant;
  /** With the number of successive documents that have shown it: one can be odd. */
  readonly differences: readonly (Difference & { readonly times: number })[];
}

/**
 * The nodes that are not in use, after a document of one, with the problems that it shows and the node in use does not.
 */
export function nextSpares(
  before: readonly Spare[],
  source: string,
  found: readonly PresentProblem[],
  at: Instant,
): readonly Spare[] {
  const known = before.find((spare) => spare.source === source)?.differences;
  const differences = found.map(({ summary, startSeconds }) => {
    const last = known?.find((difference) => difference.summary === summary);
    const since = last?.since ?? startSeconds;
    return { summary, since, other: source, isShownByOther: true, times: (last?.times ?? 0) + 1 };
  });
  const others = before.filter((spare) => spare.source !== source && isRead(spare, at));
  return differences.length === 0 ? others : [...others, { source, at, differences }];
}

/** The document of a node is read each minute while it differs, unless the node fails or was removed. */
function isRead(spare: Spare, at: Instant): boolean {
  return at - spare.at < ASKED_SECONDS;
}

export function repeatedDifferences({ spares = [] }: ProblemMemory, at: Instant): readonly Difference[] {
  return spares
    .filter((spare) => isRead(spare, at))
    .flatMap(({ differences }) => differences.filter(({ times }) => times > 1));
}

/** The disagreement that is not forgotten. */
export function presentDisagreement(disagreement: Disagreement | undefined, at: Instant): Disagreement | undefined {
  return disagreement !== undefined && at - disagreement.at < FORGOTTEN_AFTER_SECONDS ? disagreement : undefined;
}

/** When a problem is shown, and another node is asked about it. */
export function shownFrom({ firstFoundAt, startSeconds }: SubjectHistory, limitSeconds: number): Instant {
  return Math.max(firstFoundAt, startSeconds + limitSeconds * PENDING_SHARE);
}

/** What a found subject is compared with. */
interface Comparison {
  readonly evidence: Evidence;
  readonly at: Instant;
  readonly limitSeconds: number;
  /** The history before the document; `undefined` for a new one. */
  readonly before: SubjectHistory | undefined;
  readonly markBefore: unknown;
  /** `undefined` if the findings are only a part. */
  readonly isFoundIn: (findings: Findings) => boolean | undefined;
}

/** The history of a found subject with what another node says about it. */
export function withOpinion(history: SubjectHistory, problem: Problem, compared: Comparison): SubjectHistory {
  const { evidence, at, limitSeconds, before, markBefore } = compared;
  if (problem.isDoubtful !== true || evidence.nodes === undefined) return history;
  const accusation = before === undefined ? { height: evidence.height, mark: markBefore } : before.accusation;
  // Found before there was another node.
  if (accusation === undefined) return history;
  const { opinion: asked } = evidence;
  const known = history.opinion;
  const latest = known?.agrees === true ? known : asked && opinionOn(problem, accusation, asked, history, compared);
  const opinion = latest ?? known;
  const accused = { ...history, accusation, opinion, isDelayed: undefined };
  if (opinion === undefined) return accused;
  if (opinion.agrees) {
    const { confirmedAction } = problem;
    const texts = confirmedAction === undefined ? {} : labelTexts(history.summary, confirmedAction);
    return { ...accused, ...texts, details: joinTexts('; ', history.details, 'confirmed by 2 nodes') };
  }
  const from = shownFrom(history, limitSeconds);
  const wasShown = before?.isPresent === true && before.isDelayed !== true && before.lastFoundAt >= from;
  const since = Math.min(from, asked?.disagreedSince ?? Infinity);
  const details = joinTexts('; ', history.details, `not confirmed: ${opinion.source} does not show it`);
  // Without an answer to this document, nothing is delayed.
  const isDelayed = latest !== undefined && !wasShown && at - since < DELAY_SECONDS;
  return { ...accused, details, ...(isDelayed && { isDelayed }) };
}

/**
 * Whether a document that another node has at a point in time is older than one of the node in use. A block that is
 * made after that one was received is younger, whatever height the node in use claims.
 */
export function isOlder(
  other: { readonly height: Numeral | undefined; readonly lagSeconds: number | undefined },
  now: Instant,
  { height, at }: { readonly height: Numeral | undefined; readonly at: Instant },
): boolean {
  const isLower = height !== undefined && other.height !== undefined && other.height < height;
  return isLower && (other.lagSeconds === undefined || now - other.lagSeconds < at);
}

/** `undefined` if the document of the other node proves nothing: it is older, or lacks fields. */
function opinionOn(
  problem: Problem,
  { height, mark }: Accusation,
  { source, lagSeconds, evidence }: SecondOpinion,
  { firstFoundAt }: SubjectHistory,
  { at, isFoundIn }: Comparison,
): Opinion | undefined {
  if (isOlder({ height: evidence.height, lagSeconds }, at, { height, at: firstFoundAt })) return undefined;
  const { mark: after } = marksAfter(problem.mark, evidence, { mark, markWithoutLastDocument: undefined });
  const agrees = orElse<boolean | undefined>(
    () => isFoundIn(problem.find(evidence, after)),
    () => undefined,
  );
  return agrees === undefined ? undefined : { source, agrees };
}

/** Whether another node is asked about a subject. */
export function isUnconfirmed(history: SubjectHistory, at: Instant, limitSeconds: number): boolean {
  const { accusation, opinion, lastFoundAt } = history;
  const askedSeconds = at - shownFrom(history, limitSeconds);
  const isOpen = accusation !== undefined && opinion?.agrees !== true && lastFoundAt === at;
  return isOpen && askedSeconds >= 0 && askedSeconds < ASKED_SECONDS;
}

/** A subject that the document does not show stays delayed for no longer than one that it shows. */
export function withoutOpinion(history: SubjectHistory, at: Instant, limitSeconds: number): SubjectHistory {
  const isOver = history.isDelayed === true && at - shownFrom(history, limitSeconds) >= DELAY_SECONDS;
  return isOver ? { ...history, isDelayed: undefined } : history;
}
