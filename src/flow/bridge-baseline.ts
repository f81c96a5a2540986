import type { Instant } from '../clock.js';
import { compare, sum, toDecimalString } from '../chain/decimal.js';
import type { DecimalString, Numeral } from '../chain/numeral.js';
import { groupBy } from '../facts/grouping.js';
import type { Arrivals } from './arrivals.js';
import type { FlowBatch, FlowClaim, FlowDocument } from './bridge-document.js';

/** What is remembered of a document to compare the next one with. */
export interface Baseline {
  readonly at: Instant;
  readonly height: Numeral | undefined;
  readonly bridgeContract: string | undefined;
  readonly ids: HighestIds;
  readonly valsetNonce: Numeral | undefined;
  readonly transfers: LiveTransfers;
  readonly arrivals: Arrivals;
  /** Of events that were not observed. */
  readonly claims: readonly FlowClaim[];
}

/** The counters of the hub. They only grow. */
export interface HighestIds {
  readonly event: Numeral;
  readonly batch: Numeral;
  readonly transfer: Numeral;
}

/** The transfers that are not executed. */
export interface LiveTransfers {
  readonly batches: readonly LiveBatch[];
  readonly unbatched: readonly WaitingTransfers[];
}

/** The transfers of one token that are in no batch. */
export interface WaitingTransfers {
  readonly token: number;
  readonly ids: readonly Numeral[];
}

export interface LiveBatch {
  readonly key: string;
  readonly nonce: Numeral;
  readonly token: number;
  readonly timeout: Numeral;
  readonly block?: Numeral | undefined;
  readonly ids: readonly Numeral[];
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

export function baselineOf(
  document: FlowDocument,
  context: Pick<Baseline, 'at' | 'height' | 'transfers' | 'arrivals'>,
): Baseline {
  return {
    ...context,
    bridgeContract: document.bridgeContract,
    ids: highestIds(document),
    valsetNonce: document.valsetNonce,
    claims: document.pendingClaims,
  };
}

export function liveTransfers(document: FlowDocument, columnOf: (contract: string) => number): LiveTransfers {
  const remembered = rememberedOf(document);
  const liveBatch = (key: string, { nonce, contract, timeout, block, transfers }: FlowBatch): LiveBatch => ({
    key,
    nonce,
    token: columnOf(contract),
    timeout,
    block,
    ids: remembered(transfers.map(({ id }) => id)),
    totals: totalsOf(transfers, columnOf),
  });
  return {
    batches: Array.from(document.batches, ([key, batch]) => liveBatch(key, batch)).filter(({ ids }) => ids.length > 0),
    unbatched: document.unbatched.map(({ contract, ids }) => ({ token: columnOf(contract), ids: remembered(ids) })),
  };
}

export function highestIds({ eventNonce, batchId, transferId }: FlowDocument): HighestIds {
  return { event: eventNonce, batch: batchId, transfer: transferId };
}

function totalsOf(transfers: FlowBatch['transfers'], columnOf: (contract: string) => number): readonly BatchTotal[] {
  const byToken = groupBy(transfers, ({ contract }) => columnOf(contract));
  return Array.from(byToken, ([token, own]) => ({
    token,
    transfers: own.length,
    amount: toDecimalString(sum(own.map(({ amount }) => amount))),
  }));
}

/** Selects all transfers, or those with the highest ids if there are too many. */
function rememberedOf({ ids: all }: FlowDocument): (ids: readonly Numeral[]) => readonly Numeral[] {
  if (all.size <= MAX_TRANSFERS) return (ids) => ids;
  const kept = new Set(
    Array.from(all)
      .toSorted((a, b) => compare(b, a))
      .slice(0, MAX_TRANSFERS),
  );
  return (ids) => ids.filter((id) => kept.has(id));
}
