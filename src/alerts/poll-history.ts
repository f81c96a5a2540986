import type { FailureReason } from '../http/failure-reasons.js';
import type { DocumentName } from '../documents.js';
import type { Instant } from '../poll/clock.js';
import type { EndpointState } from '../poll/endpoint-state.js';
import type { Snapshot } from '../poll/poll.js';
import { OUTDATED_MINUTES } from './alert.js';
import { samplesOf, type Samples } from './view.js';

/*
 * The recent history of an endpoint, as far as the ranges of the alert rules read it. Bounded:
 * the keys are families, fields and reasons, and the lists have a maximum length.
 */

export interface PollHistory {
  readonly firstPollAt: Instant | undefined;
  readonly firstSuccessAt: Instant | undefined;
  /** The last successful polls, newest last. */
  readonly successes: readonly Instant[];
  /** The last change of families that are judged by it. */
  readonly changes: ReadonlyMap<ChangingFamily, LastChange>;
  /** The last failed polls of each reason, newest last. */
  readonly failures: ReadonlyMap<FailureReason, readonly Instant[]>;
  /** When each field last had an invalid value. */
  readonly invalidAt: ReadonlyMap<string, Instant>;
  /** When each family was last exported. */
  readonly exportedAt: ReadonlyMap<string, Instant>;
}

export interface LastChange {
  readonly value: number;
  /** `undefined` while no change has been observed. */
  readonly at: Instant | undefined;
}

const changingFamilies = [
  'bridge_height',
  'crosschain_height',
  'bridge_params_hash',
  'bridge_external_blacklist_hash',
] as const;

export type ChangingFamily = (typeof changingFamilies)[number];

export const heightFamilies = {
  module_state: 'bridge_height',
  rate_limiter_input: 'crosschain_height',
} as const satisfies Record<DocumentName, ChangingFamily>;

export const MINUTE_MS = 60_000;

/** BridgeExporterInvalidValues reads the invalid values of this range. */
export const INVALID_MINUTES = 10;

/** The height alerts require this many successful polls. */
export const HEIGHT_POLLS = 3;
/** BridgeEndpointMisconfigured requires more than one failure. */
const KEPT_FAILURES = 2;

/** The time between two points. The monotonic clock, because a change of the wall clock is no evidence. */
export function msBetween(from: Instant, to: Instant): number {
  return to.monotonicMs - from.monotonicMs;
}

/** Returns the history after one more poll. */
export function addPoll(before: PollHistory, state: EndpointState, at: Instant): PollHistory {
  const history = { ...before, firstPollAt: before.firstPollAt ?? at };
  const { success, last, failure } = state;
  if (last?.ok !== true || success === undefined) {
    if (failure === undefined) return history;
    const { reason } = failure.error;
    const times = [...(history.failures.get(reason) ?? []), at].slice(-KEPT_FAILURES);
    return { ...history, failures: new Map([...history.failures, [reason, times]]) };
  }
  const { snapshot } = success;
  const samples = samplesOf(snapshot);
  return {
    ...history,
    firstSuccessAt: history.firstSuccessAt ?? at,
    successes: [...history.successes, at].slice(-HEIGHT_POLLS),
    changes: changesAfter(history.changes, samples, at),
    invalidAt: invalidAfter(history.invalidAt, snapshot, at),
    exportedAt: new Map([
      ...history.exportedAt,
      ...Array.from(samples.families(), (name): [string, Instant] => [name, at]),
    ]),
  };
}

/** The history before the first poll. */
export const NO_HISTORY: PollHistory = {
  firstPollAt: undefined,
  firstSuccessAt: undefined,
  successes: [],
  changes: new Map(),
  failures: new Map(),
  invalidAt: new Map(),
  exportedAt: new Map(),
};

function changesAfter(
  before: PollHistory['changes'],
  samples: Samples,
  at: Instant,
): ReadonlyMap<ChangingFamily, LastChange> {
  const changes = new Map(before);
  for (const family of changingFamilies) {
    const value = samples.value(family);
    const last = before.get(family);
    if (value === undefined || value === last?.value) continue;
    changes.set(family, { value, at: last === undefined ? undefined : at });
  }
  return changes;
}

function invalidAfter(
  before: PollHistory['invalidAt'],
  { problems }: Snapshot,
  at: Instant,
): ReadonlyMap<string, Instant> {
  if (before.size === 0 && problems.invalid.size === 0) return before;
  const recent = Array.from(before).filter(([, last]) => msBetween(last, at) < INVALID_MINUTES * MINUTE_MS);
  return new Map([...recent, ...Array.from(problems.invalid.keys(), (field): [string, Instant] => [field, at])]);
}

/** Whether the data is outdated because the height has not changed; false without a height. */
export function isHeightUnchanged(
  { changes }: PollHistory,
  height: number | undefined,
  document: DocumentName,
  now: Instant,
): boolean {
  if (height === undefined) return false;
  const changedAt = changes.get(heightFamilies[document])?.at;
  return changedAt === undefined || msBetween(changedAt, now) >= OUTDATED_MINUTES * MINUTE_MS;
}

/** Since when the height has been the current one, and whether its last change was observed. */
export function heightUnchangedSince(
  { changes, firstSuccessAt }: PollHistory,
  document: DocumentName,
): { readonly since: Instant | undefined; readonly isObserved: boolean } {
  const changedAt = changes.get(heightFamilies[document])?.at;
  return { since: changedAt ?? firstSuccessAt, isObserved: changedAt !== undefined };
}
