import { isFresh, type Instant } from './clock.js';
import { applyPollResult, initialState, type EndpointState } from './endpoint-state.js';
import type { PollResult } from './collect.js';
import type { Config } from '../config/config.js';
import type { DocumentName } from '../documents.js';

/** The latest state of every endpoint. Replaced entry by entry, in one assignment, when a poll ends. */
export interface Snapshots {
  readonly record: (
    key: EndpointKey,
    outcome: PollResult,
    at: Instant,
  ) => { before: EndpointState; after: EndpointState };
  /** Takes over another set of endpoints; the state of those that are marked as kept goes on. */
  readonly replace: (endpoints: readonly Endpoint[], limits: ShownLimits) => void;
  readonly all: () => readonly EndpointState[];
  /** Changes whenever something that is shown changes: a poll ended, or a success grew too old to be shown. */
  readonly version: (now: Instant) => number;
  readonly isShown: (state: EndpointState, now: Instant) => boolean;
}

export interface EndpointKey {
  readonly target: string;
  readonly endpoint: DocumentName;
}

export interface Endpoint extends EndpointKey {
  /** Whether it is asked where it was asked before, so that what is known of it still holds. */
  readonly isKept: boolean;
}

export type ShownLimits = Pick<Config['poll'], 'maxBodyBytes' | 'staleAfterMs'>;

export function createSnapshots(keys: readonly EndpointKey[], limits: ShownLimits): Snapshots {
  let states = statesOf(
    keys.map((key) => ({ ...key, isKept: false })),
    limits,
    new Map(),
  );
  let { staleAfterMs } = limits;
  let version = 0;
  /** When the present version began, and the oldest success shown by it; absent once a poll has ended since. */
  let shown: { readonly since: Instant; readonly oldest: Instant } | undefined;

  const isShown = ({ success }: EndpointState, now: Instant): boolean =>
    success !== undefined && isFresh(success.at, now, staleAfterMs);

  const isUpToDate = (now: Instant): boolean =>
    shown !== undefined &&
    isFresh(shown.oldest, now, staleAfterMs) &&
    // What had grown too old by a clock that is set back may be shown again.
    now.epochSeconds >= shown.since.epochSeconds;

  return {
    record: (key, outcome, at) => {
      const before = states.get(keyOf(key));
      if (before === undefined) throw new Error(`${keyOf(key)} is not an endpoint of the configuration`);
      const after = applyPollResult(before, outcome, at);
      states.set(keyOf(key), after);
      shown = undefined;
      return { before, after };
    },
    replace: (endpoints, newLimits) => {
      states = statesOf(endpoints, newLimits, states);
      ({ staleAfterMs } = newLimits);
      shown = undefined;
    },
    all: () => [...states.values()],
    version: (now) => {
      if (isUpToDate(now)) return version;
      version += 1;
      let oldest: Instant = { epochSeconds: Infinity, monotonicMs: Infinity };
      for (const state of states.values()) {
        if (state.success !== undefined && isShown(state, now)) oldest = earlier(oldest, state.success.at);
      }
      shown = { since: now, oldest };
      return version;
    },
    isShown,
  };
}

/** By either clock, as one of them can be set. */
function earlier(one: Instant, other: Instant): Instant {
  return {
    epochSeconds: Math.min(one.epochSeconds, other.epochSeconds),
    monotonicMs: Math.min(one.monotonicMs, other.monotonicMs),
  };
}

function statesOf(
  endpoints: readonly Endpoint[],
  { maxBodyBytes }: ShownLimits,
  known: ReadonlyMap<string, EndpointState>,
): Map<string, EndpointState> {
  return new Map(
    endpoints.map(({ target, endpoint, isKept }) => {
      const key = keyOf({ target, endpoint });
      const kept = isKept ? known.get(key) : undefined;
      return [key, kept === undefined ? initialState(target, endpoint, maxBodyBytes) : { ...kept, maxBodyBytes }];
    }),
  );
}

function keyOf({ target, endpoint }: EndpointKey): string {
  return JSON.stringify([target, endpoint]);
}
