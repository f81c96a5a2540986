import type { Instant } from '../clock.js';
import { ageSeconds } from '../clock.js';
import { documents, type DocumentName } from '../documents.js';
import { remedyOf, type FailureReason } from '../http/failure-reasons.js';
import { isNeverServed, type EndpointState } from './endpoint-state.js';
import { duration, list, percent } from '../text/format.js';
import type { EndedProblem } from '../problems/memory.js';
import type { Severity } from '../problems/problem.js';
import { withDetails, withList, type Sentence } from '../problems/sentence.js';

/*
 * What is wrong with the polls of an endpoint, for the pages and the log. Prometheus judges the same from `bridge_exporter_up` and other families
 * of the exporter (exporter-rules.ts), because it also has to notice when no exporter runs.
 */

/** A condition with the name of its alert. */
export interface EndpointCondition {
  readonly name: string;
  readonly severity: Severity;
  readonly startSeconds: number;
  readonly limitSeconds: number;
  readonly sentence: Sentence;
  readonly action: string;
  readonly inhibits: readonly string[];
}

/** Data without a successful poll for this long is outdated. */
export const OUTDATED_SECONDS = 600;
/** The same of an optional document, whose alert waits longer. */
const OPTIONAL_OUTDATED_SECONDS = 900;
const DOWN_SECONDS = 180;
const NOT_SERVED_SECONDS = 300;
/** Share of poll.max_body_size. */
export const SIZE_RATIO = 0.8;

const MISCONFIGURED_REASONS: ReadonlySet<FailureReason> = new Set(['bad_request', 'unauthorized']);
const SIZE_REASONS: ReadonlySet<FailureReason> = new Set(['too_large', 'response_too_large_upstream']);

/** What turns off the polls of a document. */
const TURN_OFF: Readonly<Record<DocumentName, string>> = {
  module_state: 'set BRIDGE_URL= (or remove bridge from the target)',
  external_contract: 'remove external from the target',
  rate_limiter_input: 'set CROSSCHAIN_URL= (or remove crosschain from the target)',
};

/** The time since the last success, or without one since the endpoint is polled. */
function secondsWithoutSuccess({ success, addedAt }: EndpointState, now: Instant): number {
  return ageSeconds(success?.at ?? addedAt, now);
}

/** Such as "no poll of module_state has succeeded for 18 min" */
export function withoutSuccess(state: EndpointState, now: Instant): string {
  const lasting = duration(secondsWithoutSuccess(state, now));
  if (state.polls === 0) return `${state.document} has not been polled for ${lasting}`;
  if (state.success === undefined) {
    return `no poll of ${state.document} has succeeded since the endpoint was added ${lasting} ago`;
  }
  return `no poll of ${state.document} has succeeded for ${lasting}`;
}

/** `for` of the alert. */
const REJECTED_SECONDS = 300;

/** `isNotServed`: the node has never served the document, while it serves another one of the target. */
export function endpointConditions(
  state: EndpointState,
  now: Instant,
  isNotServed: boolean,
): readonly EndpointCondition[] {
  const { document, last, failure, success, addedAt, maxBodyBytes } = state;
  const since = (success?.at ?? addedAt).epochSeconds;
  const failed = last?.ok === false ? failure?.error : undefined;
  const failingSince = failure?.since.epochSeconds ?? since;
  const { isOptional } = documents[document];
  const outdatedSeconds = isOptional ? OPTIONAL_OUTDATED_SECONDS : OUTDATED_SECONDS;
  const conditions: EndpointCondition[] = [];
  if (failed !== undefined && isNotServed) {
    return [
      {
        name: 'BridgeSnapshotStale',
        severity: 'warning',
        startSeconds: since,
        limitSeconds: NOT_SERVED_SECONDS,
        sentence: withDetails(`this node does not serve ${document}`, TURN_OFF[document]),
        action: `Correct the configuration. If the node should serve it: ${remedyOf(failed, document)}`,
        inhibits: [],
      },
    ];
  }
  if (secondsWithoutSuccess(state, now) > outdatedSeconds) {
    conditions.push({
      name: 'BridgeSnapshotStale',
      severity: isOptional ? 'warning' : 'critical',
      startSeconds: since,
      limitSeconds: outdatedSeconds,
      sentence: withDetails(withoutSuccess(state, now), failed?.message ?? ''),
      action:
        'Check the endpoint and the last failure on the status page; nothing else can be judged without its data.',
      inhibits: ['BridgeEndpointDown', 'BridgeEndpointMisconfigured'],
    });
  }
  if (failed !== undefined && MISCONFIGURED_REASONS.has(failed.reason)) {
    conditions.push({
      name: 'BridgeEndpointMisconfigured',
      severity: 'warning',
      startSeconds: failingSince,
      limitSeconds: DOWN_SECONDS,
      sentence: withList(`${document} is misconfigured, for {duration}`, failed.message),
      action:
        'Correct what the last failure on the status page names: the configuration, the credentials, or what in front of the node refuses this machine.',
      inhibits: ['BridgeEndpointDown'],
    });
  }
  if (failed !== undefined) {
    conditions.push({
      name: 'BridgeEndpointDown',
      severity: 'warning',
      startSeconds: failingSince,
      limitSeconds: DOWN_SECONDS,
      sentence: withDetails(`polls of ${document} have failed for {duration}`, failed.message),
      action: 'Check the node and the way to it; the reason of the last failure on the status page says where.',
      inhibits: [],
    });
  }
  const isRejected = failed !== undefined && SIZE_REASONS.has(failed.reason);
  const ratio = (last?.bodyBytes ?? 0) / maxBodyBytes;
  if (last !== undefined && (isRejected || ratio > SIZE_RATIO)) {
    conditions.push({
      name: 'BridgeResponseNearLimit',
      severity: 'warning',
      startSeconds: isRejected ? failingSince : last.at.epochSeconds,
      limitSeconds: isRejected ? REJECTED_SECONDS : 0,
      sentence: withDetails(
        isRejected
          ? `a response of ${document} was rejected for its size`
          : `the response of ${document} has reached ${percent(ratio)} of its size limit`,
      ),
      action: 'Raise poll.max_body_size or the limit of the node, then reduce the backlog.',
      inhibits: [],
    });
  }
  const dropped = (success?.snapshot.families ?? []).filter((family) => (family.dropped ?? 0) > 0);
  if (success !== undefined && dropped.length > 0) {
    conditions.push({
      name: 'BridgeExporterSeriesDropped',
      severity: 'warning',
      startSeconds: success.at.epochSeconds,
      limitSeconds: 0,
      sentence: withList('metrics exceed limits.max_series_per_family', list(dropped.map(({ name }) => name))),
      action: 'Raise limits.max_series_per_family.',
      inhibits: [],
    });
  }
  return conditions;
}

const FAILING: ReadonlySet<string> = new Set([
  'BridgeSnapshotStale',
  'BridgeEndpointMisconfigured',
  'BridgeEndpointDown',
]);

/** What a successful poll ends, if it was older than its limit: the worst that was wrong with the polls before. */
export function endedBySuccess(before: EndpointState, at: Instant): readonly EndedProblem[] {
  return endpointConditions(before, at, isNeverServed(before))
    .filter(
      ({ name, startSeconds, limitSeconds }) => FAILING.has(name) && at.epochSeconds - startSeconds >= limitSeconds,
    )
    .slice(0, 1)
    .map(({ name, severity, startSeconds }) => ({
      name,
      severity,
      subject: {},
      startSeconds,
      endSeconds: at.epochSeconds,
    }));
}
