import { ageSeconds } from '../clock.js';
import { add, compare, subtract, toDecimalString } from '../chain/decimal.js';
import type { DecimalString, Numeral } from '../chain/numeral.js';
import type { BridgeInput } from '../facts/bridge/input.js';
import { denomByContract } from '../facts/bridge/tokens.js';
import { orElse } from '../facts/required-fields.js';
import { addArrival, type Arrivals } from './arrivals.js';
import {
  baselineOf,
  highestIds,
  liveTransfers,
  MAX_TRANSFERS,
  type Baseline,
  type HighestIds,
} from './bridge-baseline.js';
import {
  changesBetween,
  observedEvents,
  tokenAmounts,
  tokenCounters,
  type BridgeChanges,
  type TokenAmount,
  type TokenCounter,
} from './bridge-changes.js';
import { readFlowDocument, type FlowDocument, type FlowEvent } from './bridge-document.js';
import { addTokens, columnOf, NO_TOKENS, type FlowTokens } from './flow-tokens.js';
import { addGap, noGaps, type FlowOptions, type Gaps } from './gaps.js';
import { EMPTY_HISTOGRAM, observe, withBucket, type Histogram } from './histogram.js';

const gapReasons = ['regression', 'contract', 'list', 'stale', 'inconsistent', 'unseen'] as const;
type GapReason = (typeof gapReasons)[number];

/** What the polls of a bridge have counted since the start of the process, and what the next document is compared with. */
export interface BridgeFlow {
  readonly tokens: FlowTokens;
  /** By token. */
  readonly counts: Readonly<Record<TokenCounter, readonly number[]>>;
  readonly amounts: Readonly<Record<TokenAmount, readonly DecimalString[]>>;
  readonly batchDurations: Histogram;
  readonly transferDurations: Histogram;
  /** The objective for them; one of its buckets ends there. */
  readonly objectiveSeconds: number | undefined;
  readonly gaps: Gaps;
  /** The keys of the batches that were canceled last. */
  readonly canceled: readonly string[];
  readonly baseline: Baseline | undefined;
  /** Whether a later document could not be read, or contradicts the baseline, which is good for times only until the next one. */
  readonly isInterrupted: boolean;
  /** The highest ids so far. A node that is behind, or was rolled back, counts again when it is past them. */
  readonly highest: HighestIds | undefined;
}

export const EMPTY_BRIDGE_FLOW: BridgeFlow = {
  tokens: NO_TOKENS,
  counts: forEach(tokenCounters, () => []),
  amounts: forEach(tokenAmounts, () => []),
  batchDurations: EMPTY_HISTOGRAM,
  transferDurations: EMPTY_HISTOGRAM,
  objectiveSeconds: undefined,
  gaps: noGaps(gapReasons),
  canceled: [],
  baseline: undefined,
  isInterrupted: false,
  highest: undefined,
};

/** The flow after a restart: nothing is counted, and nothing is counted again. */
export function restartedBridge({ highest }: BridgeFlow): BridgeFlow {
  return { ...EMPTY_BRIDGE_FLOW, highest };
}

/** Compares a document with what is remembered of the last one, and returns what to remember from now on. */
export function trackBridge(before: BridgeFlow, input: BridgeInput, options: FlowOptions): BridgeFlow {
  const objectiveMs = input.settings.objective?.withdrawal;
  const objectiveSeconds = objectiveMs === undefined ? undefined : objectiveMs / 1000;
  const transferDurations = withBucket(before.transferDurations, objectiveSeconds);
  return track({ ...before, transferDurations, objectiveSeconds }, input, options);
}

function track(flow: BridgeFlow, input: BridgeInput, { staleAfterMs, maxSeries }: FlowOptions): BridgeFlow {
  const document = readFlowDocument(input);
  const { baseline, isInterrupted } = flow;
  if (document === undefined || (baseline?.bridgeContract !== undefined && document.bridgeContract === undefined)) {
    return baseline === undefined ? flow : interrupted(flow, 'list');
  }
  if (document.isContradictory) return interrupted(flow, 'inconsistent');
  const observed = baseline === undefined ? [] : observedEvents(baseline, document);
  const tokens = addTokens(flow.tokens, contractsOf(document, observed), denomsOf(input), maxSeries);
  const column = columnOf(tokens);
  const gap = baseline && gapBetween(baseline, document, input, staleAfterMs);
  const isBehind = baseline !== undefined && !isPast(baseline.ids, flow.highest);
  const reason = gap ?? (isBehind ? 'regression' : undefined);
  const isComparable = baseline !== undefined && !isInterrupted && reason === undefined;
  const transfers = liveTransfers(document, column);
  const changes = isComparable ? changesBetween(baseline, document, observed, input, column) : undefined;
  // The document is not trusted. If the next one is like it, the earlier one is not to be trusted.
  if ((gap === 'inconsistent' && !isInterrupted) || (isComparable && changes === undefined)) {
    return interrupted(flow, 'inconsistent');
  }
  const earlier = gap === 'contract' || gap === 'regression' ? undefined : baseline;
  // Only between two comparable documents is it known when a transfer appeared.
  const seenAtMs = changes && Math.round(input.at.monotonicMs);
  const arrivals = arrivalsAfter(earlier, document, seenAtMs);
  const { at, height } = input;
  const next: BridgeFlow = {
    ...(changes === undefined ? flow : withChanges(flow, changes)),
    tokens,
    baseline: baselineOf(document, { at, height, transfers, arrivals }),
    isInterrupted: false,
    highest: highestAfter(flow.highest, document, gap),
  };
  if (changes?.hasUnseen === true) return withGap(next, 'unseen');
  // An interruption was counted when it began.
  return reason === undefined || isInterrupted ? next : withGap(next, reason);
}

function arrivalsAfter(
  before: Baseline | undefined,
  { transferId: upTo, ids }: FlowDocument,
  seenAtMs: number | undefined,
): Arrivals {
  if (before === undefined) return [{ upTo }];
  return before.ids.transfer === upTo ? before.arrivals : addArrival(before.arrivals, { upTo, seenAtMs }, ids);
}

function interrupted(flow: BridgeFlow, reason: GapReason): BridgeFlow {
  return flow.isInterrupted ? flow : { ...withGap(flow, reason), isInterrupted: true };
}

/** A list of denoms that cannot be read leaves those that are known. */
function denomsOf(input: BridgeInput): ReadonlyMap<string, string> {
  return orElse(
    () => denomByContract(input),
    () => new Map(),
  );
}

function withGap(flow: BridgeFlow, reason: GapReason): BridgeFlow {
  return { ...flow, gaps: addGap(flow.gaps, reason) };
}

function* contractsOf({ batches, unbatched }: FlowDocument, observed: readonly FlowEvent[]): Iterable<string> {
  for (const { contract, transfers } of batches.values()) {
    yield contract;
    for (const transfer of transfers) yield transfer.contract;
  }
  for (const { contract } of unbatched) yield contract;
  for (const { deposit } of observed) if (deposit !== undefined) yield deposit.contract;
}

/** No hub makes so many of anything between two polls: the document is not of the same chain. */
const MAX_STEP = MAX_TRANSFERS;

/** Why the documents cannot be compared; `undefined` when they can. */
function gapBetween(
  before: Baseline,
  document: FlowDocument,
  { at, height }: BridgeInput,
  staleAfterMs: number,
): GapReason | undefined {
  if (before.bridgeContract !== undefined && before.bridgeContract !== document.bridgeContract) return 'contract';
  const isLowerHeight = height !== undefined && before.height !== undefined && compare(height, before.height) < 0;
  if (isLowerHeight || !isPast(highestIds(document), before.ids)) return 'regression';
  if (ageSeconds(before.at, at) * 1000 > staleAfterMs) return 'stale';
  const steps = idPairs(highestIds(document), before.ids).map(([later, earlier]) => subtract(later, earlier));
  return steps.some((step) => compare(step, MAX_STEP) > 0) ? 'inconsistent' : undefined;
}

/** Whether no id is below the other one. */
function isPast(ids: HighestIds, others: HighestIds | undefined): boolean {
  return others === undefined || idPairs(ids, others).every(([id, other]) => compare(id, other) >= 0);
}

function idPairs(a: HighestIds, b: HighestIds): readonly (readonly [Numeral, Numeral])[] {
  return [
    [a.event, b.event],
    [a.batch, b.batch],
    [a.transfer, b.transfer],
  ];
}

/** What was counted once is not counted again, except on another contract. The ids of a contradictory document are not trusted. */
function highestAfter(
  before: HighestIds | undefined,
  document: FlowDocument,
  reason: GapReason | undefined,
): HighestIds | undefined {
  const ids = highestIds(document);
  if (reason === 'inconsistent') return before;
  if (before === undefined || reason === 'contract') return ids;
  const [event, batch, transfer] = idPairs(ids, before).map(([id, other]) => (compare(id, other) > 0 ? id : other));
  return { event: event ?? ids.event, batch: batch ?? ids.batch, transfer: transfer ?? ids.transfer };
}

const MAX_CANCELED = 1_000;

function withChanges(flow: BridgeFlow, changes: BridgeChanges): BridgeFlow {
  return {
    ...flow,
    canceled: [...flow.canceled, ...changes.canceled].slice(-MAX_CANCELED),
    counts: forEach(tokenCounters, (counter) => {
      const own = changes.counts.filter((change) => change.counter === counter);
      return own.length === 0 ? flow.counts[counter] : addToColumns(flow.counts[counter], own, 0, (a, b) => a + b);
    }),
    amounts: forEach(tokenAmounts, (kind) => {
      const own = changes.amounts.filter((change) => change.kind === kind);
      if (own.length === 0) return flow.amounts[kind];
      return addToColumns(flow.amounts[kind], own, NOTHING, (a, b) => toDecimalString(add(a, b)));
    }),
    batchDurations: observe(flow.batchDurations, changes.batchSeconds),
    transferDurations: observe(flow.transferDurations, changes.transferSeconds),
  };
}

const NOTHING = toDecimalString(0);

function addToColumns<Value, By>(
  values: readonly Value[],
  changes: readonly { readonly token: number; readonly by: By }[],
  nothing: Value,
  plus: (value: Value, by: By) => Value,
): readonly Value[] {
  const length = Math.max(values.length, ...changes.map(({ token }) => token + 1));
  const added = Array.from({ length }, (_none, token) => values[token] ?? nothing);
  for (const { token, by } of changes) added[token] = plus(added[token] ?? nothing, by);
  return added;
}

function forEach<Name extends string, Value>(
  names: readonly Name[],
  valueOf: (name: Name) => Value,
): Readonly<Record<Name, Value>> {
  // Every name has a value.
  return Object.fromEntries(names.map((name) => [name, valueOf(name)])) as Record<Name, Value>;
}
