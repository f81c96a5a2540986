import type { DocumentName } from '../documents.js';
import type { Instant } from '../poll/clock.js';
import type { EndpointState } from '../poll/endpoint-state.js';
import type { Items } from '../pending/items.js';
import type { Snapshots } from '../poll/snapshots.js';
import { isoTime } from './time.js';

/** What the pages show of an endpoint; with `PendingDocument`, the shape of the JSON of `/pending`. */
export interface EndpointView {
  readonly target: string;
  readonly endpoint: DocumentName;
  /** Whether the last poll succeeded; `null` before the first. */
  readonly up: boolean | null;
  /** When the last answer came, ISO 8601; `null` before the first. */
  readonly asOf: string | null;
  /** Age of the last answer. */
  readonly ageSeconds: number | null;
  /** Whether the last answer is recent enough to be shown. */
  readonly shown: boolean;
  /** Kept after a recovery. */
  readonly lastFailure: FailureView | null;
  /** `null` unless the last answer is shown: old items never pass for fresh ones. */
  readonly items: Items | null;
}

export interface FailureView {
  readonly at: string;
  readonly ageSeconds: number;
  /** One of the failure reasons of the metrics. */
  readonly reason: keyof EndpointState['failures'];
  readonly message: string;
}

/** What people call the endpoints. */
export const endpointTitles: Readonly<Record<DocumentName, string>> = {
  module_state: 'Bridge',
  rate_limiter_input: 'Cross-chain',
};

/** The JSON of `/pending`. */
export interface PendingDocument {
  readonly generatedAt: string;
  readonly endpoints: readonly EndpointView[];
}

export function pendingDocument(snapshots: Snapshots, now: Instant): PendingDocument {
  const endpoints = snapshots.all().map((state) => viewOf(state, snapshots.isShown(state, now), now));
  return { generatedAt: isoTime(now.epochSeconds), endpoints };
}

export function viewOf(
  { target, endpoint, last, success, failure }: EndpointState,
  shown: boolean,
  now: Instant,
): EndpointView {
  return {
    target,
    endpoint,
    up: last?.ok ?? null,
    asOf: success ? isoTime(success.at.epochSeconds) : null,
    ageSeconds: success ? ageOf(success.at, now) : null,
    shown,
    lastFailure: failure
      ? { at: isoTime(failure.at.epochSeconds), ageSeconds: ageOf(failure.at, now), ...failure.error }
      : null,
    items: shown && success ? success.snapshot.items : null,
  };
}

/** By the clock that says more, as freshness is judged: one of them may have stood still. */
function ageOf(then: Instant, now: Instant): number {
  return Math.max(0, (now.monotonicMs - then.monotonicMs) / 1000, now.epochSeconds - then.epochSeconds);
}
