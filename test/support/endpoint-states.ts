import { initialMemory, type KnownEndpoint } from '../../src/poll/known-endpoint.js';
import type { Instant } from '../../src/clock.js';
import { initialState, type EndpointLimits, type EndpointState } from '../../src/poll/endpoint-state.js';
import type { Poll } from '../../src/poll/poll.js';
import { step, type StepContext } from '../../src/poll/step.js';

/** The states of endpoints whose polls a test records. */
export interface RecordedStates {
  readonly record: (context: StepContext, poll: Poll, at: Instant) => { before: EndpointState; after: EndpointState };
  /** The same array until one of them changes. */
  readonly states: () => readonly EndpointState[];
  readonly endpoints: () => readonly KnownEndpoint[];
}

export function recordedStates(
  contexts: readonly Pick<EndpointState, 'target' | 'targetLabels' | 'document'>[],
  limits: EndpointLimits,
  addedAt: Instant = { epochSeconds: 1_790_000_000, monotonicMs: 0 },
): RecordedStates {
  let endpoints: readonly KnownEndpoint[] = contexts.map((context) => ({
    state: initialState(context, limits, addedAt),
    memory: initialMemory,
  }));
  let states = endpoints.map(({ state }) => state);
  return {
    record: (context, poll, at) => {
      const before = endpoints.find(
        ({ state }) => state.target === context.target && state.document === context.document,
      );
      if (before === undefined) throw new Error(`${context.target} ${context.document} is not an endpoint`);
      const after = step(before, poll, context, at);
      endpoints = endpoints.map((endpoint) => (endpoint === before ? after : endpoint));
      states = endpoints.map(({ state }) => state);
      return { before: before.state, after: after.state };
    },
    states: () => states,
    endpoints: () => endpoints,
  };
}
