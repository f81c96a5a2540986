import { initialMemory, type KnownEndpoint } from '../../src/poll/known-endpoint.js';
import type { TargetVerdicts } from '../../src/poll/verdicts.js';
import { verdictsOf } from '../../src/poll/verdicts.js';
import type { Instant } from '../../src/clock.js';
import {
  initialState,
  type EndpointKey,
  type EndpointLimits,
  type EndpointState,
} from '../../src/poll/endpoint-state.js';
import { rememberedOf, withRemembered, type Remembered } from '../../src/poll/remembered.js';
import type { Poll } from '../../src/poll/poll.js';
import { step, type Snapshot, type StepContext } from '../../src/poll/step.js';
import type { QueryStates } from '../../src/queries/query-state.js';

/** Endpoints whose polls a test records, and the verdicts about them. */
export interface JudgedEndpoints {
  readonly record: (context: StepContext, poll: Poll, at: Instant) => void;
  /** Replaces the states of the queries of an endpoint. */
  readonly answer: (key: EndpointKey, change: (state: EndpointState) => QueryStates) => void;
  /** Replaces the endpoints. Those that stay keep what was found, unless they are new, like those at another address. */
  readonly reload: (keys: readonly (EndpointKey & { readonly isNew: boolean })[], at: Instant) => void;
  readonly all: () => readonly KnownEndpoint[];
  /** What a state file would have of them. */
  readonly remembered: () => readonly Remembered[];
  readonly states: () => readonly EndpointState[];
  /** The last accepted document of an endpoint. */
  readonly snapshotOf: (key: EndpointKey) => Snapshot | undefined;
  readonly stateOf: (key: EndpointKey) => EndpointState;
  readonly verdicts: (now: Instant) => readonly TargetVerdicts[];
}

/** Endpoints that were added at `addedAt`. */
export function judgedEndpoints(
  keys: readonly EndpointKey[],
  limits: EndpointLimits,
  addedAt: Instant,
  remembered: readonly Remembered[] = [],
): JudgedEndpoints {
  const initial = (key: EndpointKey, at: Instant): KnownEndpoint =>
    withRemembered(
      { state: initialState(key, limits, at), memory: initialMemory },
      remembered.find(({ target, document }) => target === key.target && document === key.document),
    );
  let endpoints: readonly KnownEndpoint[] = keys.map((key) => initial(key, addedAt));
  const endpointOf = ({ target, document }: EndpointKey): KnownEndpoint | undefined =>
    endpoints.find(({ state }) => state.target === target && state.document === document);
  return {
    record: (context, poll, at) => {
      const recorded = endpointOf(context);
      endpoints = endpoints.map((endpoint) => (endpoint === recorded ? step(endpoint, poll, context, at) : endpoint));
    },
    answer: (key, change) => {
      const answered = endpointOf(key);
      endpoints = endpoints.map((endpoint) =>
        endpoint === answered
          ? { ...endpoint, state: { ...endpoint.state, queries: change(endpoint.state) } }
          : endpoint,
      );
    },
    reload: (kept, at) => {
      endpoints = kept.map(({ isNew, ...key }) => (isNew ? undefined : endpointOf(key)) ?? initial(key, at));
    },
    all: () => endpoints,
    remembered: () => endpoints.flatMap((endpoint) => rememberedOf(endpoint) ?? []),
    states: () => endpoints.map(({ state }) => state),
    snapshotOf: (key) => endpointOf(key)?.state.success?.snapshot,
    stateOf: (key) => {
      const state = endpointOf(key)?.state;
      if (state === undefined) throw new Error(`there is no endpoint ${key.target} ${key.document}`);
      return state;
    },
    verdicts: (now) =>
      verdictsOf(
        endpoints.map(({ state }) => state),
        now,
      ),
  };
}
