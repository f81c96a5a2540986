import { validOrUndefined } from '../chain/fields.js';
import type { Cctx } from '../chain/rate-limiter-input.js';
import { wallSeconds, type Instant } from '../clock.js';
import {
  currentOutbound,
  distinctCctxs,
  groupByChain,
  ignores,
  isTruncated,
  listNames,
  type OutboundContent,
  recordedCreation,
  signerKey,
  type UnlistedCctx,
} from '../facts/crosschain/cctxs.js';
import { chainLabels, PER_CHAIN } from '../facts/crosschain/chains.js';
import type { CrosschainInput } from '../facts/crosschain/crosschain-input.js';
import { MAX_ID_CHARACTERS } from '../facts/plain-values.js';
import { orUndefined, required, WITHDRAWN } from '../facts/required-fields.js';
import { families, labeledGauge } from '../metrics/family.js';
import { HOUR_SECONDS, MINUTE_SECONDS } from '../units.js';

/*
 * The cross-chain transactions that left the lists between two documents. Most are finished. Some are pending, and so
 * far below the lowest nonce of their chain that the node does not list them and no observer works on them. The
 * documents do not say which, so the node is asked for each, until it is finished.
 */

/** Plain data. */
export interface CrosschainFlow {
  /**
   * The transactions of the last complete lists by index, missed ones first; before these, transactions that have left
   * the lists and for which `departed` had no room. `undefined` before the first complete lists.
   */
  readonly live: ReadonlyMap<string, LiveCctx> | undefined;
  /** The transactions to ask the node for, by index, the oldest question first. */
  readonly departed: ReadonlyMap<string, DepartedCctx>;
  /** When the node was asked last. */
  readonly askedAt: Instant | undefined;
  /** Whether the node has ever answered. */
  readonly isAnswered: boolean;
}

const EMPTY_CROSSCHAIN_FLOW: CrosschainFlow = {
  live: undefined,
  departed: new Map(),
  askedAt: undefined,
  isAnswered: false,
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

/** A transaction that has left the lists. Its key is absent once a later document had the same one. */
interface DepartedCctx extends LiveCctx {
  /** The time of the first document without it. */
  readonly at: Instant;
  /** Whether it is pending, by the last answer. */
  readonly isPending: boolean;
}

/** The number of questions after each poll. */
const MAX_CCTX_QUERIES = 10;
const MAX_DEPARTED = 1_000;
/** How long the node is asked for one without an answer, while it answers for others: it may not have it. */
const MAX_UNANSWERED_SECONDS = HOUR_SECONDS;
/** How long a transaction that is not answered counts as finished, as most are. */
const ASSUMED_SECONDS = 5 * MINUTE_SECONDS;
/** Only a hostile document has more: a node lists 500 pending transactions, and at most 1000 missed ones per chain. */
export const MAX_CCTXS = 50_000;

/** The flow after one more document. */
export function trackCrosschain(flow: CrosschainFlow = EMPTY_CROSSCHAIN_FLOW, input: CrosschainInput): CrosschainFlow {
  const listed = orUndefined(() => ({ live: readLive(input), isTruncated: isTruncated(input) }));
  const settled = settle(flow, listed, input);
  // In a truncated list, a transaction that is missing may only have been omitted by the node.
  if (listed === undefined || listed.isTruncated) return settled;
  const { live } = listed;
  if (input.settings.cctx_queries === 'off') return { ...settled, live };
  return { ...settled, ...withDepartures(settled.departed, flow.live, live, input.at) };
}

/** Withdrawn when a list, an index or a chain id is missing or invalid. */
function readLive(input: CrosschainInput): ReadonlyMap<string, LiveCctx> {
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
  return live;
}

function readContent(cctx: Cctx): OutboundContent & Pick<LiveCctx, 'created'> {
  const outbound = orUndefined(() => currentOutbound(cctx));
  const asset = validOrUndefined(validOrUndefined(cctx.inbound_params)?.asset);
  const created = recordedCreation(cctx);
  return {
    created: created === undefined ? undefined : Number(created),
    nonce: validOrUndefined(outbound?.tss_nonce),
    coinType: validOrUndefined(outbound?.coin_type),
    amount: validOrUndefined(outbound?.amount),
    asset: asset === undefined || asset.length > MAX_ID_CHARACTERS ? undefined : asset,
  };
}

/**
 * Forgets the transactions that are finished, that a complete list has again, or that left with a change of the key:
 * those of another key are not listed any more.
 */
function settle(
  flow: CrosschainFlow,
  listed: { readonly live: ReadonlyMap<string, LiveCctx>; readonly isTruncated: boolean } | undefined,
  { at, cctxAnswers: answers, cctxsAskedAt: askedAt }: CrosschainInput,
): CrosschainFlow {
  // Without questions since the last document, the order stays.
  const asked = new Set(askedAt === flow.askedAt ? [] : nextQuestions(flow));
  const isAnswering = (answers?.size ?? 0) > 0;
  const isAnswered = flow.isAnswered || isAnswering;
  const queue = Array.from(flow.departed).toSorted(([a], [b]) => Number(asked.has(a)) - Number(asked.has(b)));
  const keys = distinctKeys(listed?.live ?? new Map());
  const departed = new Map<string, DepartedCctx>();
  for (const [index, before] of queue) {
    const isListed = listed?.live.has(index) === true;
    if ((isListed && !listed.isTruncated) || isOfOtherKey(before, keys)) continue;
    const cctx = withoutKnownKey(before, keys);
    const answer = answers?.get(index);
    // Stays, though listed: the next complete list is compared with the last complete one, not with this one.
    if (isListed) departed.set(index, { ...cctx, at, isPending: false });
    else if (answer === 'pending') departed.set(index, { ...cctx, isPending: true });
    else if (answer === undefined) {
      // A node that never answered does not know the query. With too many questions, only missed transactions wait.
      const isUnknown = !isAnswered || (isAnswering && (!cctx.isMissed || asked.has(index)));
      if (cctx.isPending || !isUnknown || at - cctx.at <= MAX_UNANSWERED_SECONDS) departed.set(index, cctx);
    }
  }
  return { ...flow, askedAt, isAnswered, departed };
}

/**
 * Adds departed transactions, with the missed ones as the next questions, because they seldom finish. Those for which
 * there is no room count as live until the next document.
 */
function withDepartures(
  departed: CrosschainFlow['departed'],
  before: CrosschainFlow['live'] = new Map(),
  live: ReadonlyMap<string, LiveCctx>,
  at: Instant,
): Pick<CrosschainFlow, 'live' | 'departed'> {
  const keys = distinctKeys(live);
  const gone = Array.from(before)
    .filter(([index, cctx]) => !live.has(index) && !departed.has(index) && !isOfOtherKey(cctx, keys))
    .map(([index, cctx]) => [index, withoutKnownKey(cctx, keys)] as const);
  const room = MAX_DEPARTED - departed.size;
  const added = gone.slice(0, room).map(([index, cctx]) => [index, { ...cctx, at, isPending: false }] as const);
  return {
    live: new Map([...gone.slice(room, room + MAX_CCTXS), ...live]),
    departed: new Map([...added.filter(([, { isMissed }]) => isMissed), ...departed, ...added]),
  };
}

/** The distinct keys of the signers. */
function distinctKeys(live: ReadonlyMap<string, LiveCctx>): ReadonlySet<string> {
  return new Set(Array.from(live.values()).flatMap(({ key }) => key ?? []));
}

/** Whether the key of a transaction is not listed any more; unknown without any listed key. */
function isOfOtherKey({ key }: LiveCctx, keys: ReadonlySet<string>): boolean {
  return key !== undefined && keys.size > 0 && !keys.has(key);
}

function withoutKnownKey<Live extends LiveCctx>(cctx: Live, keys: ReadonlySet<string>): Live {
  return keys.size === 0 ? cctx : { ...cctx, key: undefined };
}

/**
 * The indexes of the transactions to ask the node for. Up to half of them are pending ones: at the end of a long queue,
 * one that has finished would count as pending for as long as an alert needs.
 */
export function nextQuestions({ departed }: CrosschainFlow): readonly string[] {
  const indexes = Array.from(departed.keys());
  const pending = indexes.filter((index) => departed.get(index)?.isPending === true);
  const first = pending.slice(0, MAX_CCTX_QUERIES / 2);
  return Array.from(new Set([...first, ...indexes])).slice(0, MAX_CCTX_QUERIES);
}

/** The flow after a restart. Pending transactions finish within minutes, but the node may stop listing a missed one. */
export function restartedCrosschain({ live, departed, isAnswered }: CrosschainFlow): CrosschainFlow {
  const missed = Array.from(live ?? []).filter(([, { isMissed }]) => isMissed);
  return { live: live && new Map(missed.slice(0, MAX_DEPARTED)), departed, askedAt: undefined, isAnswered };
}

interface TrackedDocument {
  readonly input: CrosschainInput;
  readonly flow: CrosschainFlow;
}

/** `undefined` without queries, and before the first answer of the node. */
export function unlistedCctxs({ input, flow }: TrackedDocument): readonly UnlistedCctx[] | undefined {
  if (input.settings.cctx_queries === 'off' || !flow.isAnswered) return undefined;
  return Array.from(flow.departed)
    .filter(([, { isPending }]) => isPending)
    .map(([index, cctx]) => ({
      ...cctx,
      index,
      gone: wallSeconds(cctx.at, input),
      isIgnored: ignores(input, index, () => cctx.created),
    }));
}

export const unlistedFamilies = families<TrackedDocument>({
  crosschain_cctxs_unlisted: labeledGauge({
    help: 'Number of pending transactions of a chain that are no longer listed, without ignored ones; absent instead of 0 while the node does not answer.',
    stability: 'experimental',
    ...PER_CHAIN,
    overLimit: 'aggregate',
    derive: (tracked) => {
      const unlisted = unlistedCctxs(tracked);
      if (unlisted === undefined) return [];
      const { input, flow } = tracked;
      const remembered = [...(flow.live?.values() ?? []), ...flow.departed.values()];
      const counts = new Map(remembered.map(({ chainId }) => [chainId, 0]));
      for (const { chainId, at, isPending } of flow.departed.values()) {
        if (!isPending && input.at - at > ASSUMED_SECONDS) counts.delete(chainId);
      }
      for (const { chainId, isIgnored } of unlisted) {
        if (!isIgnored) counts.set(chainId, (counts.get(chainId) ?? 0) + 1);
      }
      return Array.from(counts, ([chainId, value]) => ({ labels: chainLabels(chainId, input), value }));
    },
  }),
});
