import { wallSeconds, type Instant, type Moment } from '../clock.js';
import { subtract, type Numeral } from '../chain/numeral.js';
import type { ListName, OutboundContent } from '../facts/crosschain/cctxs.js';
import { chainName } from '../facts/crosschain/chains.js';
import type { CctxAnswer, CrosschainInput } from '../facts/crosschain/input.js';
import { OTHER } from '../facts/label-value.js';
import {
  crosschainBaseline,
  keysOf,
  readCrosschainDocument,
  type CrosschainBaseline,
  type CrosschainDocument,
} from './crosschain-document.js';
import { interrupted, isStale, notCompared, withGap, type ComparisonState, type FlowOptions } from './gaps.js';
import { EMPTY_HISTOGRAM, observe, type Histogram } from './histogram.js';
import { HOUR_SECONDS } from '../units.js';
import { changeTotal, withKeys, type Totals } from './totals.js';

/*
 * The cross-chain transactions that left the lists between two documents. The documents do not say why, so the node is asked for each, and a
 * transaction counts with the document after the answer. Each document:
 *
 * 1. counts the departed transactions that the node has answered for (`settle`),
 * 2. is compared with the baseline, unless that is a gap (`gapBetween`, `changesBetween`),
 * 3. adds the transactions that have left since the baseline to the departed ones (`withDeparted`), and becomes the baseline.
 */

const gapReasons = ['regression', 'list', 'stale', 'truncated', 'key', 'unseen'] as const;
type GapReason = (typeof gapReasons)[number];

export const outcomes = ['mined', 'reverted', 'aborted', 'unknown'] as const satisfies readonly CctxAnswer[];
export type Outcome = (typeof outcomes)[number];

/** The counted transactions of a chain. */
export interface ChainTotals {
  readonly chain: string;
  readonly finished: Readonly<Record<Outcome, number>>;
  readonly durations: Histogram;
}

/** A transaction that has left the lists and may be unfinished. Plain data. */
export interface DepartedCctx extends OutboundContent {
  readonly index: string;
  readonly chainId: string;
  /** The time from its creation to the first document without it; absent when the hub has not recorded its creation. */
  readonly seconds?: number | undefined;
  /** The time of the first document without it. */
  readonly at: Instant;
  /** The number of answers that it is pending; 2 stands for more. A single answer can be of a node that is behind. */
  readonly pendingAnswers: 0 | 1 | 2;
  /** Whether it has counted as unknown, or does not count at all, because it left in a gap. */
  readonly isUncounted: boolean;
  /** The key of its signers until a document has a key: it may have left because the signers have another key. */
  readonly lastKey?: string | undefined;
}

/** The counts since the start of the process, and the memory for the next document. */
export interface CrosschainFlow extends ComparisonState<CrosschainBaseline> {
  /** By chain id. */
  readonly chains: Totals<ChainTotals>;
  /** The transactions to ask the node for, the oldest question first. */
  readonly departed: readonly DepartedCctx[];
  /** When the node was asked last. */
  readonly askedAt: number | undefined;
  /** Whether the node has ever answered. */
  readonly isAnswered: boolean;
  /** Indexes of counted transactions: a node can list them again. */
  readonly counted: ReadonlySet<string>;
}

export const EMPTY_CROSSCHAIN_FLOW: CrosschainFlow = {
  chains: new Map([[OTHER, noneOf(OTHER)]]),
  ...notCompared(gapReasons),
  departed: [],
  askedAt: undefined,
  isAnswered: false,
  counted: new Set(),
};

function noneOf(chain: string): ChainTotals {
  return { chain, finished: { mined: 0, reverted: 0, aborted: 0, unknown: 0 }, durations: EMPTY_HISTOGRAM };
}

/** The number of questions after each poll. */
const MAX_CCTX_QUERIES = 10;
/** Questions for ten polls. Above that, the outcome counts as unknown. */
const MAX_AWAITED = 100;
const MAX_DEPARTED = 1_000;
/** How long the node is asked without an answer: it may not have the transaction. */
const MAX_UNANSWERED_SECONDS = HOUR_SECONDS;
/** The oldest are forgotten. */
export const MAX_COUNTED = 50_000;

/** The flow after one more document. */
export function trackCrosschain(
  flow: CrosschainFlow,
  input: CrosschainInput,
  { staleAfterMs, maxSeries }: FlowOptions,
): CrosschainFlow {
  const document = readCrosschainDocument(input);
  const settled = settle(flow, input, document, staleAfterMs);
  const { baseline: before, isInterrupted } = flow;
  // The baseline stays, so that its missed transactions are asked for when a later document does not list them.
  if (document === undefined) return before === undefined ? settled : interrupted(settled, 'list');
  if (document.isTruncated) return before === undefined ? settled : interrupted(settled, 'truncated');
  const { at, clockOffset } = input;
  // Transactions that left before a restart can be of chains that are not listed.
  const chainIds = new Set([...document.chainIds, ...settled.departed.map(({ chainId }) => chainId)]);
  const nameOf = (id: string): string => (id === OTHER ? OTHER : chainName(id, input));
  // A reload can have changed the names.
  const named = new Map(Array.from(settled.chains, ([id, totals]) => [id, { ...totals, chain: nameOf(id) }]));
  const chains = withKeys(named, chainIds, (id) => noneOf(nameOf(id)), maxSeries);
  const reason = before && !isInterrupted ? gapBetween(before, document, at, staleAfterMs) : undefined;
  const isComparable = before !== undefined && !isInterrupted && reason === undefined;
  const baseline = crosschainBaseline(document, at, isComparable ? before : undefined);
  const next = { ...settled, chains, baseline, isInterrupted: false };
  if (before === undefined) return next;
  const changes = changesBetween(before, document, { at, clockOffset }, isComparable);
  const followed = withDeparted(next, changes, input);
  if (reason !== undefined) return withGap(followed, reason);
  if (!isComparable) return followed;
  if (changes.hasOtherKey) return withGap(followed, 'key');
  return changes.hasUnseen ? withGap(followed, 'unseen') : followed;
}

/**
 * Counts the finished transactions. Forgets the transactions that a complete list has again, or that left with a change of the key.
 * Without an answer in time the outcome counts as unknown; the node is asked further, to find pending transactions.
 */
function settle(
  flow: CrosschainFlow,
  { at, cctxAnswers: answers, cctxsAskedAt: askedAt }: CrosschainInput,
  document: CrosschainDocument | undefined,
  staleAfterMs: number,
): CrosschainFlow {
  // Without questions since the last document, the order stays.
  const asked = new Set(askedAt === flow.askedAt ? [] : nextQuestions(flow));
  const oldestQuestionFirst = [...flow.departed.filter((cctx) => !asked.has(cctx)), ...asked];
  const keys = new Set(
    document && flow.departed.some(({ lastKey }) => lastKey !== undefined) ? keysOf(document.live) : [],
  );
  const departed: DepartedCctx[] = [];
  const finished: FinishedCctx[] = [];
  for (const before of oldestQuestionFirst) {
    const isListed = document?.live.has(before.index) === true;
    if (isListed && !document.isTruncated) continue;
    const { lastKey } = before;
    if (lastKey !== undefined && keys.size > 0 && !keys.has(lastKey)) continue;
    const cctx = keys.size > 0 ? { ...before, lastKey: undefined } : before;
    if (isListed) {
      departed.push(listedAgain(cctx, at));
      continue;
    }
    const answer = answers?.get(cctx.index);
    const seconds = at - cctx.at;
    if (answer === 'pending') departed.push({ ...cctx, pendingAnswers: isPending(cctx) ? 2 : 1 });
    else if (answer !== undefined) finished.push({ ...cctx, outcome: answer });
    else if (isPending(cctx) || seconds * 1000 <= staleAfterMs) departed.push(cctx);
    else {
      finished.push({ ...cctx, outcome: 'unknown' });
      if (seconds <= MAX_UNANSWERED_SECONDS) departed.push({ ...cctx, isUncounted: true });
    }
  }
  const isAnswered = flow.isAnswered || (answers !== undefined && answers.size > 0);
  return withFinished({ ...flow, askedAt, isAnswered, departed }, finished);
}

/** A truncated list has the transaction again. No later document is compared with that list, so that the departure cannot be counted. */
function listedAgain(cctx: DepartedCctx, at: Instant): DepartedCctx {
  const seconds = cctx.seconds === undefined ? undefined : cctx.seconds + (at - cctx.at);
  return { ...cctx, at, seconds, pendingAnswers: 0, isUncounted: true };
}

interface FinishedCctx extends DepartedCctx {
  readonly outcome: Outcome;
}

/** Transactions with an unknown outcome have no duration. */
function withFinished(flow: CrosschainFlow, cctxs: readonly FinishedCctx[]): CrosschainFlow {
  const finished = cctxs.filter(({ isUncounted }) => !isUncounted);
  if (finished.length === 0) return flow;
  const chains = new Map(flow.chains);
  for (const { chainId, outcome, seconds } of finished) {
    changeTotal(chains, chainId, (totals) => ({
      ...totals,
      finished: { ...totals.finished, [outcome]: totals.finished[outcome] + 1 },
      durations:
        outcome === 'unknown' || seconds === undefined ? totals.durations : observe(totals.durations, [seconds]),
    }));
  }
  const counted = [...flow.counted, ...finished.map(({ index }) => index)].slice(-MAX_COUNTED);
  return { ...flow, chains, counted: new Set(counted) };
}

/** Why the documents cannot be compared; `undefined` when they can. */
function gapBetween(
  before: CrosschainBaseline,
  { height }: CrosschainDocument,
  at: Instant,
  staleAfterMs: number,
): GapReason | undefined {
  if (height < before.height) return 'regression';
  return isStale(before, at, staleAfterMs) ? 'stale' : undefined;
}

/** The transactions that have left the lists, by their list. */
type Departures = Readonly<Record<ListName, readonly DepartedCctx[]>>;

interface CrosschainChanges extends Departures {
  /** Whether transactions left because the signers have another key. */
  readonly hasOtherKey: boolean;
  /** Whether transactions were created and finished in between. */
  readonly hasUnseen: boolean;
}

/**
 * The changes since the baseline; in a gap, only of missed transactions. Pending ones finish within minutes, but a missed transaction that is not
 * listed any more may just be too far behind.
 */
function changesBetween(
  before: CrosschainBaseline,
  { live }: CrosschainDocument,
  now: Moment,
  isComparable: boolean,
): CrosschainChanges {
  const keys = new Set(keysOf(live));
  const departed: Record<ListName, DepartedCctx[]> = { missed: [], pending: [] };
  let hasOtherKey = false;
  const compared = Array.from(before.live).slice(0, isComparable ? undefined : before.missed);
  for (const [row, [index, { created, key, ...cctx }]] of compared.entries()) {
    if (live.has(index)) continue;
    if (key !== undefined && keys.size > 0 && !keys.has(key)) {
      hasOtherKey = true;
      continue;
    }
    departed[row < before.missed ? 'missed' : 'pending'].push({
      index,
      ...cctx,
      seconds: ageWhenGone(created, wallSeconds(now.at, now)),
      at: now.at,
      pendingAnswers: 0,
      isUncounted: !isComparable,
      ...(keys.size === 0 && { lastKey: key }),
    });
  }
  return { ...departed, hasOtherKey, hasUnseen: !hasOtherKey && hasHiddenNonces(before.nonces, live) };
}

/** `undefined` also when the clock of the hub is ahead. */
function ageWhenGone(created: number | undefined, goneSeconds: number): number | undefined {
  return created === undefined || created > goneSeconds ? undefined : goneSeconds - created;
}

/** Whether a nonce between two listed ones was never listed. */
function hasHiddenNonces(before: CrosschainBaseline['nonces'], live: CrosschainDocument['live']): boolean {
  const added = new Map<string, Set<Numeral>>();
  for (const { chainId, nonce } of live.values()) {
    const highest = before.get(chainId);
    if (nonce === undefined || highest === undefined || nonce <= highest) continue;
    added.set(chainId, (added.get(chainId) ?? new Set()).add(nonce));
  }
  return Array.from(added).some(([chainId, nonces]) => {
    const highest = Array.from(nonces).reduce((a, b) => (a < b ? b : a));
    return Number(subtract(highest, before.get(chainId) ?? highest)) > nonces.size;
  });
}

/** Adds departed transactions, missed ones first, because they seldom finish. Above the limit of questions, the outcome counts as unknown. */
function withDeparted(
  flow: CrosschainFlow,
  { missed, pending }: Departures,
  { settings: { cctx_queries: cctxQueries } }: CrosschainInput,
): CrosschainFlow {
  if (missed.length + pending.length === 0) return flow;
  const toCount = [...missed, ...pending].filter(({ index, isUncounted }) => !isUncounted && !flow.counted.has(index));
  const room = cctxQueries === 'off' ? 0 : Math.max(0, MAX_AWAITED - flow.departed.filter(isAwaited).length);
  const awaited = new Set(toCount.slice(0, room));
  const next = withFinished(
    flow,
    toCount.slice(room).map((cctx) => ({ ...cctx, outcome: 'unknown' })),
  );
  if (cctxQueries === 'off') return next;
  const followed = (cctxs: readonly DepartedCctx[]): readonly DepartedCctx[] =>
    cctxs.map((cctx) => ({ ...cctx, isUncounted: !awaited.has(cctx) }));
  return withinLimit({ ...next, departed: [...followed(missed), ...flow.departed, ...followed(pending)] });
}

/** Forgets the newest transactions above the limit, uncounted ones first, and none that is pending. */
function withinLimit(flow: CrosschainFlow): CrosschainFlow {
  const { departed } = flow;
  const excess = departed.length - MAX_DEPARTED;
  if (excess <= 0) return flow;
  const awaited = departed.filter(isAwaited);
  const uncounted = departed.filter((cctx) => !isPending(cctx) && cctx.isUncounted);
  const forgotten = new Set([...uncounted.toReversed(), ...awaited.toReversed()].slice(0, excess));
  return withFinished(
    { ...flow, departed: departed.filter((cctx) => !forgotten.has(cctx)) },
    Array.from(forgotten, (cctx) => ({ ...cctx, outcome: 'unknown' })),
  );
}

/** The transactions to ask the node for, the oldest question first; half of the questions are about awaited outcomes. */
export function nextQuestions({ departed }: CrosschainFlow): readonly DepartedCctx[] {
  const awaited = departed.filter(isAwaited).slice(0, MAX_CCTX_QUERIES / 2);
  return Array.from(new Set([...awaited, ...departed])).slice(0, MAX_CCTX_QUERIES);
}

/** Whether a transaction counts with its outcome, or as unknown after a while. */
function isAwaited(cctx: DepartedCctx): boolean {
  return !isPending(cctx) && !cctx.isUncounted;
}

/** Whether the node has answered that a transaction is pending that it does not list. */
export function isPending({ pendingAnswers }: DepartedCctx): boolean {
  return pendingAnswers > 0;
}

/**
 * The flow after a restart, which is a gap: nothing is counted, and the node is asked for the missed and the departed transactions, of which only
 * pending ones count.
 */
export function restartedCrosschain({
  baseline,
  departed,
  isAnswered,
}: CrosschainFlow): Pick<CrosschainFlow, 'baseline' | 'isInterrupted' | 'departed' | 'isAnswered'> {
  return {
    baseline: baseline && onlyMissed(baseline),
    isInterrupted: baseline !== undefined,
    departed: departed.map((cctx) => (isPending(cctx) ? cctx : { ...cctx, isUncounted: true })),
    isAnswered,
  };
}

function onlyMissed(baseline: CrosschainBaseline): CrosschainBaseline {
  const live = new Map(Array.from(baseline.live).slice(0, Math.min(baseline.missed, MAX_DEPARTED)));
  return { ...baseline, live, missed: live.size, keys: [], nonces: new Map() };
}
