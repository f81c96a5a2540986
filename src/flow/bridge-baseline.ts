import type { Instant } from '../clock.js';
import { compare, sum, toDecimalString } from '../chain/decimal.js';
import type { DecimalString, Numeral } from '../json/numeral.js';
import { groupBy } from '../metrics/grouping.js';
import type { FlowBatch, FlowClaim, FlowDocument } from './bridge-document.js';

/*
 * What is remembered of a document to compare the next one with. Plain data with columns of numbers, because it is sent between threads
 * with every poll.
 */

export interface Baseline {
  readonly at: Instant;
  readonly height: Numeral | undefined;
  readonly bridgeContract: string | undefined;
  readonly ids: HighestIds;
  readonly valsetNonce: Numeral | undefined;
  readonly batches: readonly LiveBatch[];
  readonly unbatched: Transfers & { readonly tokens: readonly number[] };
  /** Of events that were not observed, by ascending nonce. */
  readonly claims: readonly FlowClaim[];
}

/** The counters of the hub. They only grow. */
export interface HighestIds {
  readonly event: Numeral;
  readonly batch: Numeral;
  readonly transfer: Numeral;
}

export interface Transfers {
  readonly ids: readonly Numeral[];
  /** On the monotonic clock; UNKNOWN for those that are older than what this process has seen. */
  readonly seenAtMs: readonly number[];
}

export const UNKNOWN = -1;

export interface LiveBatch {
  readonly key: string;
  readonly nonce: Numeral;
  readonly token: number;
  readonly timeout: Numeral;
  readonly block: Numeral | undefined;
  readonly transfers: Transfers;
  readonly totals: readonly BatchTotal[];
}

/** The transfers of one token in a batch. */
interface BatchTotal {
  readonly token: number;
  readonly transfers: number;
  readonly amount: DecimalString;
}

/** Bounds the memory of an endpoint. The oldest transfers are forgotten. */
export const MAX_TRANSFERS = 100_000;
/** Of events that are claimed and not observed, the first ones are observed first. */
const MAX_CLAIMS = 1_000;

export interface BaselineContext {
  readonly at: Instant;
  readonly height: Numeral | undefined;
  readonly columnOf: (contract: string) => number;
  readonly seenAtMs: (id: Numeral) => number;
}

export function baselineOf(document: FlowDocument, { at, height, columnOf, seenAtMs }: BaselineContext): Baseline {
  const isRemembered = remembered(document);
  const transfersOf = (ids: Iterable<Numeral>): Transfers => {
    const kept = Array.from(ids).filter(isRemembered);
    return { ids: kept, seenAtMs: kept.map(seenAtMs) };
  };
  const liveBatch = (key: string, { nonce, contract, timeout, block, transfers }: FlowBatch): LiveBatch => ({
    key,
    nonce,
    token: columnOf(contract),
    timeout,
    block,
    transfers: transfersOf(transfers.keys()),
    totals: totalsOf(transfers, columnOf),
  });
  const unbatched = transfersOf(document.unbatched.keys());
  return {
    at,
    height,
    bridgeContract: document.bridgeContract,
    ids: highestIds(document),
    valsetNonce: document.valsetNonce,
    batches: Array.from(document.batches, ([key, batch]) => liveBatch(key, batch)).filter(
      ({ transfers }) => transfers.ids.length > 0,
    ),
    unbatched: { ...unbatched, tokens: unbatched.ids.map((id) => columnOf(document.unbatched.get(id) ?? '')) },
    claims: document.claims
      .filter(({ nonce }) => compare(nonce, document.eventNonce) > 0)
      .toSorted((a, b) => compare(a.nonce, b.nonce))
      .slice(0, MAX_CLAIMS),
  };
}

export function highestIds({ eventNonce, batchId, transferId }: FlowDocument): HighestIds {
  return { event: eventNonce, batch: batchId, transfer: transferId };
}

function totalsOf(transfers: FlowBatch['transfers'], columnOf: (contract: string) => number): readonly BatchTotal[] {
  const byToken = groupBy(Array.from(transfers.values()), ({ contract }) => columnOf(contract));
  return Array.from(byToken, ([token, own]) => ({
    token,
    transfers: own.length,
    amount: toDecimalString(sum(own.map(({ amount }) => amount))),
  }));
}

/** All transfers, or those with the highest ids if there are too many. */
function remembered({ unbatched, batches }: FlowDocument): (id: Numeral) => boolean {
  const batched = Array.from(batches.values(), ({ transfers }) => transfers.size).reduce((a, b) => a + b, 0);
  if (unbatched.size + batched <= MAX_TRANSFERS) return () => true;
  const ids = [...unbatched.keys(), ...Array.from(batches.values()).flatMap(({ transfers }) => [...transfers.keys()])];
  const kept = new Set(ids.toSorted((a, b) => compare(b, a)).slice(0, MAX_TRANSFERS));
  return (id) => kept.has(id);
}

/** When each transfer was first seen. */
export function seenTimes(baseline: Baseline | undefined): ReadonlyMap<Numeral, number> {
  const times = new Map<Numeral, number>();
  const all = baseline === undefined ? [] : [baseline.unbatched, ...baseline.batches.map(({ transfers }) => transfers)];
  for (const { ids, seenAtMs } of all)
    for (const [index, id] of ids.entries()) times.set(id, seenAtMs[index] ?? UNKNOWN);
  return times;
}
