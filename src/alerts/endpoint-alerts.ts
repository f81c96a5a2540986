import { documents, type DocumentName } from '../documents.js';
import type { FailureReason } from '../http/failure-reasons.js';
import { ageSeconds, msBetween } from '../clock.js';
import { MINUTE_MS } from '../config/units.js';
import { count, duration, list, percent } from '../text/format.js';
import { endpointAlert } from './alert.js';
import { ON_ENDPOINT, ON_TARGET, promDuration, TARGET } from './promql.js';
import { withDetails, withList } from './sentences.js';
import { HEIGHT_POLLS, heightFamilies } from './poll-history.js';
import { fieldsOf, findingIf, OUTDATED_MINUTES, steadyHeight, type PollView } from './view.js';

/* Alerts on an endpoint and on the data it returns. They come first: the other alerts are judged from that data. */

/** Age of the last success. */
export const OUTDATED_SECONDS = OUTDATED_MINUTES * 60;
/** Share of poll.max_body_size. */
export const SIZE_RATIO = 0.8;
const FAILURE_MINUTES = 10;
const HEIGHT_MINUTES = 10;
const MISCONFIGURED_REASONS = ['bad_request', 'unauthorized'] as const satisfies readonly FailureReason[];
const SIZE_REASONS = ['too_large', 'response_too_large_upstream'] as const satisfies readonly FailureReason[];

const age = (timestamp: string): string => `time() - ${timestamp}`;
const SUCCESS = 'bridge_exporter_last_success_timestamp_seconds';

/** The age of the data, or of an endpoint without any, where it is too high. */
export function outdatedExpr(matchers: string): string {
  const added = `bridge_exporter_endpoint_added_timestamp_seconds${matchers}`;
  return `${age(`(${SUCCESS}${matchers} or ${added})`)} > ${OUTDATED_SECONDS}`;
}
/** The opposite, for endpoints with data. */
export const CURRENT = `${age(SUCCESS)} <= ${OUTDATED_SECONDS}`;

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

function heightAlert<const Name extends string>(name: Name, document: DocumentName, subject: string) {
  const family = heightFamilies[document];
  const range = promDuration(HEIGHT_MINUTES);
  return endpointAlert({
    name,
    severity: 'critical',
    document,
    description: `Polls succeed, but \`${family}\` has not changed for ${HEIGHT_MINUTES} minutes, or since the first scrape. Other alerts on the document are suspended.`,
    // Three successful polls, so that a long poll interval does not look like a halted chain.
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
      const { height, since, mayBeOlder } = steady;
      return [{ labels: {}, value: height, start: { kind: 'shown', since, mayBeOlder } }];
    },
    summary: `${subject} does not advance.`,
    action: 'Compare the height with another node: the node or the hub has halted, or a cache serves old responses.',
    sentence: ({ oldest, duration: lasting }) => `${subject} has not advanced from ${oldest.value} for ${lasting}`,
    inhibitsData: true,
  });
}

export const endpointAlerts = [
  endpointAlert({
    name: 'BridgeSnapshotStale',
    severity: 'critical',
    // The age, because bridge_exporter_up stays 1 when polling stops.
    description: `The last successful poll of every exporter is more than ${OUTDATED_SECONDS / 60} minutes old, or none has succeeded since the endpoint was added. No other alert on the document can fire.`,
    expr: `${outdatedExpr('{document!="external_contract"}')}\nunless ${ON_ENDPOINT} ${CURRENT}`,
    keepFiringMinutes: 5,
    find: (view) => {
      const { success, addedAt, document } = view.state;
      // The warning of this name is for those.
      return isOutdated(view) && !documents[document].isOptional
        ? [
            {
              labels: {},
              value: secondsWithoutSuccess(view),
              start: { kind: 'shown', since: success?.at ?? addedAt, mayBeOlder: false },
            },
          ]
        : [];
    },
    summary: 'the data of {{ $labels.document }} is outdated: no successful poll for {{ $value | humanizeDuration }}.',
    action: 'Check the endpoint and the last failure on the status page; nothing else can be judged without its data.',
    sentence: (_findings, view) => withDetails(withoutSuccess(view), lastFailure(view)),
    // The critical alert includes the warning.
    inhibits: [
      { alert: 'BridgeEndpointDown', equal: ['document'] },
      { alert: 'BridgeEndpointNotPolled', equal: ['document'] },
    ],
    inhibitsData: true,
  }),
  heightAlert('BridgeHeightStalled', 'module_state', 'the hub height'),
  heightAlert('CrosschainHeightStalled', 'rate_limiter_input', 'the hub height of the cross-chain input'),
  endpointAlert({
    name: 'BridgeEndpointMisconfigured',
    severity: 'warning',
    // More than one failure, because credentials may be rotated between two polls.
    description: `More than one poll within ${FAILURE_MINUTES} minutes failed with reason \`bad_request\` or \`unauthorized\`, and the last poll failed.`,
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
    summary: '{{ $labels.document }} is misconfigured: polls fail with reason {{ $labels.reason }}.',
    action:
      'Correct what the last failure on the status page names: the configuration, the credentials, or what in front of the node refuses this machine.',
    sentence: (findings, view) =>
      withList(
        `${view.state.document} is misconfigured`,
        `polls have failed with ${list(fieldsOf(findings, 'reason'))} for ${findings.duration}`,
        lastFailure(view),
      ),
    // The cause.
    inhibits: [{ alert: 'BridgeEndpointDown', equal: ['document'] }],
  }),
  endpointAlert({
    name: 'BridgeEndpointDown',
    severity: 'warning',
    description: 'Every poll fails. BridgeSnapshotStale is the critical alert, once the data is outdated.',
    expr: 'bridge_exporter_up == 0',
    forMinutes: 3,
    keepFiringMinutes: 5,
    find: ({ state: { last } }) => findingIf(last?.ok === false, 0),
    summary: 'polls of {{ $labels.document }} fail.',
    action: 'Check the node and the way to it; the reason of the last failure on the status page says where.',
    sentence: ({ duration: lasting }, view) =>
      withDetails(`polls of ${view.state.document} have failed for ${lasting}`, lastFailure(view)),
    inhibitsData: true,
  }),
  endpointAlert({
    name: 'BridgeResponseNearLimit',
    severity: 'warning',
    description: `A response is larger than ${percent(SIZE_RATIO)} of \`poll.max_body_size\`, or one was rejected for its size, here or by the node, within ${FAILURE_MINUTES} minutes. Above the limit every poll fails.`,
    expr: `(
  (sum without (reason) (increase(bridge_exporter_poll_failures_total{reason=~"${SIZE_REASONS.join('|')}"}[${promDuration(FAILURE_MINUTES)}])) > bool 0) == 1
  or
  bridge_exporter_response_size_bytes / bridge_exporter_response_size_limit_bytes
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
    summary: 'the response of {{ $labels.document }} has reached {{ $value | humanizePercentage }} of its size limit.',
    action: 'Raise poll.max_body_size or the limit of the node, then reduce the backlog.',
    sentence: ({ oldest }, { state: { document } }) =>
      oldest.value >= 1
        ? `a response of ${document} was rejected for its size`
        : `the response of ${document} has reached ${percent(oldest.value)} of its size limit`,
  }),
  endpointAlert({
    name: 'BridgeExporterSeriesDropped',
    severity: 'warning',
    description:
      'A metric has more series than `limits.max_series_per_family`. The others are dropped, or added up in one series whose labels read `other`.',
    expr: 'bridge_exporter_series_dropped > 0',
    forMinutes: 15,
    keepFiringMinutes: 15,
    find: ({ state: { success } }) =>
      (success?.snapshot.families ?? []).flatMap(({ name, dropped = 0 }) =>
        dropped > 0 ? [{ labels: { family: name }, value: dropped }] : [],
      ),
    summary: '{{ $value }} series of {{ $labels.family }} exceed limits.max_series_per_family.',
    action: 'Raise limits.max_series_per_family.',
    sentence: (findings) => {
      const names = fieldsOf(findings, 'family');
      const exceed = names.length === 1 ? 'exceeds' : 'exceed';
      return withList(`${count(names.length, 'metric')} ${exceed} limits.max_series_per_family`, list(names));
    },
  }),
];
