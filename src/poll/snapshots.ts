import { isFresh, type Instant } from './clock.js';
import { applyPollResult, initialState, type EndpointState } from './endpoint-state.js';
import type { PollResult } from './collect.js';
import type { Config } from '../config/config.js';
import type { DocumentName } from '../documents.js';

/** The latest state of every endpoint. Replaced entry by entry, in one assignment, when a poll ends. */
export interface EndpointStore {
  readonly record: (
    key: EndpointKey,
    outcome: PollResult,
    at: Instant,
  ) => { before: EndpointState; after: EndpointState };
  /** Replaces the set of endpoints after a reload. Endpoints that are marked as kept retain their state. */
  readonly replace: (endpoints: readonly Endpoint[], limits: EndpointLimits) => void;
  readonly all: () => readonly EndpointState[];
  /** Increases with every change of a state. */
  readonly version: () => number;
  readonly hasFreshSnapshot: (state: EndpointState, now: Instant) => boolean;
}

export interface EndpointKey {
  readonly target: string;
  readonly document: DocumentName;
}

export interface Endpoint extends EndpointKey {
  /** Whether the endpoint is still polled at the same URL, so that its state remains valid. */
  readonly isKept: boolean;
}

export type EndpointLimits = Pick<Config['poll'], 'maxBodyBytes' | 'staleAfterMs'>;

export function createEndpointStore(keys: readonly EndpointKey[], limits: EndpointLimits): EndpointStore {
  let states = statesOf(
    keys.map((key) => ({ ...key, isKept: false })),
    limits,
    new Map(),
  );
  let { staleAfterMs } = limits;
  let version = 0;

  return {
    record: (key, outcome, at) => {
      const before = states.get(keyOf(key));
      if (before === undefined) throw new Error(`${keyOf(key)} is not an endpoint of the configuration`);
      const after = applyPollResult(before, outcome, at);
      states.set(keyOf(key), after);
      version += 1;
      return { before, after };
    },
    replace: (endpoints, newLimits) => {
      states = statesOf(endpoints, newLimits, states);
      ({ staleAfterMs } = newLimits);
      version += 1;
    },
    all: () => [...states.values()],
    version: () => version,
    hasFreshSnapshot: ({ success }, now) => success !== undefined && isFresh(success.at, now, staleAfterMs),
  };
}

function statesOf(
  endpoints: readonly Endpoint[],
  { maxBodyBytes }: EndpointLimits,
  known: ReadonlyMap<string, EndpointState>,
): Map<string, EndpointState> {
  return new Map(
    endpoints.map(({ target, document: endpoint, isKept }) => {
      const key = keyOf({ target, document: endpoint });
      const kept = isKept ? known.get(key) : undefined;
      return [key, kept === undefined ? initialState(target, endpoint, maxBodyBytes) : { ...kept, maxBodyBytes }];
    }),
  );
}

function keyOf({ target, document: endpoint }: EndpointKey): string {
  return JSON.stringify([target, endpoint]);
}
