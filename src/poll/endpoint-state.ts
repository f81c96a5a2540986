import { compare, decimal } from '../chain/decimal.js';
import type { DocumentName } from '../documents.js';
import { failureReasonNames, type FailureReason, type PollError } from '../http/errors.js';
import type { Instant } from './clock.js';
import type { FailedPoll, Phase, PollResult, Snapshot } from './collect.js';

/** The state of one endpoint of one target. Immutable: each poll replaces it as a whole. */
export interface EndpointState {
  readonly target: string;
  readonly document: DocumentName;
  readonly maxBodyBytes: number;
  readonly polls: number;
  readonly failures: Readonly<Record<FailureReason, number>>;
  readonly invalidValues: ReadonlyMap<string, number>;
  readonly unknownValues: ReadonlyMap<string, number>;
  readonly regressions: number;
  /** The last poll; absent before the first. */
  readonly last?: LastPoll;
  /** The last successful poll, whatever its age. */
  readonly success?: { readonly at: Instant; readonly snapshot: Snapshot };
  /** The last failed poll, also after a recovery. */
  readonly failure?: { readonly at: Instant; readonly error: PollError };
  readonly consecutiveRegressions: number;
}

export interface LastPoll {
  readonly at: Instant;
  readonly ok: boolean;
  readonly phaseSeconds: Partial<Record<Phase, number>>;
  readonly bodyBytes: number | undefined;
}

/** Number of consecutive regressions after which a lower height is accepted: the node was rolled back or replaced. */
const REGRESSIONS_TO_ACCEPT = 3;

export function initialState(target: string, endpoint: DocumentName, maxBodyBytes: number): EndpointState {
  const failures = Object.fromEntries(failureReasonNames.map((reason) => [reason, 0])) as Record<FailureReason, number>;
  return {
    target,
    document: endpoint,
    maxBodyBytes,
    polls: 0,
    failures,
    invalidValues: new Map(),
    unknownValues: new Map(),
    regressions: 0,
    consecutiveRegressions: 0,
  };
}

/** Returns the state after one more poll. */
export function applyPollResult(before: EndpointState, poll: PollResult, at: Instant): EndpointState {
  const isRegression = isBelow(poll, before.success?.snapshot);
  const consecutiveRegressions = before.consecutiveRegressions + (isRegression ? 1 : 0);
  const isRejected = isRegression && consecutiveRegressions < REGRESSIONS_TO_ACCEPT;
  const result = isRejected ? regressionFailure(before, poll) : poll.outcome;
  const polled = {
    ...before,
    polls: before.polls + 1,
    regressions: before.regressions + (isRegression ? 1 : 0),
    last: { at, ok: result.ok, phaseSeconds: poll.phaseSeconds, bodyBytes: poll.bodyBytes },
  };
  if (!result.ok) {
    const { reason } = result.error;
    const failures = { ...before.failures, [reason]: before.failures[reason] + 1 };
    return { ...polled, failures, failure: { at, error: result.error }, consecutiveRegressions };
  }
  return {
    ...polled,
    invalidValues: addCounts(before.invalidValues, result.problems.invalid),
    unknownValues: addCounts(before.unknownValues, result.problems.unknown),
    success: { at, snapshot: result },
    consecutiveRegressions: 0,
  };
}

function isBelow({ outcome: result }: PollResult, previous: Snapshot | undefined): boolean {
  if (!result.ok || result.height === undefined || previous?.height === undefined) return false;
  return compare(decimal(result.height), decimal(previous.height)) < 0;
}

function regressionFailure({ success }: EndpointState, { outcome: result }: PollResult): FailedPoll {
  const height = result.ok ? result.height : undefined;
  const message = `hub height ${height} is below ${success?.snapshot.height} of the previous document`;
  return { ok: false, error: { reason: 'regression', message } };
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
