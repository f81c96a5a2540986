import { compare, decimal } from '../chain/decimal.js';
import type { DocumentPath } from '../chain/dialects.js';
import type { Config, TargetLabels } from '../config/config.js';
import type { DocumentName } from '../documents.js';
import {
  failure,
  failureReasonNames,
  type Failure,
  type FailureReason,
  type PollError,
} from '../http/failure-reasons.js';
import { isWithin, type Instant } from './clock.js';
import type { Phase, PollResult, Snapshot } from './poll.js';

/** The label values that identify an endpoint. */
export interface EndpointKey {
  readonly target: string;
  readonly document: DocumentName;
}

/** The settings that apply to the state of an endpoint. A reload can change them without a poll. */
export type EndpointLimits = Pick<Config['poll'], 'maxBodyBytes' | 'staleAfterMs'>;

/** What the polls of an endpoint have found. Each poll replaces it as a whole. */
export interface EndpointState extends EndpointKey, EndpointLimits {
  readonly targetLabels?: TargetLabels;
  readonly polls: number;
  readonly failures: Readonly<Record<FailureReason, number>>;
  readonly invalidValues: ReadonlyMap<string, number>;
  readonly unknownValues: ReadonlyMap<string, number>;
  /** Number of documents with a lower hub height than the previous one. */
  readonly regressions: number;
  /** The last poll; absent before the first. */
  readonly last?: LastPoll;
  /** The last successful poll, whatever its age. */
  readonly success?: SuccessfulPoll;
  /** The last failed poll, also after a recovery. */
  readonly failure?: { readonly at: Instant; readonly error: PollError };
  readonly regressionsSinceSuccess: number;
}

export interface SuccessfulPoll {
  readonly at: Instant;
  readonly snapshot: Snapshot;
  /** Where the document was found; `undefined` for a recorded body. */
  readonly foundAt: DocumentPath | undefined;
}

export interface LastPoll {
  readonly at: Instant;
  readonly ok: boolean;
  readonly phaseSeconds: Partial<Record<Phase, number>>;
  readonly bodyBytes: number | undefined;
}

/** The third lower height since the last success is accepted, because the node was rolled back or replaced. */
const REGRESSIONS_TO_ACCEPT = 3;

/** The state before the first poll. */
export function initialState(
  { target, targetLabels, document }: Pick<EndpointState, 'target' | 'targetLabels' | 'document'>,
  { maxBodyBytes, staleAfterMs }: EndpointLimits,
): EndpointState {
  const failures = Object.fromEntries(failureReasonNames.map((reason) => [reason, 0])) as Record<FailureReason, number>;
  return {
    target,
    ...(targetLabels && { targetLabels }),
    document,
    maxBodyBytes,
    staleAfterMs,
    polls: 0,
    failures,
    invalidValues: new Map(),
    unknownValues: new Map(),
    regressions: 0,
    regressionsSinceSuccess: 0,
  };
}

/** The last successful poll, unless its series are withdrawn because it is older than `poll.stale_after`. */
export function currentSuccess({ success, staleAfterMs }: EndpointState, now: Instant): SuccessfulPoll | undefined {
  return success !== undefined && isWithin(success.at, now, staleAfterMs) ? success : undefined;
}

/** Returns the state after one more poll. */
export function stateAfter(before: EndpointState, poll: PollResult, at: Instant): EndpointState {
  const isRegression = hasLowerHeight(poll, before.success?.snapshot);
  const consecutiveRegressions = before.regressionsSinceSuccess + (isRegression ? 1 : 0);
  const isRejected = isRegression && consecutiveRegressions < REGRESSIONS_TO_ACCEPT;
  const outcome = isRejected ? regressionFailure(before, poll) : poll.outcome;
  const polled = {
    ...before,
    polls: before.polls + 1,
    regressions: before.regressions + (isRegression ? 1 : 0),
    last: { at, ok: outcome.ok, phaseSeconds: poll.phaseSeconds, bodyBytes: poll.bodyBytes },
  };
  if (!outcome.ok) {
    const { reason } = outcome.error;
    const failures = { ...before.failures, [reason]: before.failures[reason] + 1 };
    return {
      ...polled,
      failures,
      failure: { at, error: outcome.error },
      regressionsSinceSuccess: consecutiveRegressions,
    };
  }
  return {
    ...polled,
    invalidValues: addCounts(before.invalidValues, outcome.problems.invalid),
    unknownValues: addCounts(before.unknownValues, outcome.problems.unknown),
    success: { at, snapshot: outcome, foundAt: poll.foundAt },
    regressionsSinceSuccess: 0,
  };
}

function hasLowerHeight({ outcome }: PollResult, previous: Snapshot | undefined): boolean {
  if (!outcome.ok || outcome.height === undefined || previous?.height === undefined) return false;
  return compare(decimal(outcome.height), decimal(previous.height)) < 0;
}

function regressionFailure({ success }: EndpointState, { outcome }: PollResult): Failure {
  const height = outcome.ok ? outcome.height : undefined;
  const message = `hub height ${height} is below ${success?.snapshot.height} of the previous document`;
  return failure('regression', message);
}

function addCounts(
  counts: ReadonlyMap<string, number>,
  added: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> {
  if (added.size === 0) return counts;
  const total = new Map(counts);
  for (const [field, count] of added) total.set(field, (total.get(field) ?? 0) + count);
  return total;
}
