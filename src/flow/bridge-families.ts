import {
  counter,
  families,
  histogram,
  labeledCounter,
  labelValues,
  type LabelValues,
  type Sample,
} from '../metrics/family.js';
import { OTHER } from '../metrics/render-families.js';
import type { TokenCounter } from './bridge-changes.js';
import { countOf, type BridgeFlow } from './bridge-flow.js';
import { countLate, histogramSamples } from './histogram.js';
import { splitTotals } from './totals.js';

const PER_TOKEN = ['token_contract', 'denom'] as const;

/** A counter, and the labels of its series besides those of the token. */
type CountedAs<Label extends string> = readonly [labels: LabelValues<Label>, counter: TokenCounter];

/**
 * The samples of all tokens. Those above the limit are one series with the sum, whose labels are all `other`; it is there once it has
 * counted. A family has at most `maxSeries` series.
 */
function perToken<Label extends string>(labels: readonly Label[], counters: readonly CountedAs<Label>[]) {
  type TokenSample = Sample<(typeof PER_TOKEN)[number] | Label>;
  return ({ tokens }: BridgeFlow, maxSeries: number): readonly TokenSample[] => {
    const { single, others } = splitTotals(tokens, Math.floor((maxSeries - 1) / counters.length));
    const samples = counters.flatMap(([own, name]) =>
      single.map(([contract, totals]): TokenSample => ({
        labels: { token_contract: contract, denom: totals.denom, ...own },
        value: countOf([totals], name),
      })),
    );
    const ofOthers = counters.reduce((sum, [, name]) => sum + countOf(others, name), 0);
    if (ofOthers === 0) return samples;
    return [...samples, { labels: labelValues([...PER_TOKEN, ...labels], () => OTHER), value: ofOthers }];
  };
}

/** What happened on the bridge between polls. */
export const bridgeFlowFamilies = families<BridgeFlow>({
  bridge_batches_executed_total: labeledCounter({
    help: 'Total number of batches executed on the external chain.',
    stability: 'experimental',
    labels: PER_TOKEN,
    derive: perToken([], [[{}, 'batchesExecuted']]),
  }),
  bridge_batches_canceled_total: labeledCounter({
    help: 'Total number of batches canceled, whose transfers return to the queue, by reason.',
    stability: 'experimental',
    // Three reasons.
    labels: [...PER_TOKEN, 'reason'],
    derive: perToken(
      ['reason'],
      [
        [{ reason: 'timeout' }, 'batchesTimedOut'],
        [{ reason: 'superseded' }, 'batchesSuperseded'],
        [{ reason: 'unknown' }, 'batchesCanceled'],
      ],
    ),
  }),
  bridge_transfers_executed_total: labeledCounter({
    help: 'Total number of outgoing transfers executed on the external chain.',
    stability: 'experimental',
    labels: PER_TOKEN,
    derive: perToken([], [[{}, 'transfersExecuted']]),
  }),
  bridge_transfers_canceled_total: labeledCounter({
    help: 'Total number of outgoing transfers canceled by their senders.',
    stability: 'experimental',
    labels: PER_TOKEN,
    derive: perToken([], [[{}, 'transfersCanceled']]),
  }),
  bridge_token_withdrawn_amount_total: labeledCounter({
    help: 'Total amount of executed outgoing transfers, in smallest units of the token.',
    stability: 'experimental',
    labels: PER_TOKEN,
    derive: perToken([], [[{}, 'amountExecuted']]),
  }),
  bridge_token_deposited_amount_total: labeledCounter({
    help: 'Total amount of observed deposits whose claim was seen, in smallest units of the token.',
    stability: 'experimental',
    labels: PER_TOKEN,
    derive: perToken([], [[{}, 'amountDeposited']]),
  }),
  bridge_transfers_late_total: counter({
    help: 'Total number of outgoing transfers executed later than the objective; absent without one.',
    stability: 'experimental',
    value: ({ transferDurations, objectiveSeconds }) =>
      objectiveSeconds === undefined ? undefined : countLate(transferDurations, objectiveSeconds).late,
  }),
  bridge_batch_duration_seconds: histogram({
    help: 'Time from the creation of a batch to its execution, by hub heights and the block time in use.',
    stability: 'experimental',
    labels: [],
    derive: ({ batchDurations }) => histogramSamples(batchDurations, {}),
  }),
  bridge_transfer_duration_seconds: histogram({
    help: 'Time from the first document with a transfer to its execution.',
    stability: 'experimental',
    labels: [],
    derive: ({ transferDurations }) => histogramSamples(transferDurations, {}),
  }),
});
