import { add, compare, floorDivide, lowest, multiply, subtract, type Decimal } from '../../chain/decimal.js';
import type { Batch } from '../../chain/module-state.js';
import { families, gauge } from '../family.js';
import { memoize } from '../memoize.js';
import { required, rows } from '../required-fields.js';
import { heightOfLastObserved } from './events.js';
import type { BridgeInput } from './input.js';

/**
 * The current external height, estimated from the last observed event and the average block times of the parameters. The hub
 * updates its own value only when it observes an event. `undefined` when the last observed event is no longer in the state.
 */
export const estimatedExternalHeight = memoize((input: BridgeInput): Decimal | undefined => {
  const { state, height } = input;
  const params = required(state.params);
  const base = required(state.last_observed_external_height);
  const now = required(height);
  const hubBlock = required(params.average_block_time);
  const externalBlock = required(params.average_external_block_time);
  const observedAt = heightOfLastObserved(input);
  if (observedAt === undefined) return undefined;
  const elapsed = multiply(subtract(now, observedAt), hubBlock);
  return floorDivide(add(multiply(base, externalBlock), elapsed), externalBlock);
});

/** Whether the hub cancels the batch: its timeout is below the last observed external height. */
export function isExpired({ state }: BridgeInput, { batch_timeout }: Batch): boolean {
  return compare(required(batch_timeout), required(state.last_observed_external_height)) < 0;
}

/** Whether the batch has timed out at the estimated external height, but not yet for the hub; `undefined` without the estimate. */
export function isOverdue(input: BridgeInput, batch: Batch): boolean | undefined {
  const estimated = estimatedExternalHeight(input);
  if (estimated === undefined) return undefined;
  return compare(required(batch.batch_timeout), estimated) <= 0 && !isExpired(input, batch);
}

/** Age and timeout of live batches. */
export const batchFamilies = families<BridgeInput>({
  bridge_batch_oldest_height: gauge({
    help: 'Hub height at which the oldest live batch was created; absent when there is none.',
    unit: 'hub height',
    value: ({ state }) => lowest(rows(state.batches).map(({ block }) => required(block))),
  }),
  bridge_batch_next_timeout_height: gauge({
    help: 'Lowest external height at which a live batch times out; absent when there is none.',
    unit: 'external height',
    value: ({ state }) => lowest(rows(state.batches).map(({ batch_timeout }) => required(batch_timeout))),
  }),
  bridge_batches_expired: gauge({
    help: 'Number of batches whose timeout is below the last observed external height, so that the hub cancels them.',
    unit: 'batches',
    value: (input) => {
      // Without the height, expired batches are unknown even if there is no batch.
      required(input.state.last_observed_external_height);
      return rows(input.state.batches).filter((batch) => isExpired(input, batch)).length;
    },
  }),
  bridge_external_height_projected: gauge({
    help: 'Estimated current external height, from the last observed event and the average block times, rounded down.',
    unit: 'external height',
    value: estimatedExternalHeight,
  }),
  bridge_batches_overdue: gauge({
    help: 'Number of batches that have timed out at the estimated external height but are still held by the hub; absent without the estimate.',
    unit: 'batches',
    value: (input) => {
      if (estimatedExternalHeight(input) === undefined) return undefined;
      return rows(input.state.batches).filter((batch) => isOverdue(input, batch)).length;
    },
  }),
});
