import { failureReasonNames, type PollError, type FailureReason } from '../http/errors.js';
import type { FailedPoll, PollResult, Phase, Snapshot } from './collect.js';
import type { DocumentName } from '../documents.js';
import { compare, decimal } from '../chain/decimal.js';

/** When something happened: as people tell it, and on a clock that nobody sets, to measure ages by. */
export interface Instant {
  readonly epochSeconds: number;
  readonly monotonicMs: number;
}

/** All that is known of one endpoint of one target. Replaced whole by each poll, so no reader sees half of one. */
export interface EndpointState {
  readonly target: string;
  readonly endpoint: DocumentName;
  readonly maxBodyBytes: number;
  readonly polls: number;
  readonly failures: Readonly<Record<FailureReason, number>>;
  readonly invalidValues: ReadonlyMap<string, number>;
  readonly unknownValues: ReadonlyMap<string, number>;
  readonly regressions: number;
  /** The last poll; absent before the first. */
  readonly last?: LastPoll;
  /** The last success, kept while polls fail; how long it is shown is decided by whoever shows it. */
  readonly success?: { readonly at: Instant; readonly snapshot: Snapshot };
  /** The last failure, kept after a recovery for people to read. */
  readonly failure?: { readonly at: Instant; readonly error: PollError };
  readonly regressionsInARow: number;
}

export interface LastPoll {
  readonly at: Instant;
  readonly ok: boolean;
  readonly seconds: Partial<Record<Phase, number>>;
  readonly bodyBytes: number | undefined;
}

/** A node that was rolled back, or was replaced by another, is believed when it has said so this many times running. */
const REGRESSIONS_TO_ACCEPT = 3;

export function initialState(target: string, endpoint: DocumentName, maxBodyBytes: number): EndpointState {
  const failures = Object.fromEntries(failureReasonNames.map((reason) => [reason, 0])) as Record<FailureReason, number>;
  return {
    target,
    endpoint,
    maxBodyBytes,
    polls: 0,
    failures,
    invalidValues: new Map(),
    unknownValues: new Map(),
    regressions: 0,
    regressionsInARow: 0,
  };
}

/** The state after one more poll. */
export function applyPollResult(before: EndpointState, outcome: PollResult, at: Instant): EndpointState {
  const fellBack = isBelow(outcome, before.success?.snapshot);
  const regressionsInARow = fellBack ? before.regressionsInARow + 1 : before.regressionsInARow;
  const result = fellBack && regressionsInARow < REGRESSIONS_TO_ACCEPT ? regression(before, outcome) : outcome.result;
  const polled = {
    ...before,
    polls: before.polls + 1,
    regressions: before.regressions + (fellBack ? 1 : 0),
    last: { at, ok: result.ok, seconds: outcome.seconds, bodyBytes: outcome.bodyBytes },
  };
  if (!result.ok) {
    const { reason } = result.error;
    const failures = { ...before.failures, [reason]: before.failures[reason] + 1 };
    return { ...polled, failures, failure: { at, error: result.error }, regressionsInARow };
  }
  return {
    ...polled,
    invalidValues: added(before.invalidValues, result.problems.invalid),
    unknownValues: added(before.unknownValues, result.problems.unknown),
    success: { at, snapshot: result },
    regressionsInARow: 0,
  };
}

/** Whether a success is recent enough to be shown. A clock that stands still keeps old data fresh, so two are asked. */
export function isFresh(at: Instant, now: Instant, staleAfterMs: number): boolean {
  const age = now.monotonicMs - at.monotonicMs;
  const wallAge = (now.epochSeconds - at.epochSeconds) * 1000;
  return age <= staleAfterMs && wallAge <= staleAfterMs;
}

function isBelow({ result }: PollResult, known: Snapshot | undefined): boolean {
  if (!result.ok || result.height === undefined || known?.height === undefined) return false;
  return compare(decimal(result.height), decimal(known.height)) < 0;
}

function regression({ success }: EndpointState, { result }: PollResult): FailedPoll {
  const height = result.ok ? result.height : undefined;
  const message = `the answer is of hub height ${height}, below ${success?.snapshot.height} of the one before`;
  return { ok: false, error: { reason: 'regression', message } };
}

function added(before: ReadonlyMap<string, number>, more: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  if (more.size === 0) return before;
  const total = new Map(before);
  for (const [field, count] of more) total.set(field, (total.get(field) ?? 0) + count);
  return total;
}
