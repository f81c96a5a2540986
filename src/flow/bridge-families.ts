import { families, histogram, labeledCounter, labelValues, type LabelValues, type Sample } from '../metrics/family.js';
import { PER_TOKEN, type TokenLabel } from '../facts/bridge/tokens.js';
import { OTHER } from '../facts/label-value.js';
import type { TokenCounter } from './bridge-changes.js';
import { countOf, type BridgeFlow } from './bridge-flow.js';
import { histogramSamples } from './histogram.js';
import { splitTotals } from './totals.js';

/** A counter, and the labels of its series besides the labels of the token. */
type LabeledCounter<Label extends string> = readonly [labels: LabelValues<Label>, counter: TokenCounter];

/** The samples of all tokens, at most `maxSeries`. The tokens above the limit share a series with labels `other`, unless it is 0. */
function tokenCounters<Label extends string>(labels: readonly Label[], counters: readonly LabeledCounter<Label>[]) {
  type TokenSample = Sample<TokenLabel | Label>;
  return ({ tokens }: BridgeFlow, maxSeries: number): readonly TokenSample[] => {
    const { single, aggregated } = splitTotals(tokens, Math.floor((maxSeries - 1) / counters.length));
    const samples = counters.flatMap(([counterLabels, name]) =>
      single.map(([contract, totals]): TokenSample => ({
        labels: { token_contract: contract, denom: totals.denom, ...counterLabels },
        value: countOf([totals], name),
      })),
    );
    const aggregate = counters.reduce((sum, [, name]) => sum + countOf(aggregated, name), 0);
    if (aggregate === 0) return samples;
    return [...samples, { labels: labelValues([...PER_TOKEN.labels, ...labels], () => OTHER), value: aggregate }];
  };
}

/** What happened on the bridge between polls. */
export const bridgeFlowFamilies = families<BridgeFlow>({
  bridge_batches_executed_total: labeledCounter({
    help: 'Total number of batches executed on the external chain.',
    stability: 'experimental',
    ...PER_TOKEN,
    derive: tokenCounters([], [[{}, 'batchesExecuted']]),
  }),
  bridge_batches_canceled_total: labeledCounter({
    help: 'Total number of batches canceled, whose transfers return to the queue, by reason.',
    stability: 'experimental',
    // Three reasons.
    labels: [...PER_TOKEN.labels, 'reason'],
    derive: tokenCounters(
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
    ...PER_TOKEN,
    derive: tokenCounters([], [[{}, 'transfersExecuted']]),
  }),
  bridge_transfers_canceled_total: labeledCounter({
    help: 'Total number of outgoing transfers canceled by their senders.',
    stability: 'experimental',
    ...PER_TOKEN,
    derive: tokenCounters([], [[{}, 'transfersCanceled']]),
  }),
  bridge_token_withdrawn_amount_total: labeledCounter({
    help: 'Total amount of executed outgoing transfers, in smallest units of the token.',
    stability: 'experimental',
    ...PER_TOKEN,
    derive: tokenCounters([], [[{}, 'amountExecuted']]),
  }),
  bridge_token_deposited_amount_total: labeledCounter({
    help: 'Total amount of observed deposits whose claim was seen, in smallest units of the token.',
    stability: 'experimental',
    ...PER_TOKEN,
    derive: tokenCounters([], [[{}, 'amountDeposited']]),
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
