import type { Instant } from '../poll/clock.js';
import type { EndpointState } from '../poll/endpoint-state.js';
import type { Snapshots } from '../poll/snapshots.js';
import { viewOf, type EndpointView } from './endpoint-view.js';
import { isoTime } from './time.js';

/**
 * `stale`: the last answer is too old, its series are withdrawn. `failing`: the last poll failed; series are those of an answer
 * before it, if there was one. Worst first.
 */
export type Condition = 'stale' | 'failing' | 'unpolled' | 'up';

/** What the status page shows of an endpoint. */
export interface EndpointStatus extends EndpointView {
  readonly condition: Condition;
  /** When its series are withdrawn unless it answers, or were; `null` before the first answer. */
  readonly withdrawal: { readonly at: string; readonly inSeconds: number } | null;
  readonly polls: number;
  /** How often polls failed, by reason; those that never happened are left out. */
  readonly failures: readonly (readonly [reason: string, count: number])[];
  /** All phases of the last poll. */
  readonly lastPollSeconds: number | null;
  readonly bodyBytes: number | null;
  readonly maxBodyBytes: number;
  /** Fields of the last answer that have a value of the wrong kind. */
  readonly unreadable: readonly string[];
}

export function endpointStatuses(snapshots: Snapshots, now: Instant, staleAfterMs: number): readonly EndpointStatus[] {
  return snapshots.all().map((state) => statusOf(state, snapshots.isShown(state, now), now, staleAfterMs / 1000));
}

function statusOf(state: EndpointState, shown: boolean, now: Instant, staleAfterSeconds: number): EndpointStatus {
  const view = viewOf(state, shown, now);
  const { polls, last, success, failure, maxBodyBytes } = state;
  const inSeconds = view.ageSeconds === null ? null : staleAfterSeconds - view.ageSeconds;
  return {
    ...view,
    condition: conditionOf(view),
    withdrawal: inSeconds === null ? null : { at: isoTime(now.epochSeconds + inSeconds), inSeconds },
    polls,
    failures: failure ? Object.entries(state.failures).filter(([, count]) => count > 0) : [],
    lastPollSeconds: last ? Object.values(last.seconds).reduce((sum, seconds) => sum + seconds, 0) : null,
    bodyBytes: last?.bodyBytes ?? null,
    maxBodyBytes,
    unreadable: success && shown ? Array.from(success.snapshot.problems.invalid.keys()) : [],
  };
}

function conditionOf({ up, shown, asOf }: EndpointView): Condition {
  if (up === null) return 'unpolled';
  if (asOf !== null && !shown) return 'stale';
  return up ? 'up' : 'failing';
}
