import { multiply, subtract, toDecimalString, toSeconds, type Exact } from '../chain/decimal.js';
import type { Field } from '../json/field.js';
import type { Numeral } from '../json/numeral.js';
import { externalBlockTime, hubBlockTime } from '../metrics/bridge/block-times.js';
import type { BridgeInput } from '../metrics/bridge/input.js';
import { required } from '../metrics/required-fields.js';
import { orNull } from './item-list.js';
import type { BlockSpan } from './items.js';

/** Hub blocks from a height to the height of the response. */
export function hubBlocksSince(input: BridgeInput, height: Field<Numeral>): BlockSpan | null {
  return hubSpan(input, () => subtract(required(input.height), required(height)));
}

/** Hub blocks from the height of the response to a later one. */
export function hubBlocksUntil(input: BridgeInput, height: () => Exact): BlockSpan | null {
  return hubSpan(input, () => subtract(height(), required(input.height)));
}

/** External blocks from one external height to another. */
export function externalBlocks(input: BridgeInput, from: () => Exact, to: Field<Numeral>): BlockSpan | null {
  return span(
    () => subtract(required(to), from()),
    () => externalBlockTime(input),
  );
}

function hubSpan(input: BridgeInput, blocks: () => Exact): BlockSpan | null {
  return span(blocks, () => hubBlockTime(input));
}

function span(blocks: () => Exact, blockTime: () => Exact): BlockSpan | null {
  return orNull(() => {
    const count = blocks();
    return {
      blocks: toDecimalString(count),
      seconds: orNull(() => toSeconds(multiply(count, blockTime()))),
    };
  });
}
