import { add, compare, subtract, type Numeral } from '../../chain/numeral.js';
import { isValid, validOrUndefined, type Field } from '../../chain/fields.js';
import type { Instant } from '../../clock.js';
import { MINUTE_MS } from '../../units.js';
import { MAX_BLOCK_MS, measuredBlockTime, roughBlockTime } from '../hub-blocks.js';
import { memoize } from '../memoize.js';
import { orNull, orUndefined, required, withdrawWithout } from '../required-fields.js';
import type { BridgeInput, SeenEvent } from './bridge-input.js';
import { eventAttestations, heightOfLastObserved } from './events.js';

/*
 * The block times in use, in milliseconds. The parameters are often wrong: 2 s on Injective, whose blocks take 0.63 s.
 */

const MAX_PARAMETER_RATIO = 5;

/** The longest plausible block time of the hub: if blocks seem to take longer, the hub has halted. */
function maxBlockMs({ state }: BridgeInput): number {
  const parameter = orUndefined(() => Number(required(required(state.params).average_block_time))) ?? 0;
  return Math.max(MAX_BLOCK_MS, MAX_PARAMETER_RATIO * parameter);
}

/** `undefined` until it is measured. */
export const measuredHubBlockTime = (input: BridgeInput): number | undefined =>
  measuredBlockTime(input, maxBlockMs(input));

export function hubBlockTimeSource(input: BridgeInput): 'configured' | 'measured' | 'parameter' {
  if (input.settings.block_time !== 'auto') return 'configured';
  return measuredHubBlockTime(input) === undefined ? 'parameter' : 'measured';
}

/** The block time of the hub: configured, else measured, else the parameter. */
export const hubBlockTime = memoize((input: BridgeInput): number => {
  const { block_time: blockTime } = input.settings;
  if (blockTime !== 'auto') return blockTime;
  return measuredHubBlockTime(input) ?? positive(required(input.state.params).average_block_time);
});

/** A block time of the parameters. If it is not positive, it counts as missing. */
function positive(blockTime: Field<Numeral>): number {
  const milliseconds = Number(required(blockTime));
  return required(milliseconds > 0 ? milliseconds : undefined);
}

/** Block times in milliseconds of hubs whose `average_block_time` is wrong, by bridge id and external chain. */
const KNOWN_BLOCK_MS: ReadonlyMap<string, number> = new Map([['injective-peggyid 1', 630]]);

/**
 * The block time for ages and deadlines: configured, else measured, even over 15 seconds only. With a single document,
 * as in `once`, nothing is measured: then the built-in block time of a known hub, else the parameter.
 */
export const blockTimeOfAges = memoize((input: BridgeInput): number => {
  if (hubBlockTimeSource(input) !== 'parameter') return hubBlockTime(input);
  const { bridge_id: bridge, bridge_chain_id: chain } = validOrUndefined(input.state.params) ?? {};
  const known = KNOWN_BLOCK_MS.get(`${String(bridge)} ${String(chain)}`);
  return roughBlockTime(input, maxBlockMs(input)) ?? known ?? hubBlockTime(input);
});

/** Seconds of a number of blocks, rounded to microseconds. */
export function estimateDuration(blocks: Numeral, blockTimeMs: number): number {
  return Math.round(Number(blocks) * blockTimeMs * 1000) / 1e6;
}

/** The time of a hub height; `undefined` if the height or the block time is unknown. */
export function timeOfHeight(input: BridgeInput, height: () => Numeral | undefined): Instant | undefined {
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
const USUAL_SECONDS = 300;

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
    orNull(() => blockTimeOfAges(input)),
  );
}

function span(blocks: Numeral | null, blockTime: number | null): BlockSpan | null {
  if (blocks === null) return null;
  const seconds = blockTime === null ? null : estimateDuration(blocks, blockTime);
  return { blocks: String(blocks), seconds: Number.isFinite(seconds) ? seconds : null };
}

/* The current height of the external chain, which the hub knows only as of the last observed event. */

/** After a longer interval between two documents, the time of an event between them is too uncertain. */
const MAX_GAP_MS = 5 * MINUTE_MS;

export function lastEventSeen({ state, at, past, isNodeBehind }: BridgeInput): SeenEvent | undefined {
  const nonce = state.last_observed_nonce;
  const before = past?.lastEvent;
  if (!isValid(nonce)) return before;
  const readAtMs = at * 1000;
  if (before === undefined) return { nonce, readAtMs, observedAtMs: undefined };
  const order = compare(nonce, before.nonce);
  if (order === 0) return { ...before, readAtMs };
  // A node that is behind shows an observed event too late to date it.
  const isSeen = isNodeBehind !== true && order > 0 && readAtMs - before.readAtMs <= MAX_GAP_MS;
  return { nonce, readAtMs, observedAtMs: isSeen ? readAtMs : undefined };
}

/** Lower bound of the seconds since the last event on the external chain; `undefined` when its time is unknown. */
function secondsSinceLastEvent(input: BridgeInput): number | undefined {
  // Withdrawn unless the nonce of every event is readable.
  eventAttestations(input);
  withdrawWithout(input.state.last_observed_nonce);
  const seenAtMs = lastEventSeen(input)?.observedAtMs;
  const sinceSeen = seenAtMs === undefined ? undefined : Math.round(input.at * 1000 - seenAtMs) / 1000;
  // With the block time of the parameters, which can be three times too long, the first vote would be too old.
  if (sinceSeen !== undefined && hubBlockTimeSource(input) === 'parameter') return sinceSeen;
  const votedAt = heightOfLastObserved(input);
  if (votedAt === undefined) return sinceSeen;
  // The first vote is nearer to the event: after a stall of the oracle, the event is observed hours later.
  return Math.max(
    sinceSeen ?? -Infinity,
    estimateDuration(subtract(required(input.height), votedAt), hubBlockTime(input)),
  );
}

/**
 * The current external height: read on the external chain, else estimated from the last observed event and the block
 * times in use, because the height in the module state changes only when an event is observed. `undefined` when the
 * time of that event is unknown.
 */
export const estimatedExternalHeight = memoize((input: BridgeInput): Numeral | undefined => {
  if (input.externalHeight !== undefined) return input.externalHeight;
  const base = required(input.state.last_observed_external_height);
  const blockTime = externalBlockTime(input);
  const elapsed = secondsSinceLastEvent(input);
  return elapsed === undefined ? undefined : add(base, Math.floor((elapsed * 1000) / blockTime));
});

/**
 * Whether the current external height is known well enough for an alert: read, or estimated since an event that was
 * seen, or with a block time that is not only the parameter of the chain, which can be three times too long.
 */
export function isExternalHeightReliable(input: BridgeInput): boolean {
  const isSeen = lastEventSeen(input)?.observedAtMs !== undefined;
  return input.externalHeight !== undefined || isSeen || hubBlockTimeSource(input) !== 'parameter';
}

/**
 * The current external height by which timeouts are judged; `undefined` until it is reliable. With the only document of
 * `once`, the estimate is used even if it is not reliable.
 */
export const judgedExternalHeight = memoize((input: BridgeInput): Numeral | undefined =>
  input.isSinglePoll === true || isExternalHeightReliable(input) ? estimatedExternalHeight(input) : undefined,
);

/**
 * Seconds from now to an external height; `undefined` if unknown, as without a reading of the external chain while the
 * node is behind: then the observed height is old.
 */
export function secondsToExternalHeight(input: BridgeInput, height: () => Numeral | undefined): number | undefined {
  if (input.isNodeBehind === true && input.externalHeight === undefined) return undefined;
  return orUndefined(() => {
    const blocks = subtract(required(height()), required(judgedExternalHeight(input)));
    return estimateDuration(blocks, externalBlockTime(input));
  });
}
