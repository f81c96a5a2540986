import { subtract } from '../../chain/numeral.js';
import type { Batch } from '../../chain/module-state.js';
import { memoize } from '../memoize.js';
import { orElse, orEmpty, required, rows } from '../required-fields.js';
import { oldestBlock, paysMinimum } from './batches.js';
import { durationOf, hubBlockTime } from './block-times.js';
import type { BridgeInput } from './input.js';
import { minBatchFees, rememberedBatchNonces, topBatchFeesByToken } from './tokens.js';

/* The oldest withdrawals to which the objective applies: withdrawals whose fees pay for a batch. */

/** A token whose unbatched transfers pay for a batch. */
export interface PayingQueue {
  readonly contract: string;
  /** The first document since which the fees pay and no batch of the token was built, in Unix seconds. */
  readonly sinceSeconds: number;
}

/** The queues whose fees pay for a batch: at most one for each token with a minimum fee. */
const payingQueues = memoize((input: BridgeInput): readonly PayingQueue[] => {
  const { past, at, tokens } = input;
  const topFees = topBatchFeesByToken(input);
  const [nonces, earlierNonces] = [rememberedBatchNonces(input), past?.batchNonces];
  return Array.from(minBatchFees(tokens)).flatMap(([contract, minimum]) => {
    const fees = topFees.get(contract);
    if (fees === undefined || fees < minimum) return [];
    const hasNewBatch = nonces.get(contract) !== earlierNonces?.get(contract);
    const earlier = past?.payingQueues.find((queue) => queue.contract === contract);
    const sinceSeconds = earlier === undefined || hasNewBatch ? at : earlier.sinceSeconds;
    return [{ contract, sinceSeconds }];
  });
});

/** The queues to remember: of the last document that could be read. */
export function rememberedQueues(input: BridgeInput): readonly PayingQueue[] {
  return orElse(
    () => payingQueues(input),
    () => input.past?.payingQueues ?? [],
  );
}

/** When the oldest of the batches was created, by the block time in use, in Unix seconds. */
function oldestCreation(input: BridgeInput, batches: readonly Batch[]): readonly number[] {
  const block = oldestBlock(batches);
  if (block === undefined) return [];
  return [input.at - durationOf(subtract(required(input.height), block), hubBlockTime(input))];
}

/** Rounded to milliseconds. */
function earliest(seconds: readonly number[]): number | undefined {
  return seconds.length === 0 ? undefined : Math.round(Math.min(...seconds) * 1000) / 1000;
}

/** Since when the oldest withdrawals wait, with sufficient and with unknown fees, in Unix seconds. */
export const oldestDueTransfers = memoize((input: BridgeInput) => {
  const queues = payingQueues(input).map(({ sinceSeconds }) => sinceSeconds);
  const batches = rows(input.state.batches);
  const paying = batches.filter((batch) => paysMinimum(input, batch) === true);
  const unknown = batches.filter((batch) => paysMinimum(input, batch) === undefined);
  return {
    sufficient: earliest([...oldestCreation(input, paying), ...queues]),
    unknown: earliest(oldestCreation(input, unknown)),
  };
});

/** Since when the oldest withdrawal is due, in Unix seconds; `undefined` without due withdrawals, and when they are unknown. */
export function oldestDueSeconds(input: BridgeInput): number | undefined {
  const oldest = orEmpty(() => Object.values(oldestDueTransfers(input))).filter((seconds) => seconds !== undefined);
  return earliest(oldest);
}
