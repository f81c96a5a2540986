import { z } from 'zod';
import { toDecimalString } from '../chain/decimal.js';
import type { Batch, Transfer } from '../chain/module-state.js';
import type { BridgeInput } from '../facts/bridge/input.js';
import { memoize } from '../facts/memoize.js';
import { batchedTransfers, idOf, keyOfBatch, unbatchedTransfers } from '../facts/bridge/tokens.js';
import { rows } from '../facts/required-fields.js';

/** What a mark remembers of a batch: its key, and one of its transfers. */
export const knownBatch = z.strictObject({ key: z.string(), transfer: z.string().nullable() });
export type KnownBatch = z.infer<typeof knownBatch>;

const idText = (transfer: Transfer): string => toDecimalString(idOf(transfer));

export function knownBatchOf(batch: Batch): KnownBatch {
  const [first] = rows(batch.transactions);
  return { key: keyOfBatch(batch), transfer: first === undefined ? null : idText(first) };
}

const liveBatches = memoize(({ state }: BridgeInput) => new Set(rows(state.batches).map(keyOfBatch)));
const liveTransfers = memoize(
  (input: BridgeInput) => new Set([...unbatchedTransfers(input), ...batchedTransfers(input)].map(idText)),
);

/** Whether a batch was executed since: the hub deletes its transfers for good, and returns those of a canceled one to the queue. */
export function isExecuted(input: BridgeInput, { key, transfer }: KnownBatch): boolean {
  return !liveBatches(input).has(key) && (transfer === null || !liveTransfers(input).has(transfer));
}
