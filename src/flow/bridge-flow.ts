import { add, subtract, sum, type Numeral } from '../chain/numeral.js';
import type { BridgeInput } from '../facts/bridge/input.js';
import { denomByContract } from '../facts/bridge/tokens.js';
import { OTHER } from '../facts/label-value.js';
import { orElse } from '../facts/required-fields.js';
import { addArrival, type Arrivals } from './arrivals.js';
import { changesBetween, observedBetween, type BridgeChanges, type TokenCounter } from './bridge-changes.js';
import {
  baselineOf,
  MAX_TRANSFERS,
  readFlowDocument,
  type Baseline,
  type FlowDocument,
  type FlowEvent,
  type HighestIds,
} from './bridge-document.js';
import { interrupted, isStale, notCompared, withGap, type ComparisonState, type FlowOptions } from './gaps.js';
import { EMPTY_HISTOGRAM, observe, type Histogram } from './histogram.js';
import { changeTotal, withKeys, type Totals } from './totals.js';

/*
 * The flow of a bridge: each document is compared with the baseline, and becomes the next baseline. In a gap nothing is counted, and a document
 * that contradicts the baseline is skipped once.
 */

const gapReasons = ['regression', 'contract', 'list', 'stale', 'inconsistent', 'unseen'] as const;
type GapReason = (typeof gapReasons)[number];

/** The counts of a token; an absent count is 0. */
export interface TokenTotals {
  readonly denom: string;
  readonly counts: Readonly<Partial<Record<TokenCounter, Numeral>>>;
}

/** The counts since the start of the process, and the memory for the next document. */
export interface BridgeFlow extends ComparisonState<Baseline> {
  /** By the contract of the token. */
  readonly tokens: Totals<TokenTotals>;
  readonly batchDurations: Histogram;
  readonly transferDurations: Histogram;
  /** The highest ids so far. After a rollback, or of a node that is behind, lower ids do not count again. */
  readonly highest: HighestIds | undefined;
}

export const EMPTY_BRIDGE_FLOW: BridgeFlow = {
  tokens: new Map([[OTHER, { denom: OTHER, counts: {} }]]),
  batchDurations: EMPTY_HISTOGRAM,
  transferDurations: EMPTY_HISTOGRAM,
  ...notCompared(gapReasons),
  highest: undefined,
};

/** What continues after a restart: nothing is counted, and nothing is counted again. */
export function restartedBridge({ highest }: BridgeFlow): Pick<BridgeFlow, 'highest'> {
  return { highest };
}

/** The sum of a counter over tokens. */
export function countOf(tokens: Iterable<TokenTotals>, counter: TokenCounter): number {
  return Number(sum(Array.from(tokens, ({ counts }) => counts[counter] ?? 0n)));
}

/**
 * The flow after one more document, which:
 *
 * 1. is read (`readFlowDocument`), or interrupts the comparison,
 * 2. is compared with the baseline, unless that is a gap (`gapBetween`, `changesBetween`),
 * 3. becomes the baseline, with the time at which each new transfer arrived.
 */
export function trackBridge(
  flow: BridgeFlow,
  input: BridgeInput,
  { staleAfterMs, maxSeries }: FlowOptions,
): BridgeFlow {
  const document = readFlowDocument(input);
  const { baseline, isInterrupted } = flow;
  if (document === undefined || (baseline?.bridgeContract !== undefined && document.bridgeContract === undefined)) {
    return baseline === undefined ? flow : interrupted(flow, 'list');
  }
  if (document.isContradictory) return interrupted(flow, 'inconsistent');
  const observed = baseline === undefined ? [] : observedBetween(baseline, document);
  const tokens = withTokens(flow.tokens, contractsOf(document, observed), denomsOf(input), maxSeries);
  const gapToBaseline = baseline && gapBetween(baseline, document, input, staleAfterMs);
  const isBehind = baseline !== undefined && !isPast(baseline.highest, flow.highest);
  const gapReason = gapToBaseline ?? (isBehind ? 'regression' : undefined);
  const isComparable = baseline !== undefined && !isInterrupted && gapReason === undefined;
  const changes = isComparable ? changesBetween(baseline, document, observed, input) : undefined;
  // This document is wrong, or the baseline is: the next document decides.
  if ((gapToBaseline === 'inconsistent' && !isInterrupted) || (isComparable && changes === undefined)) {
    return interrupted(flow, 'inconsistent');
  }
  const earlier = gapToBaseline === 'contract' || gapToBaseline === 'regression' ? undefined : baseline;
  // In a gap, the time at which a transfer appeared is unknown.
  const seenAtMs = changes && Math.round(input.at * 1000);
  const arrivals = arrivalsAfter(earlier, document, seenAtMs);
  const next: BridgeFlow = {
    ...(changes === undefined ? { ...flow, tokens } : withChanges({ ...flow, tokens }, changes)),
    baseline: baselineOf(document, input, arrivals),
    isInterrupted: false,
    highest: highestAfter(flow.highest, document, gapToBaseline),
  };
  if (changes?.hasUnseen === true) return withGap(next, 'unseen');
  // An interruption was counted when it began.
  return gapReason === undefined || isInterrupted ? next : withGap(next, gapReason);
}

function* contractsOf({ batches, unbatched }: FlowDocument, observed: readonly FlowEvent[]): Iterable<string> {
  for (const { contract, totals } of batches.values()) {
    yield contract;
    for (const total of totals) yield total.contract;
  }
  for (const { contract } of unbatched) yield contract;
  for (const { deposit } of observed) if (deposit !== undefined) yield deposit.contract;
}

/** A list of denoms that cannot be read changes no denom. */
function denomsOf(input: BridgeInput): ReadonlyMap<string, string> {
  return orElse(
    () => denomByContract(input),
    () => new Map(),
  );
}

/** Adds new tokens, and missing denoms. */
function withTokens(
  before: Totals<TokenTotals>,
  contracts: Iterable<string>,
  denoms: ReadonlyMap<string, string>,
  maxSeries: number,
): Totals<TokenTotals> {
  const denomOf = (contract: string): string => denoms.get(contract) ?? '';
  const named = new Map(
    Array.from(before, ([id, token]) => [id, token.denom === '' ? { ...token, denom: denomOf(id) } : token]),
  );
  const initial = (contract: string): TokenTotals => ({ denom: denomOf(contract), counts: {} });
  return withKeys(withKeys(named, contracts, initial, maxSeries - 1), denoms.keys(), initial, maxSeries - 1);
}

/** No hub assigns more ids between two polls: the document is of another chain. */
const MAX_STEP = MAX_TRANSFERS;

const idNames = ['event', 'batch', 'transfer'] as const;

/** Why the documents cannot be compared; `undefined` when they can. */
function gapBetween(
  before: Baseline,
  { bridgeContract, highest }: FlowDocument,
  { at, height }: BridgeInput,
  staleAfterMs: number,
): GapReason | undefined {
  if (before.bridgeContract !== undefined && before.bridgeContract !== bridgeContract) return 'contract';
  const isLowerHeight = height !== undefined && before.height !== undefined && height < before.height;
  if (isLowerHeight || !isPast(highest, before.highest)) return 'regression';
  if (isStale(before, at, staleAfterMs)) return 'stale';
  const isTooFar = idNames.some((name) => subtract(highest[name], before.highest[name]) > MAX_STEP);
  return isTooFar ? 'inconsistent' : undefined;
}

/** Whether no id is lower. */
function isPast(ids: HighestIds, limits: HighestIds | undefined): boolean {
  return limits === undefined || idNames.every((name) => ids[name] >= limits[name]);
}

function arrivalsAfter(
  before: Baseline | undefined,
  { highest: { transfer: upTo }, ids }: FlowDocument,
  seenAtMs: number | undefined,
): Arrivals {
  if (before === undefined) return [{ upTo }];
  return before.highest.transfer === upTo ? before.arrivals : addArrival(before.arrivals, { upTo, seenAtMs }, ids);
}

function withChanges(flow: BridgeFlow, changes: BridgeChanges): BridgeFlow {
  const tokens = new Map(flow.tokens);
  for (const { contract, counter, by } of changes.tokens) {
    changeTotal(tokens, contract, ({ denom, counts }) => ({
      denom,
      counts: { ...counts, [counter]: add(counts[counter] ?? 0n, by) },
    }));
  }
  return {
    ...flow,
    tokens,
    batchDurations: observe(flow.batchDurations, changes.batchSeconds),
    transferDurations: observe(flow.transferDurations, changes.transferSeconds),
  };
}

/** Another contract begins anew. The ids of an inconsistent document are not trusted. */
function highestAfter(
  before: HighestIds | undefined,
  { highest: ids }: FlowDocument,
  reason: GapReason | undefined,
): HighestIds | undefined {
  if (reason === 'inconsistent') return before;
  if (before === undefined || reason === 'contract') return ids;
  const higher = (name: keyof HighestIds) => (ids[name] > before[name] ? ids[name] : before[name]);
  return { event: higher('event'), batch: higher('batch'), transfer: higher('transfer') };
}
