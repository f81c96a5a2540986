import { setImmediate as nextTurn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import { clock, type Instant } from '../clock.js';
import type { DocumentName } from '../document-types.js';
import { createQueue, startRepeating, type Repeating } from '../tasks.js';
import { queryStatesOf } from '../queries/node-queries.js';
import { createPollLog, logVerdicts } from './endpoint-log.js';
import {
  endpointId,
  initialState,
  lastPollSucceeded,
  settingsOf,
  withQuery,
  type EndpointKey,
  type EndpointState,
} from './endpoint-state.js';
import type { PollExecutor, Received, ReceivedDocument } from './fetch.js';
import { isContract, pollInput, type PollJob } from './jobs.js';
import { withinMemory } from './kept-body.js';
import { readPoll, timedStep } from './read-poll.js';
import { createQueryRunner } from './query-runner.js';
import { rememberedOf, withRemembered, type Remembered } from './remembered.js';
import { haveBegunOrEnded, reportedVerdicts, verdictsOf, type ReportedVerdicts } from './verdicts.js';

/** Each change replaces it as a whole. */
export interface Endpoint {
  readonly job: PollJob;
  readonly state: EndpointState;
}

/** Polls each endpoint of the active configuration on a timer. The endpoints are in the order of the configuration. */
export interface PollLoop {
  /**
   * Applies a configuration. Endpoints with an unchanged job continue. New and changed endpoints are polled at once, or within seconds if there
   * are many. An endpoint whose document, node and labels are unchanged keeps its state.
   */
  readonly reconcile: (jobs: readonly PollJob[], at: Instant) => void;
  readonly all: () => readonly Endpoint[];
  /** The states of all endpoints. The array is the same until a state changes. */
  readonly states: () => readonly EndpointState[];
  /** Stops polling. */
  readonly close: () => void;
}

/** Records polls, without an effect on them. */
export interface PollRecorder {
  /** Whether the next poll will be recorded if it succeeds, while not every poll is. A contract must be read completely then. */
  readonly isNextSelected: (state: EndpointState, job: Pick<PollJob, 'intervalMs' | 'limits'>) => boolean;
  /** Records a poll if it is selected. */
  readonly record: (state: EndpointState, received: ReceivedDocument | undefined) => void;
  /** The next document of each endpoint of the target is recorded, because a problem has begun or ended. */
  readonly recordNext: (target: string) => void;
  readonly forgetOthers: (states: readonly EndpointState[]) => void;
}

/** The memory that survives a restart. */
export interface SavedMemory {
  readonly rememberedOf: (key: EndpointKey) => Remembered | undefined;
  /** Writes the memory within a second, because a problem has begun or ended. */
  readonly writeSoon: () => void;
}

/** Number of polls that start at once. Later polls start in turn, so that a thousand documents are not in memory together. */
const SIMULTANEOUS_STARTS = 16;
const START_SPACING_MS = 10;

interface RunningEndpoint extends Endpoint {
  readonly timer: Repeating;
}

export interface PollLoopOptions {
  readonly executor: Pick<PollExecutor, 'fetch' | 'sendQuery'>;
  readonly log: Logger;
  readonly now?: () => Instant;
  /** The states from which the demo continues. */
  readonly demoState?: ((job: PollJob) => EndpointState | undefined) | undefined;
  readonly recorder?: PollRecorder | undefined;
  readonly stateFile?: SavedMemory | undefined;
}

export function createPollLoop(options: PollLoopOptions): PollLoop {
  const { executor, log, now = clock, demoState, recorder, stateFile } = options;
  let endpoints = new Map<string, RunningEndpoint>();
  let states: readonly EndpointState[] = [];
  let isClosed = false;
  const inTurn = createQueue();
  const pollLog = createPollLog(log);
  const reported = new Map<string, ReportedVerdicts>();
  const runQueries = createQueryRunner(
    executor,
    log,
    now,
    (job) => endpointOf(job)?.state,
    (job, query) => change(job, (state) => withQuery(state, query)),
  );

  /** `undefined` after a reload has removed or changed the job, and when the loop is closed. */
  function endpointOf(job: PollJob): RunningEndpoint | undefined {
    const endpoint = endpoints.get(endpointId(job.context));
    return endpoint?.job === job && !isClosed ? endpoint : undefined;
  }

  function siblingOf({ context: { target } }: PollJob, document: DocumentName): RunningEndpoint | undefined {
    return endpoints.get(endpointId({ target, document }));
  }

  function change(job: PollJob, after: (state: EndpointState) => EndpointState): void {
    const endpoint = endpointOf(job);
    if (endpoint === undefined) return;
    endpoints.set(endpointId(job.context), { ...endpoint, state: after(endpoint.state) });
    states = Array.from(endpoints.values(), ({ state }) => state);
  }

  async function poll(job: PollJob): Promise<void> {
    // The module state has the address of the contract.
    if (isContract(job)) await siblingOf(job, 'module_state')?.timer.firstRun;
    const before = endpointOf(job)?.state;
    if (before === undefined) return;
    const received = await executor.fetch(job, {
      ...pollInput(job.context, before, (document) => siblingOf(job, document)?.state, now()),
      readsAll: isContract(job) && recorder?.isNextSelected(before, job) === true,
    });
    try {
      await inTurn(async () => readAndStep(job, received));
    } finally {
      received.release?.();
    }
  }

  /** Reads a document and takes the step with it. Yields to scrapes in between. */
  async function readAndStep(job: PollJob, received: Received): Promise<void> {
    const current = endpointOf(job)?.state;
    if (current === undefined) return;
    const others = states.filter((state) => state !== current);
    const hasOtherSucceeded = others.some((state) => state.target === current.target && lastPollSucceeded(state));
    const result = withinMemory({ ...readPoll(received, job.context), hasOtherSucceeded }, others);
    await nextTurn();
    // A reload may have removed or changed the endpoint while scrapes were answered.
    const before = endpointOf(job)?.state;
    if (before === undefined) return;
    const after = timedStep(before, result, job.context, now());
    change(job, () => after);
    publish(before, after, received.ok ? received : undefined);
    // Queries are sent only to a node that has just responded.
    if (lastPollSucceeded(after)) void runQueries(job);
    await nextTurn();
  }

  /** Reports the changes of a poll to the log, the state file and the recorder. */
  function publish(before: EndpointState, after: EndpointState, received: ReceivedDocument | undefined): void {
    const { target } = after;
    pollLog.poll(before, after);
    const ofTarget = states.filter((state) => state.target === target);
    const [judged] = verdictsOf(ofTarget, now());
    if (judged !== undefined) {
      const earlier = reported.get(target) ?? new Map();
      const later = reportedVerdicts(earlier, judged);
      reported.set(target, later);
      logVerdicts(log, earlier, later);
      if (haveBegunOrEnded(earlier, later)) {
        // A recording has the next document of each endpoint.
        recorder?.recordNext(target);
        stateFile?.writeSoon();
      }
    }
    recorder?.record(after, received);
  }

  /** The state with which a new or changed job begins. */
  function stateWith(job: PollJob, previous: Endpoint | undefined, at: Instant): EndpointState {
    const initial = initialState(job.context, at);
    const continued = (): EndpointState => {
      // It has not been polled yet: what it has restored still holds.
      if (previous !== undefined && previous.state.lastPoll === undefined) {
        const { restored, problems } = previous.state;
        return { ...initial, restored, problems };
      }
      return withRemembered(
        initial,
        (previous && rememberedOf(previous.state)) ?? stateFile?.rememberedOf(job.context),
      );
    };
    const isSame = previous !== undefined && isSameEndpoint(previous.job, job);
    const state = isSame ? previous.state : (demoState?.(job) ?? continued());
    return { ...state, ...settingsOf(job.context), queries: queryStatesOf(job.context, state.queries) };
  }

  function reconcile(jobs: readonly PollJob[], at: Instant): void {
    const previousEndpoints = endpoints;
    let started = 0;
    endpoints = new Map(
      jobs.map((job) => {
        const id = endpointId(job.context);
        const previous = previousEndpoints.get(id);
        const state = stateWith(job, previous, at);
        if (previous !== undefined && isDeepStrictEqual(previous.job, job)) return [id, { ...previous, state }];
        started += 1;
        const delayMs = Math.max(0, started - SIMULTANEOUS_STARTS) * START_SPACING_MS;
        const timer = startRepeating(async () => poll(job), job.intervalMs, delayMs);
        return [id, { job, state, timer }];
      }),
    );
    states = Array.from(endpoints.values(), ({ state }) => state);
    pollLog.forgetOthers(states);
    const targets = new Set(states.map(({ target }) => target));
    for (const target of reported.keys()) if (!targets.has(target)) reported.delete(target);
    recorder?.forgetOthers(states);
    for (const [id, { timer }] of previousEndpoints) if (endpoints.get(id)?.timer !== timer) timer.close();
  }

  return {
    reconcile,
    all: () => Array.from(endpoints.values()),
    states: () => states,
    close: () => {
      isClosed = true;
      for (const { timer } of endpoints.values()) timer.close();
    },
  };
}

/**
 * Whether a state is valid for both jobs: they request the same document of the same node, for series with the same labels. Other credentials or
 * settings change only the next poll. With another limit of series, tokens and chains would move to or from the series `other`, as if it had
 * counted.
 */
function isSameEndpoint(first: PollJob, second: PollJob): boolean {
  const identityOf = (job: PollJob) => {
    const { context, url, paths, query } = job;
    const { target, targetLabels, document, maxSeries } = context;
    // The path of a JSON-RPC endpoint is an API key.
    return [target, targetLabels, document, maxSeries, isContract(job) ? url.origin : url, paths, query];
  };
  return isDeepStrictEqual(identityOf(first), identityOf(second));
}
