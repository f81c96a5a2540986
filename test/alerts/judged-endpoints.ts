import { initialMemory, memoryAfter, type JudgedEndpoint } from '../../src/alerts/memory.js';
import type { TargetVerdicts } from '../../src/alerts/judge.js';
import { verdictsOf } from '../../src/alerts/judge.js';
import type { Instant } from '../../src/clock.js';
import {
  initialState,
  stateAfter,
  type EndpointKey,
  type EndpointLimits,
  type EndpointState,
} from '../../src/poll/endpoint-state.js';
import type { PollResult, Snapshot } from '../../src/poll/poll.js';

/** Endpoints whose polls a test records, and the verdicts about them. */
export interface JudgedEndpoints {
  readonly record: (key: EndpointKey, result: PollResult, at: Instant) => void;
  readonly states: () => readonly EndpointState[];
  /** The last accepted document of an endpoint. */
  readonly snapshotOf: (key: EndpointKey) => Snapshot | undefined;
  readonly verdicts: (now: Instant) => readonly TargetVerdicts[];
}

/** Endpoints that were added at `addedAt`. */
export function judgedEndpoints(
  keys: readonly EndpointKey[],
  limits: EndpointLimits,
  addedAt: Instant,
): JudgedEndpoints {
  let endpoints: readonly JudgedEndpoint[] = keys.map((key) => ({
    state: initialState(key, limits, addedAt),
    memory: initialMemory,
  }));
  return {
    record: ({ target, document }, result, at) => {
      endpoints = endpoints.map((endpoint) => {
        if (endpoint.state.target !== target || endpoint.state.document !== document) return endpoint;
        const state = stateAfter(endpoint.state, result, at);
        return { state, memory: memoryAfter(endpoint, state) };
      });
    },
    states: () => endpoints.map(({ state }) => state),
    snapshotOf: ({ target, document }) =>
      endpoints.find(({ state }) => state.target === target && state.document === document)?.state.success?.snapshot,
    verdicts: (now) => verdictsOf(endpoints, now),
  };
}
