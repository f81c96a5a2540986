import type { Moment } from '../../src/clock.js';
import {
  initialState,
  selectSettings,
  type EndpointKey,
  type EndpointState,
  type Snapshot,
} from '../../src/engine/endpoint-state.js';
import { createMemory, withMemory, type EndpointMemory } from '../../src/engine/state-file.js';
import type { PollResult } from '../../src/engine/step.js';
import { judgeTargets, withAlerts, type JudgedTarget } from '../../src/engine/target-problems.js';
import type { QueryStates } from '../../src/queries/query.js';
import type { StepContext } from '../../src/document-types.js';
import { step } from './steps.js';

type AddedEndpoint = Pick<StepContext, 'target' | 'targetLabels' | 'document' | 'problemSettings'>;

export type RecordedStates = ReturnType<typeof recordedStates>;

/** Endpoints whose polls a test records. */
export function recordedStates(
  added: readonly AddedEndpoint[],
  limits: Pick<EndpointState, 'maxBodyBytes' | 'staleAfterMs'>,
  addedAt: Moment = { at: 1_790_000_000, clockOffset: 0 },
  remembered: readonly EndpointMemory[] = [],
) {
  const isOf =
    (key: EndpointKey) =>
    (other: EndpointKey): boolean =>
      other.target === key.target && other.document === key.document;
  const initial = (own: AddedEndpoint, at: Moment): EndpointState =>
    withMemory(initialState({ ...own, ...limits }, at.at), remembered.find(isOf(own)));
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
    record: (context: StepContext, poll: PollResult, at: Moment) => {
      const before = stateOf(context);
      const stepped = step(before, poll, context, at);
      const siblings = states.filter((state) => state !== before && state.target === context.target);
      const after = withAlerts(stepped, [stepped, ...siblings], at);
      replace(before, after);
      return { before, after };
    },
    /** The same array until one of them changes. */
    states: () => states,
    stateOf,
    /** The last accepted document of an endpoint. */
    snapshotOf: (key: EndpointKey): Snapshot | undefined => stateOf(key).lastSuccess?.snapshot,
    /** Replaces the states of the queries of an endpoint. */
    answer: (key: EndpointKey, change: (state: EndpointState) => QueryStates): void => {
      const before = stateOf(key);
      replace(before, { ...before, queries: change(before) });
    },
    /** Replaces the endpoints. Those that stay keep what was found, unless they are new, like those at another address. */
    reload: (kept: readonly (AddedEndpoint & { readonly isNew: boolean })[], at: Moment): void => {
      states = kept.map((own) => {
        const known = own.isNew ? undefined : states.find(isOf(own));
        return known === undefined ? initial(own, at) : { ...known, ...selectSettings({ ...own, ...limits }) };
      });
    },
    /** What a state file would have of them. */
    remembered: (): readonly EndpointMemory[] => states.flatMap((state) => createMemory(state) ?? []),
    problems: (now: Moment): readonly JudgedTarget[] => judgeTargets(states, now),
  };
}
