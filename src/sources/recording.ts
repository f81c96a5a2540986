import { toMilliseconds, type Instant, type Moment } from '../clock.js';
import type { Config } from '../config/config.js';
import { documents } from '../documents.js';
import { createEndpoint, createEngine, type Endpoint } from '../engine/engine.js';
import { endpointId, type EndpointKey } from '../engine/endpoint-state.js';
import { stepContext, targetOptions } from '../engine/jobs.js';
import { createMemory, withMemory } from '../engine/endpoint-memory.js';
import type { EndpointJob, Received } from '../engine/source.js';
import { failure } from '../http/failure-reasons.js';
import type { RecordedExchange, RecordedPoll } from '../recorder/read-recording.js';

/* A recording as a source: it dictates the exchanges and their times. */

/** A recorded poll, or a multiple of the step. */
export interface ReplayMoment {
  readonly timeMs: number;
  readonly now: Moment;
  readonly isStep: boolean;
  /** The polled endpoint; at a step, all endpoints whose values still hold. */
  readonly endpoints: readonly Endpoint[];
}

export interface ReplayRange {
  /** Earlier polls are not reported, but are the past of the endpoints. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly stepMs: number;
}

/** Replays recorded exchanges in the order of time. */
export async function* replay(
  exchanges: AsyncIterable<RecordedExchange>,
  config: Config,
  { fromMs, toMs, stepMs }: ReplayRange,
): AsyncGenerator<ReplayMoment> {
  let now: Moment = { at: 0, clockOffset: 0 };
  let received: Received = failure('internal', 'nothing was recorded');
  const engine = createEngine<EndpointJob>({ source: { document: async () => received }, now: () => now });
  /** The time of the last recorded poll, by endpoint. */
  const polledMs = new Map<string, number>();
  let nextStepMs: number | undefined;

  /** Without a recorded clock, the process clock follows the wall clock. */
  function moveTo(timeMs: number, at: Instant = toMilliseconds(timeMs / 1000 - now.clockOffset)): void {
    now = { at, clockOffset: toMilliseconds(timeMs / 1000 - at) };
  }

  /** Takes the steps before a point in time. */
  function* stepUntil(untilMs: number): Generator<ReplayMoment> {
    for (; nextStepMs !== undefined && nextStepMs < untilMs; nextStepMs += stepMs) {
      const timeMs = nextStepMs;
      moveTo(timeMs);
      // Only the first of equal failures is recorded.
      const isHeld = ({ state }: Endpoint): boolean =>
        state.lastPoll?.ok === false || timeMs - (polledMs.get(endpointId(state)) ?? 0) <= state.staleAfterMs;
      // Without an interval, each poll is recorded.
      if (config.recorder.interval > 0) engine.hold(isHeld);
      const held = engine.endpoints().filter(isHeld);
      if (held.length > 0 && timeMs >= fromMs) yield { timeMs, now, isStep: true, endpoints: held };
    }
  }

  /**
   * The endpoint with this key. A new process continues with the memory of the last one, as with a state file; its
   * counters begin anew.
   */
  function endpointFor(key: EndpointKey, addedMs: number | undefined): Endpoint {
    const current = engine.endpoints().find(({ state }) => endpointId(state) === endpointId(key));
    const isNew =
      addedMs !== undefined &&
      current !== undefined &&
      addedMs > Math.round((current.state.addedAt + now.clockOffset) * 1000);
    if (current !== undefined && !isNew) return current;
    const job = current?.job ?? { context: createContext(key, config) };
    const addedAt = addedMs === undefined ? now.at : toMilliseconds(addedMs / 1000 - now.clockOffset);
    const initial = createEndpoint(job, addedAt);
    const endpoint = { job, state: withMemory(initial.state, current && createMemory(current.state)) };
    engine.replace([...engine.endpoints().filter((each) => each !== current), endpoint]);
    return endpoint;
  }

  let lastMs = -Infinity;
  for await (const exchange of exchanges) {
    const { timeMs } = exchange;
    yield* stepUntil(timeMs);
    if ('query' in exchange) {
      const { clockSeconds, askedSeconds } = exchange;
      moveTo(timeMs, clockSeconds);
      engine.answered(endpointFor(exchange, undefined).job, exchange.query, exchange.exchanges, askedSeconds ?? now.at);
      continue;
    }
    const { header } = exchange;
    nextStepMs ??= Math.ceil(timeMs / stepMs) * stepMs;
    moveTo(timeMs, header.clock);
    const { job } = endpointFor(exchange, header.added === undefined ? undefined : Date.parse(header.added));
    received = createReceived(exchange, now);
    // oxlint-disable-next-line no-await-in-loop -- in the order of time
    await engine.poll(job);
    polledMs.set(endpointId(exchange), timeMs);
    lastMs = timeMs;
    const polled = engine.endpoints().filter(({ job: each }) => each === job);
    // A step at the same time reports it.
    if (timeMs >= fromMs && timeMs !== nextStepMs) yield { timeMs, now, isStep: false, endpoints: polled };
  }
  yield* stepUntil(Math.min(toMs, lastMs + holdMs(config)) + 1);
}

/** How long values hold between two recorded polls: with the default settings, 10 minutes. */
function holdMs({ poll, recorder }: Config): number {
  return poll.stale_after + recorder.interval;
}

function createContext({ target: name, document }: EndpointKey, config: Config) {
  const target = config.targets.find((each) => each.name === name) ?? { name };
  const options = { ...targetOptions(config, target), staleAfterMs: holdMs(config) };
  const { intervalMs } = documents[document].request(target) ?? {};
  return stepContext(options, document, documents[document].recordedSettings(target), intervalMs);
}

function createReceived({ document, header, body: bytes, path: source }: RecordedPoll, now: Moment): Received {
  const { outcome, message = '', height, received, again, phase_seconds: phaseSeconds = {} } = header;
  const receivedAt = received === undefined ? now.at : toMilliseconds(Date.parse(received) / 1000 - now.clockOffset);
  const isAgain = again === true;
  const { call, source: node } = header;
  const nodes = node === undefined ? undefined : [{ source: node, isInUse: true }];
  if (outcome !== 'ok') {
    return {
      ...failure(outcome, message),
      isAgain,
      phaseSeconds,
      nodes,
      ...(bytes.length > 0 && { bodyBytes: bytes.length }),
    };
  }
  const servedPath = documents[document].paths.find(({ path }) => path === header.path);
  const body = {
    bytes,
    source,
    height,
    receivedAt,
    servedPath,
    ...(call && { additionalInput: { call } }),
  };
  return {
    ok: true,
    ...body,
    isAgain,
    isAccepted: true,
    phaseSeconds,
    nodes,
  };
}
