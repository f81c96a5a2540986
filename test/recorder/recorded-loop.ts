import { setImmediate as nextTurn } from 'node:timers/promises';
import { pino } from 'pino';
import { vi } from 'vitest';
import type { Instant } from '../../src/clock.js';
import type { Config } from '../../src/config/config.js';
import { endpointId } from '../../src/poll/endpoint-state.js';
import { createPollLoop, type PollLoop, type SavedMemory } from '../../src/poll/loop.js';
import { rememberedOf } from '../../src/poll/remembered.js';
import { renderEndpoints } from '../../src/exposition/metrics-page.js';
import type { ContractExchange, DocumentName } from '../../src/document-types.js';
import { failure } from '../../src/http/failure-reasons.js';
import { jobsOf, type PollInput, type PollJob } from '../../src/poll/jobs.js';
import type { Received } from '../../src/poll/fetch.js';
import { openDirectory, type RecordingDirectory } from '../../src/recorder/directory.js';
import { createRecorder } from '../../src/recorder/recorder.js';
import { read, written } from '../state/simulated-process.js';
import { failedFetch, fetchedBody } from '../support/polls.js';

const START_SECONDS = 1_790_000_000;

export interface Response {
  readonly body: Buffer;
  readonly height: number | undefined;
  /** Of a contract. */
  readonly exchange?: ContractExchange;
}

/** What a simulated node answers to a poll; `undefined` for a node that does not. */
export type Respond = (document: DocumentName, input: PollInput, at: Instant) => Response | undefined;

export interface Fetch {
  readonly job: PollJob;
  readonly input: PollInput;
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
  /** What was fetched since the start of the test, in this order. */
  readonly fetches: readonly Fetch[];
  /** Stops polling. Resolves when everything is recorded. */
  readonly close: () => Promise<void>;
  /** A new process, which reads the state file of the previous one. */
  readonly restart: () => Promise<void>;
}

export async function startRecordedLoop(config: Config, directory: string): Promise<RecordedLoop> {
  let elapsedMs = 0;
  let startedMs = 0;
  const now = (): Instant => ({
    epochSeconds: (START_SECONDS * 1000 + Math.round(elapsedMs)) / 1000,
    // It drifts, and has more digits than milliseconds.
    monotonicMs: (elapsedMs - startedMs) * 1.00001 + 0.123_456,
  });
  let respond: Respond = () => undefined;
  let started = 0;
  const fetches: Fetch[] = [];
  const executor = {
    fetch: async (job: PollJob, input: PollInput): Promise<Received> => {
      started += 1;
      // As with a network, the polls of all endpoints begin before the first one ends.
      await nextTurn();
      const received = fetchOnce(job, input, respond(job.context.document, input, now()), now, () => (elapsedMs += 7));
      fetches.push({ job, input, received });
      return received;
    },
    sendQuery: async () => ({ ...failure('status', ''), isRefused: true }),
  };

  let writer: RecordingDirectory;
  let recorded = Promise.resolve();

  async function start(saved: readonly string[] = []): Promise<PollLoop> {
    startedMs = elapsedMs;
    const remembered = saved.map((text) => read(text, now()));
    const stateFile: SavedMemory = {
      rememberedOf: (key) => remembered.find((endpoint) => endpointId(endpoint) === endpointId(key)),
      writeSoon: () => undefined,
    };
    writer = await openDirectory(directory, 2 ** 40, { sync: false });
    const recorder = createRecorder(pino({ level: 'silent' }), now, () => ({
      record: (header, body) => {
        recorded = recorded.then(async () => writer.write(header, body));
      },
      status: () => ({ recorded: 0, failed: 0, bytes: undefined, failure: undefined }),
      close: async () => undefined,
    }));
    recorder.configure({ ...config.recorder, directory });
    return createPollLoop({ executor, log: pino({ level: 'silent' }), now, recorder, stateFile });
  }

  /** Waits until the steps of all polls that have started are taken. */
  async function settle(): Promise<void> {
    // The first poll of a contract begins after that of its module state.
    const isWaiting = (): boolean => loop.states().some(({ polls }) => polls === 0);
    // oxlint-disable-next-line no-await-in-loop -- as many turns as it takes
    while (pollsOf(loop) < started || isWaiting()) await nextTurn();
    await recorded;
  }

  let loop = await start();
  let isConfigured = false;
  const poll = async (answer: Respond): Promise<Map<string, string>> => {
    respond = answer;
    const before = new Map(loop.states().map((state) => [state.document, state.polls]));
    // By the timers only: the clocks are advanced by the test.
    if (isConfigured) await vi.advanceTimersByTimeAsync(config.poll.interval + 5);
    else {
      loop.reconcile(jobsOf(config), now());
      await vi.advanceTimersByTimeAsync(5);
    }
    isConfigured = true;
    await settle();
    return new Map(
      loop
        .states()
        .filter(({ document, polls }) => polls > (before.get(document) ?? 0))
        .map((state) => [state.document, renderEndpoints([state], 'openmetrics', state.lastPoll?.at ?? now())]),
    );
  };
  return {
    get loop() {
      return loop;
    },
    poll,
    fetches,
    advance: (ms) => {
      elapsedMs += ms;
    },
    restart: async () => {
      loop.close();
      isConfigured = false;
      started = 0;
      const saved = loop.states().flatMap((state) => rememberedOf(state) ?? []);
      loop = await start(saved.map((remembered) => written(remembered, now())));
    },
    close: async () => {
      loop.close();
      await recorded;
    },
  };
}

function pollsOf(loop: PollLoop): number {
  return loop.states().reduce((sum, { polls }) => sum + polls, 0);
}

function fetchOnce(
  job: PollJob,
  { otherAnswers }: PollInput,
  response: Response | undefined,
  now: () => Instant,
  takeTime: () => void,
): Received {
  takeTime();
  if (response === undefined) return failedFetch('timeout', '/x: timed out');
  const { body: bytes, height: number, exchange } = response;
  const height = number === undefined ? undefined : String(number);
  const receivedAt = now();
  takeTime();
  const [foundPath] = job.paths;
  const body = {
    bytes,
    source: 'node/path',
    height,
    receivedAt,
    otherAnswers: exchange === undefined ? otherAnswers : { ...exchange, ...otherAnswers },
    foundPath,
  };
  return fetchedBody(body);
}
