import { multiply, subtract, toDecimalString, toSeconds, type Exact } from '../../chain/decimal.js';
import type { Field } from '../../chain/field.js';
import type { DecimalString, Numeral } from '../../chain/numeral.js';
import { externalBlockTime, hubBlockTime } from '../bridge/block-times.js';
import type { BridgeInput } from '../bridge/input.js';
import { orNull, required } from '../required-fields.js';

/** A number of blocks and their approximate duration by the average block times. Negative when the deadline has passed. */
export interface BlockSpan {
  readonly blocks: DecimalString;
  readonly seconds: number | null;
}

/** Signatures and votes take a minute or two. */
export const USUAL_SECONDS = 300;

/** Whether something has waited longer for signatures or votes than usual. An item of unknown age may have. */
export function isLate(age: BlockSpan | null, usualSeconds = USUAL_SECONDS): boolean {
  return (age?.seconds ?? usualSeconds) >= usualSeconds;
}

/** Hub blocks from a height to the height of the response. */
export function hubBlocksSince(input: BridgeInput, height: Field<Numeral>): BlockSpan | null {
  return hubSpan(input, () => subtract(required(input.height), required(height)));
}

/** Hub blocks from the height of the response to a later one; `null` also while the node is behind. */
export function hubBlocksUntil(input: BridgeInput, height: () => Exact): BlockSpan | null {
  return input.isNodeBehind === true ? null : hubSpan(input, () => subtract(height(), required(input.height)));
}

/** External blocks from one external height to another; `null` also while the node is behind, unless the present height was read. */
export function externalBlocks(input: BridgeInput, from: () => Exact, to: Field<Numeral>): BlockSpan | null {
  if (input.isNodeBehind === true && input.externalHeight === undefined) return null;
  return span(
    orNull(() => subtract(required(to), from())),
    orNull(() => externalBlockTime(input)),
  );
}

function hubSpan(input: BridgeInput, blocks: () => Exact): BlockSpan | null {
  return span(
    orNull(blocks),
    orNull(() => hubBlockTime(input)),
  );
}

function span(blocks: Exact | null, blockTime: Exact | null): BlockSpan | null {
  if (blocks === null) return null;
  const seconds = blockTime === null ? null : toSeconds(multiply(blocks, blockTime));
  return { blocks: toDecimalString(blocks), seconds: Number.isFinite(seconds) ? seconds : null };
}
