import { subtract, type Numeral } from '../chain/numeral.js';
import { durationOf, hubBlockTime } from '../facts/bridge/block-times.js';
import type { BridgeInput } from '../facts/bridge/input.js';
import { groupBy } from '../facts/grouping.js';
import { orElse } from '../facts/required-fields.js';
import { seenAtMs } from './arrivals.js';
import {
  MAX_TRANSFERS,
  type Baseline,
  type FlowBatch,
  type FlowDocument,
  type FlowEvent,
  type TransferGroup,
} from './bridge-document.js';

/*
 * What happened between two documents of an endpoint. The hub deletes the transfers of an executed batch for good, and returns the transfers
 * of a canceled batch, so a batch that has disappeared was canceled if one of its transfers is still there.
 */

/** The counters of a token. */
export type TokenCounter =
  | 'batchesExecuted'
  | 'batchesTimedOut'
  | 'batchesSuperseded'
  | 'batchesCanceled'
  | 'transfersExecuted'
  | 'transfersCanceled'
  | 'amountExecuted'
  | 'amountDeposited';

interface TokenChange {
  readonly contract: string;
  readonly counter: TokenCounter;
  readonly by: Numeral;
}

export interface BridgeChanges {
  readonly tokens: readonly TokenChange[];
  readonly batchSeconds: readonly number[];
  readonly transferSeconds: readonly number[];
  /** Whether a batch, a transfer or a deposit in between is in neither document. */
  readonly hasUnseen: boolean;
}

type KeyedBatch = FlowBatch & { readonly key: string };

/** `undefined` when the documents contradict each other. */
export function changesBetween(
  before: Baseline,
  document: FlowDocument,
  observed: readonly FlowEvent[],
  input: BridgeInput,
): BridgeChanges | undefined {
  const isThere = (id: Numeral): boolean => document.ids.has(id);
  const created = Array.from(document.batches).filter(
    ([key, { nonce }]) => !before.batches.has(key) && nonce > before.highest.batch,
  );
  const requested = newTransfers(before, document);
  if (hasReappeared(before, document, requested)) return undefined;
  const hiddenBatches = difference(document.highest.batch, before.highest.batch) - created.length;
  const hiddenTransfers = difference(document.highest.transfer, before.highest.transfer) - requested;

  const gone = Array.from(before.batches, ([key, batch]): KeyedBatch => ({ ...batch, key })).filter(
    ({ key }) => !document.batches.has(key),
  );
  const canceled = gone.filter(({ ids }) => ids.some(isThere));
  const vanished = gone.filter(({ ids }) => !ids.some(isThere));
  const eventCount = difference(document.highest.event, before.highest.event);
  // A hidden batch, which may have been executed, can have had transfers of a batch or a queue of the earlier document.
  const isCertain = hiddenBatches <= 0;
  const otherEvents = observed.filter(({ type }) => type !== undefined && type !== 'withdraw').length;
  if (vanished.length > eventCount - (isCertain ? otherEvents : 0)) return undefined;
  const proven = new Set(observed.flatMap(({ batch }) => batch ?? []));
  const isLeft = (key: string): boolean =>
    document.batches.has(key) || before.batches.get(key)?.ids.some(isThere) === true;
  if (Array.from(proven).some((key) => before.batches.has(key) && isLeft(key))) return undefined;
  const executed = isCertain ? vanished : vanished.filter(({ key }) => proven.has(key));

  const senderCanceled = isCertain ? [...canceled, ...before.unbatched] : [];
  // Executed batches and a new set in the contract explain events whose claims were not seen.
  const seen = observed.flatMap(({ type }) => type ?? []);
  const executions = Math.max(0, executed.length - seen.filter((type) => type === 'withdraw').length);
  const updates = !seen.includes('valset') && isChanged(before.valsetNonce, document.valsetNonce) ? 1 : 0;
  const unexplained = eventCount - seen.length - executions - updates;
  return {
    tokens: [
      ...executed.flatMap(({ contract, totals }) => [
        { contract, counter: 'batchesExecuted' as const, by: 1 },
        ...totals.flatMap((total) => [
          { contract: total.contract, counter: 'transfersExecuted' as const, by: total.transfers },
          { contract: total.contract, counter: 'amountExecuted' as const, by: total.amount },
        ]),
      ]),
      ...canceled.map((batch) => ({
        contract: batch.contract,
        counter: cancellation(batch, executed, eventCount, document),
        by: 1,
      })),
      ...senderCanceled.map(({ contract, ids }) => ({
        contract,
        counter: 'transfersCanceled' as const,
        by: ids.filter((id) => !isThere(id)).length,
      })),
      ...observed.flatMap(({ deposit }) =>
        deposit === undefined
          ? []
          : [{ contract: deposit.contract, counter: 'amountDeposited' as const, by: deposit.amount }],
      ),
    ],
    batchSeconds: executed.flatMap((batch) => batchSeconds(batch, input) ?? []),
    transferSeconds: executed
      .flatMap(({ ids }) => ids.flatMap((id) => seenAtMs(before.arrivals, id) ?? []))
      .map((since) => (input.at * 1000 - since) / 1000),
    hasUnseen: hiddenBatches > 0 || hiddenTransfers > 0 || unexplained > 0,
  };
}

/** Whether a batch or a transfer is neither new nor in the earlier document. The hub deletes both for good. */
function hasReappeared(before: Baseline, document: FlowDocument, requested: number): boolean {
  const groups: readonly TransferGroup[] = [...before.batches.values(), ...before.unbatched];
  const earlierIds = groups.flatMap(({ ids }) => ids);
  // The memory may lack some ids.
  if (earlierIds.length >= MAX_TRANSFERS) return false;
  if (document.ids.size - requested > earlierIds.filter((id) => document.ids.has(id)).length) return true;
  return Array.from(document.batches).some(
    ([key, { nonce, ids }]) => ids.length > 0 && !before.batches.has(key) && nonce <= before.highest.batch,
  );
}

/** The number of transfers requested since the earlier document. */
function newTransfers({ highest: { transfer } }: Baseline, document: FlowDocument): number {
  if (document.highest.transfer === transfer) return 0;
  let count = 0;
  for (const id of document.ids) if (id > transfer) count += 1;
  return count;
}

function difference(later: Numeral, earlier: Numeral): number {
  return Number(subtract(later, earlier));
}

/**
 * Why a batch was canceled. Votes are counted before batches time out, so after a single event a superseded batch had not timed out before.
 * With more events and both conditions, the order is unknown.
 */
function cancellation(
  { contract, nonce, timeout }: FlowBatch,
  executed: readonly FlowBatch[],
  eventCount: number,
  { externalHeight }: FlowDocument,
): 'batchesTimedOut' | 'batchesSuperseded' | 'batchesCanceled' {
  const hasTimedOut = timeout < externalHeight;
  const isSuperseded = executed.some((batch) => batch.contract === contract && batch.nonce > nonce);
  if (isSuperseded && (!hasTimedOut || eventCount === 1)) return 'batchesSuperseded';
  return hasTimedOut && !isSuperseded ? 'batchesTimedOut' : 'batchesCanceled';
}

/** The observed events with a known claim. Of conflicting claims, only the later document has the observed claim. */
export function observedBetween(before: Baseline, { observedEvents, highest }: FlowDocument): readonly FlowEvent[] {
  if (highest.event <= before.highest.event) return [];
  const isNewlyObserved = ({ nonce }: FlowEvent): boolean => nonce > before.highest.event && nonce <= highest.event;
  const pending = groupBy(before.pendingEvents.filter(isNewlyObserved), ({ nonce }) => nonce);
  const observed = new Map(observedEvents.filter(isNewlyObserved).map((event) => [event.nonce, event]));
  const undisputed = Array.from(pending).flatMap(([nonce, events]) =>
    events.length > 1 || observed.has(nonce) ? [] : events,
  );
  return [...undisputed, ...observed.values()];
}

function isChanged(before: Numeral | undefined, after: Numeral | undefined): boolean {
  return before !== undefined && after !== undefined && before !== after;
}

/** The time from the creation of a batch to the first document without it; `undefined` without heights or block time. */
function batchSeconds({ block }: FlowBatch, input: BridgeInput): number | undefined {
  const { height } = input;
  if (block === undefined || height === undefined || height < block) return undefined;
  return orElse(
    () => durationOf(subtract(height, block), hubBlockTime(input)),
    () => undefined,
  );
}
