import type { DocumentPath } from '../chain/dialects.js';
import type { FieldErrors } from '../chain/document.js';
import type { Numeral } from '../chain/numeral.js';
import type { Instant } from '../clock.js';
import type { DocumentName, DocumentTypes, NodeStatus, StepContext } from '../document-types.js';
import type { DocumentContext, Headline } from '../documents.js';
import { failureReasonNames, type FailureReason, type PollError } from '../http/failure-reasons.js';
import type { RenderedFamily } from '../metrics/text-format.js';
import { NO_PROBLEMS, type Judgement, type ProblemMemory } from '../problems/problem-memory.js';
import { newAnswers, type QueryState, type QueryStates, withoutStaleAnswers } from '../queries/query.js';

/* The state of an endpoint: the results of its polls, and the memory for the next ones. */

/** The label values that identify an endpoint. */
export interface EndpointKey {
  readonly target: string;
  readonly document: DocumentName;
}

export function endpointId({ target, document }: EndpointKey): string {
  return JSON.stringify([target, document]);
}

/** The settings that apply to the state of an endpoint. A reload can change them without a poll. */
type EndpointSettings = Pick<
  StepContext,
  keyof EndpointKey | 'targetLabels' | 'maxBodyBytes' | 'staleAfterMs' | 'problemSettings'
>;

/** The part of a snapshot with which the next document is compared. A state file has most of it. */
export interface LastDocument<Name extends DocumentName = DocumentName> {
  readonly document: Name;
  /** See `DocumentDefinition.identity`. */
  readonly identity: readonly string[];
  /** See `DocumentDefinition.height`. */
  readonly height: Numeral | undefined;
  readonly past: DocumentTypes[Name]['past'] | undefined;
  /** `undefined` after a restart if the flow begins anew, as that of a module state does. */
  readonly flow: DocumentTypes[Name]['flow'] | undefined;
}

/** The result of a successful poll. */
export interface Snapshot<Name extends DocumentName = DocumentName> extends LastDocument<Name> {
  readonly past: DocumentTypes[Name]['past'];
  readonly flow: DocumentTypes[Name]['flow'];
  readonly renderedFamilies: readonly RenderedFamily[];
  readonly errors: FieldErrors;
  readonly judgement: Judgement;
  /** Counters, which are exported also while the chain series are withdrawn. */
  readonly renderedCumulative: readonly RenderedFamily[];
  /** The answers until this document: the next document is judged by the answers since. */
  readonly queries: QueryStates;
  /** What the status page shows; `undefined` of a contract. */
  readonly headline: Headline | undefined;
  /** The source of the items of `/pending`. */
  readonly kept: KeptDocument<Name>;
}

interface KeptDocument<Name extends DocumentName> {
  /** The body, compressed by `compressBody`. */
  readonly body: Buffer;
  readonly context: DocumentContext<DocumentTypes[Name]>;
}

/** Each poll replaces it as a whole. */
export interface EndpointState extends EndpointSettings {
  /** The start of the process, or the reload that added the endpoint. */
  readonly addedAt: Instant;
  readonly polls: number;
  readonly failures: Readonly<Record<FailureReason, number>>;
  readonly invalidValues: ReadonlyMap<string, number>;
  readonly unknownValues: ReadonlyMap<string, number>;
  /** Number of documents with a lower hub height than the last accepted document. */
  readonly regressions: number;
  /** The last poll; absent before the first. */
  readonly lastPoll?: LastPoll;
  /** The last successful poll, whatever its age. */
  readonly lastSuccess?: SuccessfulPoll;
  /** The last document of an earlier process or job, until the first success. */
  readonly restored?: LastDocument | undefined;
  /** The last failed poll, also after a recovery. */
  readonly lastFailure?: FailedPoll;
  readonly regressionsSinceSuccess: number;
  readonly queries: QueryStates;
  readonly problems: ProblemMemory;
  /** All nodes at the last poll; `undefined` for an endpoint with one node. */
  readonly nodes?: readonly NodeStatus[] | undefined;
  readonly nodeSwitches: number;
  /** When another node was polled for the first time. Answers of the node before are not used. */
  readonly switchedAt?: Instant | undefined;
}

interface SuccessfulPoll {
  readonly at: Instant;
  readonly snapshot: Snapshot;
  /** The path of the document at the node; `undefined` for a recorded body. */
  readonly servedPath: DocumentPath | undefined;
  /** The node that served it, of several. */
  readonly servedBy?: string | undefined;
  /** The first of the successive documents with more series than the limit. */
  readonly droppedSince?: Instant | undefined;
}

export interface FailedPoll {
  readonly at: Instant;
  /** The first failure since the last success. */
  readonly since: Instant;
  /** The first of successive failures because of the configuration; `undefined` if this failure has another reason. */
  readonly misconfiguredSince: Instant | undefined;
  readonly error: PollError;
}

/** The duration of each phase that has ended. */
export type PhaseSeconds = Partial<Record<'fetch' | 'decode' | 'derive', number>>;

interface LastPoll {
  readonly at: Instant;
  readonly ok: boolean;
  readonly phaseSeconds: PhaseSeconds;
  readonly bodyBytes: number | undefined;
  /** The first of the successive polls whose body was near the size limit, or rejected for its size. */
  readonly nearLimitSince?: Instant | undefined;
}

/** The state before the first poll. */
export function initialState(settings: EndpointSettings, addedAt: Instant): EndpointState {
  const failures = Object.fromEntries(failureReasonNames.map((reason) => [reason, 0])) as Record<FailureReason, number>;
  return {
    ...selectSettings(settings),
    addedAt,
    polls: 0,
    failures,
    invalidValues: new Map(),
    unknownValues: new Map(),
    regressions: 0,
    regressionsSinceSuccess: 0,
    queries: new Map(),
    problems: NO_PROBLEMS,
    nodeSwitches: 0,
  };
}

export function selectSettings(context: EndpointSettings): EndpointSettings {
  const { target, targetLabels, document, maxBodyBytes, staleAfterMs, problemSettings } = context;
  return { target, targetLabels, document, maxBodyBytes, staleAfterMs, problemSettings };
}

export function lastDocument({ lastSuccess, restored }: EndpointState): LastDocument | undefined {
  return lastSuccess?.snapshot ?? restored;
}

/** The last successful poll, unless it is older than `poll.stale_after`: then its series are withdrawn. */
export function exportedSuccess(
  { lastSuccess, staleAfterMs }: EndpointState,
  now: Instant,
): SuccessfulPoll | undefined {
  return lastSuccess !== undefined && (now - lastSuccess.at) * 1000 <= staleAfterMs ? lastSuccess : undefined;
}

/** The queries without stale answers. */
export function freshAnswers({ queries, staleAfterMs }: EndpointState, now: Instant): QueryStates {
  return withoutStaleAnswers(queries, staleAfterMs, now);
}

/** Of these, those that no document was judged by. */
export function freshNewAnswers(state: EndpointState, now: Instant): QueryStates {
  return newAnswers(freshAnswers(state, now), state.lastSuccess?.snapshot.queries);
}

/**
 * The exported chain series of the last document and of the answers to other queries, which are withdrawn with the
 * document.
 */
export function exportedFamilies(state: EndpointState, now: Instant): readonly RenderedFamily[] {
  const success = exportedSuccess(state, now);
  if (success === undefined) return [];
  const answers = Array.from(freshAnswers(state, now).values()).flatMap((query) => Array.from(query.answers.values()));
  return [...success.snapshot.renderedFamilies, ...answers.flatMap(({ renderedFamilies }) => renderedFamilies)];
}

/** The state after a round of requests of a query. */
export function withQuery(state: EndpointState, query: QueryState): EndpointState {
  return { ...state, queries: new Map(state.queries).set(query.query.name, query) };
}

export function sourceInUse({ nodes }: Pick<EndpointState, 'nodes'>): string | undefined {
  return nodes?.find(({ isInUse }) => isInUse)?.source;
}

export function lastPollSucceeded({ lastPoll }: EndpointState): boolean {
  return lastPoll?.ok === true;
}

/**
 * Whether no document was ever served, and the node refuses the last request: it does not have the document, or not for
 * this client.
 */
export function isDocumentNotServed({ lastSuccess, restored, lastPoll, lastFailure }: EndpointState): boolean {
  const wasServed = lastSuccess !== undefined || restored !== undefined;
  if (wasServed || lastPoll?.ok !== false || lastFailure === undefined) return false;
  return lastFailure.error.isNotServed === true || lastFailure.error.reason === 'unauthorized';
}

export function isDocument<Name extends DocumentName>(
  document: Name,
  last: Snapshot | undefined,
): last is Snapshot<Name>;
export function isDocument<Name extends DocumentName>(
  document: Name,
  last: LastDocument | undefined,
): last is LastDocument<Name>;
export function isDocument(document: DocumentName, last: LastDocument | undefined): boolean {
  return last?.document === document;
}

export function readPast<Name extends DocumentName>(
  document: Name,
  snapshot: Snapshot | undefined,
): DocumentTypes[Name]['past'] | undefined {
  return isDocument(document, snapshot) ? snapshot.past : undefined;
}
