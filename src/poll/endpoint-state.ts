import type { DocumentPath } from '../chain/dialects.js';
import type { TargetLabels } from '../config/config.js';
import type { DocumentName } from '../document-types.js';
import { failureReasonNames, type FailureReason, type PollError } from '../http/failure-reasons.js';
import type { FamilyLines } from '../metrics/render-families.js';
import { answeredFamilies, type QueryStates } from '../queries/query-state.js';
import { ageSeconds, type Instant } from '../clock.js';
import { NO_FLOW_HISTORY, type FlowHistory } from '../flow/flow-history.js';
import { NO_PROBLEMS, type ProblemMemory } from '../problems/memory.js';
import type { Phase } from './poll.js';
import type { KnownDocument, Snapshot } from './step.js';

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
export interface EndpointLimits {
  readonly maxBodyBytes: number;
  readonly staleAfterMs: number;
}

/** What the polls of an endpoint have found. Each poll replaces it as a whole. */
export interface EndpointState extends EndpointKey, EndpointLimits {
  readonly targetLabels?: TargetLabels;
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

export interface LastPoll {
  readonly at: Instant;
  readonly ok: boolean;
  readonly phaseSeconds: Partial<Record<Phase, number>>;
  readonly bodyBytes: number | undefined;
  /** The first of the successive polls whose body was near the size limit, or rejected for its size. */
  readonly nearLimitSince?: Instant | undefined;
}

/** What is remembered of the polls of an endpoint besides its state. Each poll replaces it as a whole. */
export interface EndpointMemory {
  readonly problems: ProblemMemory;
  readonly flow: FlowHistory;
}

/** What is known of an endpoint: what its polls have found, and what is remembered of them. */
export interface KnownEndpoint {
  readonly state: EndpointState;
  readonly memory: EndpointMemory;
}

/** The memory before the first poll. */
export const initialMemory: EndpointMemory = { problems: NO_PROBLEMS, flow: NO_FLOW_HISTORY };

/** The state before the first poll. */
export function initialState(
  { target, targetLabels, document }: Pick<EndpointState, 'target' | 'targetLabels' | 'document'>,
  { maxBodyBytes, staleAfterMs }: EndpointLimits,
  addedAt: Instant,
): EndpointState {
  const failures = Object.fromEntries(failureReasonNames.map((reason) => [reason, 0])) as Record<FailureReason, number>;
  return {
    target,
    ...(targetLabels && { targetLabels }),
    document,
    maxBodyBytes,
    staleAfterMs,
    addedAt,
    polls: 0,
    failures,
    invalidValues: new Map(),
    unknownValues: new Map(),
    regressions: 0,
    regressionsSinceSuccess: 0,
    queries: new Map(),
  };
}

/** What the next document is compared with. */
export function knownDocument({ success, restored }: EndpointState): KnownDocument | undefined {
  return success?.snapshot ?? restored;
}

/** The last successful poll while its series are exported, which is until it is older than `poll.stale_after`. */
export function exportedSuccess({ success, staleAfterMs }: EndpointState, now: Instant): SuccessfulPoll | undefined {
  return success !== undefined && ageSeconds(success.at, now) * 1000 <= staleAfterMs ? success : undefined;
}

/** The chain series that are exported: those of the last document, and of the answers of the node to other queries. */
export function exportedFamilies(state: EndpointState, now: Instant): readonly FamilyLines[] {
  const ofDocument = exportedSuccess(state, now)?.snapshot.families ?? [];
  const { queries, staleAfterMs } = state;
  return queries.size === 0 ? ofDocument : [...ofDocument, ...answeredFamilies(queries, staleAfterMs, now)];
}

/** Whether the last poll has succeeded. */
export function isServing({ last }: EndpointState): boolean {
  return last?.ok === true;
}

/** Whether the node says that it does not serve the document, or not to this exporter, and has never served it. */
export function isNeverServed({ success, restored, last, failure }: EndpointState): boolean {
  const isKnown = success !== undefined || restored !== undefined;
  if (isKnown || last?.ok !== false || failure === undefined) return false;
  return failure.error.isNotServed === true || failure.error.reason === 'unauthorized';
}
