import type { Instant } from '../clock.js';
import type { DocumentName } from '../document-types.js';
import { documents } from '../documents.js';
import { remedyOf, type FailureReason, type PollError } from '../http/failure-reasons.js';
import {
  endpointRules,
  MISCONFIGURED_REASONS,
  OUTDATED_SECONDS,
  SIZE_RATIO,
  SIZE_REASONS,
  UNJUDGED_SECONDS,
} from '../problems/exporter-rules.js';
import type { EndedProblem, PresentProblem, UnjudgedProblem } from '../problems/memory.js';
import { withDetails, withList } from '../problems/sentence.js';
import type { RenderedFamily } from '../metrics/render-families.js';
import { durationInWords, list, percent } from '../text/format.js';
import type { EndpointState } from './endpoint-state.js';

/*
 * Failures of polls as conditions, for the pages and the log. Prometheus has rules for them on metrics of the exporter such as `bridge_exporter_up`
 * (exporter-rules.ts), because an exporter that does not run cannot report itself.
 */

type EndpointRule = (typeof endpointRules)[keyof typeof endpointRules];

/** A condition is present like a problem. Its alert is the rule. */
function condition(
  { name, severity, action, inhibits, forMinutes }: EndpointRule,
  present: Pick<PresentProblem, 'startSeconds' | 'sentence'> & Partial<PresentProblem>,
): PresentProblem {
  const ofDocument = inhibits.map(({ problem }) => ({ problem, equal: ['document'] as const }));
  const problem = { name, severity, inhibits: ofDocument, inhibitsDocument: false };
  return { problem, subject: {}, isProven: true, action, validators: [], limitSeconds: forMinutes * 60, ...present };
}

export const misconfiguredReasons: ReadonlySet<FailureReason> = new Set(MISCONFIGURED_REASONS);
const sizeReasons = new Set<FailureReason>(SIZE_REASONS);

/** How to turn off the polls of a document. */
const TURN_OFF: Readonly<Record<DocumentName, string>> = {
  module_state: 'set BRIDGE_URL= (or remove bridge from the target)',
  external_contract: 'remove external from the target',
  rate_limiter_input: 'set CROSSCHAIN_URL= (or remove crosschain from the target)',
};

/** The time since the last success; before the first, since the endpoint was added. */
function secondsWithoutSuccess({ lastSuccess, addedAt }: EndpointState, now: Instant): number {
  return now - (lastSuccess?.at ?? addedAt);
}

/** Such as "no poll of module_state has succeeded for 18 min" */
export function withoutSuccess(state: EndpointState, now: Instant): string {
  const lasting = durationInWords(secondsWithoutSuccess(state, now));
  if (state.polls === 0) return `${state.document} has not been polled for ${lasting}`;
  if (state.lastSuccess === undefined) {
    return `no poll of ${state.document} has succeeded since the endpoint was added ${lasting} ago`;
  }
  return `no poll of ${state.document} has succeeded for ${lasting}`;
}

/** Whether a response was rejected for its size, or nearly would have been. */
export function isNearSizeLimit(error: PollError | undefined, bodyBytes = 0, maxBodyBytes: number): boolean {
  return (error !== undefined && sizeReasons.has(error.reason)) || bodyBytes / maxBodyBytes > SIZE_RATIO;
}

export function hasDroppedSeries({ dropped = 0 }: RenderedFamily): boolean {
  return dropped > 0;
}

/** `isMissingOnNode`: the node has never served the document, and serves another document of the target. */
export function endpointConditions(
  state: EndpointState,
  now: Instant,
  isMissingOnNode: boolean,
): readonly PresentProblem[] {
  const { document, lastPoll, lastFailure, lastSuccess, maxBodyBytes } = state;
  const failing = failingConditions(state, now, isMissingOnNode);
  if (isMissingOnNode) return failing;
  const conditions = [...failing];
  const failed = lastPoll?.ok === false ? lastFailure?.error : undefined;
  if (lastPoll !== undefined && isNearSizeLimit(failed, lastPoll.bodyBytes, maxBodyBytes)) {
    conditions.push(
      condition(endpointRules.nearLimit, {
        startSeconds: lastPoll.nearLimitSince ?? lastPoll.at,
        sentence: withDetails(
          failed !== undefined && sizeReasons.has(failed.reason)
            ? `a response of ${document} was rejected for its size`
            : `the response of ${document} has reached ${percent((lastPoll.bodyBytes ?? 0) / maxBodyBytes)} of its size limit`,
        ),
      }),
    );
  }
  const dropped = (lastSuccess?.snapshot.renderedFamilies ?? []).filter(hasDroppedSeries);
  if (lastSuccess !== undefined && dropped.length > 0) {
    conditions.push(
      condition(endpointRules.seriesDropped, {
        startSeconds: lastSuccess.droppedSince ?? lastSuccess.at,
        sentence: withList('metrics exceed limits.max_series_per_family', list(dropped.map(({ name }) => name))),
      }),
    );
  }
  return conditions;
}

/**
 * Since when polls have not succeeded. Two polls are never further apart than `stale_after`, unless the machine was suspended: that is no failure, and
 * polls can fail only afterwards.
 */
function withoutSuccessSince(
  { lastPoll, lastSuccess, lastFailure, addedAt, staleAfterMs }: EndpointState,
  now: Instant,
) {
  if (lastSuccess === undefined) return addedAt;
  const nextAt = lastPoll?.ok === false && lastFailure !== undefined ? lastFailure.since : now;
  return (nextAt - lastSuccess.at) * 1000 > staleAfterMs ? nextAt : lastSuccess.at;
}

/** The conditions that a successful poll ends, worst first. */
function failingConditions(state: EndpointState, now: Instant, isMissingOnNode: boolean): readonly PresentProblem[] {
  const { document, lastPoll, lastFailure, addedAt } = state;
  const startSeconds = withoutSuccessSince(state, now);
  const failed = lastPoll?.ok === false ? lastFailure?.error : undefined;
  const { stale, staleOrNotServed, misconfigured, down } = endpointRules;
  if (failed !== undefined && isMissingOnNode) {
    return [
      condition(staleOrNotServed, {
        startSeconds,
        sentence: withDetails(`this node does not serve ${document}`, TURN_OFF[document]),
        action: `Correct the configuration. If the node should serve it: ${remedyOf(failed, document)}`,
      }),
    ];
  }
  const conditions: PresentProblem[] = [];
  const staleRule = documents[document].isOptional ? staleOrNotServed : stale;
  const outdatedSeconds = OUTDATED_SECONDS + staleRule.forMinutes * 60;
  const seconds = now - startSeconds;
  const isOutdated = seconds > outdatedSeconds;
  const isNear = failed !== undefined && staleRule === stale && seconds >= outdatedSeconds * PENDING_SHARE;
  if (isOutdated || isNear) {
    conditions.push(
      // The reason of the failures is hidden only when the data is outdated.
      condition(isOutdated ? staleRule : { ...staleRule, inhibits: [] }, {
        startSeconds,
        limitSeconds: outdatedSeconds,
        sentence: withDetails(withoutSuccess(state, now), failed?.message ?? ''),
      }),
    );
  }
  const since = lastFailure?.since ?? addedAt;
  if (failed !== undefined && misconfiguredReasons.has(failed.reason)) {
    const sentence = withList(`${document} is misconfigured, for {duration}`, failed.message);
    const misconfiguredSince = lastFailure?.misconfiguredSince ?? since;
    // In Prometheus, the rule on a wrong configuration fires a minute later, because it is on a rate.
    conditions.push(
      condition(misconfigured, { startSeconds: misconfiguredSince, limitSeconds: down.forMinutes * 60, sentence }),
    );
  }
  if (failed !== undefined) {
    const sentence = withDetails(`polls of ${document} have failed for {duration}`, failed.message);
    conditions.push(condition(down, { startSeconds: since, sentence }));
  }
  return failed === undefined
    ? conditions
    : conditions.map((present) => ({ ...present, action: remedyOf(failed, document) }));
}

/** The worst condition that a successful poll ends, if its alert has fired. */
export function endedBySuccess(before: EndpointState, at: Instant, isMissingOnNode: boolean): readonly EndedProblem[] {
  return failingConditions(before, at, isMissingOnNode)
    .filter(({ startSeconds, limitSeconds }) => at - startSeconds >= limitSeconds)
    .slice(0, 1)
    .map(({ problem: { name, severity }, subject, startSeconds }) => ({
      name,
      severity,
      subject,
      startSeconds,
      endSeconds: at,
    }));
}

/** A problem is shown from this share of its limit on. On a healthy bridge, most problems end earlier. */
export const PENDING_SHARE = 1 / 3;

/** Shorter problems are not shown. */
export const SHOWN_AFTER_SECONDS = 120;

/** Unjudged problems: a condition of each severity, because there is a rule of each. */
export function unjudgedConditions(
  state: EndpointState,
  unjudged: readonly UnjudgedProblem[],
  now: Instant,
): readonly PresentProblem[] {
  const critical = unjudged.filter(({ severity }) => severity === 'critical');
  const notCritical = unjudged.filter(({ severity }) => severity !== 'critical');
  return [
    ...unjudgedCondition(endpointRules.unjudgedCritical, state, critical, now),
    ...unjudgedCondition(endpointRules.unjudged, state, notCritical, now),
  ];
}

function unjudgedCondition(
  rule: EndpointRule,
  state: EndpointState,
  unjudged: readonly UnjudgedProblem[],
  now: Instant,
): readonly PresentProblem[] {
  const startSeconds = Math.min(...unjudged.map(({ sinceSeconds }) => sinceSeconds));
  if (unjudged.length === 0 || now - startSeconds < SHOWN_AFTER_SECONDS) return [];
  const names = Array.from(new Set(unjudged.map(({ problem }) => problem.name)));
  return [
    condition(rule, {
      startSeconds,
      limitSeconds: UNJUDGED_SECONDS,
      sentence: withDetails(
        `part of ${state.document} has been unusable for {duration}`,
        unreadableFields(state),
        `not judged: ${list(names)}`,
      ),
    }),
  ];
}

/** Such as "missing: state.batches; invalid values of state.valsets", of the last document. */
function unreadableFields({ lastSuccess }: EndpointState): string {
  const { missing = [], invalid = new Map<string, number>() } = lastSuccess?.snapshot.errors ?? {};
  const depthOf = (path: string): number => path.split('.').length;
  // A list is more than a parameter.
  const absent = Array.from(missing).toSorted((a, b) => depthOf(a) - depthOf(b));
  const wrong = Array.from(invalid.keys());
  return [
    absent.length === 0 ? '' : `missing: ${list(absent)}`,
    wrong.length === 0 ? '' : `invalid values of ${list(wrong)}`,
  ]
    .filter((part) => part !== '')
    .join('; ');
}
