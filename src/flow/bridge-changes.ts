import { compare, multiply, subtract, toDouble, toSeconds } from '../chain/decimal.js';
import type { DecimalString, Numeral } from '../chain/numeral.js';
import { hubBlockTime } from '../facts/bridge/block-times.js';
import type { BridgeInput } from '../facts/bridge/input.js';
import { groupBy } from '../facts/grouping.js';
import { orElse } from '../facts/required-fields.js';
import { seenAtMs } from './arrivals.js';
import {
  MAX_TRANSFERS,
  type Baseline,
  type LiveBatch,
  type LiveTransfers,
  type WaitingTransfers,
} from './bridge-baseline.js';
import { eventOf, type FlowClaim, type FlowDocument, type FlowEvent } from './bridge-document.js';

/*
 * What happened between two documents of an endpoint. The hub deletes the transfers of an executed batch for good and returns those of a
 * canceled one, so a batch that has disappeared was canceled if one of its transfers is still there.
 */

export const tokenCounters = [
  'batchesExecuted',
  'batchesTimedOut',
  'batchesSuperseded',
  'batchesCanceled',
  'transfersExecuted',
  'transfersCanceled',
] as const;
export type TokenCounter = (typeof tokenCounters)[number];

export const tokenAmounts = ['withdrawn', 'deposited'] as const;
export type TokenAmount = (typeof tokenAmounts)[number];

export interface BridgeChanges {
  /** The keys of the batches that were canceled. */
  readonly canceled: readonly string[];
  readonly counts: readonly { readonly counter: TokenCounter; readonly token: number; readonly by: number }[];
  readonly amounts: readonly { readonly kind: TokenAmount; readonly token: number; readonly by: Numeral }[];
  readonly batchSeconds: readonly number[];
  readonly transferSeconds: readonly number[];
  /** Whether a batch or a transfer was created and removed in between, or a deposit observed, of which nothing else is known. */
  readonly hasUnseen: boolean;
}

/** `undefined` when the documents contradict each other. */
export function changesBetween(
  before: Baseline,
  document: FlowDocument,
  observed: readonly FlowEvent[],
  input: BridgeInput,
  columnOf: (contract: string) => number,
): BridgeChanges | undefined {
  const live = before.transfers;
  const isThere = (id: Numeral): boolean => document.ids.has(id);
  const knownBatches = new Set(live.batches.map(({ key }) => key));
  const created = Array.from(document.batches).filter(
    ([key, { nonce }]) => !knownBatches.has(key) && compare(nonce, before.ids.batch) > 0,
  );
  const requested = newTransfers(before, document);
  const absent = absentIds(live, document);
  if (hasReappeared(live, before.ids.batch, document, { requested, absent: absent.count })) return undefined;
  const hiddenBatches = difference(document.batchId, before.ids.batch) - created.length;
  const hiddenTransfers = difference(document.transferId, before.ids.transfer) - requested;

  const gone = live.batches.filter(({ key }) => !document.batches.has(key));
  const [canceled, vanished] = partition(gone, ({ ids }) => ids.some(isThere));
  const eventCount = difference(document.eventNonce, before.ids.event);
  // The transfers of a hidden batch, which may have been executed, can come from a batch or a queue of the earlier document.
  const isCertain = hiddenBatches <= 0;
  const otherEvents = observed.filter(({ type }) => type !== undefined && type !== 'withdraw').length;
  if (vanished.length > eventCount - (isCertain ? otherEvents : 0)) return undefined;
  const proven = new Set(observed.flatMap(({ batch }) => batch ?? []));
  const isLeft = ({ key, ids }: LiveBatch): boolean => document.batches.has(key) || ids.some(isThere);
  if (live.batches.some((batch) => proven.has(batch.key) && isLeft(batch))) return undefined;
  const executed = isCertain ? vanished : vanished.filter(({ key }) => proven.has(key));

  const withoutBatch = new Set<WaitingTransfers>([...canceled, ...live.unbatched]);
  const senderCanceled = isCertain
    ? absent.groups.flatMap(({ group, ids }) => (withoutBatch.has(group) ? ids.map(() => group.token) : []))
    : [];
  // Executed batches and a new set in the contract explain events whose claims were not seen.
  const seen = observed.flatMap(({ type }) => type ?? []);
  const executions = Math.max(0, executed.length - seen.filter((type) => type === 'withdraw').length);
  const updates = !seen.includes('valset') && isChanged(before.valsetNonce, document.valsetNonce) ? 1 : 0;
  const unexplained = eventCount - seen.length - executions - updates;
  const one = (counter: TokenCounter) => (token: number) => ({ counter, token, by: 1 });
  return {
    canceled: canceled.map(({ key }) => key),
    counts: [
      ...executed.map(({ token }) => token).map(one('batchesExecuted')),
      ...canceled.map((batch) => one(cancellation(batch, executed, eventCount, document))(batch.token)),
      ...executed
        .flatMap(({ totals }) => totals)
        .map(({ token, transfers }) => ({ counter: 'transfersExecuted' as const, token, by: transfers })),
      ...senderCanceled.map(one('transfersCanceled')),
    ],
    amounts: [
      ...executed.flatMap(({ totals }) =>
        totals.map(({ token, amount }): { kind: TokenAmount; token: number; by: DecimalString } => ({
          kind: 'withdrawn',
          token,
          by: amount,
        })),
      ),
      ...observed.flatMap(({ deposit }) =>
        deposit === undefined
          ? []
          : [{ kind: 'deposited' as const, token: columnOf(deposit.contract), by: deposit.amount }],
      ),
    ],
    batchSeconds: executed.flatMap((batch) => batchSeconds(batch, input) ?? []),
    transferSeconds: transferSeconds(executed, before, input),
    hasUnseen: hiddenBatches > 0 || hiddenTransfers > 0 || unexplained > 0,
  };
}

/** The transfers of the earlier document that the later one does not contain, grouped by batch, or by token if they were in none. */
function absentIds({ batches, unbatched }: LiveTransfers, document: FlowDocument) {
  const groups = [...batches, ...unbatched]
    .map((group) => ({ group, ids: group.ids.filter((id) => !document.ids.has(id)) }))
    .filter(({ ids }) => ids.length > 0);
  return { groups, count: groups.reduce((count, { ids }) => count + ids.length, 0) };
}

/** Whether a batch or a transfer is back that the earlier document did not have. The hub deletes them for good. */
function hasReappeared(
  { batches, unbatched }: LiveTransfers,
  highestBatch: Numeral,
  document: FlowDocument,
  counts: { readonly requested: number; readonly absent: number },
): boolean {
  const known = [...batches, ...unbatched].reduce((count, one) => count + one.ids.length, 0);
  // Not all were remembered.
  if (known >= MAX_TRANSFERS) return false;
  if (document.ids.size - counts.requested > known - counts.absent) return true;
  const keys = new Set(batches.map(({ key }) => key));
  return Array.from(document.batches).some(
    ([key, { nonce, transfers }]) => transfers.length > 0 && !keys.has(key) && compare(nonce, highestBatch) <= 0,
  );
}

/** The number of transfers that were requested since the earlier document. */
function newTransfers({ ids: { transfer } }: Baseline, document: FlowDocument): number {
  if (compare(document.transferId, transfer) === 0) return 0;
  let count = 0;
  for (const id of document.ids) if (compare(id, transfer) > 0) count += 1;
  return count;
}

function difference(later: Numeral, earlier: Numeral): number {
  return toDouble(subtract(later, earlier));
}

function partition<T>(all: readonly T[], isFirst: (one: T) => boolean): readonly [readonly T[], readonly T[]] {
  return [all.filter(isFirst), all.filter((one) => !isFirst(one))];
}

/**
 * Why a batch was canceled. Votes are counted before batches time out, so after a single event a batch that was superseded had not
 * timed out before. With more events and both conditions, the order is unknown.
 */
function cancellation(
  { token, nonce, timeout }: LiveBatch,
  executed: readonly LiveBatch[],
  eventCount: number,
  { externalHeight }: FlowDocument,
): 'batchesTimedOut' | 'batchesSuperseded' | 'batchesCanceled' {
  const hasTimedOut = compare(timeout, externalHeight) < 0;
  const isSuperseded = executed.some((batch) => batch.token === token && compare(batch.nonce, nonce) > 0);
  if (isSuperseded && (!hasTimedOut || eventCount === 1)) return 'batchesSuperseded';
  return hasTimedOut && !isSuperseded ? 'batchesTimedOut' : 'batchesCanceled';
}

/** Each event that was observed and whose claim is known. Which of conflicting claims was observed is known only from the later document. */
export function observedEvents(before: Baseline, { observedClaims, eventNonce }: FlowDocument): readonly FlowEvent[] {
  if (compare(eventNonce, before.ids.event) <= 0) return [];
  const isNewlyObserved = ({ nonce }: FlowClaim): boolean =>
    compare(nonce, before.ids.event) > 0 && compare(nonce, eventNonce) <= 0;
  const pending = groupBy(before.claims.filter(isNewlyObserved), ({ nonce }) => nonce);
  const observed = new Map(observedClaims.filter(isNewlyObserved).map((claim) => [claim.nonce, claim]));
  const alone = Array.from(pending).flatMap(([nonce, claims]) =>
    claims.length > 1 || observed.has(nonce) ? [] : claims,
  );
  return [...alone, ...observed.values()].map(eventOf);
}

function isChanged(before: Numeral | undefined, after: Numeral | undefined): boolean {
  return before !== undefined && after !== undefined && compare(before, after) !== 0;
}

/** From the creation of a batch to the document in which it is gone; `undefined` without heights or block time. */
function batchSeconds({ block }: LiveBatch, input: BridgeInput): number | undefined {
  const { height } = input;
  if (block === undefined || height === undefined || compare(height, block) < 0) return undefined;
  return orElse(
    () => toSeconds(multiply(subtract(height, block), hubBlockTime(input))),
    () => undefined,
  );
}

/** From the first document with a transfer to the one without it, of those of which the first one is known. */
function transferSeconds(executed: readonly LiveBatch[], before: Baseline, { at }: BridgeInput): readonly number[] {
  if (executed.length === 0) return [];
  return executed
    .flatMap(({ ids }) => ids.flatMap((id) => seenAtMs(before.arrivals, id) ?? []))
    .map((since) => (at.monotonicMs - since) / 1000);
}
