import type { Instant } from '../../src/clock.js';
import {
  initialState,
  type EndpointKey,
  type EndpointLimits,
  type EndpointState,
  initialMemory,
  type KnownEndpoint,
} from '../../src/poll/endpoint-state.js';
import type { Poll } from '../../src/poll/poll.js';
import { rememberedOf, withRemembered, type Remembered } from '../../src/poll/remembered.js';
import { step, type Snapshot } from '../../src/poll/step.js';
import { verdictsOf, type TargetVerdicts } from '../../src/poll/verdicts.js';
import type { QueryStates } from '../../src/queries/query-state.js';
import type { StepContext } from '../../src/document-types.js';

type AddedEndpoint = Pick<EndpointState, 'target' | 'targetLabels' | 'document'>;

/** Endpoints whose polls a test records. */
export interface RecordedStates {
  readonly record: (context: StepContext, poll: Poll, at: Instant) => { before: EndpointState; after: EndpointState };
  /** The same array until one of them changes. */
  readonly states: () => readonly EndpointState[];
  readonly endpoints: () => readonly KnownEndpoint[];
  readonly stateOf: (key: EndpointKey) => EndpointState;
  /** The last accepted document of an endpoint. */
  readonly snapshotOf: (key: EndpointKey) => Snapshot | undefined;
  /** Replaces the states of the queries of an endpoint. */
  readonly answer: (key: EndpointKey, change: (state: EndpointState) => QueryStates) => void;
  /** Replaces the endpoints. Those that stay keep what was found, unless they are new, like those at another address. */
  readonly reload: (added: readonly (AddedEndpoint & { readonly isNew: boolean })[], at: Instant) => void;
  /** What a state file would have of them. */
  readonly remembered: () => readonly Remembered[];
  readonly verdicts: (now: Instant) => readonly TargetVerdicts[];
}

export function recordedStates(
  added: readonly AddedEndpoint[],
  limits: EndpointLimits,
  addedAt: Instant = { epochSeconds: 1_790_000_000, monotonicMs: 0 },
  remembered: readonly Remembered[] = [],
): RecordedStates {
  const isOf =
    (key: EndpointKey) =>
    (other: EndpointKey): boolean =>
      other.target === key.target && other.document === key.document;
  const initial = (own: AddedEndpoint, at: Instant): KnownEndpoint =>
    withRemembered({ state: initialState(own, limits, at), memory: initialMemory }, remembered.find(isOf(own)));
  let endpoints: readonly KnownEndpoint[] = [];
  let states: readonly EndpointState[] = [];
  const set = (next: readonly KnownEndpoint[]): void => {
    endpoints = next;
    states = next.map(({ state }) => state);
  };
  const endpointOf = (key: EndpointKey): KnownEndpoint => {
    const found = endpoints.find(({ state }) => isOf(key)(state));
    if (found === undefined) throw new Error(`${key.target} ${key.document} is not an endpoint`);
    return found;
  };
  const replace = (before: KnownEndpoint, after: KnownEndpoint): void =>
    set(endpoints.map((endpoint) => (endpoint === before ? after : endpoint)));
  set(added.map((own) => initial(own, addedAt)));
  return {
    record: (context, poll, at) => {
      const before = endpointOf(context);
      const after = step(before, poll, context, at);
      replace(before, after);
      return { before: before.state, after: after.state };
    },
    states: () => states,
    endpoints: () => endpoints,
    stateOf: (key) => endpointOf(key).state,
    snapshotOf: (key) => endpointOf(key).state.success?.snapshot,
    answer: (key, change) => {
      const before = endpointOf(key);
      replace(before, { ...before, state: { ...before.state, queries: change(before.state) } });
    },
    reload: (kept, at) =>
      set(
        kept.map(
          (own) => (own.isNew ? undefined : endpoints.find(({ state }) => isOf(own)(state))) ?? initial(own, at),
        ),
      ),
    remembered: () => endpoints.flatMap((endpoint) => rememberedOf(endpoint) ?? []),
    verdicts: (now) => verdictsOf(states, now),
  };
}
