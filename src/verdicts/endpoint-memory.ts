import type { Instant } from '../poll/clock.js';
import { initialState, type EndpointKey, type EndpointState } from '../poll/endpoint-store.js';
import type { Condition, PollView } from './condition.js';
import { conditions } from './conditions.js';
import { continueRuns, type KeyedFinding, type Runs } from './findings-memory.js';
import { addPoll, NO_HISTORY, withdrawnBetween, type PollHistory } from './poll-history.js';
import { samplesOf } from './samples.js';

/** The memory of one endpoint. Each poll replaces it as a whole. */
export interface EndpointMemory {
  readonly addedAt: Instant;
  readonly state: EndpointState;
  readonly history: PollHistory;
  /** Findings of the last successful poll. */
  readonly sampleRuns: Runs;
  /** Findings of the last poll. */
  readonly pollRuns: Runs;
}

export function initialMemory(
  { target, document }: EndpointKey,
  maxBodyBytes: number,
  addedAt: Instant,
): EndpointMemory {
  const state = initialState({ target, document }, maxBodyBytes);
  return { addedAt, state, history: NO_HISTORY, sampleRuns: new Map(), pollRuns: new Map() };
}

/** The endpoint at a point in time. */
export function viewOf(
  { addedAt, state, history }: Pick<EndpointMemory, 'addedAt' | 'state' | 'history'>,
  startedAt: Instant,
  now: Instant,
): PollView {
  const snapshot = state.success?.snapshot;
  return {
    state,
    history,
    samples: samplesOf(snapshot),
    items: snapshot?.items,
    // The rule takes the uptime of the process for an endpoint that has been polled, and nothing before.
    expectedSince: state.polls > 0 ? startedAt : addedAt,
    now,
  };
}

/** Returns the memory after one more poll. */
export function memoryAfter(
  before: EndpointMemory,
  state: EndpointState,
  staleAfterMs: number,
  startedAt: Instant,
): EndpointMemory {
  const at = state.last?.at;
  if (at === undefined) return before;
  const history = addPoll(before.history, before.state.success, state, at, staleAfterMs);
  const view = viewOf({ ...before, state, history }, startedAt, at);
  return {
    ...before,
    state,
    history,
    pollRuns: continueRuns(before.pollRuns, findAll('polls', view), at, before.state.polls === 0),
    sampleRuns: sampleRunsAfter(before, view, staleAfterMs),
  };
}

function sampleRunsAfter({ state, sampleRuns }: EndpointMemory, view: PollView, staleAfterMs: number): Runs {
  if (view.state.last?.ok !== true) return sampleRuns;
  const previous = state.success?.at;
  // What began while there was no data may have begun at any time of it.
  const isUnobserved = previous === undefined || withdrawnBetween(previous, view.now, staleAfterMs).length > 0;
  return continueRuns(sampleRuns, findAll('samples', view), view.now, isUnobserved);
}

export interface PatternFinding extends KeyedFinding {
  readonly condition: Condition;
  readonly rangeMinutes: number;
}

/** What the conditions find. */
export function findAll(source: Condition['source'], view: PollView): readonly PatternFinding[] {
  return conditions.flatMap((condition, conditionIndex) => {
    if (condition.source !== source || !condition.documents.includes(view.state.document)) return [];
    return condition.patterns.flatMap(({ rangeMinutes, find }, patternIndex) =>
      find(view).map((finding) => ({
        ...finding,
        key: JSON.stringify([conditionIndex, patternIndex, finding.labels]),
        condition,
        rangeMinutes,
      })),
    );
  });
}
