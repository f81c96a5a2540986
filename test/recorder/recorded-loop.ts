import { setImmediate as nextTurn } from 'node:timers/promises';
import { pino } from 'pino';
import { vi } from 'vitest';
import { toMilliseconds, type Clock, type Moment } from '../../src/clock.js';
import type { Config } from '../../src/config/config.js';
import type { SteppedPoll } from '../../src/engine/engine.js';
import { endpointId } from '../../src/engine/endpoint-state.js';
import { createPollLoop, type PollLoop, type SavedMemory } from '../../src/engine/loop.js';
import { createMemory } from '../../src/engine/endpoint-memory.js';
import { renderEndpoints } from '../../src/exposition/metrics-page.js';
import type { DocumentName } from '../../src/document-types.js';
import type { ContractCall } from '../../src/facts/contract/multicall.js';
import type { NodeQuery, QueryRequest } from '../../src/queries/query.js';
import type { QueryResponse } from '../../src/simulator/query-service.js';
import { createExchange } from '../../src/sources/simulated-node.js';
import { createJobs, type PollJob } from '../../src/engine/jobs.js';
import type { DocumentRequest } from '../../src/engine/source.js';
import type { Received } from '../../src/engine/source.js';
import { openDirectory, type RecordingDirectory } from '../../src/recorder/directory.js';
import { createRecorder } from '../../src/recorder/recorder.js';
import { read, written } from '../state/simulated-process.js';
import { failedFetch, fetchedBody } from '../support/polls.js';

const START_SECONDS = 1_790_000_000;

/** More than between the end of an exchange and what follows from it. */
const IDLE_TURNS = 20;

export interface Response {
  readonly body: Buffer;
  readonly height: number | undefined;
  /** Of a contract. */
  readonly call?: ContractCall | undefined;
}

/** What a simulated node answers to a poll; `undefined` for a node that does not. */
export type Respond = (document: DocumentName, input: DocumentRequest, at: Moment) => Response | undefined;

export interface Fetch {
  readonly job: PollJob;
  readonly input: DocumentRequest;
  readonly received: Received;
}

/**
 * The endpoints of a daemon with a recorder, on simulated clocks. The wall clock and the monotonic clock differ, and a poll takes time
 * after its response was received.
 */
export interface RecordedLoop {
  readonly loop: PollLoop;
  /** Polls all endpoints, and returns the exposition of each after its poll. */
  readonly poll: (respond: Respond) => Promise<Map<string, string>>;
  readonly advance: (ms: number) => void;
  readonly now: Clock;
  /** What was fetched since the start of the test, in this order. */
  readonly fetches: readonly Fetch[];
  /** Stops polling. Resolves when everything is recorded. */
  readonly close: () => Promise<void>;
  /** A new process, which reads the state file of the previous one. */
  readonly restart: () => Promise<void>;
}

export async function startRecordedLoop(
  config: Config,
  directory: string,
  respondToQuery: (path: string, request: QueryRequest) => QueryResponse,
): Promise<RecordedLoop> {
  let elapsedMs = 0;
  /** Each process begins with another offset. */
  let clockOffset = 4.321;
  const now = (): Moment => ({ at: toMilliseconds(START_SECONDS + elapsedMs / 1000), clockOffset });
  let respond: Respond = () => undefined;
  /** Exchanges that have begun and not ended. */
  let running = 0;
  /** The exposition of each endpoint after the present poll. */
  let exported = new Map<string, string>();
  const fetches: Fetch[] = [];
  const source = {
    document: async (job: PollJob, input: DocumentRequest): Promise<Received> => {
      running += 1;
      // As with a network, the polls of all endpoints begin before the first one ends.
      await nextTurn();
      const received = fetchOnce(job, respond(job.context.document, input, now()), now, () => (elapsedMs += 7));
      fetches.push({ job, input, received });
      running -= 1;
      return received;
    },
    query: async (_job: PollJob, query: NodeQuery, request: QueryRequest) => {
      running += 1;
      await nextTurn();
      elapsedMs += 1;
      running -= 1;
      return createExchange(query, request, respondToQuery);
    },
  };

  let writer: RecordingDirectory;
  let recorded = Promise.resolve();

  async function start(saved: readonly string[] = []): Promise<PollLoop> {
    clockOffset -= 1.5;
    const remembered = saved.map((text) => read(text));
    const stateFile: SavedMemory = {
      findMemory: (key) => remembered.find((endpoint) => endpointId(endpoint) === endpointId(key)),
      writeSoon: () => undefined,
    };
    writer = await openDirectory(directory, { sync: false });
    const recorder = createRecorder(pino({ level: 'silent' }), now, {
      open: () => undefined,
      write: (_settings, header, body, queryLines) => {
        recorded = recorded.then(async () => writer.write(header, body, { queryLines }));
      },
      status: () => ({ recorded: 0, failed: 0, bytes: undefined, failure: undefined }),
      close: async () => undefined,
    });
    recorder.configure({ ...config.recorder, directory });
    const exporting = {
      ...recorder,
      polled: (poll: SteppedPoll): void => {
        recorder.polled?.(poll);
        const { document, lastPoll } = poll.after;
        exported.set(
          document,
          renderEndpoints([poll.after], 'openmetrics', { ...now(), at: lastPoll?.at ?? now().at }),
        );
      },
    };
    return createPollLoop({ source, log: pino({ level: 'silent' }), now, recorder: exporting, stateFile });
  }

  /** Waits until all exchanges have ended and all steps are taken. */
  async function settle(): Promise<void> {
    // The first poll of a contract begins after that of its module state.
    const isWaiting = (): boolean => running > 0 || loop.states().some(({ polls }) => polls === 0);
    for (let idleTurns = 0; idleTurns < IDLE_TURNS; idleTurns = isWaiting() ? 0 : idleTurns + 1) {
      // oxlint-disable-next-line no-await-in-loop -- as many turns as it takes
      await nextTurn();
    }
    await recorded;
  }

  let loop = await start();
  let isConfigured = false;
  const poll = async (answer: Respond): Promise<Map<string, string>> => {
    respond = answer;
    exported = new Map();
    // By the timers only: the clocks are advanced by the test.
    if (isConfigured) await vi.advanceTimersByTimeAsync(config.poll.interval + 5);
    else {
      loop.reconcile(createJobs(config), now().at);
      await vi.advanceTimersByTimeAsync(5);
    }
    isConfigured = true;
    await settle();
    return exported;
  };
  return {
    get loop() {
      return loop;
    },
    poll,
    now,
    fetches,
    advance: (ms) => {
      elapsedMs += ms;
    },
    restart: async () => {
      loop.close();
      isConfigured = false;
      const saved = loop.states().flatMap((state) => createMemory(state) ?? []);
      loop = await start(saved.map((remembered) => written(remembered, now())));
    },
    close: async () => {
      loop.close();
      await recorded;
    },
  };
}

function fetchOnce(job: PollJob, response: Response | undefined, now: () => Moment, takeTime: () => void): Received {
  takeTime();
  if (response === undefined) return failedFetch('timeout', '/x: timed out');
  const { body: bytes, height: number, call } = response;
  const height = number === undefined ? undefined : String(number);
  const receivedAt = now();
  takeTime();
  const [servedPath] = job.paths;
  const body = {
    bytes,
    source: 'node/path',
    height,
    receivedAt: receivedAt.at,
    ...(call && { additionalInput: { call } }),
    servedPath,
  };
  return fetchedBody(body);
}
