import { add, compare, subtract, type Numeral } from '../../chain/numeral.js';
import { isValid } from '../../chain/field.js';
import { MINUTE_MS } from '../../units.js';
import { memoize } from '../memoize.js';
import { orUndefined, required, withdrawWithout } from '../required-fields.js';
import { estimateDuration, externalBlockTime, hubBlockTime, hubBlockTimeSource } from './block-times.js';
import { eventAttestations, heightOfLastObserved } from './events.js';
import type { BridgeInput, SeenEvent } from './bridge-input.js';

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
