import type { DocumentPath } from '../chain/dialects.js';
import { compare } from '../chain/decimal.js';
import type { FieldErrors } from '../chain/document.js';
import type { Numeral } from '../chain/numeral.js';
import type { Instant } from '../clock.js';
import type { DocumentName, DocumentTypes, OtherAnswers, StepContext } from '../document-types.js';
import { documents, type DocumentContext } from '../documents.js';
import { flowHistoryAfter, NO_FLOW_HISTORY, type FlowHistory } from '../flow/flow-history.js';
import { failure, type Failure } from '../http/failure-reasons.js';
import { renderFamilies } from '../metrics/render-families.js';
import { formatTargetLabels } from '../metrics/text-format.js';
import { judgeProblems, NO_PROBLEMS, repeatJudgement, withEnded, type ProblemMemory } from '../problems/memory.js';
import { problemLines } from '../problems/problem-families.js';
import type { Evidence } from '../problems/problem.js';
import { withFailedPoll } from '../queries/query-state.js';
import { endedBySuccess, hasDroppedSeries, misconfiguredReasons, isNearSizeLimit } from './endpoint-conditions.js';
import {
  freshAnswers,
  isNeverServed,
  isOf,
  knownDocument,
  type EndpointState,
  type FailedPoll,
  type PhaseSeconds,
  type Snapshot,
} from './endpoint-state.js';

/*
 * One poll of an endpoint: from what is known of it and the document that was read to what is known afterwards. Everything
 * that is published of a document is derived here, without clock, log or network, so that the daemon, `once` and every replay find the same in the
 * same documents and answers.
 */

/** What one poll has found. */
export interface PollResult<Name extends DocumentName = DocumentName> {
  readonly outcome: ReadContent<Name> | Failure;
  readonly phaseSeconds: PhaseSeconds;
  readonly bodyBytes?: number | undefined;
  /** Whether the body has so many values for its size that it is hostile. */
  readonly isDense?: boolean;
  /** Whether the last poll of another document of the target has succeeded. */
  readonly hasOtherSucceeded?: boolean;
  /** Where the document was found; only after a success, and not for a recorded body. */
  readonly foundPath?: DocumentPath | undefined;
  /** Host and path of the document, or the name of its file; at the beginning of messages. */
  readonly source?: string | undefined;
}

/** A document that was read. */
interface ReadContent<Name extends DocumentName> {
  readonly ok: true;
  readonly content: DocumentTypes[Name]['content'];
  readonly errors: FieldErrors;
  /** Hub height from the response header; `undefined` without one. */
  readonly height: Numeral | undefined;
  readonly receivedAt: Instant;
  readonly otherAnswers?: OtherAnswers<Name> | undefined;
  /** The body, compressed by `compressBody`; `undefined` if it is not kept. */
  readonly compressed: Buffer | undefined;
}

/**
 * A document with a lower hub height than the last successful one fails its poll, because the node may be behind others. The third
 * such document since the last success is accepted: the node was rolled back or replaced.
 */
const REGRESSIONS_TO_ACCEPT = 3;

/** Returns what is known after one more poll, which ended at `at`. */
export function step<Name extends DocumentName>(
  before: EndpointState,
  poll: PollResult<Name>,
  context: StepContext<Name>,
  at: Instant,
): EndpointState {
  const state = isOfOtherBridge(before, poll, context) ? forgotten(before) : before;
  const regression = regressionOf(state, poll, context);
  const regressionsSinceSuccess = state.regressionsSinceSuccess + (regression ? 1 : 0);
  const outcome = regression && regressionsSinceSuccess < REGRESSIONS_TO_ACCEPT ? regression : poll.outcome;
  const { phaseSeconds, bodyBytes } = poll;
  const isNearLimit = isNearSizeLimit(outcome.ok ? undefined : outcome.error, bodyBytes, state.maxBodyBytes);
  const nearLimitSince = isNearLimit ? (state.last?.nearLimitSince ?? at) : undefined;
  const polled = {
    ...state,
    polls: state.polls + 1,
    regressions: state.regressions + (regression ? 1 : 0),
    last: { at, ok: outcome.ok, phaseSeconds, bodyBytes, nearLimitSince },
  };
  if (!outcome.ok) {
    const { reason } = outcome.error;
    const failures = { ...state.failures, [reason]: state.failures[reason] + 1 };
    const queries = withFailedPoll(state.queries);
    const lastFailure = state.last?.ok === false ? state.failure : undefined;
    const misconfiguredSince = misconfiguredReasons.has(reason) ? (lastFailure?.misconfiguredSince ?? at) : undefined;
    const failed: FailedPoll = { at, since: lastFailure?.since ?? at, misconfiguredSince, error: outcome.error };
    return { ...polled, failures, failure: failed, regressionsSinceSuccess, queries };
  }
  const isNotServed = poll.hasOtherSucceeded === true && isNeverServed(state);
  const { snapshot, problems } = derive(state, outcome, context);
  const hasDropped = snapshot.families.some(hasDroppedSeries);
  const droppedSince = hasDropped ? (state.success?.droppedSince ?? at) : undefined;
  return {
    ...polled,
    invalidValues: addCounts(state.invalidValues, outcome.errors.invalid),
    unknownValues: addCounts(state.unknownValues, outcome.errors.unknown),
    success: { at, snapshot, foundPath: poll.foundPath, droppedSince },
    restored: undefined,
    regressionsSinceSuccess: 0,
    problems: { ...problems, ended: withEnded(problems.ended, endedBySuccess(state, at, isNotServed), at) },
    flowHistory: historyAfter(state.flowHistory, snapshot, at),
  };
}

/** Whether what was restored is of another bridge than the first document. */
function isOfOtherBridge<Name extends DocumentName>(
  { restored }: EndpointState,
  { outcome }: PollResult<Name>,
  context: StepContext<Name>,
): boolean {
  if (restored === undefined || !outcome.ok) return false;
  const identity = identityOf(outcome.content, context);
  const isKnown = identity.length > 0 && restored.identity.length > 0;
  return isKnown && !identity.some((id) => restored.identity.includes(id));
}

function identityOf<Name extends DocumentName>(
  content: DocumentTypes[Name]['content'],
  { document, settings }: StepContext<Name>,
): readonly string[] {
  return documents[document].identity(content, settings);
}

function forgotten(state: EndpointState): EndpointState {
  return { ...state, restored: undefined, problems: NO_PROBLEMS, flowHistory: NO_FLOW_HISTORY };
}

/** Returns what is known after a poll that has the same result as the last one. Between two recorded polls there were others. */
export function repeatLastPoll(state: EndpointState, at: Instant): EndpointState {
  const { last, success } = state;
  if (last === undefined) return state;
  const repeated = { ...state, last: { ...last, at } };
  if (!last.ok || success === undefined) return repeated;
  return {
    ...repeated,
    success: { ...success, at },
    problems: repeatJudgement(state.problems, at),
    flowHistory: historyAfter(state.flowHistory, success.snapshot, at),
  };
}

function historyAfter(before: FlowHistory, snapshot: Snapshot, at: Instant): FlowHistory {
  return isOf('module_state', snapshot) ? flowHistoryAfter(before, snapshot.flow, at) : before;
}

/** What is derived from a document, after the last one of the endpoint. */
function derive<Name extends DocumentName>(
  state: EndpointState,
  { content, errors, height, receivedAt, otherAnswers, compressed }: ReadContent<Name>,
  context: StepContext<Name>,
): { readonly snapshot: Snapshot<Name>; readonly problems: ProblemMemory } {
  const { document, target, targetLabels, settings, labels, maxSeries, staleAfterMs, maxValues } = context;
  const definition = documents[document];
  const known = knownDocument(state);
  const last = isOf(document, known) ? known : undefined;
  const documentContext: DocumentContext<DocumentTypes[Name]> = {
    at: receivedAt,
    height,
    past: last?.past,
    otherAnswers,
    settings,
    labels,
  };
  const input = definition.input(content, documentContext);
  const fixedLabels = formatTargetLabels(target, targetLabels);
  const identity = identityOf(content, context);
  const flow = definition.flow.track(last?.flow ?? definition.flow.initial, input, { staleAfterMs, maxSeries });
  const evidence: Evidence<Name> = {
    input,
    flow,
    answers: freshAnswers(state, receivedAt),
    answeredAt: (query, key) => state.queries.get(query)?.answers.get(key)?.at.epochSeconds,
  };
  const { memory: problems, ...judgement } = judgeProblems(state.problems, document, evidence, receivedAt, context);
  const snapshot = {
    document,
    families: [
      ...renderFamilies(definition.families, input, fixedLabels, maxSeries),
      ...renderFamilies(definition.flow.gauges, { input, flow }, fixedLabels, maxSeries),
      ...problemLines(judgement, document, fixedLabels, maxSeries),
    ],
    height: definition.hubHeight(content, height),
    errors,
    judgement,
    identity: identity.length === 0 ? (last?.identity ?? []) : identity,
    past: definition.past(input),
    flow,
    otherAnswers,
    kept: compressed && { body: compressed, context: documentContext, maxValues },
    cumulative: renderFamilies(definition.flow.cumulative, flow, fixedLabels, maxSeries),
  };
  return { snapshot, problems };
}

/** The failure of a document with a lower hub height than the previous one. */
function regressionOf<Name extends DocumentName>(
  state: EndpointState,
  { outcome, source }: PollResult<Name>,
  { document }: StepContext<Name>,
): Failure | undefined {
  if (!outcome.ok) return undefined;
  const height = documents[document].hubHeight(outcome.content, outcome.height);
  const before = knownDocument(state)?.height;
  if (height === undefined || before === undefined || compare(height, before) >= 0) return undefined;
  const message = `${source === undefined ? '' : `${source}: `}hub height ${height} is below ${before} of the previous document`;
  return failure('regression', message);
}

function addCounts(
  counts: ReadonlyMap<string, number>,
  added: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> {
  if (added.size === 0) return counts;
  const total = new Map(counts);
  for (const [field, count] of added) total.set(field, (total.get(field) ?? 0) + count);
  return total;
}
