import { type Instant, msBetween } from '../clock.js';
import { MINUTE_MS } from '../config/units.js';
import type { EndpointState } from '../poll/endpoint-state.js';
import { itemsOf } from '../poll/items.js';
import type { Condition } from './alert.js';
import { unansweredFamilies } from '../queries/query-state.js';
import { findAll, readsAny, type AlertFinding } from './alerts.js';
import { flowHistoryAfter, NO_FLOW_HISTORY, type FlowHistory } from './flow-history.js';
import { addPoll, NO_HISTORY, type PollHistory } from './poll-history.js';
import { samplesAt } from './samples.js';
import { OUTDATED_MINUTES, type PollView } from './view.js';

/*
 * What the exporter remembers of an endpoint to judge conditions: its history, and since when each finding is in every poll. One entry
 * per present finding, so the memory is bounded like the series of the endpoint.
 */

/** What is remembered of the polls of an endpoint. Each poll replaces it as a whole. */
export interface EndpointMemory {
  readonly history: PollHistory;
  /** `data`: of the findings in the last successful poll. `endpoint`: of those in the last poll. */
  readonly presences: Readonly<Record<Condition['source'], Presences>>;
  readonly flow: FlowHistory;
}

/** The memory before the first poll. */
export const initialMemory: EndpointMemory = {
  history: NO_HISTORY,
  presences: { data: new Map(), endpoint: new Map() },
  flow: NO_FLOW_HISTORY,
};

/** What is known of an endpoint: what its polls have found, and what the alert conditions remember of them. */
export interface KnownEndpoint {
  readonly state: EndpointState;
  readonly memory: EndpointMemory;
}

/** The memories of endpoints by their states. */
export type EndpointMemories = ReadonlyMap<EndpointState, EndpointMemory>;

export function memoriesOf(endpoints: readonly KnownEndpoint[]): EndpointMemories {
  return new Map(endpoints.map(({ state, memory }) => [state, memory]));
}

/** How long a finding has been in every poll. */
export interface Presence {
  readonly since: Instant;
  readonly unchangedValue: number | undefined;
  /** Whether it was in the first poll, or in the first one after a gap, and so may be older. */
  readonly mayBeOlder: boolean;
}

/** By the key of the finding. */
export type Presences = ReadonlyMap<string, Presence>;

/** The endpoint at a point in time. */
export function viewOf(
  { state, memory: { history, flow } }: KnownEndpoint,
  now: Instant,
  isContractPaused?: boolean,
): PollView {
  const snapshot = state.success?.snapshot;
  return {
    state,
    history,
    flow,
    samples: samplesAt(state, now),
    // Derived only if a condition holds whose sentence needs them.
    get items() {
      return snapshot && itemsOf(snapshot);
    },
    isContractPaused,
    now,
  };
}

/** Returns the memory after one more poll. */
export function memoryAfter({ memory }: Pick<KnownEndpoint, 'memory'>, state: EndpointState): EndpointMemory {
  const at = state.last?.at;
  if (at === undefined) return memory;
  const history = addPoll(memory.history, state, at);
  const flow = state.last?.ok === true ? flowHistoryAfter(memory.flow, state, at) : memory.flow;
  const view = viewOf({ state, memory: { ...memory, history, flow } }, at);
  const previous = memory.history.successes.at(-1);
  // What began while there was no data may have begun at any time of it.
  const isAfterGap = previous === undefined || msBetween(previous, at) > OUTDATED_MINUTES * MINUTE_MS;
  const { data, endpoint } = memory.presences;
  const unanswered = unansweredFamilies(state.queries);
  return {
    history,
    flow,
    presences: {
      data: state.last?.ok === true ? presencesAfter(data, findAll('data', view), at, isAfterGap, unanswered) : data,
      endpoint: presencesAfter(endpoint, findAll('endpoint', view), at, memory.history.firstPollAt === undefined),
    },
  };
}

type KeyedFinding = Pick<AlertFinding, 'key' | 'unchangedValue'>;

/**
 * A presence ends when its finding is not there any more, or has another `unchangedValue`. While the queries whose families it reads have no answer
 * yet, as after a restart, it stays.
 */
export function presencesAfter(
  before: Presences,
  findings: readonly KeyedFinding[],
  at: Instant,
  mayBeOlder: boolean,
  unanswered: ReadonlySet<string> = new Set(),
): Presences {
  const isUnjudged = before.size > 0 && unanswered.size > 0 ? readsAny(unanswered) : () => false;
  return new Map([
    ...Array.from(before).filter(([key]) => isUnjudged(key)),
    ...findings.map((finding): [string, Presence] => [
      finding.key,
      presenceOf(finding, before) ?? { since: at, unchangedValue: finding.unchangedValue, mayBeOlder },
    ]),
  ]);
}

/** How long a finding has been present; `undefined` when it was not found before, or with another value. */
export function presenceOf({ key, unchangedValue }: KeyedFinding, presences: Presences): Presence | undefined {
  const known = presences.get(key);
  return known?.unchangedValue === unchangedValue ? known : undefined;
}
