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

/** How an endpoint is polled, and what the polls have found. Each change replaces it as a whole. */
export interface Endpoint {
  readonly job: PollJob;
  readonly state: EndpointState;
}

/** Polls each endpoint of the active configuration on a timer. The endpoints are in the order of the configuration. */
export interface PollLoop {
  /**
   * Applies a configuration. Endpoints with an unchanged job continue; new and changed ones are polled at once, or within seconds when
   * there are many. An endpoint that is still the same keeps what was found.
   */
  readonly reconcile: (jobs: readonly PollJob[], at: Instant) => void;
  readonly all: () => readonly Endpoint[];
  /** The states of all endpoints. The same array until one of them changes. */
  readonly states: () => readonly EndpointState[];
  /** Stops polling. */
  readonly close: () => void;
}

/** Records polls, without an effect on them. */
export interface PollRecorder {
  /**
   * Whether a successful poll that ends before its timeout would be recorded, and others would not: what it does not read is in no
   * recording.
   */
  readonly isDue: (state: EndpointState, job: Pick<PollJob, 'intervalMs' | 'limits'>) => boolean;
  /** Records a poll if it is selected. */
  readonly record: (state: EndpointState, received: ReceivedDocument | undefined) => void;
  /** The next document of each endpoint of the target is recorded, because a problem has begun or ended. */
  readonly recordNext: (target: string) => void;
  readonly forgetOthers: (states: readonly EndpointState[]) => void;
}

/** Where memory survives a restart. */
export interface SavedMemory {
  /** What is remembered of an endpoint, whether or not it is polled now. */
  readonly rememberedOf: (key: EndpointKey) => Remembered | undefined;
  /** Writes what is remembered within a second, because a problem has begun or ended. */
  readonly writeSoon: () => void;
}

/** Number of polls that start at once; later ones start one by one, so that a thousand documents are not in memory together. */
const SIMULTANEOUS_STARTS = 16;
const START_SPACING_MS = 10;

/** A dense body is hostile (`PollResult.isDense`), and delays everything by up to two seconds. */
const INTERVALS_AFTER_DENSE_BODY = 10;

interface RunningEndpoint extends Endpoint {
  readonly timer: Repeating;
}

export interface PollLoopOptions {
  readonly executor: Pick<PollExecutor, 'fetch' | 'sendQuery'>;
  readonly log: Logger;
  readonly now?: () => Instant;
  /** What is known of an endpoint before its first poll, as in the demo. */
  readonly knownBefore?: ((job: PollJob) => EndpointState | undefined) | undefined;
  readonly recorder?: PollRecorder | undefined;
  readonly stateFile?: SavedMemory | undefined;
}

export function createPollLoop(options: PollLoopOptions): PollLoop {
  const { executor, log, now = clock, knownBefore, recorder, stateFile } = options;
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

  /** The endpoint, unless a reload has removed or changed its job, or the loop is closed. */
  function endpointOf(job: PollJob): RunningEndpoint | undefined {
    const endpoint = endpoints.get(endpointId(job.context));
    return endpoint?.job === job && !isClosed ? endpoint : undefined;
  }

  /** The endpoint of another document of the same target. */
  function siblingOf({ context: { target } }: PollJob, document: DocumentName): RunningEndpoint | undefined {
    return endpoints.get(endpointId({ target, document }));
  }

  function change(job: PollJob, after: (state: EndpointState) => EndpointState): void {
    const endpoint = endpointOf(job);
    if (endpoint === undefined) return;
    endpoints.set(endpointId(job.context), { ...endpoint, state: after(endpoint.state) });
    states = Array.from(endpoints.values(), ({ state }) => state);
  }

  /** Returns after how many intervals the next poll is due. */
  async function poll(job: PollJob): Promise<number> {
    // The module state says where the contract is.
    if (isContract(job)) await siblingOf(job, 'module_state')?.timer.firstRun;
    const before = endpointOf(job)?.state;
    if (before === undefined) return 1;
    const received = await executor.fetch(job, {
      ...pollInput(job.context, before, (document) => siblingOf(job, document)?.state, now()),
      readsAll: isContract(job) && recorder?.isDue(before, job) === true,
    });
    try {
      return await inTurn(async () => readAndStep(job, received));
    } finally {
      received.release?.();
    }
  }

  /** Reads a document and takes the step with it. In between, scrapes are answered. */
  async function readAndStep(job: PollJob, received: Received): Promise<number> {
    const own = endpointOf(job)?.state;
    if (own === undefined) return 1;
    const others = states.filter((state) => state !== own);
    const hasOtherSucceeded = others.some((state) => state.target === own.target && lastPollSucceeded(state));
    // What is kept of the bodies of all endpoints, for the pages, is limited.
    const found = withinMemory({ ...readPoll(received, job.context), hasOtherSucceeded }, others);
    await nextTurn();
    const before = endpointOf(job)?.state;
    if (before === undefined) return 1;
    const after = timedStep(before, found, job.context, now());
    change(job, () => after);
    publish(before, after, received.ok ? received : undefined);
    // Everything else is requested only from a node that has just responded, and is not behind.
    if (lastPollSucceeded(after)) void runQueries(job);
    await nextTurn();
    return found.isDense === true ? INTERVALS_AFTER_DENSE_BODY : 1;
  }

  /** Tells the log, the state file and the recorder what a poll has changed. */
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
        // A recording has what the node says after a condition begins or ends.
        recorder?.recordNext(target);
        stateFile?.writeSoon();
      }
    }
    recorder?.record(after, received);
  }

  /** The state of an endpoint with another job. One that is polled anew continues with what is remembered of it. */
  function stateWith(job: PollJob, known: Endpoint | undefined, at: Instant): EndpointState {
    const initial = initialState(job.context, at);
    const continued = (): EndpointState => {
      if (known !== undefined && known.state.last === undefined) {
        const { restored, problems } = known.state;
        return { ...initial, restored, problems };
      }
      return withRemembered(initial, (known && rememberedOf(known.state)) ?? stateFile?.rememberedOf(job.context));
    };
    const isSame = known !== undefined && isSameEndpoint(known.job, job);
    const state = isSame ? known.state : (knownBefore?.(job) ?? continued());
    return { ...state, ...settingsOf(job.context), queries: queryStatesOf(job.context, state.queries) };
  }

  function reconcile(jobs: readonly PollJob[], at: Instant): void {
    const previous = endpoints;
    let started = 0;
    endpoints = new Map(
      jobs.map((job) => {
        const id = endpointId(job.context);
        const known = previous.get(id);
        const state = stateWith(job, known, at);
        if (known !== undefined && isDeepStrictEqual(known.job, job)) return [id, { ...known, state }];
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
    for (const [id, { timer }] of previous) if (endpoints.get(id)?.timer !== timer) timer.close();
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
 * Whether what was found by one job is valid for the other: they request the same document of the same node, for series with the same
 * labels. Other credentials or settings change the next poll, and nothing that is known. With another limit of series, tokens and chains would
 * move between their own series and that of the others, which would seem to have counted.
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
