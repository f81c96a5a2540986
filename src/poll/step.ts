import { compare } from '../chain/decimal.js';
import type { FieldErrors } from '../chain/document.js';
import type { Numeral } from '../chain/numeral.js';
import type { Instant } from '../clock.js';
import type { DocumentName, DocumentTypes, StepContext } from '../document-types.js';
import { documents, type DocumentContext } from '../documents.js';
import { flowHistoryAfter, type FlowHistory } from '../flow/flow-history.js';
import { failure, type Failure } from '../http/failure-reasons.js';
import { renderFamilies, type FamilyLines } from '../metrics/render-families.js';
import { formatTargetLabels } from '../metrics/text-format.js';
import { judgeProblems, repeatJudgement, withEnded, type Judgement, type ProblemMemory } from '../problems/memory.js';
import { problemLines } from '../problems/problem-families.js';
import type { Evidence } from '../problems/problem.js';
import { withFailedPoll, withoutStaleAnswers } from '../queries/query-state.js';
import { endedBySuccess, hasDroppedSeries, isMisconfigured, isNearSizeLimit } from './endpoint-conditions.js';
import {
  initialMemory,
  isNeverServed,
  knownDocument,
  type EndpointState,
  type FailedPoll,
  type KnownEndpoint,
} from './endpoint-state.js';
import type { Poll, PolledDocument } from './poll.js';

/*
 * One poll of an endpoint: from what is known of it and the document that was read to what is known afterwards. Everything
 * that is published of a document is derived here, without clock, log or network, so that the daemon, `once` and every replay find the same in the
 * same documents and answers.
 */

/** What a successful poll publishes. */
export type Snapshot<Name extends DocumentName = DocumentName> = {
  [Each in Name]: SnapshotContent & {
    readonly document: Each;
    /** What identifies the bridge: see `DocumentDefinition.identity`. */
    readonly identity: readonly string[];
    /** What the next poll remembers of the document. */
    readonly observations: DocumentTypes[Each]['observations'];
    readonly flow: DocumentTypes[Each]['flow'];
    /** What the items of `/pending` are derived from; `undefined` if the body is not kept. */
    readonly kept: KeptDocument<Each> | undefined;
  };
}[Name];

interface KeptDocument<Name extends DocumentName> {
  readonly body: Buffer;
  readonly received: DerivedWith<Name>;
  readonly context: StepContext<Name>;
}

/** What a document is derived with besides its content and the configuration. */
type DerivedWith<Name extends DocumentName> = Pick<
  DocumentContext<DocumentTypes[Name]>,
  'at' | 'height' | 'previous' | 'sideInput'
>;

interface SnapshotContent {
  readonly families: readonly FamilyLines[];
  readonly height: Numeral | undefined;
  readonly errors: FieldErrors;
  readonly judgement: Judgement;
  /** The lines of counters and histograms, which are exported also while the chain series are withdrawn. */
  readonly cumulative: readonly FamilyLines[];
}

/** What the next document of an endpoint is compared with: the last snapshot, or what is remembered of it. */
export type KnownDocument<Name extends DocumentName = DocumentName> = {
  [Each in Name]: Pick<Snapshot<Each>, 'identity' | 'height' | 'flow'> & {
    readonly document: Each;
    readonly observations: DocumentTypes[Each]['observations'] | undefined;
  };
}[Name];

/**
 * A document with a lower hub height than the last successful one fails its poll, because the node may be behind others. The third
 * such document since the last success is accepted: the node was rolled back or replaced.
 */
const REGRESSIONS_TO_ACCEPT = 3;

/** Returns what is known after one more poll, which ended at `at`. */
export function step<Name extends DocumentName>(
  before: KnownEndpoint,
  poll: Poll<Name>,
  context: StepContext<Name>,
  at: Instant,
): KnownEndpoint {
  const { state, memory } = isOfOtherBridge(before.state, poll, context) ? forgotten(before) : before;
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
    const misconfiguredSince = isMisconfigured.has(reason) ? (lastFailure?.misconfiguredSince ?? at) : undefined;
    const failed: FailedPoll = { at, since: lastFailure?.since ?? at, misconfiguredSince, error: outcome.error };
    return { state: { ...polled, failures, failure: failed, regressionsSinceSuccess, queries }, memory };
  }
  const isNotServed = poll.isOtherServed === true && isNeverServed(state);
  const { snapshot, problems } = derive(state, memory.problems, outcome, context);
  const hasDropped = snapshot.families.some(hasDroppedSeries);
  const droppedSince = hasDropped ? (state.success?.droppedSince ?? at) : undefined;
  return {
    state: {
      ...polled,
      invalidValues: addCounts(state.invalidValues, outcome.errors.invalid),
      unknownValues: addCounts(state.unknownValues, outcome.errors.unknown),
      success: { at, snapshot, foundPath: poll.foundPath, droppedSince },
      restored: undefined,
      regressionsSinceSuccess: 0,
    },
    memory: {
      problems: { ...problems, ended: withEnded(problems.ended, endedBySuccess(state, at, isNotServed), at) },
      flow: flowHistoryOf(memory.flow, snapshot, at),
    },
  };
}

/** Whether what was restored is of another bridge than the first document. */
function isOfOtherBridge<Name extends DocumentName>(
  { restored }: EndpointState,
  { outcome }: Poll<Name>,
  { document }: StepContext<Name>,
): boolean {
  if (restored === undefined || !outcome.ok) return false;
  const identity = documents[document].identity(outcome.content);
  const isKnown = identity.length > 0 && restored.identity.length > 0;
  return isKnown && !identity.some((id) => restored.identity.includes(id));
}

function forgotten({ state }: KnownEndpoint): KnownEndpoint {
  return { state: { ...state, restored: undefined }, memory: initialMemory };
}

/** Returns what is known after a poll that has the same result as the last one. Between two recorded polls there were others. */
export function repeatLastPoll(before: KnownEndpoint, at: Instant): KnownEndpoint {
  const { last, success } = before.state;
  if (last === undefined) return before;
  const state = {
    ...before.state,
    last: { ...last, at },
    ...(success && { success: last.ok ? { ...success, at } : success }),
  };
  if (!last.ok || success === undefined) return { state, memory: before.memory };
  const problems = repeatJudgement(before.memory.problems, at);
  return { state, memory: { problems, flow: flowHistoryOf(before.memory.flow, success.snapshot, at) } };
}

function flowHistoryOf(before: FlowHistory, snapshot: Snapshot, at: Instant): FlowHistory {
  return snapshot.document === 'module_state' ? flowHistoryAfter(before, snapshot.flow, at) : before;
}

/** An endpoint has documents of one kind. */
function lastDocument<Name extends DocumentName>(
  state: EndpointState,
  { document }: StepContext<Name>,
): KnownDocument<Name> | undefined {
  const last = knownDocument(state);
  return last?.document === document ? (last as KnownDocument<Name>) : undefined;
}

/** What is derived from a document, after the last one of the endpoint. */
function derive<Name extends DocumentName>(
  state: EndpointState,
  memory: ProblemMemory,
  { content, errors, height, receivedAt, sideInput, compressed }: PolledDocument<Name>,
  context: StepContext<Name>,
): { readonly snapshot: Snapshot; readonly problems: ProblemMemory } {
  const { document, target, targetLabels, maxSeries, staleAfterMs } = context;
  const definition = documents[document];
  const last = lastDocument(state, context);
  const received = { at: receivedAt, height, previous: last?.observations, sideInput };
  const input = inputOf(content, received, context);
  const fixedLabels = formatTargetLabels(target, targetLabels);
  const identity = definition.identity(content);
  const flow = definition.flow.track(last?.flow ?? definition.flow.initial, input, { staleAfterMs, maxSeries });
  const evidence: Evidence<Name> = {
    input,
    flow,
    answers: withoutStaleAnswers(state.queries, staleAfterMs, receivedAt),
    answeredAt: (query, key) => state.queries.get(query)?.answers.get(key)?.at.epochSeconds,
  };
  const { memory: problems, ...judgement } = judgeProblems(memory, document, evidence, receivedAt, context);
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
    observations: definition.observations(input),
    flow,
    kept: compressed && { body: compressed, received, context },
    cumulative: renderFamilies(definition.flow.cumulative, flow, fixedLabels, maxSeries),
  };
  // The snapshot is of one of the documents.
  return { snapshot: snapshot as unknown as Snapshot, problems };
}

/** What families and items of a document are derived from. */
export function inputOf<Name extends DocumentName>(
  content: DocumentTypes[Name]['content'],
  received: DerivedWith<Name>,
  { document, settings, labels }: StepContext<Name>,
): DocumentTypes[Name]['input'] {
  return documents[document].input(content, { ...received, settings, labels });
}

/** The failure of a document with a lower hub height than the previous one. */
function regressionOf<Name extends DocumentName>(
  state: EndpointState,
  { outcome, source }: Poll<Name>,
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
