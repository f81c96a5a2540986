import { validOrUndefined } from '../chain/field.js';
import { highest, subtract, type Numeral } from '../chain/numeral.js';
import type { Cctx } from '../chain/rate-limiter-input.js';
import { wallSeconds, type Instant } from '../clock.js';
import { chainName, MAX_CHAINS } from '../facts/crosschain/chains.js';
import type { CctxAnswer, CrosschainInput } from '../facts/crosschain/crosschain-input.js';
import { groupBy } from '../facts/grouping.js';
import { orUndefined, required, WITHDRAWN } from '../facts/required-fields.js';
import { MAX_ID_CHARACTERS } from '../facts/label-value.js';
import { HOUR_SECONDS } from '../units.js';
import {
  addGap,
  isStale,
  noGaps,
  type FlowOptions,
  type Gaps,
  NO_TOTALS,
  withCounts,
  withKeys,
  type Totals,
} from './totals.js';
import {
  currentOutbound,
  distinctCctxs,
  groupByChain,
  isTruncated,
  listNames,
  type OutboundContent,
  signerKey,
} from '../facts/crosschain/cctxs.js';

/*
 * The cross-chain transactions that left the lists between two documents. The documents do not say why, so the node is
 * asked for each, and a transaction counts with the document after the answer.
 */

const gapReasons = ['regression', 'list', 'stale', 'truncated', 'key', 'unseen'] as const;
type GapReason = (typeof gapReasons)[number];

export const outcomes = ['mined', 'reverted', 'aborted', 'unknown'] as const satisfies readonly CctxAnswer[];
export type Outcome = (typeof outcomes)[number];

/** The counts since the start of the process, and what the next document is compared with. Plain data. */
export interface CrosschainFlow {
  /** By chain id. */
  readonly chains: Totals<Outcome>;
  readonly gaps: Gaps;
  /** `undefined` before the first document. */
  readonly baseline: CrosschainBaseline | undefined;
  /** The transactions to ask the node for, by index, the oldest question first. */
  readonly departed: ReadonlyMap<string, DepartedCctx>;
  /** When the node was asked last. */
  readonly askedAt: Instant | undefined;
  /** Whether the node has ever answered. */
  readonly isAnswered: boolean;
  /** Indexes of counted transactions: a node can list them again. */
  readonly counted: ReadonlySet<string>;
}

export const EMPTY_CROSSCHAIN_FLOW: CrosschainFlow = {
  chains: NO_TOTALS,
  gaps: noGaps(gapReasons),
  baseline: undefined,
  departed: new Map(),
  askedAt: undefined,
  isAnswered: false,
  counted: new Set(),
};

interface LiveCctx extends OutboundContent {
  /** Label `chain_id`. */
  readonly chainId: string;
  /** When the transaction was created, in Unix seconds; absent when the hub has not recorded it. */
  readonly created?: number | undefined;
  /** The public key of the signers. */
  readonly key?: string | undefined;
  readonly isMissed: boolean;
}

/**
 * A transaction that has left the lists and may be unfinished. Its key is absent once a later document had the same
 * one.
 */
export interface DepartedCctx extends LiveCctx {
  /** The time of the first document without it. */
  readonly at: Instant;
  /** The number of answers that it is pending. A single one can be of a node that is behind. */
  readonly pendingAnswers: number;
  /** Whether it has counted as unknown, or does not count at all, because it left in a gap. */
  readonly isUncounted: boolean;
}

/** The facts of a document that are compared. */
interface CrosschainBaseline {
  readonly at: Instant;
  readonly height: Numeral;
  /** Whether the node has omitted transactions, so that an unlisted transaction can still be pending. */
  readonly isTruncated: boolean;
  /** The transactions of both lists by index, missed ones first. */
  readonly live: ReadonlyMap<string, LiveCctx>;
  /** The highest nonce of each chain and key so far, also of finished transactions. */
  readonly nonces: ReadonlyMap<string, Numeral>;
  /**
   * After a gap: pending transactions finish within minutes, but a missed one that has gone may be too far behind to be
   * listed.
   */
  readonly hasOnlyMissed: boolean;
}

/** The number of questions after each poll. */
const MAX_CCTX_QUERIES = 10;
const MAX_DEPARTED = 1_000;
/** How long the node is asked without an answer: it may not have the transaction. */
const MAX_UNANSWERED_SECONDS = HOUR_SECONDS;
/** The oldest are forgotten. */
export const MAX_COUNTED = 50_000;
/** Only a hostile document has more: a node lists 500 pending transactions, and at most 1000 missed ones per chain. */
export const MAX_CCTXS = 50_000;

/** Withdrawn when a list, an index, a chain id, the height or the number of all transactions is missing or invalid. */
function read(input: CrosschainInput): CrosschainBaseline {
  const live = new Map<string, LiveCctx>();
  for (const list of listNames) {
    for (const [chainId, cctxs] of groupByChain(distinctCctxs[list](input))) {
      for (const cctx of cctxs) {
        const index = required(cctx.index);
        if (index.length > MAX_ID_CHARACTERS) continue;
        const isMissed = list === 'missed' || live.has(index);
        live.set(index, { ...readContent(cctx), chainId, key: signerKey(cctx), isMissed });
      }
    }
  }
  if (live.size > MAX_CCTXS) throw WITHDRAWN;
  const height = required(input.document.height);
  return { at: input.at, height, isTruncated: isTruncated(input), live, nonces: new Map(), hasOnlyMissed: false };
}

function readContent(cctx: Cctx): OutboundContent & Pick<LiveCctx, 'created'> {
  const outbound = orUndefined(() => currentOutbound(cctx));
  const asset = validOrUndefined(validOrUndefined(cctx.inbound_params)?.asset);
  const created = Number(validOrUndefined(validOrUndefined(cctx.cctx_status)?.created_timestamp) ?? 0n);
  return {
    created: created > 0 ? created : undefined,
    nonce: validOrUndefined(outbound?.tss_nonce),
    coinType: validOrUndefined(outbound?.coin_type),
    amount: validOrUndefined(outbound?.amount),
    asset: asset === undefined || asset.length > MAX_ID_CHARACTERS ? undefined : asset,
  };
}

/** The distinct keys of the signers. */
function distinctKeys(live: CrosschainBaseline['live']): ReadonlySet<string> {
  return new Set(Array.from(live.values()).flatMap(({ key }) => key ?? []));
}

type Departed = readonly [index: string, cctx: DepartedCctx];

/** The flow after one more document. */
export function trackCrosschain(
  flow: CrosschainFlow,
  input: CrosschainInput,
  { staleAfterMs, maxSeries }: FlowOptions,
): CrosschainFlow {
  const { baseline } = flow;
  const after = orUndefined(() => read(input));
  const settled = settle(withChains(flow, after, input, maxSeries), after, input, staleAfterMs);
  // A gap over several documents was counted when it began.
  const reason =
    baseline === undefined || baseline.hasOnlyMissed ? undefined : gapBetween(baseline, after, staleAfterMs);
  const before = reason === undefined ? baseline : baseline && onlyMissed(baseline);
  if (after === undefined || after.isTruncated) {
    return { ...settled, gaps: addGap(flow.gaps, reason), baseline: before };
  }
  const { departures, hasOtherKey } = departuresBetween(before, after, flow.counted);
  const { nonces, hasHidden } = withNonces(before?.nonces ?? new Map(), after.live);
  const gap = reason ?? (hasOtherKey ? 'key' : hasHidden ? 'unseen' : undefined);
  return {
    ...withDepartures(settled, departures, input),
    gaps: addGap(flow.gaps, gap),
    baseline: { ...after, nonces },
  };
}

/**
 * A reload can have changed the names, and transactions that left before a restart can be of chains that are not
 * listed.
 */
function withChains(
  flow: CrosschainFlow,
  after: CrosschainBaseline | undefined,
  input: CrosschainInput,
  maxChains: number,
): CrosschainFlow {
  const cctxs = [...(after?.live.values() ?? []), ...flow.departed.values()];
  const chainIds = cctxs.map(({ chainId }) => chainId);
  return { ...flow, chains: withKeys(flow.chains, chainIds, (id) => chainName(id, input), maxChains) };
}

/** Why the documents cannot be compared; `undefined` when they can. */
function gapBetween(
  before: CrosschainBaseline,
  after: CrosschainBaseline | undefined,
  staleAfterMs: number,
): GapReason | undefined {
  if (after === undefined) return 'list';
  if (after.isTruncated) return 'truncated';
  if (after.height < before.height) return 'regression';
  return isStale(before, after.at, staleAfterMs) ? 'stale' : undefined;
}

function onlyMissed(baseline: CrosschainBaseline): CrosschainBaseline {
  const missed = Array.from(baseline.live).filter(([, { isMissed }]) => isMissed);
  return { ...baseline, live: new Map(missed.slice(0, MAX_DEPARTED)), nonces: new Map(), hasOnlyMissed: true };
}

/** The transactions that have left the lists, without those that left because the signers have another key. */
function departuresBetween(
  before: CrosschainBaseline | undefined,
  { at, live }: CrosschainBaseline,
  counted: CrosschainFlow['counted'],
) {
  const keys = distinctKeys(live);
  const gone = Array.from(before?.live ?? []).filter(([index]) => !live.has(index));
  const departures = gone
    .filter(([, cctx]) => !isOfOtherKey(cctx, keys))
    .map(([index, cctx]): Departed => {
      const isUncounted = before?.hasOnlyMissed === true || counted.has(index);
      return [index, { ...withoutKnownKey(cctx, keys), at, pendingAnswers: 0, isUncounted }];
    });
  return { departures, hasOtherKey: before?.hasOnlyMissed === false && departures.length < gone.length };
}

/** Without a listed key nothing is known. */
function isOfOtherKey({ key }: LiveCctx, keys: ReadonlySet<string>): boolean {
  return key !== undefined && keys.size > 0 && !keys.has(key);
}

function withoutKnownKey<Live extends LiveCctx>(cctx: Live, keys: ReadonlySet<string>): Live {
  return keys.size === 0 ? cctx : { ...cctx, key: undefined };
}

/**
 * Counts the finished transactions. Forgets the transactions that a complete list has again, or that left with a change
 * of the key. Without an answer in time the outcome counts as unknown; the node is asked further, to find pending
 * transactions.
 */
function settle(
  flow: CrosschainFlow,
  after: CrosschainBaseline | undefined,
  { at, clockOffset, cctxAnswers: answers, cctxsAskedAt: askedAt }: CrosschainInput,
  staleAfterMs: number,
): CrosschainFlow {
  // Without questions since the last document, the order stays.
  const asked = new Set(askedAt === flow.askedAt ? [] : nextQuestions(flow));
  const queue = Array.from(flow.departed).toSorted(([a], [b]) => Number(asked.has(a)) - Number(asked.has(b)));
  const keys = distinctKeys(after?.live ?? new Map());
  const departed = new Map<string, DepartedCctx>();
  const finished: Finished[] = [];
  for (const [index, before] of queue) {
    const isListed = after?.live.has(index) === true;
    if ((isListed && !after.isTruncated) || isOfOtherKey(before, keys)) continue;
    const cctx = withoutKnownKey(before, keys);
    const answer = answers?.get(index);
    const seconds = at - cctx.at;
    // No later document is compared with a truncated list, so that the departure cannot be counted.
    if (isListed) departed.set(index, { ...cctx, at, pendingAnswers: 0, isUncounted: true });
    else if (answer === 'pending') departed.set(index, { ...cctx, pendingAnswers: cctx.pendingAnswers + 1 });
    else if (answer !== undefined) finished.push([index, cctx, answer]);
    else if (isPending(cctx) || seconds * 1000 <= staleAfterMs) departed.set(index, cctx);
    else {
      finished.push([index, cctx, 'unknown']);
      if (seconds <= MAX_UNANSWERED_SECONDS) departed.set(index, { ...cctx, isUncounted: true });
    }
  }
  const isAnswered = flow.isAnswered || (answers?.size ?? 0) > 0;
  return withFinished({ ...flow, askedAt, isAnswered, departed }, finished, clockOffset);
}

type Finished = readonly [...Departed, outcome: Outcome];

/** Transactions with an unknown outcome have no duration. */
function withFinished(flow: CrosschainFlow, all: readonly Finished[], clockOffset: number): CrosschainFlow {
  const finished = all.filter(([, { isUncounted }]) => !isUncounted);
  if (finished.length === 0) return flow;
  const counts = finished.map(([, { chainId, at, created }, outcome]) => {
    const isTimed = outcome !== 'unknown' && created !== undefined;
    const seconds = isTimed ? wallSeconds(at, { clockOffset }) - created : undefined;
    return { key: chainId, counter: outcome, seconds };
  });
  const counted = [...flow.counted, ...finished.map(([index]) => index)].slice(-MAX_COUNTED);
  return { ...flow, chains: withCounts(flow.chains, counts), counted: new Set(counted) };
}

/**
 * Adds departed transactions, with the missed ones as the next questions, because they seldom finish. Above the limit,
 * the outcome counts as unknown.
 */
function withDepartures(
  flow: CrosschainFlow,
  departures: readonly Departed[],
  { clockOffset, settings: { cctx_queries: cctxQueries } }: CrosschainInput,
): CrosschainFlow {
  const room = cctxQueries === 'off' ? 0 : MAX_DEPARTED - flow.departed.size;
  const added = departures.slice(0, room);
  const missed = added.filter(([, { isMissed }]) => isMissed);
  const departed = new Map([...missed, ...flow.departed, ...added]);
  const unknown = departures.slice(room).map((departure): Finished => [...departure, 'unknown']);
  return withFinished({ ...flow, departed }, unknown, clockOffset);
}

/** A chain with another key begins its nonces anew. */
const nonceSeries = ({ chainId, key = '' }: LiveCctx): string => `${chainId} ${key}`;

/**
 * Adds the nonces of a document. A nonce between two listed ones that was never listed is of a transaction that was
 * created and finished in between.
 */
function withNonces(before: CrosschainBaseline['nonces'], live: CrosschainBaseline['live']) {
  const nonces = new Map(before);
  let hasHidden = false;
  for (const [series, cctxs] of groupBy(Array.from(live.values()), nonceSeries)) {
    const last = before.get(series);
    const isAdded = (nonce: Numeral | undefined) => nonce !== undefined && (last === undefined || nonce > last);
    const added = new Set(cctxs.map(({ nonce }) => nonce).filter(isAdded));
    const newest = highest(added);
    if (newest === undefined || (last === undefined && nonces.size >= MAX_CHAINS)) continue;
    nonces.set(series, newest);
    if (last !== undefined && subtract(newest, last) > added.size) hasHidden = true;
  }
  return { nonces, hasHidden };
}

/**
 * The indexes of the transactions to ask the node for, the oldest question first; half of the questions are about
 * awaited outcomes.
 */
export function nextQuestions({ departed }: CrosschainFlow): readonly string[] {
  const awaited = Array.from(departed).filter(([, cctx]) => !cctx.isUncounted && !isPending(cctx));
  const first = awaited.slice(0, MAX_CCTX_QUERIES / 2).map(([index]) => index);
  return Array.from(new Set([...first, ...departed.keys()])).slice(0, MAX_CCTX_QUERIES);
}

/** Whether the node has answered that a transaction is pending that it does not list. */
export function isPending({ pendingAnswers }: DepartedCctx): boolean {
  return pendingAnswers > 0;
}

/**
 * The flow after a restart, which is a gap: nothing is counted, and the node is asked for the missed and the departed
 * transactions, of which only pending ones count.
 */
export function restartedCrosschain({
  baseline,
  departed,
  isAnswered,
}: CrosschainFlow): Pick<CrosschainFlow, 'baseline' | 'departed' | 'isAnswered'> {
  const uncounted = Array.from(departed, ([index, cctx]): Departed => [
    index,
    isPending(cctx) ? cctx : { ...cctx, isUncounted: true },
  ]);
  return { baseline: baseline && onlyMissed(baseline), departed: new Map(uncounted), isAnswered };
}
