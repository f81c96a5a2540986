import { multiply, subtract, toSeconds, type Exact } from '../chain/decimal.js';
import type { Batch } from '../chain/module-state.js';
import { blockTimeOfAges, externalBlockTime } from '../facts/bridge/block-times.js';
import { estimatedExternalHeight } from '../facts/bridge/batches.js';
import type { BridgeInput } from '../facts/bridge/input.js';
import { orUndefined, required } from '../facts/required-fields.js';
import { duration } from '../text/format.js';

/* Times of heights, by the block times in use, in Unix seconds. `undefined` when one of them is unknown. */

export function timeOfHeight(input: BridgeInput, height: () => Exact | undefined): number | undefined {
  return orUndefined(() => {
    const blocks = subtract(required(input.height), required(height()));
    return input.at.epochSeconds - toSeconds(multiply(blocks, blockTimeOfAges(input)));
  });
}

/** Seconds from now to an external height; `undefined` also while the node is behind, unless the present height was read. */
export function secondsToExternalHeight(input: BridgeInput, height: () => Exact | undefined): number | undefined {
  if (input.isNodeBehind === true && input.externalHeight === undefined) return undefined;
  return orUndefined(() => {
    const blocks = subtract(required(height()), required(estimatedExternalHeight(input)));
    return toSeconds(multiply(blocks, externalBlockTime(input)));
  });
}

/** "it times out in about 2 h 5 min"; empty without an estimate, and when it has timed out. */
export function timeoutText(input: BridgeInput, batch: Batch | undefined): string {
  const seconds = secondsToExternalHeight(input, () => required(batch?.batch_timeout));
  return seconds === undefined || seconds <= 0 ? '' : `it times out in ${about(input, seconds)}`;
}

export const DAY_SECONDS = 86_400;

/** "about 2 h 5 min, at 04:12 UTC"; without the time from a day on. */
export function about(input: BridgeInput, seconds: number): string {
  return `about ${duration(seconds)}${seconds < DAY_SECONDS ? `, at ${clockTime(input, seconds)}` : ''}`;
}

/** "04:12 UTC", some seconds from now, less than a day. */
export function clockTime(input: BridgeInput, seconds: number): string {
  return `${new Date((input.at.epochSeconds + seconds) * 1000).toISOString().slice(11, 16)} UTC`;
}

/** The lowest of some times. */
export function earliest(times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

/** The highest; `undefined` if one of them is unknown. */
export function latest(times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 || known.length < times.length ? undefined : Math.max(...known);
}
