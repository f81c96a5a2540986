import {
  compare,
  multiply,
  subtract,
  toDecimalString,
  toDouble,
  toSeconds,
  type Decimal,
  type AnyNumber,
} from '../../chain/decimal.js';
import type { Field } from '../../chain/field.js';
import type { DecimalString, Numeral } from '../../chain/numeral.js';
import { HOUR_MS, MINUTE_MS } from '../../units.js';
import { memoize } from '../memoize.js';
import { orNull, orUndefined, required } from '../required-fields.js';
import type { BridgeInput } from './input.js';

/* The block times in use, in milliseconds. Those of the parameters are often wrong: 2 s on Injective, whose blocks take 0.65 s. */

const MEASURED_MS = HOUR_MS;
const MIN_MEASURED_MS = 10 * MINUTE_MS;
const MIN_MEASURED_BLOCKS = 100;
/** Samples are at least this far apart, so that an hour of frequent polls has a bounded number of them. */
const SAMPLE_SPACING_MS = 30_000;

/** The hub height at a point in time, on the monotonic clock. */
export interface HeightSample {
  readonly monotonicMs: number;
  readonly height: Numeral;
}

/** Whether the hub height is below that of earlier documents: what they have shown does not apply any more. */
function isRolledBack({ height, past }: BridgeInput): boolean {
  const last = past?.heights.at(-1);
  return height !== undefined && last !== undefined && compare(height, last.height) < 0;
}

/** The heights of the last hour, with that of this document. */
export const heightSamples = memoize((input: BridgeInput): readonly HeightSample[] => {
  const { at, height, past } = input;
  const before = isRolledBack(input) ? [] : (past?.heights ?? []);
  if (height === undefined) return before;
  const recent = before.filter(({ monotonicMs }) => at.monotonicMs - monotonicMs <= MEASURED_MS);
  const last = recent.at(-1);
  if (last !== undefined && at.monotonicMs - last.monotonicMs < SAMPLE_SPACING_MS) return recent;
  return [...recent, { monotonicMs: at.monotonicMs, height }];
});

interface Interval {
  readonly ms: number;
  readonly blocks: number;
  /** Whether the hub halted before: then the interval begins without blocks. */
  readonly isAfterHalt: boolean;
}

/** The times between samples, without those in which the hub made no block, because it halted. */
function intervalsOf(samples: readonly HeightSample[]): readonly Interval[] {
  return samples.slice(1).flatMap((sample, index) => {
    const [earlier, before] = [samples[index - 1], samples[index]];
    if (before === undefined || compare(sample.height, before.height) <= 0) return [];
    const isAfterHalt = earlier !== undefined && compare(before.height, earlier.height) === 0;
    const blocks = toDouble(subtract(sample.height, before.height));
    return [{ ms: sample.monotonicMs - before.monotonicMs, blocks, isAfterHalt }];
  });
}

/** Rounded to microseconds; `undefined` without enough time and blocks. */
function meanBlockTime(intervals: readonly Interval[], minMs: number, minBlocks: number): Decimal | undefined {
  const ms = intervals.reduce((total, interval) => total + interval.ms, 0);
  const blocks = intervals.reduce((total, interval) => total + interval.blocks, 0);
  if (ms < minMs || blocks < minBlocks) return undefined;
  return { units: BigInt(Math.round((ms * 1000) / blocks)), scale: 3 };
}

const measuredBlockTime = (input: BridgeInput): Decimal | undefined =>
  meanBlockTime(intervalsOf(heightSamples(input)), MIN_MEASURED_MS, MIN_MEASURED_BLOCKS);

/** Where the block time of the hub is from. */
export function hubBlockTimeSource(input: BridgeInput): 'configured' | 'measured' | 'parameter' {
  if (input.settings.block_time !== 'auto') return 'configured';
  return measuredBlockTime(input) === undefined ? 'parameter' : 'measured';
}

/** The block time of the hub: configured, else measured, else the parameter. */
export const hubBlockTime = memoize((input: BridgeInput): AnyNumber => {
  const { block_time: blockTime } = input.settings;
  if (blockTime !== 'auto') return blockTime;
  return measuredBlockTime(input) ?? required(required(input.state.params).average_block_time);
});

const MIN_ROUGH_MS = 15_000;

/**
 * The block time with which the age of a block is estimated: configured, else measured, however shortly. The parameter is for the first
 * document only: it can be three times too long.
 */
const blockTimeOfAges = memoize((input: BridgeInput): AnyNumber => {
  if (hubBlockTimeSource(input) !== 'parameter') return hubBlockTime(input);
  const { height, at } = input;
  if (height === undefined) return hubBlockTime(input);
  const intervals = intervalsOf([...heightSamples(input), { height, monotonicMs: at.monotonicMs }]);
  return (
    meanBlockTime(
      intervals.filter(({ isAfterHalt }) => !isAfterHalt),
      MIN_ROUGH_MS,
      1,
    ) ?? hubBlockTime(input)
  );
});

/** When a hub height was, in Unix seconds; `undefined` if the height or the block time is unknown. */
export function timeOfHeight(input: BridgeInput, height: () => AnyNumber | undefined): number | undefined {
  return orUndefined(() => {
    const blocks = subtract(required(input.height), required(height()));
    return input.at.epochSeconds - toSeconds(multiply(blocks, blockTimeOfAges(input)));
  });
}

/** Ethereum and Sepolia. Their slots have a fixed length. */
const SLOT_MS: ReadonlyMap<string, number> = new Map([
  ['1', 12_000],
  ['11155111', 12_000],
]);

/** The block time of the external chain: configured, else that of a known chain, else the parameter. */
export const externalBlockTime = memoize(({ state, settings }: BridgeInput): AnyNumber => {
  if (settings.external_block_time !== 'auto') return settings.external_block_time;
  const params = required(state.params);
  return SLOT_MS.get(required(params.bridge_chain_id)) ?? required(params.average_external_block_time);
});

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
export function hubBlocksUntil(input: BridgeInput, height: () => AnyNumber): BlockSpan | null {
  return input.isNodeBehind === true ? null : hubSpan(input, () => subtract(height(), required(input.height)));
}

/** External blocks from one external height to another; `null` also while the node is behind, unless the present height was read. */
export function externalBlocks(input: BridgeInput, from: () => AnyNumber, to: Field<Numeral>): BlockSpan | null {
  if (input.isNodeBehind === true && input.externalHeight === undefined) return null;
  return span(
    orNull(() => subtract(required(to), from())),
    orNull(() => externalBlockTime(input)),
  );
}

function hubSpan(input: BridgeInput, blocks: () => AnyNumber): BlockSpan | null {
  return span(
    orNull(blocks),
    orNull(() => hubBlockTime(input)),
  );
}

function span(blocks: AnyNumber | null, blockTime: AnyNumber | null): BlockSpan | null {
  if (blocks === null) return null;
  const seconds = blockTime === null ? null : toSeconds(multiply(blocks, blockTime));
  return { blocks: toDecimalString(blocks), seconds: Number.isFinite(seconds) ? seconds : null };
}
