import type { Instant } from '../clock.js';
import { restartedCrosschain } from '../flow/unlisted-cctxs.js';
import { alertTexts } from '../problems/alert-texts.js';
import type { ProblemMemory, RememberedProblem } from '../problems/problem-memory.js';
import { problemKey, type Problem } from '../problems/problem.js';
import { problems } from '../problems/problems.js';
import type { SubjectHistory } from '../problems/subjects.js';
import {
  isDocument,
  lastDocument,
  sourceInUse,
  type EndpointKey,
  type EndpointState,
  type LastDocument,
} from './endpoint-state.js';

/*
 * The memory of an endpoint with which its polls continue as after a gap: in another process, or after a reload has
 * changed its job. It is plain data. Counters begin anew, and what the next document or answer has anyway is left out.
 */

/** Raised when the shape of what a state file has changes: then the memory of the previous version begins empty. */
export const MEMORY_VERSION = 9;

export interface EndpointMemory extends EndpointKey {
  readonly polledAt: Instant;
  /** The last document; `undefined` before the first. */
  readonly last: LastDocument | undefined;
  readonly problems: ProblemMemory;
  /** Of several nodes, the one in use. */
  readonly nodeInUse?: string | undefined;
}

/** `undefined` before the first poll of this process. */
export function createMemory(state: EndpointState): EndpointMemory | undefined {
  const { target, document, lastPoll, problems: memory } = state;
  if (lastPoll === undefined) return undefined;
  const last = lastDocument(state);
  const stored = withHistories(memory, (history) => ({
    ...history,
    // Texts contain configured names, which are not stored. The next document provides the texts.
    summary: '',
    details: '',
    action: '',
    validators: history.validators.map((validator) => ({ ...validator, name: '' })),
    chains: undefined,
  }));
  return {
    target,
    document,
    polledAt: lastPoll.at,
    last: last && restarted(last),
    problems: stored,
    nodeInUse: sourceInUse(state),
  };
}

/** The part of the last document that another process compares its first document with. */
function restarted(last: LastDocument): LastDocument {
  const { identity, height } = last;
  if (isDocument('module_state', last)) {
    const { document, past } = last;
    // The next document provides these values.
    const nothing = { watched: [], hubCoinDenom: undefined, hubSide: undefined };
    return { document, identity, height, past: past && { ...past, ...nothing }, flow: undefined };
  }
  if (isDocument('rate_limiter_input', last)) {
    const { document, past, flow } = last;
    return { document, identity, height, past, flow: flow && restartedCrosschain(flow) };
  }
  return { document: 'external_contract', identity, height, past: undefined, flow: undefined };
}

/** A state before the first poll, with the memory of the endpoint. */
export function withMemory(state: EndpointState, memory: EndpointMemory | undefined): EndpointState {
  if (memory === undefined) return state;
  const { last, problems: stored, nodeInUse } = memory;
  const known = withHistories(stored, (history, { name, action }) => {
    const [title] = alertTexts[name as keyof typeof alertTexts];
    // The summary until the next document or answer finds the problem again.
    const summary = `${title.charAt(0).toLowerCase()}${title.slice(1, -1)}, as was found earlier`;
    return { ...history, summary, action };
  });
  return {
    ...state,
    ...(last && { restored: last }),
    ...(nodeInUse !== undefined && { nodes: [{ source: nodeInUse, isInUse: true }] }),
    problems: known,
  };
}

/** The memory with other histories. One of a problem that this version does not have is left out. */
function withHistories(
  memory: ProblemMemory,
  change: (history: SubjectHistory, problem: Problem) => SubjectHistory,
): ProblemMemory {
  const remembered = problems.flatMap((problem): readonly (readonly [string, RememberedProblem])[] => {
    const known = memory.remembered.get(problemKey(problem));
    if (known === undefined) return [];
    const histories = Array.from(known.histories, ([key, history]) => [key, change(history, problem)] as const);
    return [[problemKey(problem), { ...known, histories: new Map(histories) }]];
  });
  return { ...memory, remembered: new Map(remembered) };
}
