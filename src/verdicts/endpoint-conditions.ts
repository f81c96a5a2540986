import type { DocumentName } from '../documents.js';
import type { FailureReason } from '../http/errors.js';
import type { JudgedFamily } from '../metrics/judged-families.js';
import type { Instant } from '../poll/clock.js';
import { pollCondition, type Condition, type Finding, type Findings, type PollView } from './condition.js';
import {
  HEIGHT_POLLS,
  heightUnchangedSince,
  INVALID_MINUTES,
  isHeightUnchanged,
  MINUTE_MS,
  msBetween,
} from './poll-history.js';
import { count, duration, list, parts, percent } from './sentences.js';

/* Conditions of an endpoint and of the data it returns. They come first: the other conditions are judged from that data. */

/** BridgeSnapshotStale: age of the last success. */
export const STALE_SECONDS = 600;
/** Ranges of BridgeEndpointMisconfigured, of BridgeResponseNearLimit and of the height alerts. */
const FAILURE_MINUTES = 10;
const SIZE_FAILURE_MINUTES = 10;
const HEIGHT_MINUTES = 10;
/** BridgeEndpointMisconfigured: more than this number of failures. */
const MISCONFIGURED_FAILURES = 1;
/** BridgeResponseNearLimit: share of poll.max_body_size. */
const SIZE_RATIO = 0.8;
/** BridgeExporterInvalidValues: how long a family counts as missing, and the maximum age of the data without it. */
const MISSING_MINUTES = 2 * 24 * 60;
const MISSING_FRESH_SECONDS = 240;

const MISCONFIGURED_REASONS = ['bad_request', 'unauthorized'] as const satisfies readonly FailureReason[];
const SIZE_REASONS = ['too_large', 'response_too_large_upstream'] as const satisfies readonly FailureReason[];

/** Families that critical alerts read. */
const REQUIRED_FAMILIES = {
  module_state: [
    'bridge_unbatched_transfers',
    'bridge_batches',
    'bridge_batches_below_threshold',
    'bridge_batches_overdue',
    'bridge_last_outgoing_batch_id',
    'bridge_last_observed_nonce',
    'bridge_pending_events',
    'bridge_conflicting_claims',
    'bridge_height',
  ],
  rate_limiter_input: [
    'crosschain_total_pending',
    'crosschain_cctxs_missed',
    'crosschain_cctxs_hidden',
    'crosschain_height',
  ],
} as const satisfies Record<DocumentName, readonly JudgedFamily[]>;

/** The larger age of both clocks, as for freshness: the monotonic one stops in suspend, the other one can be set. */
export function ageSeconds(then: Instant, now: Instant): number {
  return Math.max(0, msBetween(then, now) / 1000, now.epochSeconds - then.epochSeconds);
}

/** The time since the last success, or since a first one is expected. */
function secondsWithoutSuccess({ state: { success }, expectedSince, now }: PollView): number {
  return success === undefined ? msBetween(expectedSince, now) / 1000 : ageSeconds(success.at, now);
}

export function isStale(view: PollView): boolean {
  return secondsWithoutSuccess(view) > STALE_SECONDS;
}

/** Such as "no poll of module_state has succeeded for 18 min". */
export function staleness(view: PollView): string {
  const { state } = view;
  const lasting = duration(secondsWithoutSuccess(view));
  if (state.polls === 0) return `${state.document} has not been polled for ${lasting}`;
  if (state.success === undefined) {
    return `no poll of ${state.document} has succeeded since the exporter started ${lasting} ago`;
  }
  return `no poll of ${state.document} has succeeded for ${lasting}`;
}

function lastFailure({ state: { last, failure } }: PollView): string {
  return last?.ok === false && failure !== undefined ? failure.error.message : '';
}

function heightCondition(
  condition: Pick<Condition, 'alert' | 'action'> & {
    readonly document: DocumentName;
    readonly family: 'bridge_height' | 'crosschain_height';
    readonly subject: string;
  },
): Condition {
  const { document, family, subject, ...rest } = condition;
  return pollCondition({
    ...rest,
    severity: 'critical',
    documents: [document],
    thresholds: [HEIGHT_POLLS],
    rangesMinutes: [HEIGHT_MINUTES],
    forMinutes: 5,
    keepMinutes: 5,
    find: ({ history, samples, now }) => {
      const { successes } = history;
      const [first] = successes;
      const height = samples.value(family);
      if (height === undefined || first === undefined || successes.length < HEIGHT_POLLS) return [];
      if (msBetween(first, now) > HEIGHT_MINUTES * MINUTE_MS) return [];
      if (!isHeightUnchanged(history, samples, document, now)) return [];
      const { since, isObserved } = heightUnchangedSince(history, document);
      return [{ labels: {}, value: height, since, mayBeOlder: !isObserved }];
    },
    summary: ({ oldest, lasting }) => `${subject} has not advanced from ${oldest.value} for ${lasting}`,
  });
}

function fieldsOf({ all }: Findings, label: string): string[] {
  return all.flatMap(({ labels }) => labels[label] ?? []);
}

function limitNearFindings({ state: { last, maxBodyBytes }, history, now }: PollView): readonly Finding[] {
  const wasRejected = SIZE_REASONS.some((reason) => {
    const rejectedAt = history.failures.get(reason)?.at(-1);
    return rejectedAt !== undefined && msBetween(rejectedAt, now) < SIZE_FAILURE_MINUTES * MINUTE_MS;
  });
  const ratio = wasRejected ? 1 : (last?.bodyBytes ?? 0) / maxBodyBytes;
  return ratio > SIZE_RATIO ? [{ labels: {}, value: ratio }] : [];
}

function invalidFields({ state, history, now }: PollView): readonly Finding[] {
  return Array.from(history.invalidAt)
    .filter(([, at]) => msBetween(at, now) < INVALID_MINUTES * MINUTE_MS)
    .map(([field]) => ({ labels: { field }, value: state.invalidValues.get(field) ?? 0 }));
}

function missingFamilies({ state, history, samples, now }: PollView): readonly Finding[] {
  if (state.last?.ok !== true || state.success === undefined) return [];
  if (ageSeconds(state.success.at, now) >= MISSING_FRESH_SECONDS) return [];
  return REQUIRED_FAMILIES[state.document].flatMap((family) => {
    const exportedAt = history.exportedAt.get(family);
    if (exportedAt === undefined || samples.value(family) !== undefined) return [];
    return msBetween(exportedAt, now) <= MISSING_MINUTES * MINUTE_MS ? [{ labels: { family }, value: 0 }] : [];
  });
}

export const endpointConditions: readonly Condition[] = [
  pollCondition({
    alert: 'BridgeSnapshotStale',
    severity: 'critical',
    thresholds: [STALE_SECONDS],
    forMinutes: 0,
    keepMinutes: 5,
    find: (view) => {
      const { success } = view.state;
      return isStale(view)
        ? [{ labels: {}, value: secondsWithoutSuccess(view), since: success?.at ?? view.expectedSince }]
        : [];
    },
    summary: (_findings, view) => parts(staleness(view), lastFailure(view)),
    action: 'Check the endpoint and the last failure on the status page; nothing else can be judged without its data.',
  }),
  heightCondition({
    alert: 'BridgeHeightStalled',
    document: 'module_state',
    family: 'bridge_height',
    subject: 'the hub height',
    action: 'Compare the height with another node: the node or the hub has halted, or a cache serves old responses.',
  }),
  heightCondition({
    alert: 'CrosschainHeightStalled',
    document: 'rate_limiter_input',
    family: 'crosschain_height',
    subject: 'the hub height of the cross-chain input',
    action: 'Compare the height with another node: the node or the hub has halted, or a cache serves old responses.',
  }),
  pollCondition({
    alert: 'BridgeEndpointMisconfigured',
    severity: 'warning',
    rangesMinutes: [FAILURE_MINUTES],
    forMinutes: 2,
    keepMinutes: 5,
    find: ({ state: { last }, history, now }) =>
      MISCONFIGURED_REASONS.flatMap((reason) => {
        const failures = history.failures.get(reason) ?? [];
        const [first] = failures;
        const isRepeated = first !== undefined && failures.length > MISCONFIGURED_FAILURES;
        if (!isRepeated || last?.ok !== false || msBetween(first, now) >= FAILURE_MINUTES * MINUTE_MS) return [];
        return [{ labels: { reason }, value: failures.length }];
      }),
    summary: (findings, view) =>
      parts(
        `${view.state.document} is misconfigured: polls have failed with ${list(fieldsOf(findings, 'reason'))} for ${findings.lasting}`,
        lastFailure(view),
      ),
    action: 'Correct the configuration or the credentials, then reload the exporter; waiting does not help.',
  }),
  pollCondition({
    alert: 'BridgeEndpointDown',
    severity: 'warning',
    forMinutes: 3,
    keepMinutes: 5,
    find: ({ state: { last } }) => (last?.ok === false ? [{ labels: {}, value: 0 }] : []),
    summary: ({ lasting }, view) =>
      parts(`polls of ${view.state.document} have failed for ${lasting}`, lastFailure(view)),
    action: 'Check the node and the way to it; the reason of the last failure says where.',
  }),
  pollCondition({
    alert: 'BridgeResponseNearLimit',
    severity: 'warning',
    thresholds: [SIZE_RATIO],
    rangesMinutes: [SIZE_FAILURE_MINUTES],
    forMinutes: 5,
    keepMinutes: 10,
    find: limitNearFindings,
    summary: ({ oldest }, { state: { document } }) =>
      oldest.value >= 1
        ? `a response of ${document} was rejected for its size`
        : `the response of ${document} has reached ${percent(oldest.value)} of its size limit`,
    action: 'Raise poll.max_body_size or the limit of the node, then reduce the backlog.',
  }),
  pollCondition({
    alert: 'BridgeExporterInvalidValues',
    severity: 'warning',
    thresholds: [MISSING_FRESH_SECONDS],
    rangesMinutes: [INVALID_MINUTES, MISSING_MINUTES],
    forMinutes: 10,
    keepMinutes: 5,
    find: (view) => [...invalidFields(view), ...missingFamilies(view)],
    summary: (findings, { state: { document } }) => {
      const fields = fieldsOf(findings, 'field');
      const families = fieldsOf(findings, 'family');
      return parts(
        `part of ${document} has been unusable for ${findings.lasting}`,
        fields.length === 0 ? '' : `invalid values of ${list(fields)}`,
        families.length === 0 ? '' : `missing: ${list(families)}`,
      );
    },
    action: 'Compare the response of the node with docs/metrics.md; alerts on the missing metrics cannot fire.',
  }),
  pollCondition({
    alert: 'BridgeExporterSeriesDropped',
    severity: 'warning',
    forMinutes: 15,
    keepMinutes: 15,
    find: ({ state: { success } }) =>
      (success?.snapshot.families ?? []).flatMap(({ name, dropped = 0 }) =>
        dropped > 0 ? [{ labels: { family: name }, value: dropped }] : [],
      ),
    summary: (findings) => {
      const names = fieldsOf(findings, 'family');
      const exceed = names.length === 1 ? 'exceeds' : 'exceed';
      return `${count(names.length, 'metric')} ${exceed} limits.max_series_per_family: ${list(names)}`;
    },
    action: 'Raise limits.max_series_per_family.',
  }),
];
