import type { Instant } from '../../src/clock.js';
import { initialState, type EndpointKey, type EndpointState, type Snapshot } from '../../src/poll/endpoint-state.js';
import { rememberedOf, withRemembered, type Remembered } from '../../src/poll/remembered.js';
import { step, type Poll } from '../../src/poll/step.js';
import { verdictsOf, type TargetVerdicts } from '../../src/poll/verdicts.js';
import type { QueryStates } from '../../src/queries/query-state.js';
import type { StepContext } from '../../src/document-types.js';

type AddedEndpoint = Pick<EndpointState, 'target' | 'targetLabels' | 'document'>;

/** Endpoints whose polls a test records. */
export interface RecordedStates {
  readonly record: (context: StepContext, poll: Poll, at: Instant) => { before: EndpointState; after: EndpointState };
  /** The same array until one of them changes. */
  readonly states: () => readonly EndpointState[];
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
  limits: Pick<EndpointState, 'maxBodyBytes' | 'staleAfterMs'>,
  addedAt: Instant = { epochSeconds: 1_790_000_000, monotonicMs: 0 },
  remembered: readonly Remembered[] = [],
): RecordedStates {
  const isOf =
    (key: EndpointKey) =>
    (other: EndpointKey): boolean =>
      other.target === key.target && other.document === key.document;
  const initial = (own: AddedEndpoint, at: Instant): EndpointState =>
    withRemembered(initialState({ ...own, ...limits }, at), remembered.find(isOf(own)));
  const stateOf = (key: EndpointKey): EndpointState => {
    const found = states.find(isOf(key));
    if (found === undefined) throw new Error(`${key.target} ${key.document} is not an endpoint`);
    return found;
  };
  const replace = (before: EndpointState, after: EndpointState): void => {
    states = states.map((state) => (state === before ? after : state));
  };
  let states: readonly EndpointState[] = added.map((own) => initial(own, addedAt));
  return {
    record: (context, poll, at) => {
      const before = stateOf(context);
      const after = step(before, poll, context, at);
      replace(before, after);
      return { before, after };
    },
    states: () => states,
    stateOf,
    snapshotOf: (key) => stateOf(key).success?.snapshot,
    answer: (key, change) => {
      const before = stateOf(key);
      replace(before, { ...before, queries: change(before) });
    },
    reload: (kept, at) => {
      states = kept.map((own) => (own.isNew ? undefined : states.find(isOf(own))) ?? initial(own, at));
    },
    remembered: () => states.flatMap((state) => rememberedOf(state) ?? []),
    verdicts: (now) => verdictsOf(states, now),
  };
}
