import type { FailureReason } from '../http/failure-reasons.js';

/* Which polls of an endpoint are recorded. */

/** What is remembered of the polls of an endpoint. Times are on the monotonic clock. */
export interface RecordingMemory {
  /** The outcome of the last poll; `undefined` before the first. */
  readonly outcome?: 'ok' | FailureReason;
  /** When a successful poll was last recorded. */
  readonly okAtMs?: number;
  /** When a body that is not a document was last recorded. */
  readonly failedBodyAtMs?: number;
  /** Whether a problem of the target has begun or ended since the last successful poll. */
  readonly isChanged?: boolean;
}

type Outcome = NonNullable<RecordingMemory['outcome']>;

/** The failures of a response that has a body. */
const FAILURES_WITH_BODY: ReadonlySet<Outcome> = new Set(['not_json', 'schema', 'regression']);

/**
 * Selects a successful poll when the interval has passed, after a failure, and when a problem of the target has begun or ended; the
 * first failure of equal ones; and failures with a body, when the interval has passed. Without an interval, every poll.
 */
export function selectPoll(
  before: RecordingMemory,
  outcome: Outcome,
  nowMs: number,
  intervalMs: number,
): { readonly isSelected: boolean; readonly memory: RecordingMemory } {
  const isDue = (atMs: number | undefined): boolean => atMs === undefined || nowMs - atMs >= intervalMs;
  const isNew = before.outcome !== outcome;
  if (outcome === 'ok') {
    const isSelected = isNew || before.isChanged === true || isDue(before.okAtMs);
    return {
      isSelected,
      memory: { ...before, outcome, isChanged: false, ...(isSelected && { okAtMs: nowMs }) },
    };
  }
  const hasBody = FAILURES_WITH_BODY.has(outcome);
  const isSelected = isNew || intervalMs === 0 || (hasBody && isDue(before.failedBodyAtMs));
  return {
    isSelected,
    memory: { ...before, outcome, ...(isSelected && hasBody && { failedBodyAtMs: nowMs }) },
  };
}
