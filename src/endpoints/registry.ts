import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import { initialMemory, memoryAfter, type EndpointMemory } from '../alerts/memory.js';
import type { DocumentPath } from '../chain/dialects.js';
import type { PollConfig } from '../config/config.js';
import { clock, type Instant } from '../poll/clock.js';
import { initialState, stateAfter, type EndpointLimits, type EndpointState } from '../poll/endpoint-state.js';
import { withNames } from '../poll/jobs.js';
import type { PollExecutor, PollJob } from '../poll/poll.js';
import { isNamesReadDue, namesAfter, NO_NAMES, type NamesState } from '../poll/validator-names.js';
import { logPoll } from './poll-log.js';
import { startRepeating, type Repeating } from '../repeating.js';

/** Everything about one endpoint: how it is polled and what the polls have found. Each change replaces it as a whole. */
export interface Endpoint {
  readonly job: PollJob;
  /** The start of the process, or the reload that added the endpoint. */
  readonly addedAt: Instant;
  readonly state: EndpointState;
  /** What the alert conditions remember of earlier polls. */
  readonly memory: EndpointMemory;
  /** The names of the validators of the target. */
  readonly names: NamesState;
  /** When the present failure was last logged, on the monotonic clock. */
  readonly failureLoggedAtMs: number | undefined;
}

/** The endpoints of the active configuration, in its order. Polls each of them on a timer of its own. */
export interface EndpointRegistry {
  /**
   * Applies a configuration. Endpoints with an unchanged job continue; new and changed ones are polled at once, or within seconds when
   * there are many. An endpoint that is still the same keeps what was found.
   */
  readonly reconcile: (jobs: readonly PollJob[], poll: PollConfig, at: Instant) => void;
  readonly all: () => readonly Endpoint[];
  /** The states of all endpoints. The same array until one of them changes. */
  readonly states: () => readonly EndpointState[];
  /** Stops polling. */
  readonly close: () => void;
}

/** Number of polls that start at once; later ones start one by one, so that a thousand documents are not in memory together. */
const SIMULTANEOUS_STARTS = 16;
const START_SPACING_MS = 10;

interface PolledEndpoint extends Endpoint {
  readonly intervalMs: number;
  readonly loop: Repeating;
}

export function createEndpointRegistry(
  executor: Pick<PollExecutor, 'poll' | 'fetchNames'>,
  log: Logger,
  startedAt: Instant,
  now: () => Instant = clock,
): EndpointRegistry {
  let endpoints = new Map<string, PolledEndpoint>();
  let states: readonly EndpointState[] = [];
  let isClosed = false;

  function change(endpoint: PolledEndpoint): void {
    endpoints.set(keyOf(endpoint.job), endpoint);
    states = Array.from(endpoints.values(), ({ state }) => state);
  }

  /** The endpoint, unless a reload has removed or changed its job, or the registry is closed. */
  function endpointOf(job: PollJob): PolledEndpoint | undefined {
    const endpoint = endpoints.get(keyOf(job));
    return endpoint?.job === job && !isClosed ? endpoint : undefined;
  }

  async function poll(job: PollJob): Promise<void> {
    const before = endpointOf(job);
    if (before === undefined) return;
    const result = await executor.poll(requestOf(before));
    const endpoint = endpointOf(job);
    if (endpoint === undefined) return;
    const state = stateAfter(endpoint.state, result, now());
    const memory = memoryAfter(endpoint, state, startedAt);
    const failureLoggedAtMs = logPoll(log, endpoint.state, state, endpoint.failureLoggedAtMs);
    change({ ...endpoint, state, memory, failureLoggedAtMs });
    // The node responds, so it is the time to ask for the names.
    if (result.outcome.ok) void readNames(job);
  }

  /** Never affects a poll. */
  async function readNames(job: PollJob): Promise<void> {
    const endpoint = endpointOf(job);
    const attemptedAt = now();
    if (job.names === undefined || endpoint === undefined || !isNamesReadDue(endpoint.names, attemptedAt)) return;
    change({ ...endpoint, names: { ...endpoint.names, attemptedAt } });
    const result = await executor.fetchNames(job.names);
    const current = endpointOf(job);
    if (current === undefined) return;
    const names = namesAfter(current.names, result, now());
    change({ ...current, names });
    logNames(log, job.processing.target, current.names, names);
  }

  function reconcile(
    jobs: readonly PollJob[],
    { intervalMs, maxBodyBytes, staleAfterMs }: PollConfig,
    at: Instant,
  ): void {
    const limits = { maxBodyBytes, staleAfterMs };
    const previous = endpoints;
    let started = 0;
    endpoints = new Map(
      jobs.map((job) => {
        const known = previous.get(keyOf(job));
        const isKept = known !== undefined && isSameEndpoint(known.job, job);
        const endpoint: Endpoint = isKept
          ? { ...known, state: { ...known.state, ...limits } }
          : initialEndpoint(job, limits, at);
        if (isKept && known.intervalMs === intervalMs && isDeepStrictEqual(known.job, job)) {
          return [keyOf(job), { ...known, ...endpoint }];
        }
        started += 1;
        const delayMs = Math.max(0, started - SIMULTANEOUS_STARTS) * START_SPACING_MS;
        const loop = startRepeating(async () => poll(job), intervalMs, delayMs);
        const names = job.names === undefined ? NO_NAMES : endpoint.names;
        return [keyOf(job), { ...endpoint, job, names, intervalMs, loop }];
      }),
    );
    states = Array.from(endpoints.values(), ({ state }) => state);
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
  const state = initialState(job.processing, limits);
  return { job, addedAt, state, memory: initialMemory, names: NO_NAMES, failureLoggedAtMs: undefined };
}

function keyOf({ processing: { target, document } }: PollJob): string {
  return JSON.stringify([target, document]);
}

/**
 * Whether what was found by one job is valid for the other: they request the same document of the same node, for series with the same
 * labels. Other credentials or settings change the next poll, and nothing that is known.
 */
function isSameEndpoint(first: PollJob, second: PollJob): boolean {
  const identityOf = ({ processing: { target, targetLabels, document }, baseUrl, paths, query }: PollJob) => ({
    target,
    targetLabels,
    document,
    baseUrl,
    paths,
    query,
  });
  return isDeepStrictEqual(identityOf(first), identityOf(second));
}

/** The next poll: requests first the path at which the last successful poll found the document, and has the names of validators. */
function requestOf({ job, state, names }: Endpoint): PollJob {
  const foundAt = state.success?.foundAt;
  const paths = foundAt === undefined ? job.paths : startingWith(foundAt, job.paths);
  return { ...withNames(job, names.names), paths };
}

function startingWith(first: DocumentPath, paths: readonly DocumentPath[]): readonly DocumentPath[] {
  return [first, ...paths.filter(({ dialect }) => dialect !== first.dialect)];
}

function logNames(log: Logger, target: string, before: NamesState, { failure }: NamesState): void {
  if (failure !== undefined && before.failure === undefined) {
    const { reason, message } = failure;
    log.warn({ target, reason }, `validator names cannot be read, the last ones stay: ${message}`);
  }
  if (failure === undefined && before.failure !== undefined) log.info({ target }, 'validator names are read again');
}
