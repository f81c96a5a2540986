import {
  add,
  compare,
  decimal,
  decimalToDouble,
  floorDivide,
  lowest,
  multiply,
  subtract,
  type Decimal,
} from '../../chain/decimal.js';
import type { Batch } from '../../chain/module-state.js';
import { gauge } from '../family.js';
import { memoize } from '../memoize.js';
import { required, rows } from '../required-fields.js';
import { heightOfLastObserved } from './events.js';
import type { BridgeFamily, BridgeInput } from './input.js';

/**
 * The current external height, estimated from the last observed event and the average block times of the parameters. The hub
 * updates its own value only when it observes an event. `undefined` when the last observed event is no longer in the state.
 */
export const estimatedExternalHeight = memoize((input: BridgeInput): Decimal | undefined => {
  const { state, height } = input;
  const params = required(state.params);
  const base = decimal(required(state.last_observed_external_height));
  const now = decimal(required(height));
  const hubBlock = decimal(required(params.average_block_time));
  const externalBlock = decimal(required(params.average_external_block_time));
  const observedAt = heightOfLastObserved(input);
  if (observedAt === undefined) return undefined;
  const elapsed = multiply(subtract(now, decimal(observedAt)), hubBlock);
  return floorDivide(add(multiply(base, externalBlock), elapsed), externalBlock);
});

/** Whether the hub cancels the batch: its timeout is below the last observed external height. */
export function isExpired({ state }: BridgeInput, { batch_timeout }: Batch): boolean {
  return compare(decimal(required(batch_timeout)), decimal(required(state.last_observed_external_height))) < 0;
}

/** Whether the batch has timed out at the estimated external height, but not yet for the hub; `undefined` without the estimate. */
export function isOverdue(input: BridgeInput, batch: Batch): boolean | undefined {
  const estimated = estimatedExternalHeight(input);
  if (estimated === undefined) return undefined;
  return compare(decimal(required(batch.batch_timeout)), estimated) <= 0 && !isExpired(input, batch);
}

/** Age and timeout of live batches. */
export const batchFamilies: readonly BridgeFamily[] = [
  gauge({
    name: 'bridge_batch_oldest_height',
    help: 'Hub height at which the oldest live batch was created; absent when there is none.',
    unit: 'hub height',
    value: ({ state }) => {
      const oldest = lowest(rows(state.batches).map(({ block }) => decimal(required(block))));
      return oldest && decimalToDouble(oldest);
    },
  }),
  gauge({
    name: 'bridge_batch_next_timeout_height',
    help: 'Lowest external height at which a live batch times out; absent when there is none.',
    unit: 'external height',
    value: ({ state }) => {
      const next = lowest(rows(state.batches).map(({ batch_timeout }) => decimal(required(batch_timeout))));
      return next && decimalToDouble(next);
    },
  }),
  gauge({
    name: 'bridge_batches_expired',
    help: 'Number of batches whose timeout is below the last observed external height, so that the hub cancels them.',
    unit: 'batches',
    value: (input) => {
      // Without the height, expired batches are unknown even if there is no batch.
      required(input.state.last_observed_external_height);
      return rows(input.state.batches).filter((batch) => isExpired(input, batch)).length;
    },
  }),
  gauge({
    name: 'bridge_external_height_projected',
    help: 'Estimated current external height, from the last observed event and the average block times, rounded down.',
    unit: 'external height',
    value: (input) => {
      const estimated = estimatedExternalHeight(input);
      return estimated && decimalToDouble(estimated);
    },
  }),
  gauge({
    name: 'bridge_batches_overdue',
    help: 'Number of batches that have timed out at the estimated external height but are still held by the hub; absent without the estimate.',
    unit: 'batches',
    value: (input) => {
      if (estimatedExternalHeight(input) === undefined) return undefined;
      return rows(input.state.batches).filter((batch) => isOverdue(input, batch)).length;
    },
  }),
];
