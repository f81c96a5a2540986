import { pino } from 'pino';
import { vi } from 'vitest';
import type { Instant } from '../../src/clock.js';
import type { Config } from '../../src/config/config.js';
import { createEndpointRegistry, type EndpointRegistry } from '../../src/endpoints/registry.js';
import { renderEndpoints } from '../../src/exposition/metrics-page.js';
import type { ContractExchange } from '../../src/external/contract-document.js';
import { failure } from '../../src/http/failure-reasons.js';
import { asDecimalString } from '../../src/json/numeral.js';
import { decodeDocument } from '../../src/poll/decode.js';
import { jobsOf } from '../../src/poll/jobs.js';
import type { PollJob, PollResult } from '../../src/poll/poll.js';
import { openDirectory } from '../../src/recorder/directory.js';
import { createRecorder } from '../../src/recorder/recorder.js';

const START_SECONDS = 1_790_000_000;
const PHASES = { fetch: 0.0512, decode: 0.0041, derive: 0.0023 };

export interface Response {
  readonly body: Buffer;
  readonly height: number | undefined;
  /** Of a contract. */
  readonly exchange?: ContractExchange;
}

/** What a simulated node answers to a poll; `undefined` for a node that does not. */
export type Respond = (document: string, job: PollJob, at: Instant) => Response | undefined;

/**
 * The endpoints of a daemon with a recorder, on simulated clocks. The wall clock and the monotonic clock differ, and a poll takes time
 * after its response was received.
 */
export interface RecordedRegistry {
  readonly registry: EndpointRegistry;
  /** Polls all endpoints, and returns the exposition of each after its poll. */
  readonly poll: (respond: Respond) => Promise<Map<string, string>>;
  readonly advance: (ms: number) => void;
  /** A new process, with clocks that continue. */
  readonly restart: () => Promise<void>;
}

export async function startRecordedRegistry(config: Config, directory: string): Promise<RecordedRegistry> {
  let elapsedMs = 0;
  let startedMs = 0;
  const now = (): Instant => ({
    epochSeconds: (START_SECONDS * 1000 + Math.round(elapsedMs)) / 1000,
    // It drifts, and has more digits than milliseconds.
    monotonicMs: (elapsedMs - startedMs) * 1.00001 + 0.123_456,
  });
  let respond: Respond = () => undefined;
  const executor = {
    poll: async (job: PollJob): Promise<PollResult> => {
      // As with a network, the polls of all endpoints begin before the first one ends.
      await new Promise((resolve) => setImmediate(resolve));
      return pollOnce(job, respond(job.decodeOptions.document, job, now()), now, () => (elapsedMs += 7));
    },
    fetchNames: async () => ({ ...failure('status', 'no names'), isRefused: true }),
    sendQuery: async () => ({ ...failure('status', ''), isRefused: true }),
  };

  async function start(): Promise<EndpointRegistry> {
    startedMs = elapsedMs;
    const writer = openDirectory(directory, 2 ** 40, { sync: false });
    const recorder = createRecorder(pino({ level: 'silent' }), now, (_settings, { onReply }) => ({
      record: (header, body) => {
        writer.write(header, body);
        onReply({ bytes: writer.bytes() }, false);
        return undefined;
      },
      close: async () => undefined,
    }));
    recorder.configure({ ...config.recorder, directory });
    const started = createEndpointRegistry(executor, pino({ level: 'silent' }), now, undefined, recorder);
    return started;
  }

  let registry = await start();
  let isConfigured = false;
  const poll = async (answer: Respond): Promise<Map<string, string>> => {
    respond = answer;
    const before = new Map(registry.states().map((state) => [state.document, state.polls]));
    // By the timers only: the clocks are advanced by the test.
    if (isConfigured) await vi.advanceTimersByTimeAsync(config.poll.intervalMs + 5);
    else {
      registry.reconcile(jobsOf(config), config.poll, now());
      await vi.advanceTimersByTimeAsync(5);
    }
    isConfigured = true;
    return new Map(
      registry
        .states()
        .filter(({ document, polls }) => polls > (before.get(document) ?? 0))
        .map((state) => [state.document, renderEndpoints([state], 'openmetrics', state.last?.at ?? now())]),
    );
  };
  return {
    get registry() {
      return registry;
    },
    poll,
    advance: (ms) => {
      elapsedMs += ms;
    },
    restart: async () => {
      registry.close();
      isConfigured = false;
      registry = await start();
    },
  };
}

function pollOnce(job: PollJob, response: Response | undefined, now: () => Instant, takeTime: () => void): PollResult {
  takeTime();
  if (response === undefined)
    return { outcome: failure('timeout', '/x: timed out'), phaseSeconds: { fetch: PHASES.fetch } };
  const { body, height: number, exchange } = response;
  const height = number === undefined ? undefined : asDecimalString(String(number));
  const at = now();
  takeTime();
  const [foundAt] = job.paths;
  const { decodeOptions: options } = job;
  const externalHeight = options.document === 'module_state' ? options.sideInput?.externalHeight : undefined;
  const ownOptions = options.document === 'external_contract' ? { ...options, sideInput: { exchange } } : options;
  const decoded = decodeDocument(ownOptions, 'test', body, height, at);
  return {
    ...decoded,
    phaseSeconds: PHASES,
    source: 'node/path',
    ...(decoded.outcome.ok && foundAt && { foundAt }),
    body: {
      bytes: Buffer.from(body),
      height,
      at,
      ...(foundAt && { path: foundAt.path }),
      ...(exchange && { exchange }),
      ...(externalHeight !== undefined && { externalHeight }),
      release: () => undefined,
    },
  };
}
