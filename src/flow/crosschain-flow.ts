import { type Instant, ageSeconds } from '../clock.js';
import { compare, subtract, toDouble } from '../chain/decimal.js';
import type { Numeral } from '../chain/numeral.js';
import type { OutboundContent } from '../facts/crosschain/cctxs.js';
import { chainName } from '../facts/crosschain/chains.js';
import type { CctxAnswer, CrosschainInput } from '../facts/crosschain/input.js';
import {
  crosschainBaseline,
  keysOf,
  readCrosschainDocument,
  type CrosschainBaseline,
  type CrosschainDocument,
} from './crosschain-document.js';
import { interrupted, isStale, notCompared, withGap, type Compared, type FlowOptions } from './gaps.js';
import { EMPTY_HISTOGRAM, observe, type Histogram } from './histogram.js';
import { OTHER } from '../metrics/render-families.js';
import { HOUR_SECONDS } from '../units.js';
import { changeTotal, withKeys, type Totals } from './totals.js';

/*
 * The cross-chain transactions that left the lists between two documents. The documents do not say why: the node is asked for each of
 * them, and they count with the document after its answer.
 */

const gapReasons = ['regression', 'list', 'stale', 'truncated', 'key', 'unseen'] as const;
type GapReason = (typeof gapReasons)[number];

export const outcomes = ['mined', 'reverted', 'aborted', 'unknown'] as const satisfies readonly CctxAnswer[];
export type Outcome = (typeof outcomes)[number];

/** What was counted of the transactions of one chain. */
export interface ChainTotals {
  readonly chain: string;
  readonly finished: Readonly<Record<Outcome, number>>;
  readonly durations: Histogram;
}

/** A transaction that has left the lists and is not known to be finished. Plain data. */
export interface DepartedCctx extends OutboundContent {
  readonly index: string;
  readonly chainId: string;
  /** The time from its creation to the first document without it; absent when the hub has not recorded its creation. */
  readonly seconds?: number | undefined;
  /** When it was gone. */
  readonly at: Instant;
  /** How often the node has answered that it is pending: 2 stands for more. Once can be a node that is behind the one of the document. */
  readonly pendingAnswers: 0 | 1 | 2;
  /** Whether it does not count when it finishes: its outcome was counted as unknown, or it left between documents that cannot be compared. */
  readonly isUncounted: boolean;
  /** Its key, if no document since then has had one: it may have left because the signers have another key. */
  readonly lastKey?: string | undefined;
}

/** What the polls of an endpoint have counted since the start of the process, and what the next document is compared with. */
export interface CrosschainFlow extends Compared<CrosschainBaseline> {
  /** What was counted, by chain id. */
  readonly chains: Totals<ChainTotals>;
  /** The transactions for which the node is asked, the oldest question first. */
  readonly departed: readonly DepartedCctx[];
  /** When the node was last asked for some of them, on the monotonic clock. */
  readonly askedAtMs: number | undefined;
  /** Whether the node has ever answered. */
  readonly isAnswered: boolean;
  /** Indexes of those that were counted, so that one that a node lists again is not counted twice. */
  readonly counted: ReadonlySet<string>;
}

export const EMPTY_CROSSCHAIN_FLOW: CrosschainFlow = {
  chains: new Map([[OTHER, noneOf(OTHER)]]),
  ...notCompared(gapReasons),
  departed: [],
  askedAtMs: undefined,
  isAnswered: false,
  counted: new Set(),
};

function noneOf(chain: string): ChainTotals {
  return { chain, finished: { mined: 0, reverted: 0, aborted: 0, unknown: 0 }, durations: EMPTY_HISTOGRAM };
}

/** The node is asked for this many transactions after each poll. */
const MAX_CCTX_QUERIES = 10;
/** The node can be asked for these in ten polls. The outcome of other transactions counts as unknown. */
const MAX_AWAITED = 100;
/** All for which the node is asked. Those that it says are pending stay. */
const MAX_REMEMBERED = 1_000;
/** How long the node is asked for one without an answer, which may be one that it does not know. */
const MAX_UNANSWERED_SECONDS = HOUR_SECONDS;
/** The oldest are forgotten. */
export const MAX_COUNTED = 50_000;

/** The transactions for which the node is asked now, the oldest question first; half of them are such whose outcome is awaited. */
export function nextQuestions({ departed }: CrosschainFlow): readonly DepartedCctx[] {
  const awaited = departed.filter(isAwaited).slice(0, MAX_CCTX_QUERIES / 2);
  return Array.from(new Set([...awaited, ...departed])).slice(0, MAX_CCTX_QUERIES);
}

/** Whether a transaction counts with its outcome, or as unknown after a while. */
function isAwaited(one: DepartedCctx): boolean {
  return !isPending(one) && !one.isUncounted;
}

/** Whether the node has answered that a transaction is pending that it does not list. */
export function isPending({ pendingAnswers }: DepartedCctx): boolean {
  return pendingAnswers > 0;
}

/**
 * The flow after a restart: nothing is counted, and those that were missed or have left the lists are asked for, as after a gap. Of these,
 * only those count that are known to be pending.
 */
export function restartedCrosschain({ baseline, departed, isAnswered }: CrosschainFlow): CrosschainFlow {
  return {
    ...EMPTY_CROSSCHAIN_FLOW,
    baseline: baseline && onlyMissed(baseline),
    isInterrupted: baseline !== undefined,
    departed: departed.map((one) => (isPending(one) ? one : { ...one, isUncounted: true })),
    isAnswered,
  };
}

function onlyMissed(baseline: CrosschainBaseline): CrosschainBaseline {
  const live = new Map(Array.from(baseline.live).slice(0, Math.min(baseline.missed, MAX_REMEMBERED)));
  return { ...baseline, live, missed: live.size, keys: [], nonces: new Map() };
}

/** Compares a document with what is remembered of the last one, and returns what to remember from now on. */
export function trackCrosschain(
  flow: CrosschainFlow,
  input: CrosschainInput,
  { staleAfterMs, maxSeries }: FlowOptions,
): CrosschainFlow {
  const document = readCrosschainDocument(input);
  const settled = settle(flow, input, document, staleAfterMs);
  const { baseline: before, isInterrupted } = flow;
  // The baseline stays: what was missed in it, and is not listed by the next document, is asked for.
  if (document === undefined) return before === undefined ? settled : interrupted(settled, 'list');
  if (document.isTruncated) return before === undefined ? settled : interrupted(settled, 'truncated');
  const { at } = input;
  // Transactions that left before a restart can be of chains that are not listed.
  const chainIds = new Set([...document.chainIds, ...settled.departed.map(({ chainId }) => chainId)]);
  const nameOf = (id: string): string => (id === OTHER ? OTHER : chainName(id, input));
  // Chains have the names that are configured now.
  const named = new Map(Array.from(settled.chains, ([id, totals]) => [id, { ...totals, chain: nameOf(id) }]));
  const chains = withKeys(named, chainIds, (id) => noneOf(nameOf(id)), maxSeries);
  const reason = before && !isInterrupted ? gapBetween(before, document, at, staleAfterMs) : undefined;
  const isComparable = before !== undefined && !isInterrupted && reason === undefined;
  const baseline = crosschainBaseline(document, at, isComparable ? before : undefined);
  const next = { ...settled, chains, baseline, isInterrupted: false };
  if (before === undefined) return next;
  const changes = changesBetween(before, document, at, isComparable);
  const followed = withDeparted(next, changes, input);
  if (reason !== undefined) return withGap(followed, reason);
  if (!isComparable) return followed;
  if (changes.hasOtherKey) return withGap(followed, 'key');
  return changes.hasUnseen ? withGap(followed, 'unseen') : followed;
}

/**
 * Counts the departed transactions that are finished, and forgets those that a complete list shows again, and those that have left with a change
 * of the key. Without an answer in time the outcome counts as unknown; the node is asked further, so that a pending transaction is found.
 */
function settle(
  flow: CrosschainFlow,
  { at, cctxAnswers: answers, cctxsAskedAtMs: askedAtMs }: CrosschainInput,
  document: CrosschainDocument | undefined,
  staleAfterMs: number,
): CrosschainFlow {
  // Those for which the node was not asked, because it does not answer or is slow, stay first.
  const asked = new Set(askedAtMs === flow.askedAtMs ? [] : nextQuestions(flow));
  const inOrder = [...flow.departed.filter((one) => !asked.has(one)), ...asked];
  const keys = new Set(
    document && flow.departed.some(({ lastKey }) => lastKey !== undefined) ? keysOf(document.live) : [],
  );
  const departed: DepartedCctx[] = [];
  const finished: FinishedCctx[] = [];
  for (const remembered of inOrder) {
    const isListed = document?.live.has(remembered.index) === true;
    if (isListed && !document.isTruncated) continue;
    const { lastKey } = remembered;
    if (lastKey !== undefined && keys.size > 0 && !keys.has(lastKey)) continue;
    const one = keys.size > 0 ? { ...remembered, lastKey: undefined } : remembered;
    if (isListed) {
      departed.push(listedAgain(one, at));
      continue;
    }
    const answer = answers?.get(one.index);
    const seconds = ageSeconds(one.at, at);
    if (answer === 'pending') departed.push({ ...one, pendingAnswers: isPending(one) ? 2 : 1 });
    else if (answer !== undefined) finished.push({ ...one, outcome: answer });
    else if (isPending(one) || seconds * 1000 <= staleAfterMs) departed.push(one);
    else {
      finished.push({ ...one, outcome: 'unknown' });
      if (seconds <= MAX_UNANSWERED_SECONDS) departed.push({ ...one, isUncounted: true });
    }
  }
  const isAnswered = flow.isAnswered || (answers !== undefined && answers.size > 0);
  return withFinished({ ...flow, askedAtMs, isAnswered, departed }, finished);
}

/** A transaction that a truncated list shows again. No later list is compared with that one, so that it does not count when it leaves. */
function listedAgain(one: DepartedCctx, at: Instant): DepartedCctx {
  const seconds = one.seconds === undefined ? undefined : one.seconds + ageSeconds(one.at, at);
  return { ...one, at, seconds, pendingAnswers: 0, isUncounted: true };
}

/**
 * Remembers departed transactions, so that the node is asked for them: first for missed ones, which seldom finish, and may be too far behind to be
 * listed. Without room for the question, the outcome counts as unknown at once.
 */
function withDeparted(
  flow: CrosschainFlow,
  { missed, others }: Departures,
  { settings: { cctx_queries: cctxQueries } }: CrosschainInput,
): CrosschainFlow {
  const all = [...missed, ...others];
  if (all.length === 0) return flow;
  const uncounted = all.filter(({ index, isUncounted }) => !isUncounted && !flow.counted.has(index));
  const room = cctxQueries === 'off' ? 0 : Math.max(0, MAX_AWAITED - flow.departed.filter(isAwaited).length);
  const awaited = new Set(uncounted.slice(0, room));
  const next = withFinished(
    flow,
    uncounted.slice(room).map((one) => ({ ...one, outcome: 'unknown' })),
  );
  if (cctxQueries === 'off') return next;
  const followed = (some: readonly DepartedCctx[]): readonly DepartedCctx[] =>
    some.map((one) => ({ ...one, isUncounted: !awaited.has(one) }));
  return withinLimit({ ...next, departed: [...followed(missed), ...flow.departed, ...followed(others)] });
}

/** Above the limit, the newest of those are forgotten that are not known to be pending, and of these first those that do not count. */
function withinLimit(flow: CrosschainFlow): CrosschainFlow {
  const { departed } = flow;
  const excess = departed.length - MAX_REMEMBERED;
  if (excess <= 0) return flow;
  const awaited = departed.filter(isAwaited);
  const others = departed.filter((one) => !isPending(one) && one.isUncounted);
  const forgotten = new Set([...others.toReversed(), ...awaited.toReversed()].slice(0, excess));
  return withFinished(
    { ...flow, departed: departed.filter((one) => !forgotten.has(one)) },
    Array.from(forgotten, (one) => ({ ...one, outcome: 'unknown' })),
  );
}

interface FinishedCctx extends DepartedCctx {
  readonly outcome: Outcome;
}

/** Transactions without a known outcome have no duration. */
function withFinished(flow: CrosschainFlow, all: readonly FinishedCctx[]): CrosschainFlow {
  const finished = all.filter(({ isUncounted }) => !isUncounted);
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
  if (compare(height, before.height) < 0) return 'regression';
  return isStale(before, at, staleAfterMs) ? 'stale' : undefined;
}

/** The transactions that have left the lists, by the list in which they were. */
interface Departures {
  readonly missed: readonly DepartedCctx[];
  readonly others: readonly DepartedCctx[];
}

interface CrosschainChanges extends Departures {
  /** Whether some left because the signers have another key. */
  readonly hasOtherKey: boolean;
  /** Whether transactions were created and finished in between. */
  readonly hasUnseen: boolean;
}

/**
 * The changes between two documents. Between two that cannot be compared, those that were missed before: they do not finish within
 * minutes like the others, and the node lists them no longer when they are far behind.
 */
function changesBetween(
  before: CrosschainBaseline,
  { live }: CrosschainDocument,
  at: Instant,
  isComparable: boolean,
): CrosschainChanges {
  const keys = new Set(keysOf(live));
  const departed: Record<keyof Departures, DepartedCctx[]> = { missed: [], others: [] };
  let hasOtherKey = false;
  const compared = Array.from(before.live).slice(0, isComparable ? undefined : before.missed);
  for (const [row, [index, { created, key, ...cctx }]] of compared.entries()) {
    if (live.has(index)) continue;
    if (key !== undefined && keys.size > 0 && !keys.has(key)) {
      hasOtherKey = true;
      continue;
    }
    departed[row < before.missed ? 'missed' : 'others'].push({
      index,
      ...cctx,
      seconds: ageWhenGone(created, at),
      at,
      pendingAnswers: 0,
      isUncounted: !isComparable,
      ...(keys.size === 0 && { lastKey: key }),
    });
  }
  return { ...departed, hasOtherKey, hasUnseen: !hasOtherKey && hasHiddenNonces(before.nonces, live) };
}

/** `undefined` when the clock of the hub is ahead, too. */
function ageWhenGone(created: number | undefined, { epochSeconds }: Instant): number | undefined {
  return created === undefined || created > epochSeconds ? undefined : epochSeconds - created;
}

/** Whether a nonce between two listed ones was never listed. */
function hasHiddenNonces(known: CrosschainBaseline['nonces'], live: CrosschainDocument['live']): boolean {
  const added = new Map<string, Set<Numeral>>();
  for (const { chainId, nonce } of live.values()) {
    const highest = known.get(chainId);
    if (nonce === undefined || highest === undefined || compare(nonce, highest) <= 0) continue;
    added.set(chainId, (added.get(chainId) ?? new Set()).add(nonce));
  }
  return Array.from(added).some(([chainId, nonces]) => {
    const highest = Array.from(nonces).reduce((a, b) => (compare(a, b) < 0 ? b : a));
    return toDouble(subtract(highest, known.get(chainId) ?? highest)) > nonces.size;
  });
}
