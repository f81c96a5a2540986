import { toDouble } from '../chain/decimal.js';
import type { TokenAmount, TokenCounter } from './bridge-changes.js';
import type { BridgeFlow } from './bridge-flow.js';
import { cumulativeFamilies, type CumulativeFamily, type SeriesSample } from './cumulative-family.js';
import { tokenSamples } from './flow-tokens.js';
import { countLate, histogramSamples } from './histogram.js';

type BridgeFamily = Omit<CumulativeFamily<BridgeFlow>, 'name' | 'series'>;

const LABELS = ['token_contract', 'denom'] as const;

/** A counter by token. Tokens above the limit share a series. */
function perToken(counter: TokenCounter, help: string): BridgeFamily {
  const derive = ({ tokens, counts }: BridgeFlow, maxSeries: number): readonly SeriesSample[] =>
    tokenSamples(tokens, [{ labels: {}, valueOf: (column) => counts[counter][column] ?? 0 }], maxSeries);
  return { type: 'counter', help, labels: LABELS, derive };
}

function amountPerToken(kind: TokenAmount, help: string): BridgeFamily {
  const derive = ({ tokens, amounts }: BridgeFlow, maxSeries: number): readonly SeriesSample[] =>
    tokenSamples(tokens, [{ labels: {}, valueOf: (column) => toDouble(amounts[kind][column] ?? 0) }], maxSeries);
  return { type: 'counter', help, labels: LABELS, derive };
}

const cancellations: readonly (readonly [reason: string, counter: TokenCounter])[] = [
  ['timeout', 'batchesTimedOut'],
  ['superseded', 'batchesSuperseded'],
  ['unknown', 'batchesCanceled'],
];

/** What happened on the bridge between polls. */
export const bridgeFlowFamilies = cumulativeFamilies<BridgeFlow>({
  bridge_batches_executed_total: perToken('batchesExecuted', 'Total number of batches executed on the external chain.'),
  bridge_batches_canceled_total: {
    type: 'counter',
    help: 'Total number of batches canceled, whose transfers return to the queue, by reason.',
    // Three reasons.
    labels: [...LABELS, 'reason'],
    derive: ({ tokens, counts }, maxSeries) =>
      tokenSamples(
        tokens,
        cancellations.map(([reason, counter]) => ({
          labels: { reason },
          valueOf: (column) => counts[counter][column] ?? 0,
        })),
        maxSeries,
      ),
  },
  bridge_transfers_executed_total: perToken(
    'transfersExecuted',
    'Total number of outgoing transfers executed on the external chain.',
  ),
  bridge_transfers_canceled_total: perToken(
    'transfersCanceled',
    'Total number of outgoing transfers canceled by their senders.',
  ),
  bridge_token_withdrawn_amount_total: amountPerToken(
    'withdrawn',
    'Total amount of executed outgoing transfers, in smallest units of the token.',
  ),
  bridge_token_deposited_amount_total: amountPerToken(
    'deposited',
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
