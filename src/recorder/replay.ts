import type { Config } from '../config/config.js';
import { endpointId } from '../poll/endpoint-state.js';
import type { RecordedPoll } from './read-recording.js';
import { endpointAfter, holdMs, repeatLast, type ReplayedEndpoint } from './replayed-endpoint.js';

/** A recorded poll, or a multiple of the step. */
export interface ReplayMoment {
  readonly timeMs: number;
  readonly isStep: boolean;
  /** The endpoint that was polled; at a step, all whose values still hold. */
  readonly endpoints: readonly ReplayedEndpoint[];
}

export interface ReplayRange {
  /** Nothing is reported before. Polls of the time before are the past of the endpoints. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly stepMs: number;
}

/** Replays recorded polls in the order of time. */
export async function* replayPolls(
  polls: AsyncIterable<RecordedPoll>,
  config: Config,
  { fromMs, toMs, stepMs }: ReplayRange,
): AsyncGenerator<ReplayMoment> {
  const endpoints = new Map<string, ReplayedEndpoint>();
  let nextStepMs: number | undefined;

  /** Takes the steps before a point in time. */
  function* stepUntil(untilMs: number): Generator<ReplayMoment> {
    for (; nextStepMs !== undefined && nextStepMs < untilMs; nextStepMs += stepMs) {
      const held: ReplayedEndpoint[] = [];
      for (const [key, endpoint] of endpoints) {
        if (endpoint.failed === undefined && nextStepMs - endpoint.timeMs > endpoint.state.staleAfterMs) continue;
        const repeated = repeatLast(endpoint, nextStepMs, config.recorder.interval);
        endpoints.set(key, repeated);
        held.push(repeated);
      }
      if (held.length > 0 && nextStepMs >= fromMs) yield { timeMs: nextStepMs, isStep: true, endpoints: held };
    }
  }

  let lastMs = -Infinity;
  for await (const poll of polls) {
    const { timeMs, target } = poll;
    yield* stepUntil(timeMs);
    nextStepMs ??= Math.ceil(timeMs / stepMs) * stepMs;
    const key = endpointId(poll);
    const endpoint = endpointAfter(endpoints.get(key), poll, config, (sibling) =>
      endpoints.get(endpointId({ target, document: sibling })),
    );
    endpoints.set(key, endpoint);
    lastMs = timeMs;
    // A step at the same time reports it.
    if (timeMs >= fromMs && timeMs !== nextStepMs) yield { timeMs, isStep: false, endpoints: [endpoint] };
  }
  yield* stepUntil(Math.min(toMs, lastMs + holdMs(config)) + 1);
}
