import type { Instant } from '../clock.js';
import { documents } from '../documents.js';
import { restartedCrosschain } from '../flow/unlisted-cctxs.js';
import {
  PROBLEM_MEMORY_VERSION,
  type ProblemMemory,
  type RememberedProblem,
  type SubjectHistory,
} from '../problems/problem-memory.js';
import { problemKey, type Problem } from '../problems/problem.js';
import { problems } from '../problems/problems.js';
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
 * Each part has the version of its shape: in a state file of another version, the part begins empty, alone.
 */

export interface EndpointMemory extends EndpointKey {
  readonly polledAt: Instant;
  /** The last document; `undefined` before the first. */
  readonly last: Versioned<LastDocument> | undefined;
  readonly problems: Versioned<StoredProblems>;
  /** Of several nodes, the one in use. */
  readonly nodeInUse?: string | undefined;
}

type Versioned<Value> = Value & { readonly version: number };

type StoredProblems = Omit<ProblemMemory, 'remembered'> & {
  readonly remembered: ReadonlyMap<string, Versioned<StoredProblem>>;
};

/** `version` is that of the mark. */
type StoredProblem = Omit<RememberedProblem, 'histories'> & { readonly histories: StoredHistories };

/** Without texts, which have configured names; the next document has them. */
type StoredHistories = ReadonlyMap<string, Omit<SubjectHistory, 'summary' | 'details' | 'action' | 'textsAt'>>;

/** `undefined` before the first poll of this process. */
export function createMemory(state: EndpointState): EndpointMemory | undefined {
  const { target, document, lastPoll, problems: memory } = state;
  if (lastPoll === undefined) return undefined;
  const last = lastDocument(state);
  const remembered = new Map(
    problems.flatMap((problem) => {
      const key = problemKey(problem);
      const known = memory.remembered.get(key);
      if (known === undefined) return [];
      const histories = withoutTexts(known.histories);
      return [[key, { ...known, histories, version: problem.mark?.version ?? 0 }] as const];
    }),
  );
  return {
    target,
    document,
    polledAt: lastPoll.at,
    last: last && { ...restarted(last), version: documents[document].memoryVersion },
    problems: { ...memory, remembered, version: PROBLEM_MEMORY_VERSION },
    nodeInUse: sourceInUse(state),
  };
}

/**
 * What another process compares its first document with: without the rest of the snapshot, and without the counters.
 */
function restarted(last: LastDocument): LastDocument {
  const { identity, height } = last;
  if (isDocument('module_state', last)) {
    const { document, past } = last;
    // The next document has them.
    const nothing = { watched: [], hubCoinDenom: undefined, hubSide: undefined };
    return { document, identity, height, past: past && { ...past, ...nothing }, flow: undefined };
  }
  if (isDocument('rate_limiter_input', last)) {
    const { document, past, flow } = last;
    return { document, identity, height, past, flow: flow && restartedCrosschain(flow) };
  }
  return { document: 'external_contract', identity, height, past: undefined, flow: undefined };
}

function withoutTexts(histories: RememberedProblem['histories']): StoredHistories {
  return new Map(
    Array.from(
      histories,
      ([key, { summary: _summary, details: _details, action: _action, textsAt: _textsAt, validators, ...subject }]) => [
        key,
        { ...subject, validators: validators.map((validator) => ({ ...validator, name: '' })) },
      ],
    ),
  );
}

/** A state before the first poll, with the memory of the endpoint. */
export function withMemory(state: EndpointState, memory: EndpointMemory | undefined): EndpointState {
  if (memory === undefined) return state;
  const { last, problems: stored, nodeInUse } = memory;
  return {
    ...state,
    ...(last?.version === documents[state.document].memoryVersion && { restored: last }),
    ...(stored.version === PROBLEM_MEMORY_VERSION && { problems: restoredProblems(stored) }),
    ...(nodeInUse !== undefined && { nodes: [{ source: nodeInUse, isInUse: true }] }),
  };
}

function restoredProblems({ remembered, ...stored }: StoredProblems): ProblemMemory {
  return {
    ...stored,
    remembered: new Map(
      problems.flatMap((problem) => {
        const key = problemKey(problem);
        const storedProblem = remembered.get(key);
        if (storedProblem === undefined) return [];
        const { version, mark, markWithoutLastDocument, ...known } = storedProblem;
        const isKnown = version === (problem.mark?.version ?? 0);
        const marks = isKnown
          ? { mark, markWithoutLastDocument }
          : { mark: undefined, markWithoutLastDocument: undefined };
        return [[key, { ...known, histories: withTexts(known.histories, problem), ...marks }] as const];
      }),
    ),
  };
}

/** Until the next document has the problem. */
function withTexts(histories: StoredHistories, { name, action }: Problem): RememberedProblem['histories'] {
  const summary = `${name} was found in an earlier document`;
  const texts = { summary, details: '', action, textsAt: -Infinity };
  return new Map(Array.from(histories, ([key, history]) => [key, { ...history, ...texts }]));
}
