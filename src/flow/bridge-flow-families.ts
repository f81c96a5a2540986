import { PER_TOKEN, type TokenLabel } from '../facts/bridge/tokens.js';
import { families, histogram, labeledCounter, type LabelValues } from '../metrics/family.js';
import type { BridgeFlow, TokenCounter } from './bridge-flow.js';
import { addHistograms, histogramSamples, totalSamples } from './totals.js';

/** Counters by token, which differ in the labels besides those of the token. */
function tokenCounters<Label extends string>(
  help: string,
  labels: readonly Label[],
  counters: readonly (readonly [TokenCounter, LabelValues<Label>])[],
) {
  return labeledCounter<BridgeFlow, TokenLabel | Label>({
    help,
    stability: 'experimental',
    labels: [...PER_TOKEN.labels, ...labels],
    derive: ({ tokens }, maxSeries) =>
      totalSamples(tokens, maxSeries, counters.length, (contract, { name, counts }) =>
        counters.map(([counter, others]) => ({
          labels: { token_contract: contract, denom: name, ...others },
          value: counts.get(counter) ?? 0n,
        })),
      ),
  });
}

const tokenCounter = (help: string, counter: TokenCounter) => tokenCounters(help, [], [[counter, {}]]);

/** What happened on the bridge between polls. */
export const bridgeFlowFamilies = families<BridgeFlow>({
  bridge_batches_executed_total: tokenCounter(
    'Total number of batches executed on the external chain.',
    'batchesExecuted',
  ),
  bridge_batches_canceled_total: tokenCounters(
    'Total number of batches canceled, whose transfers return to the queue, by reason.',
    ['reason'],
    [
      ['batchesTimedOut', { reason: 'timeout' }],
      ['batchesSuperseded', { reason: 'superseded' }],
      ['batchesCanceled', { reason: 'unknown' }],
    ],
  ),
  bridge_transfers_executed_total: tokenCounter(
    'Total number of outgoing transfers executed on the external chain.',
    'transfersExecuted',
  ),
  bridge_transfers_canceled_total: tokenCounter(
    'Total number of outgoing transfers canceled by their senders.',
    'transfersCanceled',
  ),
  bridge_token_withdrawn_amount_total: tokenCounter(
    'Total amount of executed outgoing transfers, in smallest units of the token.',
    'amountExecuted',
  ),
  bridge_token_deposited_amount_total: tokenCounter(
    'Total amount of observed deposits whose claim was seen, in smallest units of the token.',
    'amountDeposited',
  ),
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
    derive: ({ tokens }) =>
      histogramSamples(Array.from(tokens.values(), ({ durations }) => durations).reduce(addHistograms), {}),
  }),
});
