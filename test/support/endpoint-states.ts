import { initialState, stateAfter, type EndpointKey, type EndpointLimits } from '../../src/poll/endpoint-state.js';
import type { EndpointState } from '../../src/poll/endpoint-state.js';
import type { Instant } from '../../src/clock.js';
import type { PollResult } from '../../src/poll/poll.js';

/** The states of endpoints whose polls a test records. */
export interface RecordedStates {
  readonly record: (
    key: EndpointKey,
    result: PollResult,
    at: Instant,
  ) => { before: EndpointState; after: EndpointState };
  readonly states: () => readonly EndpointState[];
}

export function recordedStates(
  endpoints: readonly Pick<EndpointState, 'target' | 'targetLabels' | 'document'>[],
  limits: EndpointLimits,
  addedAt: Instant = { epochSeconds: 1_790_000_000, monotonicMs: 0 },
): RecordedStates {
  let states: readonly EndpointState[] = endpoints.map((endpoint) => initialState(endpoint, limits, addedAt));
  return {
    record: ({ target, document }, result, at) => {
      const before = states.find((state) => state.target === target && state.document === document);
      if (before === undefined) throw new Error(`${target} ${document} is not an endpoint`);
      const after = stateAfter(before, result, at);
      states = states.map((state) => (state === before ? after : state));
      return { before, after };
    },
    states: () => states,
  };
}
