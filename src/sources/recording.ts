import type { Moment } from '../clock.js';
import type { Config } from '../config/config.js';
import { documents } from '../documents.js';
import { createEndpoint, createEngine, type Endpoint } from '../engine/engine.js';
import { endpointId, type EndpointKey, type EndpointState } from '../engine/endpoint-state.js';
import { stepContext, targetOptions } from '../engine/jobs.js';
import type { EndpointJob, Received } from '../engine/source.js';
import { failure } from '../http/failure-reasons.js';
import type { RecordedPoll } from '../recorder/read-recording.js';

/*
 * A recording as a source: it dictates the polls and their times. Other queries of the node have no recorded answers,
 * so that what needs them is not judged.
 */

/** A recorded poll, or a multiple of the step. */
export interface ReplayMoment {
  readonly timeMs: number;
  readonly now: Moment;
  readonly isStep: boolean;
  /** Of the polled endpoint; at a step, of all endpoints whose values still hold. */
  readonly states: readonly EndpointState[];
}

interface ReplayRange {
  /** Earlier polls are not reported, but are the past of the endpoints. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly stepMs: number;
}

/** Replays recorded polls in the order of time. */
export async function* replay(
  polls: AsyncIterable<RecordedPoll>,
  config: Config,
  { fromMs, toMs, stepMs }: ReplayRange,
): AsyncGenerator<ReplayMoment> {
  let now: Moment = { at: 0, clockOffset: 0 };
  let received: Received = failure('internal', 'nothing was recorded');
  const engine = createEngine<EndpointJob>({ source: { document: async () => received }, now: () => now });
  let nextStepMs: number | undefined;

  /** Takes the steps before a point in time. */
  function* stepUntil(untilMs: number): Generator<ReplayMoment> {
    for (; nextStepMs !== undefined && nextStepMs < untilMs; nextStepMs += stepMs) {
      now = { at: nextStepMs / 1000, clockOffset: 0 };
      const states = engine.states().flatMap((state) => heldState(state, now));
      if (states.length > 0 && nextStepMs >= fromMs) yield { timeMs: nextStepMs, now, isStep: true, states };
    }
  }

  function endpointFor(key: EndpointKey): Endpoint {
    const known = engine.endpoints().find(({ state }) => endpointId(state) === endpointId(key));
    if (known !== undefined) return known;
    const endpoint = createEndpoint({ context: createContext(key, config) }, now.at);
    engine.replace([...engine.endpoints(), endpoint]);
    return endpoint;
  }

  let lastMs = -Infinity;
  for await (const poll of polls) {
    const { timeMs } = poll;
    yield* stepUntil(timeMs);
    nextStepMs ??= Math.ceil(timeMs / stepMs) * stepMs;
    now = { at: timeMs / 1000, clockOffset: 0 };
    received = createReceived(poll, now);
    const { job } = endpointFor(poll);
    // oxlint-disable-next-line no-await-in-loop -- in the order of time
    await engine.poll(job);
    lastMs = timeMs;
    const states = engine.states().filter((state) => endpointId(state) === endpointId(poll));
    // A step at the same time reports the poll.
    if (timeMs >= fromMs && timeMs !== nextStepMs) yield { timeMs, now, isStep: false, states };
  }
  yield* stepUntil(Math.min(toMs, lastMs + holdMs(config)) + 1);
}

/** How long values hold between two recorded polls: with the default settings, 10 minutes. */
function holdMs({ poll, recorder }: Config): number {
  return poll.stale_after + recorder.interval;
}

/** The state between two recorded polls, as if a poll had the same result now; none if the last one is too old. */
function heldState(state: EndpointState, { at }: Moment): readonly EndpointState[] {
  const { lastPoll, lastSuccess, staleAfterMs } = state;
  if (lastPoll === undefined) return [];
  // Only the first of equal failures is recorded.
  if (!lastPoll.ok) return [{ ...state, lastPoll: { ...lastPoll, at } }];
  if (lastSuccess === undefined || (at - lastPoll.at) * 1000 > staleAfterMs) return [];
  return [{ ...state, lastPoll: { ...lastPoll, at }, lastSuccess: { ...lastSuccess, at } }];
}

function createContext({ target: name, document }: EndpointKey, config: Config) {
  const target = config.targets.find((each) => each.name === name) ?? { name };
  const options = {
    ...targetOptions(config, target),
    staleAfterMs: holdMs(config),
    // Unless every poll is recorded, the polls that would confirm a problem are missing.
    isSinglePoll: config.recorder.interval > 0,
  };
  const { intervalMs } = documents[document].request(target) ?? {};
  return stepContext(options, document, documents[document].recordedSettings(target), intervalMs);
}

function createReceived({ document, header, body: bytes, path: source }: RecordedPoll, { at }: Moment): Received {
  const { outcome, message = '', height, path, call } = header;
  if (outcome !== 'ok') return { ...failure(outcome, message), ...(bytes.length > 0 && { body: bytes }) };
  return {
    ok: true,
    bytes,
    source,
    height,
    receivedAt: at,
    servedPath: documents[document].paths.find((each) => each.path === path),
    ...(call && { additionalInput: { call } }),
    isAccepted: true,
  };
}
