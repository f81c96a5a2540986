import { compare, exactSeconds, lowest, multiply, subtract, toSeconds, type Exact } from '../../chain/decimal.js';
import type { Batch } from '../../chain/module-state.js';
import { asDecimalString, type Numeral } from '../../chain/numeral.js';
import { families, gauge, labeledGauge } from '../../metrics/family.js';
import { memoize } from '../memoize.js';
import { orElse, required, rows } from '../required-fields.js';
import { minimumFee, paysFee } from './batches.js';
import { hubBlockTime } from './block-times.js';
import type { BridgeInput } from './input.js';
import { minBatchFees, rememberedBatchNonces, topBatchFeesByToken } from './tokens.js';

/* The objective for withdrawals, and the oldest ones that it applies to: those whose fees pay for a batch. */

/** A token whose unbatched transfers pay for a batch. */
export interface PayingQueue {
  readonly contract: string;
  /** The first remembered document since which they do and no batch of the token was built, in Unix seconds. */
  readonly sinceSeconds: number;
}

/** At most one for each token with a minimum fee. */
const payingQueues = memoize((input: BridgeInput): readonly PayingQueue[] => {
  const { previous, at, tokens } = input;
  const topFees = topBatchFeesByToken(input);
  const [nonces, earlierNonces] = [rememberedBatchNonces(input), previous?.batchNonces];
  return Array.from(minBatchFees(tokens)).flatMap(([contract, minimum]) => {
    const fees = topFees.get(contract);
    if (fees === undefined || compare(fees, minimum) < 0) return [];
    const hasNewBatch = nonces.get(contract) !== earlierNonces?.get(contract);
    const earlier = previous?.payingQueues.find((queue) => queue.contract === contract);
    const sinceSeconds = earlier === undefined || hasNewBatch ? at.epochSeconds : earlier.sinceSeconds;
    return [{ contract, sinceSeconds }];
  });
});

/** The queues to remember; those of earlier documents when this one cannot be read. */
export function rememberedQueues(input: BridgeInput): readonly PayingQueue[] {
  return orElse(
    () => payingQueues(input),
    () => input.previous?.payingQueues ?? [],
  );
}

/** The time of the creation of a batch by the block time in use, in Unix seconds. */
function createdSeconds(input: BridgeInput, block: Numeral): number {
  const age = multiply(subtract(required(input.height), block), hubBlockTime(input));
  return input.at.epochSeconds - toSeconds(age);
}

/** When the oldest of these batches was created, in Unix seconds. */
function oldestBatch(input: BridgeInput, isIncluded: (batch: Batch) => boolean): readonly number[] {
  const block = lowest(
    rows(input.state.batches)
      .filter(isIncluded)
      .map((batch) => required(batch.block)),
  );
  return block === undefined ? [] : [createdSeconds(input, block)];
}

/** Whether the fees of a batch reach the minimum of its token; unlike in batches.ts, `false` without a minimum. */
function paysKnownMinimum(input: BridgeInput, batch: Batch): boolean {
  const minimum = minimumFee(input, batch);
  return minimum !== undefined && paysFee(batch, minimum);
}

function earliest(seconds: readonly number[]): Exact | undefined {
  return seconds.length === 0 ? undefined : exactSeconds(Math.min(...seconds));
}

export const objectiveFamilies = families<BridgeInput>({
  bridge_objective_seconds: gauge({
    help: 'Configured time within which withdrawals have to be executed; absent without an objective.',
    stability: 'experimental',
    value: ({ settings: { objective } }) => objective && toSeconds(objective.withdrawalMs),
  }),
  bridge_objective_ratio: gauge({
    help: 'Configured share of the withdrawals that have to meet the objective; absent without an objective.',
    stability: 'experimental',
    value: ({ settings: { objective } }) => objective && asDecimalString(objective.ratio),
  }),
  bridge_oldest_due_transfer_timestamp_seconds: labeledGauge({
    help: 'Time since which the oldest due transfers wait, in a live batch or in a queue whose fees pay for one, by whether their fees are sufficient or unknown; absent when there are none.',
    stability: 'experimental',
    // Two series per target.
    labels: ['fees'],
    derive: (input) => {
      const queues = payingQueues(input).map(({ sinceSeconds }) => sinceSeconds);
      const paying = oldestBatch(input, (batch) => paysKnownMinimum(input, batch));
      const unknown = oldestBatch(input, (batch) => minimumFee(input, batch) === undefined);
      return [
        { labels: { fees: 'sufficient' }, value: earliest([...paying, ...queues]) },
        { labels: { fees: 'unknown' }, value: earliest(unknown) },
      ];
    },
  }),
});
