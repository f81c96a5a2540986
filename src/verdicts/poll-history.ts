import type { FailureReason } from '../http/errors.js';
import type { DocumentName } from '../documents.js';
import type { JudgedFamily } from '../metrics/judged-families.js';
import type { Instant } from '../poll/clock.js';
import type { EndpointState } from '../poll/endpoint-store.js';
import type { Snapshot } from '../poll/poll.js';
import { samplesOf, type Samples } from './samples.js';

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
  /** Recent periods in which alerts on the samples were suspended, oldest first. */
  readonly interruptions: readonly Interruption[];
  /** The last failed polls of each reason, newest last. */
  readonly failures: ReadonlyMap<FailureReason, readonly Instant[]>;
  /** When each field last had an invalid value. */
  readonly invalidAt: ReadonlyMap<string, Instant>;
  /** When each family was last exported. */
  readonly exportedAt: ReadonlyMap<JudgedFamily, Instant>;
}

export interface LastChange {
  readonly value: number;
  /** `undefined` while no change has been observed. */
  readonly at: Instant | undefined;
}

/** A period in which an alert rule found nothing although its condition may have held. */
export interface Interruption {
  readonly fromMs: number;
  readonly untilMs: number;
  /** Whether the series were withdrawn, so that `offset` does not find them either. Otherwise they were outdated. */
  readonly isWithdrawn: boolean;
}

const changingFamilies = [
  'bridge_height',
  'crosschain_height',
  'bridge_params_hash',
  'bridge_external_blacklist_hash',
] as const satisfies readonly JudgedFamily[];

export type ChangingFamily = (typeof changingFamilies)[number];

const heightFamilies = {
  module_state: 'bridge_height',
  rate_limiter_input: 'crosschain_height',
} as const satisfies Record<DocumentName, ChangingFamily>;

export const MINUTE_MS = 60_000;

/** Data without a successful poll for this long, or with a height that has not changed for this long, is not judged. */
export const OUTDATED_MINUTES = 10;

/** BridgeExporterInvalidValues reads the invalid values of this range. */
export const INVALID_MINUTES = 10;

/** The height alerts require this many successful polls. */
export const HEIGHT_POLLS = 3;
/** BridgeEndpointMisconfigured requires more than one failure. */
const KEPT_FAILURES = 2;
/** The longest range and `for` of all rules are 180 + 5 minutes, `keep_firing_for` is 20. */
const KEPT_INTERRUPTION_MS = 4 * 60 * MINUTE_MS;
/** With a very short poll.stale_after there can be many; the oldest are dropped. */
const MAX_INTERRUPTIONS = 50;

/** The time between two points. The monotonic clock, because a change of the wall clock is no evidence. */
export function msBetween(from: Instant, to: Instant): number {
  return to.monotonicMs - from.monotonicMs;
}

/** Returns the history after one more poll. */
export function addPoll(
  before: PollHistory,
  previous: EndpointState['success'],
  state: EndpointState,
  at: Instant,
  staleAfterMs: number,
): PollHistory {
  const history = { ...before, firstPollAt: before.firstPollAt ?? at };
  const { success, last, failure, document } = state;
  if (last?.ok !== true || success === undefined) {
    if (failure === undefined) return history;
    const { reason } = failure.error;
    const times = [...(history.failures.get(reason) ?? []), at].slice(-KEPT_FAILURES);
    return { ...history, failures: new Map([...history.failures, [reason, times]]) };
  }
  const { snapshot } = success;
  const samples = samplesOf(snapshot);
  const changes = changesAfter(history.changes, samples, at);
  const height = heightFamilies[document];
  const found = [
    ...(hasChangedAt(changes, height, at) ? outdatedBefore(history, height, at) : []),
    ...(previous === undefined ? [] : withdrawnBetween(previous.at, at, staleAfterMs)),
  ];
  return {
    ...history,
    firstSuccessAt: history.firstSuccessAt ?? at,
    successes: [...history.successes, at].slice(-HEIGHT_POLLS),
    changes,
    interruptions: [...history.interruptions, ...found]
      .filter(({ untilMs }) => at.monotonicMs - untilMs < KEPT_INTERRUPTION_MS)
      .slice(-MAX_INTERRUPTIONS),
    invalidAt: invalidAfter(history.invalidAt, snapshot, at),
    exportedAt: new Map([
      ...history.exportedAt,
      ...Array.from(samples.families(), (name): [JudgedFamily, Instant] => [name, at]),
    ]),
  };
}

/** The history before the first poll. */
export const NO_HISTORY: PollHistory = {
  firstPollAt: undefined,
  firstSuccessAt: undefined,
  successes: [],
  changes: new Map(),
  interruptions: [],
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

function hasChangedAt(changes: PollHistory['changes'], family: ChangingFamily, at: Instant): boolean {
  return changes.get(family)?.at === at;
}

/** The period before a change of the height in which the data was outdated: also from the first poll to the first change. */
function outdatedBefore(history: PollHistory, height: ChangingFamily, at: Instant): Interruption[] {
  const changedAt = history.changes.get(height)?.at;
  const since = changedAt ?? history.firstSuccessAt;
  if (since === undefined) return [];
  const fromMs = since.monotonicMs + (changedAt === undefined ? 0 : OUTDATED_MINUTES * MINUTE_MS);
  return fromMs < at.monotonicMs ? [{ fromMs, untilMs: at.monotonicMs, isWithdrawn: false }] : [];
}

/** The period between two successful polls in which the series were withdrawn or outdated. */
export function withdrawnBetween(success: Instant, at: Instant, staleAfterMs: number): Interruption[] {
  const untilMs = at.monotonicMs;
  const withdrawnMs = success.monotonicMs + staleAfterMs;
  if (withdrawnMs < untilMs) return [{ fromMs: withdrawnMs, untilMs, isWithdrawn: true }];
  const outdatedMs = success.monotonicMs + OUTDATED_MINUTES * MINUTE_MS;
  return outdatedMs < untilMs ? [{ fromMs: outdatedMs, untilMs, isWithdrawn: false }] : [];
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
  samples: Samples,
  document: DocumentName,
  now: Instant,
): boolean {
  const family = heightFamilies[document];
  if (samples.value(family) === undefined) return false;
  const changedAt = changes.get(family)?.at;
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
