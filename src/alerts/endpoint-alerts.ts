import type { DocumentName } from '../documents.js';
import type { FailureReason } from '../http/failure-reasons.js';
import { ageSeconds } from '../clock.js';
import { count, duration, list, percent } from '../text/format.js';
import { endpointAlert } from './alert.js';
import { indent, ON_TARGET, promDuration, TARGET } from './promql.js';
import { parts } from './sentences.js';
import {
  findingIf,
  HEIGHT_POLLS,
  heightFamilies,
  INVALID_MINUTES,
  MINUTE_MS,
  msBetween,
  OUTDATED_MINUTES,
  steadyHeight,
  type DatedFindings,
  type Finding,
  type PollView,
} from './view.js';

/* Alerts on an endpoint and on the data it returns. They come first: the other alerts are judged from that data. */

/** Age of the last success. */
export const OUTDATED_SECONDS = OUTDATED_MINUTES * 60;
/** Share of poll.max_body_size. */
export const SIZE_RATIO = 0.8;
const FAILURE_MINUTES = 10;
const HEIGHT_MINUTES = 10;
/** How long a family counts as missing, and the maximum age of the data without it, which is below the default poll.stale_after. */
const MISSING_MINUTES = 2 * 24 * 60;
const MISSING_FRESH_SECONDS = 240;

const MISCONFIGURED_REASONS = ['bad_request', 'unauthorized'] as const satisfies readonly FailureReason[];
const SIZE_REASONS = ['too_large', 'response_too_large_upstream'] as const satisfies readonly FailureReason[];

/**
 * Families that critical alerts read and that every complete document has. Other families are rightly absent at times, such as the
 * height of the oldest batch when there is no batch.
 */
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
} as const satisfies Record<DocumentName, readonly string[]>;

type RequiredFamily = (typeof REQUIRED_FAMILIES)[DocumentName][number];

/** The required families of a document that are missing now. */
function missingExpr(document: DocumentName): string {
  // The names begin with the same word, which is written once.
  const families = REQUIRED_FAMILIES[document];
  const prefix = document === 'module_state' ? 'bridge_' : 'crosschain_';
  const selector = `{__name__=~"${prefix}(${families.map((name) => name.slice(prefix.length)).join('|')})"}`;
  return `label_replace(
  last_over_time(${selector}[${promDuration(MISSING_MINUTES)}])
  unless on (__name__, ${TARGET})
  ${selector},
  "document", "${document}", "", ""
)`;
}

/** The time since the last success, or without one since the endpoint is polled. */
function secondsWithoutSuccess({ state: { success, addedAt }, now }: PollView<never>): number {
  return success === undefined ? ageSeconds(addedAt, now) : ageSeconds(success.at, now);
}

export function isOutdated(view: PollView<never>): boolean {
  return secondsWithoutSuccess(view) > OUTDATED_SECONDS;
}

/** Such as "no poll of module_state has succeeded for 18 min". */
export function withoutSuccess(view: PollView<never>): string {
  const { state } = view;
  const lasting = duration(secondsWithoutSuccess(view));
  if (state.polls === 0) return `${state.document} has not been polled for ${lasting}`;
  if (state.success === undefined) {
    return `no poll of ${state.document} has succeeded since the endpoint was added ${lasting} ago`;
  }
  return `no poll of ${state.document} has succeeded for ${lasting}`;
}

function lastFailure({ state: { last, failure } }: PollView<never>): string {
  return last?.ok === false && failure !== undefined ? failure.error.message : '';
}

function heightAlert<const Name extends string>(alert: {
  readonly name: Name;
  readonly document: DocumentName;
  readonly comment: string;
  readonly subject: string;
  readonly others: string;
}) {
  const { name, document, comment, subject, others } = alert;
  const family = heightFamilies[document];
  const range = promDuration(HEIGHT_MINUTES);
  return endpointAlert({
    name,
    severity: 'critical',
    document,
    comment,
    when: `Polls succeed, but \`${family}\` has not changed for ${HEIGHT_MINUTES} minutes.`,
    expr: `changes(${family}[${range}]) == 0
and ${ON_TARGET} (
  increase(bridge_exporter_polls_total{document="${document}"}[${range}])
  - sum without (reason) (increase(bridge_exporter_poll_failures_total{document="${document}"}[${range}]))
) >= ${HEIGHT_POLLS}`,
    forMinutes: 5,
    keepFiringMinutes: 5,
    families: [family],
    find: (view) => {
      const { successes } = view.history;
      const [first] = successes;
      const steady = steadyHeight(view);
      if (steady === undefined || first === undefined || successes.length < HEIGHT_POLLS) return [];
      if (msBetween(first, view.now) > HEIGHT_MINUTES * MINUTE_MS) return [];
      return [{ labels: {}, value: steady.height, since: steady.since, mayBeOlder: steady.mayBeOlder }];
    },
    summary: `${subject} does not advance.`,
    description: `Polls succeed, but ${family} of {{ $labels.target }} has not changed for 15 minutes, or for 5 minutes since the first scrape. Other ${others} alerts of {{ $labels.target }} are suspended.`,
    action: 'Compare the height with another node: the node or the hub has halted, or a cache serves old responses.',
    sentence: ({ oldest, duration: lasting }) => `${subject} has not advanced from ${oldest.value} for ${lasting}`,
    inhibitsData: true,
  });
}

function fieldsOf({ all }: DatedFindings, label: string): string[] {
  return all.flatMap(({ labels }) => labels[label] ?? []);
}

function invalidFields({ state, history, now }: PollView<never>): readonly Finding[] {
  return Array.from(history.invalidAt)
    .filter(([, at]) => msBetween(at, now) < INVALID_MINUTES * MINUTE_MS)
    .map(([field]) => ({ labels: { field }, value: state.invalidValues.get(field) ?? 0 }));
}

function missingFamilies({ state, history, samples, now }: PollView<RequiredFamily>): readonly Finding[] {
  if (state.last?.ok !== true || state.success === undefined) return [];
  if (ageSeconds(state.success.at, now) >= MISSING_FRESH_SECONDS) return [];
  return REQUIRED_FAMILIES[state.document].flatMap((family) => {
    const exportedAt = history.exportedAt.get(family);
    if (exportedAt === undefined || samples.value(family) !== undefined) return [];
    return msBetween(exportedAt, now) <= MISSING_MINUTES * MINUTE_MS ? [{ labels: { family }, value: 0 }] : [];
  });
}

export const endpointAlerts = [
  endpointAlert({
    name: 'BridgeSnapshotStale',
    severity: 'critical',
    comment: `Uses the age, because bridge_exporter_up stays 1 when polling stops. The second operand of \`or\` covers an endpoint without any
successful poll: it is as old as the process is.`,
    when: `The last successful poll is more than ${OUTDATED_SECONDS / 60} minutes old, or none has succeeded since the exporter started.`,
    expr: `(
  time() - bridge_exporter_last_success_timestamp_seconds
  or
  (bridge_exporter_polls_total unless on (${TARGET}, document) bridge_exporter_last_success_timestamp_seconds) * 0
  + on (cluster, namespace, job, instance) group_left () (time() - max by (cluster, namespace, job, instance) (process_start_time_seconds))
) > ${OUTDATED_SECONDS}`,
    keepFiringMinutes: 5,
    find: (view) => {
      const { success, addedAt } = view.state;
      return isOutdated(view)
        ? [{ labels: {}, value: secondsWithoutSuccess(view), since: success?.at ?? addedAt }]
        : [];
    },
    summary: 'the data of {{ $labels.document }} is outdated.',
    description:
      'The last successful poll of {{ $labels.document }} of {{ $labels.target }} was {{ $value | humanizeDuration }} ago, or no poll has succeeded since the exporter started. No other alert on this document can fire.',
    action: 'Check the endpoint and the last failure on the status page; nothing else can be judged without its data.',
    sentence: (_findings, view) => parts(withoutSuccess(view), lastFailure(view)),
    // The critical alert includes the warning.
    inhibits: [{ alert: 'BridgeEndpointDown', equal: ['document'] }],
    inhibitsData: true,
  }),
  heightAlert({
    name: 'BridgeHeightStalled',
    document: 'module_state',
    comment: 'Three successful polls in the window, so a slow poll interval does not look like a halted chain.',
    subject: 'the hub height',
    others: 'bridge',
  }),
  heightAlert({
    name: 'CrosschainHeightStalled',
    document: 'rate_limiter_input',
    comment: 'The same for the rate limiter input.',
    subject: 'the hub height of the cross-chain input',
    others: 'cross-chain',
  }),
  endpointAlert({
    name: 'BridgeEndpointMisconfigured',
    severity: 'warning',
    comment: 'More than one failure, because credentials may be rotated between two polls.',
    when: `More than one poll within ${FAILURE_MINUTES} minutes failed with reason \`bad_request\` or \`unauthorized\`, and the last poll failed.`,
    expr: `increase(bridge_exporter_poll_failures_total{reason=~"${MISCONFIGURED_REASONS.join('|')}"}[${promDuration(FAILURE_MINUTES)}]) > 1
and on (${TARGET}, document) bridge_exporter_up == 0`,
    forMinutes: 2,
    keepFiringMinutes: 5,
    find: ({ state: { last }, history, now }) =>
      MISCONFIGURED_REASONS.flatMap((reason) => {
        const failures = history.failures.get(reason) ?? [];
        const [first] = failures;
        const isRepeated = first !== undefined && failures.length > 1;
        if (!isRepeated || last?.ok !== false || msBetween(first, now) >= FAILURE_MINUTES * MINUTE_MS) return [];
        return [{ labels: { reason }, value: failures.length }];
      }),
    summary: '{{ $labels.document }} is misconfigured.',
    description:
      '{{ $value | printf "%.0f" }} polls of {{ $labels.document }} of {{ $labels.target }} failed with reason {{ $labels.reason }} in the last 10 minutes.',
    action: 'Correct the configuration or the credentials, then reload the exporter; waiting does not help.',
    sentence: (findings, view) =>
      parts(
        `${view.state.document} is misconfigured: polls have failed with ${list(fieldsOf(findings, 'reason'))} for ${findings.duration}`,
        lastFailure(view),
      ),
  }),
  endpointAlert({
    name: 'BridgeEndpointDown',
    severity: 'warning',
    comment: `\`for\` is shorter than poll.stale_after (5m), so the alert fires before the chain series are withdrawn. A node that restarts
does not alert anyone at night: BridgeSnapshotStale is the critical alert.`,
    when: 'Every poll fails.',
    expr: 'bridge_exporter_up == 0',
    forMinutes: 3,
    keepFiringMinutes: 5,
    find: ({ state: { last } }) => findingIf(last?.ok === false, 0),
    summary: 'polls of {{ $labels.document }} fail.',
    description: 'All polls of {{ $labels.document }} of {{ $labels.target }} have failed for 3 minutes.',
    action: 'Check the node and the way to it; the reason of the last failure on the status page says where.',
    sentence: ({ duration: lasting }, view) =>
      parts(`polls of ${view.state.document} have failed for ${lasting}`, lastFailure(view)),
    inhibitsData: true,
  }),
  endpointAlert({
    name: 'BridgeResponseNearLimit',
    severity: 'warning',
    comment: `A response rejected for its size, here or by the node, counts as 1.
Share of poll.max_body_size. A response grows with the backlog, so the rest has to last until working hours.`,
    when: `A response is larger than ${percent(SIZE_RATIO)} of \`poll.max_body_size\`, or one was rejected for its size within ${FAILURE_MINUTES} minutes.`,
    expr: `max by (${TARGET}, document) (
  bridge_exporter_response_size_bytes / bridge_exporter_response_size_limit_bytes
  or
  (increase(bridge_exporter_poll_failures_total{reason=~"${SIZE_REASONS.join('|')}"}[${promDuration(FAILURE_MINUTES)}]) > bool 0) == 1
) > ${SIZE_RATIO}`,
    forMinutes: 5,
    keepFiringMinutes: 10,
    find: ({ state: { last, maxBodyBytes }, history, now }) => {
      const wasRejected = SIZE_REASONS.some((reason) => {
        const rejectedAt = history.failures.get(reason)?.at(-1);
        return rejectedAt !== undefined && msBetween(rejectedAt, now) < FAILURE_MINUTES * MINUTE_MS;
      });
      const ratio = wasRejected ? 1 : (last?.bodyBytes ?? 0) / maxBodyBytes;
      return findingIf(ratio > SIZE_RATIO, ratio);
    },
    summary: 'the response of {{ $labels.document }} is near its size limit.',
    description:
      'The response of {{ $labels.document }} of {{ $labels.target }} has reached {{ $value | humanizePercentage }} of the size limit; a response rejected for its size counts as 100 %. Above the limit every poll fails.',
    action: 'Raise poll.max_body_size or the limit of the node, then reduce the backlog.',
    sentence: ({ oldest }, { state: { document } }) =>
      oldest.value >= 1
        ? `a response of ${document} was rejected for its size`
        : `the response of ${document} has reached ${percent(oldest.value)} of its size limit`,
  }),
  endpointAlert({
    name: 'BridgeExporterInvalidValues',
    severity: 'warning',
    comment: `increase() misses the first value of a new series, hence the second operand. Its range of 1h prevents a gap in the scrapes from
making an old series look new.
The last operand: gauges of critical alerts that existed in the last 2 days and are missing although polls succeed, because the node
omits a field or sends an invalid value. The label \`family\` has the metric name. ${MISSING_FRESH_SECONDS} s is below the default poll.stale_after.`,
    when: 'A field has invalid values, or a metric that critical alerts read is missing although polls succeed.',
    expr: `increase(bridge_exporter_invalid_values_total[${promDuration(INVALID_MINUTES)}]) > 0
or (bridge_exporter_invalid_values_total unless last_over_time(bridge_exporter_invalid_values_total[1h] offset ${promDuration(INVALID_MINUTES)}))
or (
  label_replace(
${indent(`${missingExpr('module_state')}\nor\n${missingExpr('rate_limiter_input')},`, 4)}
    "family", "$1", "__name__", "(.+)"
  )
  and on (${TARGET}, document)
  (bridge_exporter_up == 1 and time() - bridge_exporter_last_success_timestamp_seconds < ${MISSING_FRESH_SECONDS})
) * 0`,
    forMinutes: 10,
    keepFiringMinutes: 5,
    families: [...REQUIRED_FAMILIES.module_state, ...REQUIRED_FAMILIES.rate_limiter_input],
    find: (view) => [...invalidFields(view), ...missingFamilies(view)],
    summary: 'part of {{ $labels.document }} cannot be used.',
    description:
      '{{ if $labels.family }}{{ $labels.family }} of {{ $labels.target }} is missing although polls succeed: the node omits a field that the metric reads.{{ else }}{{ $value | printf "%.0f" }} values of {{ $labels.field }} of {{ $labels.target }} had the wrong type in the last 10 minutes.{{ end }} Metrics that read the field are absent.',
    action: 'Compare the response of the node with docs/metrics.md; alerts on the missing metrics cannot fire.',
    sentence: (findings, { state: { document } }) => {
      const fields = fieldsOf(findings, 'field');
      const families = fieldsOf(findings, 'family');
      return parts(
        `part of ${document} has been unusable for ${findings.duration}`,
        fields.length === 0 ? '' : `invalid values of ${list(fields)}`,
        families.length === 0 ? '' : `missing: ${list(families)}`,
      );
    },
  }),
  endpointAlert({
    name: 'BridgeExporterSeriesDropped',
    severity: 'warning',
    when: 'A metric has more series than `limits.max_series_per_family`.',
    expr: 'bridge_exporter_series_dropped > 0',
    forMinutes: 15,
    keepFiringMinutes: 15,
    find: ({ state: { success } }) =>
      (success?.snapshot.families ?? []).flatMap(({ name, dropped = 0 }) =>
        dropped > 0 ? [{ labels: { family: name }, value: dropped }] : [],
      ),
    summary: '{{ $labels.family }} exceeds limits.max_series_per_family.',
    description:
      '{{ $value }} series of {{ $labels.family }} of {{ $labels.target }} are over the limit. They are dropped, or added up in one series whose labels read other.',
    action: 'Raise limits.max_series_per_family.',
    sentence: (findings) => {
      const names = fieldsOf(findings, 'family');
      const exceed = names.length === 1 ? 'exceeds' : 'exceed';
      return `${count(names.length, 'metric')} ${exceed} limits.max_series_per_family: ${list(names)}`;
    },
  }),
];
