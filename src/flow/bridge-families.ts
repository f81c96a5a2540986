import { labelValues, type LabelValues } from '../metrics/family.js';
import type { TokenCounter } from './bridge-changes.js';
import { countOf, type BridgeFlow } from './bridge-flow.js';
import { cumulativeFamilies, type CumulativeFamily, type SeriesSample } from './cumulative-family.js';
import { countLate, histogramSamples } from './histogram.js';
import { OTHER } from '../metrics/render-families.js';
import { splitTotals } from './totals.js';

type BridgeFamily = Omit<CumulativeFamily<BridgeFlow>, 'name' | 'series'>;

const LABELS = ['token_contract', 'denom'] as const;

/** A counter, and the labels of its series besides those of the token. */
type CountedAs = readonly [labels: LabelValues, counter: TokenCounter];

/**
 * The samples of all tokens. Those above the limit are one series with the sum, whose labels are all `other`; it is there once it has
 * counted. A family has at most `maxSeries` series.
 */
function tokenSamples({ tokens }: BridgeFlow, counters: readonly CountedAs[], maxSeries: number): SeriesSample[] {
  const { single, others } = splitTotals(tokens, Math.floor((maxSeries - 1) / counters.length));
  const samples = counters.flatMap(([labels, counter]) =>
    single.map(([contract, totals]) => ({
      labels: { token_contract: contract, denom: totals.denom, ...labels },
      value: countOf([totals], counter),
    })),
  );
  const ofOthers = counters.reduce((sum, [, counter]) => sum + countOf(others, counter), 0);
  if (ofOthers === 0) return samples;
  const names = [...LABELS, ...Object.keys(counters[0]?.[0] ?? {})];
  return [...samples, { labels: labelValues(names, () => OTHER), value: ofOthers }];
}

/** A counter by token. */
function perToken(counter: TokenCounter, help: string): BridgeFamily {
  return {
    type: 'counter',
    help,
    labels: LABELS,
    derive: (flow, maxSeries) => tokenSamples(flow, [[{}, counter]], maxSeries),
  };
}

const cancellations: readonly CountedAs[] = [
  [{ reason: 'timeout' }, 'batchesTimedOut'],
  [{ reason: 'superseded' }, 'batchesSuperseded'],
  [{ reason: 'unknown' }, 'batchesCanceled'],
];

/** What happened on the bridge between polls. */
export const bridgeFlowFamilies = cumulativeFamilies<BridgeFlow>({
  bridge_batches_executed_total: perToken('batchesExecuted', 'Total number of batches executed on the external chain.'),
  bridge_batches_canceled_total: {
    type: 'counter',
    help: 'Total number of batches canceled, whose transfers return to the queue, by reason.',
    // Three reasons.
    labels: [...LABELS, 'reason'],
    derive: (flow, maxSeries) => tokenSamples(flow, cancellations, maxSeries),
  },
  bridge_transfers_executed_total: perToken(
    'transfersExecuted',
    'Total number of outgoing transfers executed on the external chain.',
  ),
  bridge_transfers_canceled_total: perToken(
    'transfersCanceled',
    'Total number of outgoing transfers canceled by their senders.',
  ),
  bridge_token_withdrawn_amount_total: perToken(
    'amountExecuted',
    'Total amount of executed outgoing transfers, in smallest units of the token.',
  ),
  bridge_token_deposited_amount_total: perToken(
    'amountDeposited',
    'Total amount of observed deposits whose claim was seen, in smallest units of the token.',
  ),
  bridge_transfers_late_total: {
    type: 'counter',
    help: 'Total number of outgoing transfers executed later than the objective; absent without one.',
    stability: 'experimental',
    labels: [],
    derive: ({ transferDurations, objectiveSeconds }) =>
      objectiveSeconds === undefined
        ? []
        : [{ labels: {}, value: countLate(transferDurations, objectiveSeconds).late }],
  },
  bridge_batch_duration_seconds: {
    type: 'histogram',
    help: 'Time from the creation of a batch to its execution, by hub heights and the block time in use.',
    labels: [],
    derive: ({ batchDurations }) => histogramSamples(batchDurations),
  },
  bridge_transfer_duration_seconds: {
    type: 'histogram',
    help: 'Time from the first document with a transfer to its execution.',
    labels: [],
    derive: ({ transferDurations }) => histogramSamples(transferDurations),
  },
});
