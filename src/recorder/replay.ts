import type { Config } from '../config/config.js';
import { endpointId } from '../poll/endpoint-state.js';
import type { RecordedPoll } from './read-recording.js';
import { endpointAfter, holdMs, repeatLast, type ReplayedEndpoint } from './replayed-endpoint.js';

/* The endpoints of a recording over time. */

export interface ReplayEvents {
  /** Called after each recorded poll. */
  readonly onPoll: (endpoint: ReplayedEndpoint, timeMs: number) => void | Promise<void>;
  /** Called at every multiple of the step, with the endpoints whose values still hold. */
  readonly onStep: (endpoints: readonly ReplayedEndpoint[], timeMs: number) => void | Promise<void>;
}

export interface ReplayRange {
  /** Nothing is reported before. Polls of the time before are the past of the endpoints. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly stepMs: number;
}

/** Earlier polls that are read for measured block times, and for the counters of the flow. */
export const WARM_UP_MS = 2 * 3_600_000;

/** Replays recorded polls in the order of time. Resolves with the endpoints at the end. */
export async function replayPolls(
  polls: AsyncIterable<RecordedPoll>,
  config: Config,
  { fromMs, toMs, stepMs }: ReplayRange,
  { onPoll, onStep }: ReplayEvents,
): Promise<readonly ReplayedEndpoint[]> {
  const endpoints = new Map<string, ReplayedEndpoint>();
  const hold = holdMs(config);
  let nextStepMs: number | undefined;

  /** Takes the steps before a point in time. */
  async function stepUntil(untilMs: number): Promise<void> {
    while (nextStepMs !== undefined && nextStepMs < untilMs) {
      const stepAtMs = nextStepMs;
      const held: ReplayedEndpoint[] = [];
      for (const [key, endpoint] of endpoints) {
        if (endpoint.failed === undefined && stepAtMs - endpoint.timeMs > endpoint.state.staleAfterMs) continue;
        const repeated = repeatLast(endpoint, stepAtMs, config.recorder.interval);
        endpoints.set(key, repeated);
        held.push(repeated);
      }
      // oxlint-disable-next-line no-await-in-loop -- one after the other, as fast as they are written
      if (held.length > 0 && stepAtMs >= fromMs) await onStep(held, stepAtMs);
      nextStepMs += stepMs;
    }
  }

  let lastMs = -Infinity;
  for await (const poll of polls) {
    const { timeMs, target } = poll;
    await stepUntil(timeMs);
    nextStepMs ??= Math.ceil(timeMs / stepMs) * stepMs;
    const key = endpointId(poll);
    const endpoint = endpointAfter(endpoints.get(key), poll, config, (sibling) =>
      endpoints.get(endpointId({ target, document: sibling })),
    );
    endpoints.set(key, endpoint);
    lastMs = timeMs;
    // A step at the same time reports it.
    if (timeMs >= fromMs && timeMs !== nextStepMs) await onPoll(endpoint, timeMs);
  }
  await stepUntil(Math.min(toMs, lastMs + hold) + 1);
  return Array.from(endpoints.values());
}
