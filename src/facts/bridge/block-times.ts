import { subtract, type Numeral } from '../../chain/numeral.js';
import type { Field } from '../../chain/field.js';
import { HOUR_MS, MINUTE_MS } from '../../units.js';
import { memoize } from '../memoize.js';
import { orNull, orUndefined, required } from '../required-fields.js';
import type { BridgeInput } from './bridge-input.js';

/*
 * The block times in use, in milliseconds. The parameters are often wrong: 2 s on Injective, whose blocks take 0.65 s.
 */

const MEASURED_MS = HOUR_MS;
export const MIN_MEASURED_MS = 10 * MINUTE_MS;
const MIN_MEASURED_BLOCKS = 100;
/** Bounds the number of samples in an hour of frequent polls. */
const SAMPLE_SPACING_MS = 30_000;

/** The hub height at a point in time. */
export interface HeightSample {
  /** In milliseconds of the process clock. */
  readonly atMs: number;
  readonly height: Numeral;
}

/** Whether the hub height is below the height of the last document: earlier samples do not apply any more. */
function isRolledBack({ height, past }: BridgeInput): boolean {
  const last = past?.heights.at(-1);
  return height !== undefined && last !== undefined && height < last.height;
}

/** The heights of the last hour, including this document. */
export const heightSamples = memoize((input: BridgeInput): readonly HeightSample[] => {
  const { at, height, past, isNodeBehind } = input;
  const before = isRolledBack(input) ? [] : (past?.heights ?? []);
  // A node that catches up has blocks faster than the hub makes them.
  if (height === undefined || isNodeBehind === true) return before;
  const recent = before.filter(({ atMs }) => at * 1000 - atMs <= MEASURED_MS);
  const last = recent.at(-1);
  if (last !== undefined && at * 1000 - last.atMs < SAMPLE_SPACING_MS) return recent;
  return [...recent, { atMs: at * 1000, height }];
});

interface Interval {
  readonly ms: number;
  readonly blocks: number;
  /** Whether the hub halted before: then the first part of the interval has no blocks. */
  readonly isAfterHalt: boolean;
}

/** A hub whose parameters are unknown, and that takes longer for a block, has halted meanwhile. */
export const MAX_BLOCK_MS = 10_000;
const MAX_PARAMETER_RATIO = 5;

/** A hub that takes longer for a block has halted meanwhile. */
export function maxBlockMs({ state }: Pick<BridgeInput, 'state'>): number {
  const parameter = orUndefined(() => Number(required(required(state.params).average_block_time))) ?? 0;
  return Math.max(MAX_BLOCK_MS, MAX_PARAMETER_RATIO * parameter);
}

/**
 * The times between samples, without those in which the hub halted: it made no block, or far too few, because the node
 * did not answer meanwhile.
 */
function measureIntervals(input: BridgeInput, samples: readonly HeightSample[]): readonly Interval[] {
  const maxMs = maxBlockMs(input);
  return samples.slice(1).flatMap((sample, index) => {
    const [earlier, before] = [samples[index - 1], samples[index]];
    if (before === undefined || sample.height <= before.height) return [];
    const isAfterHalt = earlier !== undefined && before.height === earlier.height;
    const blocks = Number(subtract(sample.height, before.height));
    const ms = sample.atMs - before.atMs;
    return ms > blocks * maxMs ? [] : [{ ms, blocks, isAfterHalt }];
  });
}

/** Rounded to microseconds; `undefined` without enough time and blocks. */
function meanBlockTime(intervals: readonly Interval[], minMs: number, minBlocks: number): number | undefined {
  const ms = intervals.reduce((total, interval) => total + interval.ms, 0);
  const blocks = intervals.reduce((total, interval) => total + interval.blocks, 0);
  if (ms < minMs || blocks < minBlocks) return undefined;
  return Math.round((ms * 1000) / blocks) / 1000;
}

const measuredBlockTime = (input: BridgeInput): number | undefined =>
  meanBlockTime(measureIntervals(input, heightSamples(input)), MIN_MEASURED_MS, MIN_MEASURED_BLOCKS);

export function hubBlockTimeSource(input: BridgeInput): 'configured' | 'measured' | 'parameter' {
  if (input.settings.block_time !== 'auto') return 'configured';
  return measuredBlockTime(input) === undefined ? 'parameter' : 'measured';
}

/** The block time of the hub: configured, else measured, else the parameter. */
export const hubBlockTime = memoize((input: BridgeInput): number => {
  const { block_time: blockTime } = input.settings;
  if (blockTime !== 'auto') return blockTime;
  return measuredBlockTime(input) ?? positive(required(input.state.params).average_block_time);
});

/** A block time of the parameters. One that is not positive is missing. */
function positive(blockTime: Field<Numeral>): number {
  const milliseconds = Number(required(blockTime));
  return required(milliseconds > 0 ? milliseconds : undefined);
}

const MIN_ROUGH_MS = 15_000;

/**
 * The block time for ages: configured, else measured, even over seconds. The parameter, which can be three times too
 * long, is for the first document only.
 */
const blockTimeOfAges = memoize((input: BridgeInput): number => {
  if (hubBlockTimeSource(input) !== 'parameter') return hubBlockTime(input);
  const { height, at } = input;
  if (height === undefined) return hubBlockTime(input);
  const intervals = measureIntervals(input, [...heightSamples(input), { height, atMs: at * 1000 }]);
  return (
    meanBlockTime(
      intervals.filter(({ isAfterHalt }) => !isAfterHalt),
      MIN_ROUGH_MS,
      1,
    ) ?? hubBlockTime(input)
  );
});

/** Seconds of a number of blocks, rounded to microseconds. */
export function estimateDuration(blocks: Numeral, blockTimeMs: number): number {
  return Math.round(Number(blocks) * blockTimeMs * 1000) / 1e6;
}

/** The time of a hub height in Unix seconds; `undefined` if the height or the block time is unknown. */
export function timeOfHeight(input: BridgeInput, height: () => Numeral | undefined): number | undefined {
  return orUndefined(() => {
    const blocks = subtract(required(input.height), required(height()));
    return input.at - estimateDuration(blocks, blockTimeOfAges(input));
  });
}

/** Slots of Ethereum and Sepolia have a fixed length. */
const SLOT_MS: ReadonlyMap<string, number> = new Map([
  ['1', 12_000],
  ['11155111', 12_000],
]);

/** The block time of the external chain: configured, else the slot of the chain, else the parameter. */
export const externalBlockTime = memoize(({ state, settings }: BridgeInput): number => {
  if (settings.external_block_time !== 'auto') return settings.external_block_time;
  const params = required(state.params);
  return SLOT_MS.get(required(params.bridge_chain_id)) ?? positive(params.average_external_block_time);
});

/** A number of blocks, and their duration by the block time in use. Negative when the deadline has passed. */
export interface BlockSpan {
  readonly blocks: string;
  readonly seconds: number | null;
}

/** Signatures and votes take a minute or two. */
export const USUAL_SECONDS = 300;

/** Whether the age is longer than signatures or votes usually take. An unknown age counts as late. */
export function isLate(age: BlockSpan | null, usualSeconds = USUAL_SECONDS): boolean {
  return (age?.seconds ?? usualSeconds) >= usualSeconds;
}

/** Hub blocks from a height to the height of the response. */
export function hubBlocksSince(input: BridgeInput, height: Field<Numeral>): BlockSpan | null {
  return hubSpan(input, () => subtract(required(input.height), required(height)));
}

/** Hub blocks from the height of the response to a later height; `null` also while the node is behind. */
export function hubBlocksUntil(input: BridgeInput, height: () => Numeral): BlockSpan | null {
  return input.isNodeBehind === true ? null : hubSpan(input, () => subtract(height(), required(input.height)));
}

/**
 * External blocks between two external heights; `null` also while the node is behind, unless the external chain was
 * read.
 */
export function externalBlocks(input: BridgeInput, from: () => Numeral, to: Field<Numeral>): BlockSpan | null {
  if (input.isNodeBehind === true && input.externalHeight === undefined) return null;
  return span(
    orNull(() => subtract(required(to), from())),
    orNull(() => externalBlockTime(input)),
  );
}

function hubSpan(input: BridgeInput, blocks: () => Numeral): BlockSpan | null {
  return span(
    orNull(blocks),
    orNull(() => hubBlockTime(input)),
  );
}

function span(blocks: Numeral | null, blockTime: number | null): BlockSpan | null {
  if (blocks === null) return null;
  const seconds = blockTime === null ? null : estimateDuration(blocks, blockTime);
  return { blocks: String(blocks), seconds: Number.isFinite(seconds) ? seconds : null };
}
