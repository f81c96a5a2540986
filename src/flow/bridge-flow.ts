import type { ClaimType } from '../chain/claim.js';
import type { Attestation, Transfer } from '../chain/module-state.js';
import { compare, highest, subtract, type Numeral } from '../chain/numeral.js';
import { toMilliseconds, type Instant } from '../clock.js';
import { estimateDuration, hubBlockTime } from '../facts/bridge/block-times.js';
import { attestationsByNonce, claimContent, readClaimType } from '../facts/bridge/events.js';
import type { BridgeInput } from '../facts/bridge/bridge-input.js';
import { goneBatches, liveBatches, type GoneBatch, type LiveBatches } from '../facts/bridge/executions.js';
import { batchesByKey } from '../facts/bridge/signatures.js';
import * as tokens from '../facts/bridge/tokens.js';
import { optional, orUndefined, required, rows, WITHDRAWN } from '../facts/required-fields.js';
import {
  addGap,
  isStale,
  noGaps,
  type FlowOptions,
  type Gaps,
  EMPTY_HISTOGRAM,
  observe,
  type Histogram,
  NO_TOTALS,
  withCounts,
  withKeys,
  type Count,
  type Totals,
} from './totals.js';

/*
 * What happened on a bridge between two documents. Which batches were executed and canceled is a fact
 * (facts/bridge/executions.ts). An odd document is compared with none.
 */

const gapReasons = ['regression', 'contract', 'list', 'stale', 'inconsistent', 'unseen'] as const;
type GapReason = (typeof gapReasons)[number];

export type TokenCounter =
  | 'batchesExecuted'
  | 'batchesTimedOut'
  | 'batchesSuperseded'
  | 'batchesCanceled'
  | 'transfersExecuted'
  | 'transfersCanceled'
  | 'amountExecuted'
  | 'amountDeposited';

/** The counts since the start of the process, and what the next document is compared with. */
export interface BridgeFlow {
  /** By the contract of the token. */
  readonly tokens: Totals<TokenCounter>;
  readonly batchDurations: Histogram;
  readonly gaps: Gaps;
  /** `undefined` before the first document, and after an odd one. */
  readonly baseline: Baseline | undefined;
  /**
   * The highest ids of the contract so far. After a rollback, or of a node that is behind, lower ids do not count
   * again.
   */
  readonly highest: (HubIds & Pick<Baseline, 'bridgeContract'>) | undefined;
}

export const EMPTY_BRIDGE_FLOW: BridgeFlow = {
  tokens: NO_TOTALS,
  batchDurations: EMPTY_HISTOGRAM,
  gaps: noGaps(gapReasons),
  baseline: undefined,
  highest: undefined,
};

/** What continues after a restart: nothing is counted, and nothing is counted again. */
export function restartedBridge({ highest: ids }: BridgeFlow): Pick<BridgeFlow, 'highest'> {
  return { highest: ids };
}

const idNames = ['event', 'batch', 'transfer'] as const;

/** The counters of the hub, which only grow. */
type HubIds = Readonly<Record<(typeof idNames)[number], Numeral>>;

interface FlowTransfer {
  readonly contract: string;
  readonly amount: Numeral;
  /** The key of its batch. */
  readonly batch: string | undefined;
  /** The time of the first document with the transfer, if that is known. */
  readonly seenAt?: Instant | undefined;
}

/** What a claim says about an event; empty for an unreadable claim. */
interface FlowEvent {
  readonly type?: ClaimType | undefined;
  readonly deposit?: Count<TokenCounter>;
}

/** The facts of a document that are compared. */
export interface Baseline extends Pick<BridgeInput, 'at' | 'height'> {
  readonly bridgeContract: string | undefined;
  readonly ids: HubIds;
  readonly externalHeight: Numeral;
  readonly batches: LiveBatches['batches'];
  readonly transfers: ReadonlyMap<Numeral, FlowTransfer>;
  /** The known claims of events near the last observed one. */
  readonly events: ReadonlyMap<Numeral, FlowEvent>;
}

/**
 * Bounds the memory of an endpoint: transfers with the lowest ids are forgotten. No hub has more batches, or assigns
 * more ids between two polls.
 */
export const MAX_TRANSFERS = 100_000;
const MAX_EVENTS = 1_000;

/** Withdrawn when a field is missing or invalid, such as the contract once it is known. */
function read(input: BridgeInput, knownContract: string | undefined): Baseline {
  const { state, at, height } = input;
  const bridgeContract = optional(state.params)?.bridge_external_address;
  const transfers = new Map<Numeral, FlowTransfer>();
  const addTransfer = (transfer: Transfer, batch?: string): void => {
    const [id, amount] = [tokens.readId(transfer), notNegative(tokens.readAmount(transfer))];
    const contract = tokens.contractLabel(tokens.transferredCoin(transfer)?.contract);
    if (!transfers.has(id)) transfers.set(id, { contract, amount, batch });
  };
  const { batches } = liveBatches(input);
  for (const [key, repeated] of batchesByKey(input)) {
    for (const { transactions } of repeated) for (const transfer of rows(transactions)) addTransfer(transfer, key);
  }
  for (const transfer of tokens.unbatchedTransfers(input)) addTransfer(transfer);
  return {
    at,
    height,
    bridgeContract: knownContract === undefined ? optional(bridgeContract) : required(bridgeContract),
    ids: {
      event: required(state.last_observed_nonce),
      batch: required(state.last_outgoing_batch_id),
      transfer: required(state.last_outgoing_pool_id),
    },
    externalHeight: required(state.last_observed_external_height),
    batches,
    transfers,
    events: readEvents(input),
  };
}

/** Counters never decrease. */
function notNegative(amount: Numeral): Numeral {
  if (amount < 0) throw WITHDRAWN;
  return amount;
}

/**
 * The observed claim of each event, or the only one. Of conflicting claims, only the later document has the observed
 * one.
 */
function readEvents(input: BridgeInput): Baseline['events'] {
  const last = required(input.state.last_observed_nonce);
  const events = new Map<Numeral, FlowEvent>();
  for (const [nonce, claims] of attestationsByNonce(input)) {
    if (Math.abs(Number(subtract(nonce, last))) > MAX_EVENTS) continue;
    const [claim, ...others] = nonce > last ? claims : claims.filter(({ observed }) => observed === true);
    if (claim !== undefined && others.length === 0) events.set(nonce, orUndefined(() => readClaim(claim)) ?? {});
  }
  return events;
}

function readClaim(attestation: Attestation): FlowEvent {
  const type = readClaimType(attestation);
  if (type !== 'deposit') return { type };
  const { token_contract, amount } = claimContent(attestation);
  const by = notNegative(required(amount));
  return { type, deposit: { key: tokens.contractLabel(token_contract), counter: 'amountDeposited', by } };
}

/** The flow after one more document. */
export function trackBridge(
  flow: BridgeFlow,
  input: BridgeInput,
  { staleAfterMs, maxSeries }: FlowOptions,
): BridgeFlow {
  const { baseline: before } = flow;
  const after = orUndefined(() => read(input, flow.highest?.bridgeContract));
  const reason = before && gapBetween(before, after, flow.highest, staleAfterMs);
  const changes = before && after && reason === undefined ? changesBetween(before, after, input) : undefined;
  const isContradictory = before !== undefined && reason === undefined && changes === undefined;
  const gap = reason ?? (isContradictory ? 'inconsistent' : changes?.hasUnseen === true ? 'unseen' : undefined);
  const gaps = addGap(flow.gaps, gap);
  if (after === undefined || isImpossible(after) || gap === 'list' || gap === 'inconsistent') {
    return { ...flow, gaps, baseline: undefined };
  }
  const counts = changes?.counts ?? [];
  return {
    tokens: withCounts(withTokens(flow.tokens, after, counts, input, maxSeries), counts),
    batchDurations: (changes?.batchSeconds ?? []).reduce(observe, flow.batchDurations),
    gaps,
    baseline: baselineAfter(before, after, gap),
    highest: highestIds(flow.highest, after),
  };
}

/** Why the documents cannot be compared; `undefined` when they can. */
function gapBetween(
  before: Baseline,
  after: Baseline | undefined,
  highestBefore: HubIds | undefined,
  staleAfterMs: number,
): GapReason | undefined {
  const { bridgeContract } = before;
  if (after === undefined) return 'list';
  if (isImpossible(after)) return 'inconsistent';
  if (bridgeContract !== undefined && bridgeContract !== after.bridgeContract) return 'contract';
  const isLowerHeight = after.height !== undefined && before.height !== undefined && after.height < before.height;
  if (isLowerHeight || !isPast(after.ids, before.ids) || !isPast(before.ids, highestBefore)) return 'regression';
  if (isStale(before, after.at, staleAfterMs)) return 'stale';
  return idNames.some((name) => countNewIds(name, before, after) > MAX_TRANSFERS) ? 'inconsistent' : undefined;
}

/** Whether a batch or a transfer has an id that the hub has not reached. */
function isImpossible({ batches, transfers, ids }: Baseline): boolean {
  const newestBatch = highest(Array.from(batches.values(), ({ nonce }) => nonce)) ?? ids.batch;
  const newestTransfer = highest(transfers.keys()) ?? ids.transfer;
  return newestBatch > ids.batch || newestTransfer > ids.transfer;
}

function isPast(ids: HubIds, limits: HubIds | undefined): boolean {
  return limits === undefined || idNames.every((name) => ids[name] >= limits[name]);
}

/** Another contract begins anew. */
function highestIds(before: BridgeFlow['highest'], { ids, bridgeContract }: Baseline): BridgeFlow['highest'] {
  const isOther = before?.bridgeContract !== undefined && before.bridgeContract !== bridgeContract;
  if (before === undefined || isOther) return { ...ids, bridgeContract };
  const higher = (name: keyof HubIds): Numeral => (before[name] > ids[name] ? before[name] : ids[name]);
  return { event: higher('event'), batch: higher('batch'), transfer: higher('transfer'), bridgeContract };
}

function countNewIds(name: keyof HubIds, before: Baseline, after: Baseline): number {
  return Number(subtract(after.ids[name], before.ids[name]));
}

interface Changes {
  readonly counts: readonly Count<TokenCounter>[];
  readonly batchSeconds: readonly (number | undefined)[];
  /** Whether a batch, a transfer or a deposit in between is in neither document. */
  readonly hasUnseen: boolean;
}

/** `undefined` when the documents contradict each other. */
function changesBetween(before: Baseline, after: Baseline, input: BridgeInput): Changes | undefined {
  if (hasReappeared(before, after)) return undefined;
  const requested = Array.from(after.transfers.keys()).filter((id) => id > before.ids.transfer).length;
  const created = Array.from(after.batches.values()).filter(({ nonce }) => nonce > before.ids.batch).length;
  const hasHiddenBatch = countNewIds('batch', before, after) > created;
  const eventCount = countNewIds('event', before, after);
  const events = Array.from(new Map([...before.events, ...after.events]))
    .filter(([nonce]) => nonce > before.ids.event && nonce <= after.ids.event)
    .map(([, event]) => event);

  const batches = goneBatches(input);
  const canceled = batches.filter(({ outcome }) => outcome === 'canceled');
  const vanished = batches.filter(({ outcome }) => outcome === 'executed');
  const hasUnknown = !hasHiddenBatch && batches.some(({ outcome }) => outcome === 'unknown');
  if (hasUnknown || canceled.some(({ isClaimed }) => isClaimed)) return undefined;
  // A hidden batch, which may have been executed, can have had transfers of a batch or a queue of the earlier document.
  const executed = hasHiddenBatch ? vanished.filter(({ isClaimed }) => isClaimed) : vanished;
  const outcomes = new Map([...executed, ...canceled].map(({ key, outcome }) => [key, outcome]));
  const otherEvents = events.filter(({ type }) => type !== undefined && type !== 'withdraw').length;
  const hasHiddenExecution = hasHiddenBatch && eventCount > otherEvents;
  const unclaimed = executed.filter(({ isClaimed }) => !isClaimed).length;
  const seenEvents = events.filter(({ type }) => type !== undefined).length;
  const gone = Array.from(before.transfers).filter(([id]) => !after.transfers.has(id));
  return {
    counts: [
      ...executed.map(({ contract }) => ({ key: contract, counter: 'batchesExecuted' as const })),
      ...canceled.map((batch) => ({
        key: batch.contract,
        counter: cancellation(batch, executed, hasHiddenExecution, eventCount, after),
      })),
      ...gone.flatMap(([, transfer]) => {
        const { batch } = transfer;
        const outcome = batch === undefined ? 'canceled' : outcomes.get(batch);
        if (outcome === 'executed') return executedTransfer(transfer, after);
        const isCanceled = !hasHiddenBatch && outcome === 'canceled';
        return isCanceled ? [{ key: transfer.contract, counter: 'transfersCanceled' as const }] : [];
      }),
      ...events.flatMap(({ deposit }) => deposit ?? []),
    ],
    batchSeconds: executed.map(({ block }) => batchSeconds(block, input)),
    hasUnseen:
      hasHiddenBatch || countNewIds('transfer', before, after) > requested || eventCount > seenEvents + unclaimed,
  };
}

/** Whether a batch or a transfer is neither new nor in the earlier document. The hub deletes both for good. */
function hasReappeared(before: Baseline, { batches, transfers }: Baseline): boolean {
  if (Array.from(batches).some(([key, { nonce }]) => nonce <= before.ids.batch && !before.batches.has(key)))
    return true;
  // Some may be forgotten.
  if (before.transfers.size >= MAX_TRANSFERS) return false;
  return Array.from(transfers.keys()).some((id) => id <= before.ids.transfer && !before.transfers.has(id));
}

function executedTransfer(
  { contract, amount, seenAt }: FlowTransfer,
  { at }: Baseline,
): readonly Count<TokenCounter>[] {
  const seconds = seenAt === undefined ? undefined : toMilliseconds(at - seenAt);
  return [
    { key: contract, counter: 'transfersExecuted', seconds },
    { key: contract, counter: 'amountExecuted', by: amount },
  ];
}

/**
 * Why a batch was canceled. Votes are counted before batches time out, so after a single event a superseded batch had
 * not timed out before. With more events and both conditions, the order is unknown. A batch that is in neither document
 * can have superseded it.
 */
function cancellation(
  { contract, nonce, timeout }: GoneBatch,
  executed: readonly GoneBatch[],
  hasHiddenExecution: boolean,
  eventCount: number,
  { externalHeight }: Baseline,
): 'batchesTimedOut' | 'batchesSuperseded' | 'batchesCanceled' {
  const hasTimedOut = timeout !== undefined && timeout < externalHeight;
  const isSuperseded = executed.some((batch) => batch.contract === contract && batch.nonce > nonce);
  if (isSuperseded && (!hasTimedOut || eventCount === 1)) return 'batchesSuperseded';
  return hasTimedOut && !isSuperseded && !hasHiddenExecution ? 'batchesTimedOut' : 'batchesCanceled';
}

/**
 * The time from the creation of a batch to the first document without it; `undefined` without heights or block time.
 */
function batchSeconds(block: Numeral | undefined, input: BridgeInput): number | undefined {
  return orUndefined(() => estimateDuration(subtract(required(input.height), required(block)), hubBlockTime(input)));
}

/** Adds the tokens of a document, and missing denoms. A list of denoms that cannot be read changes no denom. */
function withTokens(
  before: BridgeFlow['tokens'],
  { batches, transfers }: Baseline,
  counts: Changes['counts'],
  input: BridgeInput,
  maxTokens: number,
): BridgeFlow['tokens'] {
  const denoms = orUndefined(() => tokens.denomByContract(input)) ?? new Map<string, string>();
  const used = [...batches.values(), ...transfers.values()].map(({ contract }) => contract);
  const contracts = [...used, ...counts.map(({ key }) => key), ...denoms.keys()];
  return withKeys(before, contracts, (contract, denom) => denom || (denoms.get(contract) ?? ''), maxTokens);
}

/** Adds the times at which transfers were first seen. In a gap, the time at which a transfer appeared is unknown. */
function baselineAfter(before: Baseline | undefined, after: Baseline, gap: GapReason | undefined): Baseline {
  const isTooLong = after.transfers.size > MAX_TRANSFERS;
  const newestFirst = ([a]: readonly [Numeral, FlowTransfer], [b]: readonly [Numeral, FlowTransfer]) => compare(b, a);
  const kept = isTooLong ? Array.from(after.transfers).toSorted(newestFirst).slice(0, MAX_TRANSFERS) : after.transfers;
  if (before === undefined || gap === 'contract' || gap === 'regression') return { ...after, transfers: new Map(kept) };
  const transfers = new Map<Numeral, FlowTransfer>();
  for (const [id, transfer] of kept) {
    const known = before.transfers.get(id);
    const isNew = id > before.ids.transfer;
    const seenAt = isNew && gap !== 'stale' ? after.at : known?.seenAt;
    const { contract, amount, batch } = transfer;
    const isSame = known?.contract === contract && known.amount === amount && known.batch === batch;
    transfers.set(id, isSame && known.seenAt === seenAt ? known : { contract, amount, batch, seenAt });
  }
  return { ...after, transfers };
}
