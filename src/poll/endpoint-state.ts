import type { DocumentPath } from '../chain/dialects.js';
import type { FieldErrors } from '../chain/document.js';
import type { Numeral } from '../chain/numeral.js';
import { ageSeconds, type Instant } from '../clock.js';
import type { DocumentName, DocumentTypes, OtherAnswers, StepContext } from '../document-types.js';
import type { DocumentContext } from '../documents.js';
import { NO_FLOW_HISTORY, type FlowHistory } from '../flow/flow-history.js';
import { failureReasonNames, type FailureReason, type PollError } from '../http/failure-reasons.js';
import type { FamilyLines } from '../metrics/render-families.js';
import { NO_PROBLEMS, type Judgement, type ProblemMemory } from '../problems/memory.js';
import { withoutStaleAnswers, type QueryState, type QueryStates } from '../queries/query-state.js';

/* What the polls of an endpoint have found, and what is remembered of them. */

/** The label values that identify an endpoint. */
export interface EndpointKey {
  readonly target: string;
  readonly document: DocumentName;
}

/** Identifies an endpoint among all. */
export function endpointId({ target, document }: EndpointKey): string {
  return JSON.stringify([target, document]);
}

/** The settings that apply to the state of an endpoint. A reload can change them without a poll. */
type EndpointSettings = Pick<StepContext, keyof EndpointKey | 'targetLabels' | 'maxBodyBytes' | 'staleAfterMs'>;

/** What the next document of an endpoint is compared with: the last snapshot, or what is remembered of it. */
export interface KnownDocument<Name extends DocumentName = DocumentName> {
  readonly document: Name;
  /** What identifies the bridge: see `DocumentDefinition.identity`. */
  readonly identity: readonly string[];
  /** Hub height. */
  readonly height: Numeral | undefined;
  /** What the next poll remembers of the document. */
  readonly past: DocumentTypes[Name]['past'] | undefined;
  readonly flow: DocumentTypes[Name]['flow'];
}

/** What a successful poll publishes. */
export interface Snapshot<Name extends DocumentName = DocumentName> extends KnownDocument<Name> {
  readonly past: DocumentTypes[Name]['past'];
  readonly families: readonly FamilyLines[];
  readonly errors: FieldErrors;
  readonly judgement: Judgement;
  /** The lines of counters and histograms, which are exported also while the chain series are withdrawn. */
  readonly cumulative: readonly FamilyLines[];
  readonly otherAnswers: OtherAnswers<Name> | undefined;
  /** What the items of `/pending` are derived from; `undefined` if the body is not kept. */
  readonly kept: KeptDocument<Name> | undefined;
}

interface KeptDocument<Name extends DocumentName> {
  /** The body, compressed by `compressBody`. */
  readonly body: Buffer;
  readonly context: DocumentContext<DocumentTypes[Name]>;
  readonly maxValues: number;
}

/** What the polls of an endpoint have found. Each poll replaces it as a whole. */
export interface EndpointState extends EndpointSettings {
  /** The start of the process, or the reload that added the endpoint. */
  readonly addedAt: Instant;
  readonly polls: number;
  readonly failures: Readonly<Record<FailureReason, number>>;
  readonly invalidValues: ReadonlyMap<string, number>;
  readonly unknownValues: ReadonlyMap<string, number>;
  /** Number of documents with a lower hub height than the previous one. */
  readonly regressions: number;
  /** The last poll; absent before the first. */
  readonly last?: LastPoll;
  /** The last successful poll, whatever its age. */
  readonly success?: SuccessfulPoll;
  /** What is remembered of the last document before the first one. */
  readonly restored?: KnownDocument | undefined;
  /** The last failed poll, also after a recovery. */
  readonly failure?: FailedPoll;
  readonly regressionsSinceSuccess: number;
  /** What other queries of the node have found. */
  readonly queries: QueryStates;
  readonly problems: ProblemMemory;
  readonly flowHistory: FlowHistory;
}

interface SuccessfulPoll {
  /** When its step was taken. */
  readonly at: Instant;
  readonly snapshot: Snapshot;
  /** Where the document was found; `undefined` for a recorded body. */
  readonly foundPath: DocumentPath | undefined;
  /** The first of the successive documents with more series than the limit. */
  readonly droppedSince?: Instant | undefined;
}

export interface FailedPoll {
  readonly at: Instant;
  /** The first one since a successful poll. */
  readonly since: Instant;
  /** The first of the successive polls until then that failed because of the configuration; `undefined` if the last one failed otherwise. */
  readonly misconfiguredSince: Instant | undefined;
  readonly error: PollError;
}

/** The duration of each phase that has ended. */
export type PhaseSeconds = Partial<Record<'fetch' | 'decode' | 'derive', number>>;

export interface LastPoll {
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
    ...settingsOf(settings),
    addedAt,
    polls: 0,
    failures,
    invalidValues: new Map(),
    unknownValues: new Map(),
    regressions: 0,
    regressionsSinceSuccess: 0,
    queries: new Map(),
    problems: NO_PROBLEMS,
    flowHistory: NO_FLOW_HISTORY,
  };
}

/** The settings of a context, without the others. */
export function settingsOf({ target, targetLabels, document, maxBodyBytes, staleAfterMs }: EndpointSettings) {
  return { target, ...(targetLabels && { targetLabels }), document, maxBodyBytes, staleAfterMs };
}

/** What the next document is compared with. */
export function knownDocument({ success, restored }: EndpointState): KnownDocument | undefined {
  return success?.snapshot ?? restored;
}

/** The last successful poll while its series are exported, which is until it is older than `poll.stale_after`. */
export function exportedSuccess({ success, staleAfterMs }: EndpointState, now: Instant): SuccessfulPoll | undefined {
  return success !== undefined && ageSeconds(success.at, now) * 1000 <= staleAfterMs ? success : undefined;
}

/** The queries with the answers that are not stale. */
export function freshAnswers({ queries, staleAfterMs }: EndpointState, now: Instant): QueryStates {
  return withoutStaleAnswers(queries, staleAfterMs, now);
}

/** The chain series that are exported: those of the last document, and of the answers of the node to other queries. */
export function exportedFamilies(state: EndpointState, now: Instant): readonly FamilyLines[] {
  const answers = Array.from(freshAnswers(state, now).values()).flatMap((query) => Array.from(query.answers.values()));
  const ofDocument = exportedSuccess(state, now)?.snapshot.families ?? [];
  return [...ofDocument, ...answers.flatMap(({ families }) => families)];
}

/** The state after a round of requests of a query. */
export function withQuery(state: EndpointState, query: QueryState): EndpointState {
  return { ...state, queries: new Map(state.queries).set(query.query.name, query) };
}

/** Whether the last poll has succeeded. */
export function lastPollSucceeded({ last }: EndpointState): boolean {
  return last?.ok === true;
}

/** Whether the node says that it does not serve the document, or not to this exporter, and has never served it. */
export function isNeverServed({ success, restored, last, failure }: EndpointState): boolean {
  const isKnown = success !== undefined || restored !== undefined;
  if (isKnown || last?.ok !== false || failure === undefined) return false;
  return failure.error.isNotServed === true || failure.error.reason === 'unauthorized';
}

/** Whether there is a snapshot, or what is known of a document, and it is of this document. */
export function isOf<Name extends DocumentName>(document: Name, known: Snapshot | undefined): known is Snapshot<Name>;
export function isOf<Name extends DocumentName>(
  document: Name,
  known: KnownDocument | undefined,
): known is KnownDocument<Name>;
export function isOf(document: DocumentName, known: KnownDocument | undefined): boolean {
  return known?.document === document;
}

/** The past of a snapshot, if it is of this document. */
export function pastOf<Name extends DocumentName>(
  document: Name,
  snapshot: Snapshot | undefined,
): DocumentTypes[Name]['past'] | undefined {
  return isOf(document, snapshot) ? snapshot.past : undefined;
}
