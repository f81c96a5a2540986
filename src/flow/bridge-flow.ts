import { subtract } from '../chain/numeral.js';
import { validOrUndefined } from '../chain/fields.js';
import type { BridgeInput } from '../facts/bridge/bridge-input.js';
import { goneBatches, type GoneBatch } from '../facts/bridge/executions.js';
import { batchesByToken, denomByContract, PER_TOKEN, tokenContracts, type TokenLabel } from '../facts/bridge/tokens.js';
import { OTHER } from '../facts/plain-values.js';
import { orEmpty, orUndefined, required } from '../facts/required-fields.js';
import { families, labeledCounter, type LabelValues } from '../metrics/family.js';

/*
 * The batches that were executed and canceled between two documents, by token. Which ones is a fact
 * (facts/bridge/executions.ts).
 */

const reasons = ['timeout', 'superseded', 'unknown'] as const;
type Reason = (typeof reasons)[number];

const counters = ['batchesExecuted', 'transfersExecuted', ...reasons] as const;
type Counter = (typeof counters)[number];

interface TokenCounts extends Readonly<Record<Counter, number>> {
  readonly denom: string;
}

const NOTHING = { batchesExecuted: 0, transfersExecuted: 0, timeout: 0, superseded: 0, unknown: 0 } as const;

/** The counts since the first document of the process. */
export interface BridgeFlow {
  /**
   * By contract, in the order of their first documents, and `other` for those above the limit. A token keeps its entry:
   * a counter that moves to another series would count twice.
   */
  readonly tokens: ReadonlyMap<string, TokenCounts>;
  /** The keys of the counted batches: when nodes answer in turn, one that is behind lists such a batch again. */
  readonly counted: ReadonlySet<string>;
}

/** Maximum of these keys; the oldest are forgotten. */
const MAX_COUNTED = 1_000;

export interface FlowOptions {
  /** Nothing is counted between documents that are further apart. */
  readonly staleAfterMs: number;
  readonly maxSeries: number;
}

/** The flow after one more document. The first one of a process counts nothing. */
export function trackBridge(
  before: BridgeFlow | undefined,
  input: BridgeInput,
  { staleAfterMs, maxSeries }: FlowOptions,
): BridgeFlow {
  const counted = before?.counted ?? new Set();
  const at = before && input.past?.live?.at;
  const isComparable = at !== undefined && (input.at - at) * 1000 <= staleAfterMs;
  const gone = isComparable ? orEmpty(() => goneBatches(input)).filter(({ key }) => !counted.has(key)) : [];
  const finished = gone.filter(({ outcome }) => outcome !== 'unknown');
  const tokens = withTokens(before?.tokens ?? new Map(), input, finished, maxSeries);
  for (const batch of finished) {
    const contract = tokens.has(batch.contract) ? batch.contract : OTHER;
    const counts = tokens.get(contract);
    if (counts !== undefined) tokens.set(contract, add(counts, countBatch(batch, finished, input)));
  }
  return { tokens, counted: new Set([...counted, ...finished.map(({ key }) => key)].slice(-MAX_COUNTED)) };
}

/** Adds the tokens of a document until there are `maxTokens` entries, and missing denoms. */
function withTokens(
  before: BridgeFlow['tokens'],
  input: BridgeInput,
  finished: readonly GoneBatch[],
  maxTokens: number,
): Map<string, TokenCounts> {
  const denoms = orUndefined(() => denomByContract(input)) ?? new Map<string, string>();
  const tokens = new Map(
    Array.from(before, ([contract, counts]) => [
      contract,
      { ...counts, denom: counts.denom || (denoms.get(contract) ?? '') },
    ]),
  );
  // Some bridges name hundreds of tokens that are never used, so tokens with batches come first.
  const seen = [
    ...finished.map(({ contract }) => contract),
    ...orEmpty(() => Array.from(batchesByToken(input).keys())),
    ...orEmpty(() => Array.from(tokenContracts(input))),
  ];
  for (const contract of seen) {
    if (tokens.has(contract)) continue;
    if (tokens.size < maxTokens - 1) tokens.set(contract, { ...NOTHING, denom: denoms.get(contract) ?? '' });
    else if (!tokens.has(OTHER)) tokens.set(OTHER, { ...NOTHING, denom: OTHER });
  }
  return tokens;
}

function countBatch(batch: GoneBatch, finished: readonly GoneBatch[], input: BridgeInput): TokenCounts {
  const nothing = { ...NOTHING, denom: '' };
  if (batch.outcome === 'executed') {
    return { ...nothing, batchesExecuted: 1, transfersExecuted: batch.transfers.length };
  }
  return { ...nothing, [cancellation(batch, finished, input)]: 1 };
}

function add(first: TokenCounts, second: TokenCounts): TokenCounts {
  const sums = counters.map((counter) => [counter, first[counter] + second[counter]]);
  // Every counter has a value.
  return { ...first, ...(Object.fromEntries(sums) as Record<Counter, number>) };
}

/**
 * Why a batch was canceled. Votes are counted before batches time out, so after a single event a superseded batch had
 * not timed out before. With more events and both conditions, the order is unknown.
 */
function cancellation(
  { contract, nonce, timeout }: GoneBatch,
  finished: readonly GoneBatch[],
  input: BridgeInput,
): Reason {
  const { state, past } = input;
  const externalHeight = validOrUndefined(state.last_observed_external_height);
  const hasTimedOut = timeout !== undefined && externalHeight !== undefined && timeout < externalHeight;
  const isSuperseded = finished.some(
    (batch) => batch.outcome === 'executed' && batch.contract === contract && batch.nonce > nonce,
  );
  const events = Number(subtract(required(state.last_observed_nonce), past?.live?.lastEvent ?? 0n));
  if (isSuperseded) return hasTimedOut && events > 1 ? 'unknown' : 'superseded';
  return hasTimedOut ? 'timeout' : 'unknown';
}

/**
 * Describes counters by token, with a series for each of `variants`. Tokens above the limit share the series of
 * `other`.
 */
function tokenCounter<Label extends string>(
  help: string,
  labels: readonly Label[],
  variants: readonly (readonly [counter: Counter, labels: LabelValues<Label>])[],
) {
  return labeledCounter<BridgeFlow, TokenLabel | Label>({
    help,
    stability: 'experimental',
    labels: [...PER_TOKEN.labels, ...labels],
    derive: ({ tokens }, maxSeries) => {
      const limit = Math.floor(maxSeries / variants.length);
      const single = Array.from(tokens)
        .filter(([contract]) => contract !== OTHER)
        .slice(0, Math.max(limit - 1, 0));
      const kept = new Set(single.map(([contract]) => contract));
      const rest = Array.from(tokens)
        .filter(([contract]) => !kept.has(contract))
        .map(([, counts]) => counts);
      const other = rest.length === 0 || limit === 0 ? [] : [[OTHER, { ...rest.reduce(add), denom: OTHER }] as const];
      return [...single, ...other].flatMap(([contract, { denom, ...counts }]) =>
        variants.map(([counter, others]) => ({
          labels: { token_contract: contract, denom, ...others },
          value: counts[counter],
        })),
      );
    },
  });
}

export const bridgeFlowFamilies = families<BridgeFlow>({
  bridge_batches_executed_total: tokenCounter(
    'Total number of batches executed on the external chain.',
    [],
    [['batchesExecuted', {}]],
  ),
  bridge_batches_canceled_total: tokenCounter(
    'Total number of batches canceled by the hub, by reason.',
    ['reason'],
    reasons.map((reason) => [reason, { reason }]),
  ),
  bridge_transfers_executed_total: tokenCounter(
    'Total number of outgoing transfers executed on the external chain.',
    [],
    [['transfersExecuted', {}]],
  ),
});
