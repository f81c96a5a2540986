import { setImmediate as nextTurn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import { verdictsOf } from './verdicts.js';
import type { PollConfig } from '../config/config.js';
import { clock, type Instant } from '../clock.js';
import type { DocumentName } from '../document-types.js';
import {
  endpointId,
  initialMemory,
  initialState,
  isServing,
  type EndpointKey,
  type EndpointLimits,
  type EndpointState,
  type KnownEndpoint,
} from './endpoint-state.js';
import type { FailureReason } from '../http/failure-reasons.js';
import { withinMemory } from './kept-body.js';
import { isContract, limitsOf, pollInput, type PollJob } from './jobs.js';
import { rememberedOf, withRemembered, type Remembered } from './remembered.js';
import type { Fetched, PollExecutor, ReceivedBody } from './fetch.js';
import { readFetched, timedStep, type Poll } from './poll.js';
import { createQueue } from '../queue.js';
import { startRepeating, type Repeating } from '../repeating.js';
import { queryStatesOf } from '../queries/query-state.js';
import { createQueryRunner } from './query-runner.js';
import { logPoll, logVerdicts, type LoggedVerdicts } from './endpoint-log.js';

/** Everything about one endpoint: how it is polled and what the polls have found. Each change replaces it as a whole. */
export interface Endpoint extends KnownEndpoint {
  readonly job: PollJob;
  /** When the present failure was last logged, on the monotonic clock. */
  readonly failureLoggedAtMs: number | undefined;
}

/** The endpoints of the active configuration, in its order. Polls each of them on a timer of its own. */
export interface EndpointRegistry {
  /**
   * Applies a configuration. Endpoints with an unchanged job continue; new and changed ones are polled at once, or within seconds when
   * there are many. An endpoint that is still the same keeps what was found.
   */
  readonly reconcile: (jobs: readonly PollJob[], config: PollConfig, at: Instant) => void;
  readonly all: () => readonly Endpoint[];
  /** The states of all endpoints. The same array until one of them changes. */
  readonly states: () => readonly EndpointState[];
  /** Stops polling. */
  readonly close: () => void;
}

/** What the recorder remembers of the polls of an endpoint. Times are on the monotonic clock. */
export interface RecordingMemory {
  /** The outcome of the last poll; `undefined` before the first. */
  readonly outcome?: 'ok' | FailureReason;
  /** When a successful poll was last recorded. */
  readonly okAtMs?: number;
  /** When a body that is not a document was last recorded. */
  readonly failedBodyAtMs?: number;
  /** Whether a problem of the target has begun or ended since the last successful poll. */
  readonly isChanged?: boolean;
}

/** The body of a poll, with where it was found; without a path for a contract. */
export type RecordedBody = Omit<ReceivedBody, 'ok' | 'source'> & { readonly path: string | undefined };

/** Records polls, without an effect on them. */
export interface PollRecorder {
  /**
   * Whether a successful poll that ends before its timeout would be recorded, and others would not: what it does not read is in no
   * recording.
   */
  readonly isDue: (memory: RecordingMemory, job: Pick<PollJob, 'intervalMs' | 'limits'>) => boolean;
  /** Records a poll if it is selected. Returns what is to be remembered for the next poll of the endpoint. */
  readonly record: (memory: RecordingMemory, state: EndpointState, body: RecordedBody | undefined) => RecordingMemory;
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

/** A dense body is hostile (`Poll.isDense`), and delays everything by up to two seconds. */
const INTERVALS_AFTER_DENSE_BODY = 10;

interface RunningEndpoint extends Endpoint {
  readonly intervalMs: number;
  readonly loop: Repeating;
  readonly recording: RecordingMemory;
}

export interface RegistryOptions {
  readonly executor: Pick<PollExecutor, 'fetch' | 'sendQuery'>;
  readonly log: Logger;
  readonly now?: () => Instant;
  /** What is known of an endpoint before its first poll, as in the demo. */
  readonly knownBefore?: ((job: PollJob) => KnownEndpoint | undefined) | undefined;
  readonly recorder?: PollRecorder | undefined;
  readonly stateFile?: SavedMemory | undefined;
}

export function createEndpointRegistry(options: RegistryOptions): EndpointRegistry {
  const { executor, log, now = clock, knownBefore, recorder, stateFile } = options;
  let endpoints = new Map<string, RunningEndpoint>();
  let states: readonly EndpointState[] = [];
  /** The verdicts that were logged, by target. */
  const loggedVerdicts = new Map<string, LoggedVerdicts>();
  let isClosed = false;
  const inTurn = createQueue();
  const queries = createQueryRunner(
    executor,
    log,
    now,
    (job) => endpointOf(job)?.state,
    (job, answered) => {
      const endpoint = endpointOf(job);
      if (endpoint !== undefined) change({ ...endpoint, state: { ...endpoint.state, queries: answered } });
    },
  );

  function change(endpoint: RunningEndpoint): void {
    endpoints.set(endpointId(endpoint.job.context), endpoint);
    states = Array.from(endpoints.values(), ({ state }) => state);
  }

  /** The endpoint, unless a reload has removed or changed its job, or the registry is closed. */
  function endpointOf(job: PollJob): RunningEndpoint | undefined {
    const endpoint = endpoints.get(endpointId(job.context));
    return endpoint?.job === job && !isClosed ? endpoint : undefined;
  }

  /** Returns after how many intervals the next poll is due. */
  async function pollEndpoint(job: PollJob): Promise<number> {
    // The module state says where the contract is.
    if (isContract(job)) await siblingOf(job, 'module_state')?.loop.firstRun;
    const before = endpointOf(job);
    if (before === undefined) return 1;
    const fetched = await executor.fetch(job, {
      ...pollInput(job.context, before.state, (document) => siblingOf(job, document)?.state, now()),
      readsAll: isContract(job) && recorder?.isDue(before.recording, job) === true,
    });
    try {
      const poll = await inTurn(async () => applyFetched(job, fetched));
      return poll?.isDense === true ? INTERVALS_AFTER_DENSE_BODY : 1;
    } finally {
      fetched.release();
    }
  }

  /** Reads a document and takes the step with it. In between, scrapes are answered. */
  async function applyFetched(job: PollJob, fetched: Fetched): Promise<Poll | undefined> {
    if (endpointOf(job) === undefined) return undefined;
    // What is kept of the bodies of all endpoints, for the pages, is limited.
    const others = otherStates(job);
    const isOtherServed = others.some((state) => state.target === job.context.target && isServing(state));
    const poll = withinMemory({ ...readFetched(fetched, job.context), isOtherServed }, others);
    await nextTurn();
    const endpoint = endpointOf(job);
    if (endpoint === undefined) return undefined;
    const { state, memory } = timedStep(endpoint, poll, job.context, now());
    const failureLoggedAtMs = logPoll(log, endpoint.state, state, endpoint.failureLoggedAtMs);
    change({ ...endpoint, state, memory, failureLoggedAtMs });
    // A recording has what the node says after a condition begins or ends.
    const haveVerdictsChanged = logVerdictsOf(state.target);
    if (haveVerdictsChanged) {
      recordNext(state.target);
      stateFile?.writeSoon();
    }
    record(job, fetched);
    // Everything else is requested only from a node that has just responded, and is not behind.
    if (state.last?.ok === true) void queries.run(job);
    await nextTurn();
    return poll;
  }

  function otherStates(job: PollJob): readonly EndpointState[] {
    return Array.from(endpoints.values()).flatMap((other) => (other.job === job ? [] : other.state));
  }

  /** The next document of each endpoint of the target is recorded, also the one that was polled just now. */
  function recordNext(target: string): void {
    for (const [key, endpoint] of endpoints) {
      if (endpoint.state.target !== target) continue;
      endpoints.set(key, { ...endpoint, recording: { ...endpoint.recording, isChanged: true } });
    }
  }

  function record(job: PollJob, { outcome, foundPath }: Fetched): void {
    const endpoint = endpointOf(job);
    if (recorder === undefined || endpoint === undefined) return;
    const body = outcome.ok ? { ...outcome, path: foundPath?.path } : undefined;
    const recording = recorder.record(endpoint.recording, endpoint.state, body);
    endpoints.set(endpointId(job.context), { ...endpoint, recording });
  }

  /** The endpoint of another document of the same target. */
  function siblingOf({ context: { target } }: PollJob, document: DocumentName): RunningEndpoint | undefined {
    return endpoints.get(endpointId({ target, document }));
  }

  /** Returns whether a problem of the target has begun or ended. */
  function logVerdictsOf(target: string): boolean {
    const [verdicts] = verdictsOf(
      states.filter((state) => state.target === target),
      now(),
    );
    if (verdicts === undefined) return false;
    const before = loggedVerdicts.get(target) ?? new Map();
    const after = logVerdicts(log, before, verdicts);
    loggedVerdicts.set(target, after);
    return before.size !== after.size || Array.from(after.keys()).some((key) => !before.has(key));
  }

  /** What is remembered of an endpoint that is polled anew. */
  function rememberedBefore({ context }: PollJob, known: RunningEndpoint | undefined): Remembered | undefined {
    return (known && rememberedOf(known)) ?? stateFile?.rememberedOf(context);
  }

  function reconcile(jobs: readonly PollJob[], config: PollConfig, at: Instant): void {
    const previous = endpoints;
    let started = 0;
    endpoints = new Map(
      jobs.map((job) => {
        const limits = limitsOf(job, config);
        const { intervalMs = config.interval } = job;
        const known = previous.get(endpointId(job.context));
        const isKept = known !== undefined && isSameEndpoint(known.job, job);
        const found: Endpoint = isKept
          ? known
          : {
              ...withRemembered(initialEndpoint(job, limits, at), rememberedBefore(job, known)),
              ...knownBefore?.(job),
            };
        const ofQueries = queryStatesOf(job.context, found.state.queries);
        const endpoint: Endpoint = { ...found, state: { ...found.state, ...limits, queries: ofQueries } };
        if (isKept && known.intervalMs === intervalMs && isDeepStrictEqual(known.job, job)) {
          return [endpointId(job.context), { ...known, ...endpoint }];
        }
        started += 1;
        const delayMs = Math.max(0, started - SIMULTANEOUS_STARTS) * START_SPACING_MS;
        const loop = startRepeating(async () => pollEndpoint(job), intervalMs, delayMs);
        return [
          endpointId(job.context),
          { ...endpoint, job, intervalMs, loop, recording: isKept ? known.recording : {} },
        ];
      }),
    );
    states = Array.from(endpoints.values(), ({ state }) => state);
    const targets = new Set(states.map(({ target }) => target));
    for (const target of loggedVerdicts.keys()) if (!targets.has(target)) loggedVerdicts.delete(target);
    for (const [key, { loop }] of previous) if (endpoints.get(key)?.loop !== loop) loop.close();
  }

  return {
    reconcile,
    all: () => Array.from(endpoints.values()),
    states: () => states,
    close: () => {
      isClosed = true;
      for (const { loop } of endpoints.values()) loop.close();
    },
  };
}

function initialEndpoint(job: PollJob, limits: EndpointLimits, addedAt: Instant): Endpoint {
  const state = initialState(job.context, limits, addedAt);
  return { job, state, memory: initialMemory, failureLoggedAtMs: undefined };
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
