import type { DocumentName } from '../documents.js';
import type { FailureReason } from '../http/failure-reasons.js';
import type { LabelValues } from '../metrics/family.js';
import type { BlockSpan, DecimalString, Items } from '../pending/items.js';
import { groupBy } from '../metrics/grouping.js';
import type { FamilyLines, FiniteSample } from '../metrics/render-families.js';
import type { Instant } from '../clock.js';
import type { EndpointState } from '../poll/endpoint-state.js';
import type { FlowHistory } from './flow-history.js';
import type { Snapshot } from '../poll/poll.js';
import { answeredFamilies } from '../sources/query-state.js';

/*
 * What an alert can read of an endpoint: its state, its recent history, and the samples and items of the last successful poll.
 */

/** Data without a successful poll for this long, or with a height that has not changed for this long, is outdated. */
export const OUTDATED_MINUTES = 10;

export const MINUTE_MS = 60_000;

/** The labels of an alert besides `target`, `document` and the names. */
export type AlertLabels = Readonly<Record<string, string>>;

/** Something that is wrong in one poll: one series of the result of the alert expression without its range. */
export interface Finding {
  readonly labels: AlertLabels;
  /** The quantity that must not change while the finding lasts. With another value it is another finding. */
  readonly unchangedValue?: number | string | undefined;
  /** How much, for the sentence. */
  readonly value: number;
  /** When it began, if the data or the history tells; otherwise with the first poll that found it. */
  readonly since?: Instant | undefined;
  /** Whether it may have begun before `since`. */
  readonly mayBeOlder?: boolean;
  /** How long it has to last since `since`, if that differs between series; instead of the range and `for` of the alert. */
  readonly requiredMs?: number;
  /** Unix seconds before which it cannot have begun, if the data proves that. */
  readonly notBeforeSeconds?: (() => number | undefined) | undefined;
  /** Unix seconds since which it has held, if the data proves that, also for the time before the exporter observed it. */
  readonly provenSinceSeconds?: (() => number | undefined) | undefined;
  /** Whether it may have begun before that. */
  readonly mayBeOlderThanProven?: boolean;
  /** The alerts of which this is probably a consequence while one of them fires. */
  readonly followsFrom?: readonly string[];
}

/** A finding with the time at which it began. */
export interface DatedFinding extends Finding {
  readonly since: Instant;
  /** Whether it may have begun before the exporter observed it. */
  readonly mayBeOlder: boolean;
}

/** The findings of a condition for an endpoint. */
export interface DatedFindings {
  /** At least one, the oldest first. */
  readonly all: readonly DatedFinding[];
  readonly oldest: DatedFinding;
  /** How long they have been there: "18 min", "at least 18 min", "up to 18 min". */
  readonly duration: string;
}

/** Everything about an endpoint at a point in time. The samples are limited to the families that the alert declares. */
export interface PollView<Family extends string = string> {
  readonly state: EndpointState;
  readonly history: PollHistory;
  readonly flow: FlowHistory;
  /** Those of the last successful poll; none before it. */
  readonly samples: Samples<Family>;
  readonly items: Items | undefined;
  readonly now: Instant;
}

/** The samples of a successful poll that alerts read. They are those of the exposition. */
export interface Samples<Family extends string = string> {
  /** The value of a family without labels; `undefined` when it is not exported. */
  readonly value: (family: Family) => number | undefined;
  /** All series of a family. */
  readonly series: (family: Family) => readonly FiniteSample[];
}

/** The kept samples of a snapshot. */
export function samplesOf(snapshot: Snapshot | undefined): Samples {
  return samplesIn(snapshot?.families ?? []);
}

/** The kept samples of families. */
function samplesIn(families: readonly FamilyLines[]): Samples {
  const byFamily = groupBy(families, ({ name }) => name);
  const series = (family: string): readonly FiniteSample[] =>
    (byFamily.get(family) ?? []).flatMap(({ samples = [] }) => samples);
  return { series, value: (family) => series(family)[0]?.value };
}

/** The kept samples of the last document, whatever its age, and of the answers to other queries of the node that are not stale. */
export function samplesAt({ success, queries, staleAfterMs }: EndpointState, now: Instant): Samples {
  return samplesIn([...(success?.snapshot.families ?? []), ...answeredFamilies(queries, staleAfterMs, now)]);
}

/** The value of a label; every series of a family has all labels of the family. */
export function labelOf(labels: LabelValues, name: string): string {
  return labels[name] ?? '';
}

/** The values of a label of the findings. */
export function fieldsOf({ all }: DatedFindings, label: string): string[] {
  return all.flatMap(({ labels }) => labels[label] ?? []);
}

/** A finding without labels, or none. */
export function findingIf(
  condition: boolean,
  value: number,
  unchangedValue?: number,
  provenSinceSeconds?: Finding['provenSinceSeconds'],
): readonly Finding[] {
  return condition ? [{ labels: {}, value, unchangedValue, provenSinceSeconds }] : [];
}

/** The document proves only a part of the time for which the finding has lasted. */
export const atLeast = (finding: Finding): Finding => ({ ...finding, mayBeOlderThanProven: true });

/** What `timeOfHeight` reads. */
export const HUB_TIME_FAMILIES = ['bridge_height', 'bridge_block_time_seconds'] as const;

/** The time of a hub height by the block time in use, in Unix seconds; `undefined` if one of the three is unknown. */
export function timeOfHeight(
  { samples, state, now }: PollView<(typeof HUB_TIME_FAMILIES)[number]>,
  height: number | undefined,
): number | undefined {
  const current = samples.value('bridge_height');
  const blockTime = samples.value('bridge_block_time_seconds');
  if (height === undefined || current === undefined || blockTime === undefined) return undefined;
  return (state.success?.at ?? now).epochSeconds - (current - height) * blockTime;
}

/** The time of a hub height in the items of a poll. */
export function timeOfItemHeight(
  view: PollView<(typeof HUB_TIME_FAMILIES)[number]>,
  height: DecimalString | null | undefined,
): number | undefined {
  return timeOfHeight(view, height === null || height === undefined ? undefined : Number(height));
}

/** The time that is this far in the future of the last successful poll, in Unix seconds. */
export function timeUntil(
  { state, now }: Pick<PollView, 'state' | 'now'>,
  left: BlockSpan | null | undefined,
): number | undefined {
  const seconds = left?.seconds ?? undefined;
  return seconds === undefined ? undefined : (state.success?.at ?? now).epochSeconds + seconds;
}

/** The time of something that was this old in the last successful poll, in Unix seconds. */
export function timeOfAge(
  { state, now }: Pick<PollView, 'state' | 'now'>,
  age: BlockSpan | null | undefined,
): number | undefined {
  const seconds = age?.seconds ?? undefined;
  return seconds === undefined ? undefined : (state.success?.at ?? now).epochSeconds - seconds;
}

/**
 * The recent history of an endpoint, as far as the ranges of the alert rules read it. Bounded: the keys are families, fields and
 * reasons, and the lists have a maximum length.
 */
export interface PollHistory {
  readonly firstPollAt: Instant | undefined;
  readonly firstSuccessAt: Instant | undefined;
  /** The last successful polls, newest last. */
  readonly successes: readonly Instant[];
  /** The last change of families that are judged by it. */
  readonly changes: ReadonlyMap<ChangingFamily, LastChange<number>>;
  /** The last failed polls of each reason, newest last. */
  readonly failures: ReadonlyMap<FailureReason, readonly Instant[]>;
  /** The identity of the bridge, with its last change. */
  readonly identities: ReadonlyMap<IdentityLabel, LastChange<string>>;
  /** The highest value of a day of families that do not decrease, and when it was last seen. */
  readonly highest: ReadonlyMap<RollbackFamily, { readonly value: number; readonly at: Instant }>;
  /** When each withdrawn family was last withdrawn. */
  readonly withdrawnAt: ReadonlyMap<string, Instant>;
  /** The families that have been withdrawn in every successful poll. */
  readonly alwaysWithdrawn: ReadonlySet<string>;
  /** The values of `pastFamilies`, by `seriesKey`. */
  readonly past: ReadonlyMap<string, readonly PastValue[]>;
}

/** The value of a series from a poll on, until the next one in the list. */
interface PastValue {
  readonly value: number;
  readonly at: Instant;
}

/** The families whose earlier values are remembered, with the maximum age in minutes. Their samples are kept (metrics/kept-samples.ts). */
export const pastFamilies = {
  bridge_contract_last_event_nonce: 60,
  bridge_contract_unclaimed_events: 60,
  bridge_integrity_violations: 24 * 60,
  bridge_last_outgoing_batch_id: 12 * 60,
  bridge_last_outgoing_pool_id: 12 * 60,
  bridge_relayable_batches: 225,
  bridge_token_backing_surplus_amount: 24 * 60,
  bridge_token_unbatched_transfers: 180,
  crosschain_cctxs_missed: 24 * 60,
  crosschain_cctxs: 24 * 60,
  crosschain_highest_pending_nonce: 65,
  bridge_watched_orchestrator_balance_amount: 3 * 24 * 60,
} as const satisfies Record<string, number>;

type PastFamily = keyof typeof pastFamilies;

/** A series with more changes in its range is remembered less exactly. */
const KEPT_VALUES = 64;

/** Families that change with every poll are remembered at this resolution, or a range would have too many values. */
const RESOLUTION_MINUTES: Partial<Readonly<Record<PastFamily, number>>> = {
  bridge_contract_last_event_nonce: 1,
  bridge_contract_unclaimed_events: 1,
  bridge_token_backing_surplus_amount: 25,
  crosschain_highest_pending_nonce: 5,
  bridge_watched_orchestrator_balance_amount: 75,
};

interface LastChange<Value> {
  readonly value: Value;
  /** `undefined` while no change has been observed. */
  readonly at: Instant | undefined;
}

/** The families whose last change is remembered. Their samples are kept (metrics/kept-samples.ts). */
export const changingFamilies = [
  'bridge_height',
  'bridge_external_height',
  'crosschain_height',
  'bridge_params_hash',
  'bridge_params_admins_hash',
  'bridge_external_blacklist_hash',
] as const;

export type ChangingFamily = (typeof changingFamilies)[number];

export const heightFamilies = {
  module_state: 'bridge_height',
  external_contract: 'bridge_external_height',
  rate_limiter_input: 'crosschain_height',
} as const satisfies Record<DocumentName, ChangingFamily>;

/** The labels of `bridge_params_info` that identify the bridge. */
export const identityLabels = ['bridge_id', 'bridge_chain_id', 'bridge_external_address'] as const;

/** The labels of `bridge_contract_info`. */
export const contractLabels = ['owner', 'implementation'] as const;

type IdentityLabel = (typeof identityLabels)[number] | (typeof contractLabels)[number];

/** The families that decrease only when the hub is rolled back or the contract is replaced. */
export const rollbackFamilies = {
  module_state: ['bridge_height', 'bridge_last_observed_nonce', 'bridge_last_outgoing_batch_id'],
  external_contract: [],
  rate_limiter_input: ['crosschain_height'],
} as const satisfies Record<DocumentName, readonly string[]>;

export type RollbackFamily = (typeof rollbackFamilies)[DocumentName][number];

/** How far back values are compared with those before an outage. */
export const REMEMBERED_MINUTES = 24 * 60;

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
  return {
    ...history,
    firstSuccessAt: history.firstSuccessAt ?? at,
    successes: [...history.successes, at].slice(-HEIGHT_POLLS),
    changes: changesAfter(history.changes, samplesOf(snapshot), at),
    identities: identitiesAfter(history.identities, samplesOf(snapshot), at),
    highest: highestAfter(history.highest, state.document, samplesOf(snapshot), at),
    withdrawnAt: new Map([
      ...history.withdrawnAt,
      ...withdrawnIn(snapshot).map((name): [string, Instant] => [name, at]),
    ]),
    alwaysWithdrawn: new Set(
      withdrawnIn(snapshot).filter((name) => before.firstSuccessAt === undefined || before.alwaysWithdrawn.has(name)),
    ),
    past: pastAfter(history.past, samplesAt(state, at), at),
  };
}

/** The history before the first poll. */
export const NO_HISTORY: PollHistory = {
  firstPollAt: undefined,
  firstSuccessAt: undefined,
  successes: [],
  changes: new Map(),
  failures: new Map(),
  identities: new Map(),
  highest: new Map(),
  withdrawnAt: new Map(),
  alwaysWithdrawn: new Set(),
  past: new Map(),
};

function seriesKey(family: PastFamily, labels: LabelValues): string {
  return JSON.stringify([family, labels]);
}

/** The series of `crosschain_cctxs` about pending transactions change with every poll, and nothing compares them with earlier ones. */
function isRemembered({ list }: LabelValues): boolean {
  return list !== 'pending';
}

/** Series that are not exported any more are forgotten. */
function pastAfter(before: PollHistory['past'], samples: Samples, at: Instant): PollHistory['past'] {
  const families = Object.keys(pastFamilies) as readonly PastFamily[];
  return new Map(
    families.flatMap((family) =>
      samples.series(family).flatMap(({ labels, value }): [string, readonly PastValue[]][] => {
        if (!isRemembered(labels)) return [];
        const key = seriesKey(family, labels);
        const known = before.get(key) ?? [];
        const last = known.at(-1);
        if (last?.value === value) return [[key, known]];
        const resolutionMs = (RESOLUTION_MINUTES[family] ?? 0) * MINUTE_MS;
        if (last !== undefined && msBetween(last.at, at) < resolutionMs) return [[key, known]];
        // The last value before the range is the value at its beginning.
        const firstInRange = known.findIndex((past) => msBetween(past.at, at) <= pastFamilies[family] * MINUTE_MS);
        const inRange = firstInRange === -1 ? known.slice(-1) : known.slice(Math.max(0, firstInRange - 1));
        const [first, ...others] = inRange;
        const kept = first === undefined ? [] : [first, ...others.slice(-(KEPT_VALUES - 2))];
        return [[key, [...kept, { value, at }]]];
      }),
    ),
  );
}

/** The value of a series some minutes ago, at most the maximum age of its family; `undefined` if it was not observed then. */
export function valueAgo(
  { history: { past }, now }: Pick<PollView, 'history' | 'now'>,
  family: PastFamily,
  labels: LabelValues,
  minutes: number,
): number | undefined {
  const values = past.get(seriesKey(family, labels)) ?? [];
  return values.findLast(({ at }) => msBetween(at, now) >= minutes * MINUTE_MS)?.value;
}

/** The lowest value of a series that is remembered. */
export function lowestPast(
  { history: { past } }: Pick<PollView, 'history'>,
  family: PastFamily,
  labels: LabelValues,
): number | undefined {
  const values = past.get(seriesKey(family, labels)) ?? [];
  return values.length === 0 ? undefined : Math.min(...values.map(({ value }) => value));
}

function changesAfter(
  before: PollHistory['changes'],
  samples: Samples,
  at: Instant,
): ReadonlyMap<ChangingFamily, LastChange<number>> {
  const changes = new Map(before);
  for (const family of changingFamilies) {
    const value = samples.value(family);
    if (value !== undefined) changes.set(family, changeAfter(before.get(family), value, at));
  }
  return changes;
}

/** An empty label is a missing field, not another identity. */
function identitiesAfter(before: PollHistory['identities'], samples: Samples, at: Instant): PollHistory['identities'] {
  const identities = new Map(before);
  const add = (family: string, labels: readonly IdentityLabel[]): void => {
    const [info] = samples.series(family);
    for (const label of labels) {
      const value = info === undefined ? '' : labelOf(info.labels, label);
      if (value !== '') identities.set(label, changeAfter(before.get(label), value, at));
    }
  };
  add('bridge_params_info', identityLabels);
  add('bridge_contract_info', contractLabels);
  return identities;
}

function changeAfter<Value>(before: LastChange<Value> | undefined, value: Value, at: Instant): LastChange<Value> {
  if (value === before?.value) return before;
  return { value, at: before === undefined ? undefined : at };
}

function highestAfter(
  before: PollHistory['highest'],
  document: DocumentName,
  samples: Samples,
  at: Instant,
): PollHistory['highest'] {
  const highest = new Map(before);
  for (const family of rollbackFamilies[document]) {
    const value = samples.value(family);
    const known = before.get(family);
    const isCurrent = known !== undefined && msBetween(known.at, at) <= REMEMBERED_MINUTES * MINUTE_MS;
    if (value !== undefined && !(isCurrent && value < known.value)) highest.set(family, { value, at });
  }
  return highest;
}

function withdrawnIn({ families }: Snapshot): readonly string[] {
  return families.flatMap(({ name, withdrawn }) => (withdrawn ? [name] : []));
}

interface SteadyHeight {
  readonly height: number;
  readonly since: Instant;
  /** Whether the exporter has not observed its last change, so that it may be older. */
  readonly mayBeOlder: boolean;
}

/**
 * The height of the document if no change of it was observed within `OUTDATED_MINUTES`. So it is steady from the first poll on, until a
 * change is observed, like `changes()` of the rules; `undefined` without a height.
 */
export function steadyHeight({
  state: { document },
  history: { changes, firstSuccessAt },
  samples,
  now,
}: PollView<(typeof heightFamilies)[DocumentName]>): SteadyHeight | undefined {
  const height = samples.value(heightFamilies[document]);
  const changedAt = changes.get(heightFamilies[document])?.at;
  if (height === undefined) return undefined;
  if (changedAt !== undefined && msBetween(changedAt, now) < OUTDATED_MINUTES * MINUTE_MS) return undefined;
  return { height, since: changedAt ?? firstSuccessAt ?? now, mayBeOlder: changedAt === undefined };
}

/** The observed values of a series in the last minutes, the one at the beginning included; the oldest first. */
function valuesWithin(
  { history: { past }, now }: Pick<PollView, 'history' | 'now'>,
  family: PastFamily,
  labels: LabelValues,
  minutes: number,
): readonly number[] {
  const values = past.get(seriesKey(family, labels)) ?? [];
  const before = values.findLastIndex(({ at }) => msBetween(at, now) >= minutes * MINUTE_MS);
  return values.slice(Math.max(0, before)).map(({ value }) => value);
}

/** Whether a value of a series was below the one before it in the last minutes. */
export function hasDecreased(
  view: Pick<PollView, 'history' | 'now'>,
  family: PastFamily,
  labels: LabelValues,
  minutes: number,
): boolean {
  const values = valuesWithin(view, family, labels, minutes);
  return values.some((value, index) => value < (values[index - 1] ?? value));
}

/** The highest observed value of a series in the last minutes, the present one included. */
export function highestWithin(
  view: Pick<PollView, 'history' | 'now'>,
  family: PastFamily,
  labels: LabelValues,
  minutes: number,
): number {
  return Math.max(...valuesWithin(view, family, labels, minutes));
}

/** The lowest observed value of a series in the last minutes. */
export function lowestWithin(
  view: Pick<PollView, 'history' | 'now'>,
  family: PastFamily,
  labels: LabelValues,
  minutes: number,
): number {
  return Math.min(...valuesWithin(view, family, labels, minutes));
}
