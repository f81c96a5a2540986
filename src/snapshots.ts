import { afterPoll, isFresh, unpolled, type EndpointState, type Instant } from './endpoint-state.js';
import type { Outcome } from './collect/collect.js';
import type { DocumentName } from './documents.js';

/** The latest state of every endpoint. Replaced entry by entry, in one assignment, when a poll ends. */
export interface Snapshots {
  readonly record: (key: EndpointKey, outcome: Outcome, at: Instant) => { before: EndpointState; after: EndpointState };
  readonly all: () => readonly EndpointState[];
  /** Changes whenever something that is shown changes: a poll ended, or a success grew too old to be shown. */
  readonly version: (now: Instant) => number;
  readonly isShown: (state: EndpointState, now: Instant) => boolean;
}

export interface EndpointKey {
  readonly target: string;
  readonly endpoint: DocumentName;
}

export function createSnapshots(keys: readonly EndpointKey[], maxBodyBytes: number, staleAfterMs: number): Snapshots {
  const states = new Map(
    keys.map(({ target, endpoint }) => [keyOf({ target, endpoint }), unpolled(target, endpoint, maxBodyBytes)]),
  );
  let version = 0;
  let shown = 0;

  const isShown = (state: EndpointState, now: Instant): boolean => isFresh(state, now, staleAfterMs);

  return {
    record: (key, outcome, at) => {
      const before = states.get(keyOf(key));
      if (before === undefined) throw new Error(`${keyOf(key)} is not an endpoint of the configuration`);
      const after = afterPoll(before, outcome, at);
      states.set(keyOf(key), after);
      version += 1;
      return { before, after };
    },
    all: () => [...states.values()],
    version: (now) => {
      let count = 0;
      for (const state of states.values()) if (isShown(state, now)) count += 1;
      // Between two polls successes can only grow old, so their number tells whether one did.
      if (count !== shown) version += 1;
      shown = count;
      return version;
    },
    isShown,
  };
}

function keyOf({ target, endpoint }: EndpointKey): string {
  return JSON.stringify([target, endpoint]);
}
