import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import type { Clock, Instant } from '../clock.js';
import { OUTDATED_MS } from '../config/config.js';
import { documents } from '../documents.js';
import { enabledQueries } from '../queries/node-queries.js';
import { startRepeating, type Repeating } from '../tasks.js';
import { formatDuration, MINUTE_MS } from '../units.js';
import { createEngine, type Endpoint, type Engine, type Sink } from './engine.js';
import { endpointId, initialState, selectSettings, type EndpointState } from './endpoint-state.js';
import { isContract, type PollJob } from './jobs.js';
import { createPollLog, createProblemLog } from './poll-log.js';
import { createMemory, withMemory, type StateFile } from './state-file.js';
import type { Received, Source } from './source.js';

/** Polls each endpoint of the active configuration on a timer. The endpoints are in the order of the configuration. */
export interface PollLoop extends Pick<Engine<PollJob>, 'endpoints' | 'states'> {
  /**
   * Applies a configuration. Endpoints with an unchanged job continue. New and changed endpoints are polled as soon as
   * there is memory for their bodies. An endpoint whose document, node and labels are unchanged keeps its state.
   */
  readonly reconcile: (jobs: readonly PollJob[], at: Instant) => void;
  /** Stops polling. */
  readonly close: () => void;
}

/** Records exchanges. */
export interface PollRecorder extends Sink {
  /** The next document of each endpoint of the target is recorded, because a problem has begun or ended. */
  readonly recordNext: (target: string) => void;
  readonly forgetOthers: (states: readonly EndpointState[]) => void;
}

/** The pause between two probes of the nodes of an endpoint with several. */
const PROBE_MS = MINUTE_MS;

/** A longer delay would look like polls that have stopped (BridgeEndpointNotPolled). */
const MAX_DELAY_MS = OUTDATED_MS / 2;

/** The server decides when the next poll is, up to half of `poll.stale_after` and 5 minutes. */
function limitRetryAfter(received: Received, { intervalMs, context: { staleAfterMs } }: PollJob): Received {
  if (received.ok || received.error.retryAfterMs === undefined) return received;
  const retryAfterMs = Math.min(received.error.retryAfterMs, staleAfterMs / 2, MAX_DELAY_MS);
  if (retryAfterMs <= intervalMs) return received;
  const message = `${received.error.message}; the next poll is in ${formatDuration(retryAfterMs)} (Retry-After)`;
  return { ...received, error: { ...received.error, message, retryAfterMs } };
}

export interface PollLoopOptions {
  readonly source: Source<PollJob>;
  readonly log: Logger;
  readonly now: Clock;
  /** The states from which the demo continues. */
  readonly demoState?: ((job: PollJob) => EndpointState | undefined) | undefined;
  readonly recorder?: PollRecorder | undefined;
  readonly stateFile?: Pick<StateFile, 'findMemory' | 'writeSoon'> | undefined;
}

export function createPollLoop(options: PollLoopOptions): PollLoop {
  const { source, log, now, demoState, recorder, stateFile } = options;
  const timers = new Map<string, Repeating>();
  // When a problem begins or ends, the next document of each endpoint is recorded, and the memory is written.
  const problemLog = createProblemLog(
    log,
    () => engine.states(),
    now,
    (target) => {
      recorder?.recordNext(target);
      stateFile?.writeSoon();
    },
  );
  const sinks = [createPollLog(log), problemLog, ...(recorder ? [recorder] : [])];
  const engine = createEngine({
    source: {
      ...source,
      document: async (job, ...request) => limitRetryAfter(await source.document(job, ...request), job),
    },
    now,
    sinks,
  });

  /** Returns the least time until the next poll, in milliseconds. */
  async function poll(job: PollJob): Promise<number> {
    const { target, document } = job.context;
    const { after } = documents[document];
    if (after !== undefined) await timers.get(endpointId({ target, document: after }))?.firstRun;
    const { retryAfterMs = 0 } = await engine.poll(job);
    return retryAfterMs;
  }

  /** Polls an endpoint, and observes its nodes if there are several. */
  function startPolling(job: PollJob, firstPauseMs: number): Repeating {
    const polls = startRepeating(async () => poll(job), job.intervalMs, { firstPauseMs });
    if (job.nodes.length === 1) return polls;
    const probes = startRepeating(async () => {
      await polls.firstRun;
      await source.probe?.(job);
    }, PROBE_MS);
    return {
      firstRun: polls.firstRun,
      close: () => {
        polls.close();
        probes.close();
      },
    };
  }

  /** The state with which a new or changed job begins. */
  function stateWith(job: PollJob, previous: Endpoint<PollJob> | undefined, at: Instant): EndpointState {
    const initial = initialState(job.context, at);
    const continued = (): EndpointState => {
      // The previous job was not polled yet, so the memory that it restored still holds.
      if (previous !== undefined && previous.state.lastPoll === undefined) {
        const { restored, problems, nodes } = previous.state;
        return { ...initial, restored, problems, nodes };
      }
      return withMemory(initial, (previous && createMemory(previous.state)) ?? stateFile?.findMemory(job.context));
    };
    const isSame = previous !== undefined && isSameEndpoint(previous.job, job);
    const state = isSame ? previous.state : (demoState?.(job) ?? continued());
    const queries = enabledQueries(job.context, state.queries);
    // With a single node, the node in use before may be gone.
    return { ...state, ...selectSettings(job.context), queries, ...(job.nodes.length === 1 && { nodes: undefined }) };
  }

  function reconcile(jobs: readonly PollJob[], at: Instant): void {
    const previousEndpoints = new Map(engine.endpoints().map((endpoint) => [endpointId(endpoint.state), endpoint]));
    const changed: PollJob[] = [];
    engine.replace(
      jobs.map((job) => {
        const previous = previousEndpoints.get(endpointId(job.context));
        const state = stateWith(job, previous, at);
        if (previous !== undefined && isDeepStrictEqual(previous.job, job)) return { ...previous, state };
        changed.push(job);
        return { job, state };
      }),
    );
    const ids = new Set(engine.states().map(endpointId));
    for (const [id, timer] of timers) {
      if (ids.has(id) && !changed.some(({ context }) => endpointId(context) === id)) continue;
      timer.close();
      timers.delete(id);
    }
    for (const [index, job] of changed.entries()) {
      // The first polls are at once; from the second ones on, polls are spread over the interval.
      const firstPauseMs = job.intervalMs * (1 - index / changed.length);
      timers.set(endpointId(job.context), startPolling(job, firstPauseMs));
    }
    for (const sink of [problemLog, recorder]) sink?.forgetOthers(engine.states());
  }

  return {
    reconcile,
    endpoints: engine.endpoints,
    states: engine.states,
    close: () => {
      for (const timer of timers.values()) timer.close();
      engine.close();
    },
  };
}

/**
 * Whether a state is valid for both jobs: they request the same document, of a node that both have, for series with the
 * same labels. Other credentials or settings change only the next poll. The limit of series must be equal, because
 * tokens and chains would move to or from the series `other`, as if its counters had increased.
 */
function isSameEndpoint(first: PollJob, second: PollJob): boolean {
  const comparedParts = ({ context, paths, query }: PollJob) => {
    const { target, targetLabels, document, maxSeries } = context;
    return [target, targetLabels, document, maxSeries, paths, query];
  };
  // By origin, because the path of a JSON-RPC endpoint is an API key.
  const listUrls = (job: PollJob) => job.nodes.map(({ url }) => (isContract(job) ? url.origin : url));
  const isShared = listUrls(first).some((url) => listUrls(second).some((other) => isDeepStrictEqual(url, other)));
  return isShared && isDeepStrictEqual(comparedParts(first), comparedParts(second));
}
