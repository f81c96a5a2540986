import { msBetween, type Instant } from '../clock.js';
import { MINUTE_MS } from '../config/units.js';
import type { DocumentName } from '../documents.js';
import type { FailureReason } from '../http/failure-reasons.js';
import type { LabelValues } from '../metrics/family.js';
import type { EndpointState } from '../poll/endpoint-state.js';
import type { Snapshot } from '../poll/step.js';
import { unansweredFamilies } from '../queries/query-state.js';
import { labelOf, samplesAt, samplesOf, type Samples } from './samples.js';
import { isSeriesOf, seriesKey } from './series-key.js';

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
export interface PastValue {
  readonly value: number;
  readonly at: Instant;
}

/** The families whose earlier values are remembered, with the maximum age in minutes. */
export const pastFamilies = {
  bridge_contract_last_event_nonce: 60,
  bridge_contract_unobserved_events: 60,
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
  bridge_contract_unobserved_events: 1,
  bridge_token_backing_surplus_amount: 25,
  crosschain_highest_pending_nonce: 5,
  bridge_watched_orchestrator_balance_amount: 75,
};

interface LastChange<Value> {
  readonly value: Value;
  /** `undefined` while no change has been observed. */
  readonly at: Instant | undefined;
}

/** The families whose last change is remembered. */
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

/** The labels that identify the bridge and the contract. */
export const identityLabels = {
  bridge_params_info: ['bridge_id', 'bridge_chain_id', 'bridge_external_address'],
  bridge_contract_info: ['owner', 'implementation'],
} as const;

export type IdentityFamily = keyof typeof identityLabels;
export type IdentityLabel = (typeof identityLabels)[IdentityFamily][number];

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
    past: pastAfter(history.past, samplesAt(state, at), unansweredFamilies(state.queries), at),
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

/** The series of `crosschain_cctxs` about pending transactions change with every poll, and nothing compares them with earlier ones. */
function isRemembered({ list }: LabelValues): boolean {
  return list !== 'pending';
}

/** Series that are not exported any more are forgotten, unless the node was not asked for them yet. */
function pastAfter(
  before: PollHistory['past'],
  samples: Samples,
  unanswered: ReadonlySet<string>,
  at: Instant,
): PollHistory['past'] {
  const families = Object.keys(pastFamilies) as readonly PastFamily[];
  return new Map(
    families.flatMap((family) => {
      const series = samples.series(family);
      if (unanswered.has(family)) return Array.from(before).filter(([key]) => isSeriesOf(family, key));
      return series.flatMap(({ labels, value }): [string, readonly PastValue[]][] => {
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
      });
    }),
  );
}

/** A history at a point in time. */
interface Remembered {
  readonly history: PollHistory;
  readonly now: Instant;
}

/** The value of a series some minutes ago, at most the maximum age of its family; `undefined` if it was not observed then. */
export function valueAgo(
  { history: { past }, now }: Remembered,
  family: PastFamily,
  labels: LabelValues,
  minutes: number,
): number | undefined {
  const values = past.get(seriesKey(family, labels)) ?? [];
  return values.findLast(({ at }) => msBetween(at, now) >= minutes * MINUTE_MS)?.value;
}

/** The observed values of a series in the last minutes, the one at the beginning included; the oldest first. */
export function valuesWithin(
  { history: { past }, now }: Remembered,
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
  remembered: Remembered,
  family: PastFamily,
  labels: LabelValues,
  minutes: number,
): boolean {
  const values = valuesWithin(remembered, family, labels, minutes);
  return values.some((value, index) => value < (values[index - 1] ?? value));
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
  for (const family of ['bridge_params_info', 'bridge_contract_info'] as const) {
    const [info] = samples.series(family);
    for (const label of identityLabels[family]) {
      const value = info === undefined ? '' : labelOf(info.labels, label);
      if (value !== '') identities.set(label, changeAfter(before.get(label), value, at));
    }
  }
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
