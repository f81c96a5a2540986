import { subtract, type Numeral } from '../chain/numeral.js';
import type { Instant } from '../clock.js';
import { HOUR_MS, MINUTE_MS } from '../units.js';
import { memoize } from './memoize.js';

/* The block time of the hub in milliseconds, measured from the heights of the documents of the last hour. */

const MEASURED_MS = HOUR_MS;
const MIN_MEASURED_MS = 10 * MINUTE_MS;
/** Bounds the number of samples in an hour of frequent polls. */
const SAMPLE_SPACING_MS = 30_000;

/** The longest block time of a hub with unknown parameters: if blocks seem to take longer, the hub has halted. */
export const MAX_BLOCK_MS = 10_000;

/** The hub height at a point in time. */
export interface HeightSample {
  /** In milliseconds of the process clock. */
  readonly atMs: number;
  readonly height: Numeral;
}

/** A document of the hub. */
interface HubDocument {
  readonly at: Instant;
  readonly height: Numeral | undefined;
  readonly isNodeBehind?: boolean | undefined;
  readonly past: { readonly heights: readonly HeightSample[] } | undefined;
}

/** Whether the hub height is below the height of the last document: earlier samples do not apply any more. */
function isRolledBack({ height, past }: HubDocument): boolean {
  const last = past?.heights.at(-1);
  return height !== undefined && last !== undefined && height < last.height;
}

/** The heights of the last hour, including this document. */
export const heightSamples = memoize((input: HubDocument): readonly HeightSample[] => {
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
}

/** For up to this long, a cache in front of the node can repeat a height while the hub makes blocks. */
const MAX_REPEATED_MS = 5 * MINUTE_MS;

/** Whether the height has not advanced for longer than a cache would repeat it. */
export function standsStill(input: HubDocument): boolean {
  const first = heightSamples(input).find(({ height }) => height === input.height);
  return first !== undefined && input.at * 1000 - first.atMs > MAX_REPEATED_MS;
}

/** Removes samples that repeat a height, unless it is repeated for so long that the hub or the node has stopped. */
function withoutRepeats(samples: readonly HeightSample[]): readonly HeightSample[] {
  let first: HeightSample | undefined;
  return samples.filter((sample) => {
    if (first?.height === sample.height) return sample.atMs - first.atMs > MAX_REPEATED_MS;
    first = sample;
    return true;
  });
}

/**
 * The intervals between samples in which the hub made blocks. Left out are an interval without a new block; the next
 * one, in which a node that had stopped shows blocks of both; and one in which the hub halted while no node answered.
 */
function measureIntervals(allSamples: readonly HeightSample[], maxBlockMs: number): readonly Interval[] {
  const samples = withoutRepeats(allSamples);
  return samples.slice(1).flatMap((sample, index) => {
    const [earlier, before] = [samples[index - 1], samples[index]];
    if (before === undefined || sample.height <= before.height || earlier?.height === before.height) return [];
    const blocks = Number(subtract(sample.height, before.height));
    const ms = sample.atMs - before.atMs;
    return ms > blocks * maxBlockMs ? [] : [{ ms, blocks }];
  });
}

/** Rounded to microseconds; `undefined` if the intervals add up to less than `minMs`. */
function meanBlockTime(intervals: readonly Interval[], minMs: number): number | undefined {
  const ms = intervals.reduce((total, interval) => total + interval.ms, 0);
  const blocks = intervals.reduce((total, interval) => total + interval.blocks, 0);
  return ms < minMs ? undefined : Math.round((ms * 1000) / blocks) / 1000;
}

/** `undefined` without ten minutes of blocks. The hub has halted where a block seems to take over `maxBlockMs`. */
export function measuredBlockTime(input: HubDocument, maxBlockMs = MAX_BLOCK_MS): number | undefined {
  return meanBlockTime(measureIntervals(heightSamples(input), maxBlockMs), MIN_MEASURED_MS);
}

const MIN_ROUGH_MS = 15_000;

/** The block time over at least 15 seconds up to this document, before ten minutes of blocks are measured. */
export function roughBlockTime(input: HubDocument, maxBlockMs: number): number | undefined {
  const { height, at } = input;
  if (height === undefined) return undefined;
  return meanBlockTime(
    measureIntervals([...heightSamples(input), { height, atMs: at * 1000 }], maxBlockMs),
    MIN_ROUGH_MS,
  );
}
