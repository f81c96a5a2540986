import type { DocumentPath } from '../chain/dialects.js';
import type { Numeral } from '../chain/numeral.js';
import type { FieldErrors } from '../chain/document.js';
import type { Instant, Moment } from '../clock.js';
import type { DocumentName, DocumentTypes, AdditionalInput, NodeStatus, StepContext } from '../document-types.js';
import { documents, type DocumentContext } from '../documents.js';
import type { Failure } from '../http/failure-reasons.js';
import type { Family } from '../metrics/family.js';
import { renderFamilies, type RenderedFamily, formatTargetLabels } from '../metrics/text-format.js';
import type { InParts } from '../tasks.js';
import { judgeProblems, NO_PROBLEMS, type Judgement, type ProblemMemory } from '../problems/problem-memory.js';
import { problemStart } from '../problems/problem-families.js';
import { HEIGHT, type Evidence } from '../problems/problem.js';
import { forOtherNode, REGRESSIONS_TO_ACCEPT } from '../queries/query.js';
import { hasDroppedSeries, isNearSizeLimit, misconfiguredReasons } from '../problems/polls.js';
import {
  freshAnswers,
  freshNewAnswers,
  isDocument,
  lastDocument,
  sourceInUse,
  type EndpointState,
  type FailedPoll,
  type PhaseSeconds,
  type Snapshot,
} from './endpoint-state.js';

/*
 * The step of a poll: from the state of an endpoint and a document to the next state. It has no clock, log or network,
 * so that the daemon, `once` and every replay derive the same from the same documents and answers.
 *
 * A poll has four results, each made of the result before: the response (`Received` in source.ts), its JSON
 * (`DocumentResult` in chain/document.ts), the document or the failure of the poll (`PollResult`, by `readPoll`), and
 * the next state (`EndpointState`, by `step`).
 */

/** The document that was read, or the failure, with the measurements of the poll. */
export interface PollResult<Name extends DocumentName = DocumentName> {
  readonly outcome: ReadContent<Name> | Failure;
  readonly phaseSeconds: PhaseSeconds;
  readonly bodyBytes?: number | undefined;
  /** Only of a success, and absent for a recorded body. */
  readonly servedPath?: DocumentPath | undefined;
  readonly source?: string | undefined;
  /** See `ReceivedDocument.isAccepted`. */
  readonly isAccepted?: true | undefined;
  readonly nodes?: readonly NodeStatus[] | undefined;
}

export interface ReadContent<Name extends DocumentName> {
  readonly ok: true;
  readonly content: DocumentTypes[Name]['content'];
  readonly errors: FieldErrors;
  /** Hub height of the response header; `undefined` without the header. */
  readonly height: Numeral | undefined;
  readonly receivedAt: Instant;
  readonly additionalInput?: AdditionalInput<Name> | undefined;
  /** The body, compressed by `compressBody`. */
  readonly compressed: Buffer;
}

/** The state after a poll that ended now. */
export function* step<Name extends DocumentName>(
  before: EndpointState,
  poll: PollResult<Name>,
  context: StepContext<Name>,
  { at, clockOffset }: Moment,
): InParts<EndpointState> {
  const state = withNodes(isOfOtherBridge(before, poll, context) ? forgotten(before) : before, poll.nodes, at);
  const regression = findRegression(state, poll, context);
  // In a replay, a document that was refused for its height is a failure with this reason.
  const isRegression = regression !== undefined || (!poll.outcome.ok && poll.outcome.error.reason === 'regression');
  const regressionsSinceSuccess = state.regressionsSinceSuccess + (isRegression ? 1 : 0);
  const { isAccepted = regressionsSinceSuccess >= REGRESSIONS_TO_ACCEPT } = poll;
  const outcome = regression && !isAccepted ? regression : poll.outcome;
  const { phaseSeconds, bodyBytes } = poll;
  const isNearLimit = isNearSizeLimit(outcome.ok ? undefined : outcome.error, bodyBytes, state.maxBodyBytes);
  const nearLimitSince = isNearLimit ? (state.lastPoll?.nearLimitSince ?? at) : undefined;
  const polled = {
    ...state,
    polls: state.polls + 1,
    regressions: state.regressions + (isRegression ? 1 : 0),
    lastPoll: { at, ok: outcome.ok, phaseSeconds, bodyBytes, nearLimitSince },
  };
  if (!outcome.ok) {
    const { reason } = outcome.error;
    const failures = { ...state.failures, [reason]: state.failures[reason] + 1 };
    const lastFailure = state.lastPoll?.ok === false ? state.lastFailure : undefined;
    const misconfiguredSince = misconfiguredReasons.has(reason) ? (lastFailure?.misconfiguredSince ?? at) : undefined;
    const failed: FailedPoll = { at, since: lastFailure?.since ?? at, misconfiguredSince, error: outcome.error };
    return { ...polled, failures, lastFailure: failed, regressionsSinceSuccess };
  }
  const { snapshot, problems } = yield* derive(state, outcome, context, clockOffset);
  const hasDropped = snapshot.renderedFamilies.some(hasDroppedSeries);
  const droppedSince = hasDropped ? (state.lastSuccess?.droppedSince ?? at) : undefined;
  return {
    ...polled,
    invalidValues: addCounts(state.invalidValues, outcome.errors.invalid),
    unknownValues: addCounts(state.unknownValues, outcome.errors.unknown),
    lastSuccess: {
      at,
      snapshot,
      servedPath: poll.servedPath,
      servedBy: sourceInUse(state),
      droppedSince,
    },
    restored: undefined,
    regressionsSinceSuccess: 0,
    problems,
  };
}

/** The state with the nodes of a poll. After a switch of nodes, what the previous one said of itself is dropped. */
function withNodes(state: EndpointState, nodes: PollResult['nodes'], at: Instant): EndpointState {
  if (nodes === undefined) return state;
  const before = sourceInUse(state);
  if (before === undefined || before === sourceInUse({ nodes })) return { ...state, nodes };
  const queries = forOtherNode(state.queries);
  return { ...state, nodes, nodeSwitches: state.nodeSwitches + 1, switchedAt: at, queries };
}

/** Whether the restored state is of another bridge than the first document. */
function isOfOtherBridge<Name extends DocumentName>(
  { restored }: EndpointState,
  { outcome }: PollResult<Name>,
  context: StepContext<Name>,
): boolean {
  if (restored === undefined || !outcome.ok) return false;
  const identity = documents[context.document].identity(outcome.content, context.settings);
  const areComparable = identity.length > 0 && restored.identity.length > 0;
  return areComparable && !identity.some((id) => restored.identity.includes(id));
}

function forgotten(state: EndpointState): EndpointState {
  return { ...state, restored: undefined, problems: NO_PROBLEMS };
}

/** Derives facts, flow and problems of a document, and renders them. */
function* derive<Name extends DocumentName>(
  state: EndpointState,
  document: ReadContent<Name>,
  context: StepContext<Name>,
  clockOffset: number,
): InParts<{
  readonly snapshot: Snapshot<Name>;
  readonly problems: ProblemMemory;
}> {
  const { content, errors, receivedAt, compressed } = document;
  const definition = documents[context.document];
  const documentContext = createDocumentContext(state, document, context, clockOffset);
  const input = definition.input(content, documentContext);
  // Rendered first: each family derives a part of the facts, which flow and problems then reuse.
  const families = yield* render(definition.families, input, context);
  const evidence = createEvidence(state, document, input, context);
  const { flow } = evidence;
  yield;
  const { memory: problems, ...judgement } = yield* judgeProblems(
    state.problems,
    context.document,
    evidence,
    { at: receivedAt, clockOffset },
    context,
  );
  const identity = definition.identity(content, context.settings);
  const snapshot = {
    document: context.document,
    identity: identity.length === 0 ? (lastDocument(state)?.identity ?? []) : identity,
    height: evidence.height,
    past: definition.past(input),
    flow,
    judgement,
    errors,
    queries: state.queries,
    headline: definition.headline(input),
    kept: { body: compressed, context: documentContext },
    renderedFamilies: [
      ...families,
      ...(yield* render(definition.flow.gauges, { input, flow }, context)),
      ...droppedProblems(judgement),
    ],
    renderedCumulative: yield* render(definition.flow.cumulative, flow, context),
  };
  return { snapshot, problems };
}

function createDocumentContext<Name extends DocumentName>(
  state: EndpointState,
  { height, receivedAt, additionalInput }: ReadContent<Name>,
  { document, settings, names, isSinglePoll }: StepContext<Name>,
  clockOffset: number,
): DocumentContext<DocumentTypes[Name]> {
  const past = lastOfSameKind(state, document)?.past;
  return { at: receivedAt, clockOffset, height, past, additionalInput, settings, names, isSinglePoll };
}

/** The evidence for the problems of a document, with the changes since the last document. */
function createEvidence<Name extends DocumentName>(
  state: EndpointState,
  { content, errors, height: sentHeight, receivedAt }: ReadContent<Name>,
  input: DocumentTypes[Name]['input'],
  { document, maxSeries, staleAfterMs }: StepContext<Name>,
): Evidence<Name> {
  const { flow, height: readHeight } = documents[document];
  const height = readHeight(content, sentHeight);
  const before = lastOfSameKind(state, document)?.flow;
  return {
    input,
    lacking: lackingFields(errors, height),
    flow: flow.track(before, input, { staleAfterMs, maxSeries }),
    answers: freshAnswers(state, receivedAt),
    newAnswers: freshNewAnswers(state, receivedAt),
    answeredAt: (query, key) => state.queries.get(query)?.answers.get(key)?.at,
    nodes: state.nodes,
    height,
  };
}

/** See `Evidence.lacking`. The path of a field in a row has brackets. */
function lackingFields({ missing, invalid }: FieldErrors, height: Numeral | undefined): readonly string[] {
  const paths = [...missing, ...invalid.keys()].filter((path) => !path.includes('[]'));
  return [...paths.map((path) => path.replace(/^state\./, '')), ...(height === undefined ? [HEIGHT] : [])];
}

function lastOfSameKind<Name extends DocumentName>(state: EndpointState, document: Name) {
  const last = lastDocument(state);
  return isDocument(document, last) ? last : undefined;
}

/** Renders families, each in a part of its own. */
function* render<Input>(
  families: readonly Family<Input>[],
  input: Input,
  { target, targetLabels, maxSeries }: Pick<StepContext, 'target' | 'targetLabels' | 'maxSeries'>,
): InParts<readonly RenderedFamily[]> {
  const fixedLabels = formatTargetLabels(target, targetLabels);
  const rendered: RenderedFamily[] = [];
  for (const family of families) {
    rendered.push(...renderFamilies([family], input, fixedLabels, maxSeries));
    yield;
  }
  return rendered;
}

/** Problems that are not exported, for `bridge_exporter_series_dropped`. */
function droppedProblems({ dropped }: Judgement): readonly RenderedFamily[] {
  return dropped === 0 ? [] : [{ name: problemStart.name, text: '', dropped }];
}

/** The failure of a document with a lower height than the last document. */
function findRegression<Name extends DocumentName>(
  state: EndpointState,
  { outcome, source }: PollResult<Name>,
  { document }: StepContext<Name>,
): Failure | undefined {
  const definition = documents[document];
  if (!outcome.ok || definition.mayGoBack === true) return undefined;
  const height = definition.height(outcome.content, outcome.height);
  const before = lastDocument(state)?.height;
  if (height === undefined || before === undefined || height >= before) return undefined;
  const { servedBy } = state.lastSuccess ?? {};
  const other = servedBy === sourceInUse(state) ? undefined : servedBy;
  const of = other === undefined ? '' : `, which ${other} served`;
  const message = `${source === undefined ? '' : `${source}: `}hub height ${height} is below ${before} of the previous document${of}`;
  const remedy =
    other === undefined
      ? undefined
      : 'Wait until the node has reached that height. The third document below it is accepted.';
  return { ok: false, error: { reason: 'regression', message, remedy } };
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
