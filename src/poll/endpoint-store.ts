import { compare, decimal } from '../chain/decimal.js';
import type { DocumentPath } from '../chain/dialects.js';
import type { Config, TargetLabels } from '../config/config.js';
import type { DocumentName } from '../documents.js';
import { failureReasonNames, type FailureReason, type PollError } from '../http/errors.js';
import { isFresh, type Instant } from './clock.js';
import type { FailedPoll, Phase, PollResult, Snapshot } from './poll.js';

/** The latest state of every endpoint. When a poll ends, the state of its endpoint is replaced as a whole. */
export interface EndpointStore {
  readonly record: (
    key: EndpointKey,
    result: PollResult,
    at: Instant,
  ) => { before: EndpointState; after: EndpointState };
  /** Replaces the set of endpoints after a reload. Endpoints that are marked as kept retain their state. */
  readonly replace: (endpoints: readonly ReloadedEndpoint[], limits: EndpointLimits) => void;
  readonly all: () => readonly EndpointState[];
  /** Increases with every change of a state. */
  readonly version: () => number;
  readonly hasFreshSnapshot: (state: EndpointState, now: Instant) => boolean;
}

export interface EndpointKey {
  readonly target: string;
  readonly document: DocumentName;
}

export interface Endpoint extends EndpointKey {
  readonly targetLabels?: TargetLabels;
}

export interface ReloadedEndpoint extends Endpoint {
  /** Whether the endpoint is still polled at the same URLs and with the same labels, so that its state remains valid. */
  readonly isKept: boolean;
}

export type EndpointLimits = Pick<Config['poll'], 'maxBodyBytes' | 'staleAfterMs'>;

export function createEndpointStore(endpoints: readonly Endpoint[], limits: EndpointLimits): EndpointStore {
  let states = statesOf(
    endpoints.map((endpoint) => ({ ...endpoint, isKept: false })),
    limits,
    new Map(),
  );
  let { staleAfterMs } = limits;
  let version = 0;

  return {
    record: (key, result, at) => {
      const before = states.get(keyOf(key));
      if (before === undefined) throw new Error(`${keyOf(key)} is not an endpoint of the configuration`);
      const after = applyPollResult(before, result, at);
      states.set(keyOf(key), after);
      version += 1;
      return { before, after };
    },
    replace: (reloaded, newLimits) => {
      states = statesOf(reloaded, newLimits, states);
      ({ staleAfterMs } = newLimits);
      version += 1;
    },
    all: () => [...states.values()],
    version: () => version,
    hasFreshSnapshot: ({ success }, now) => success !== undefined && isFresh(success.at, now, staleAfterMs),
  };
}

function statesOf(
  endpoints: readonly ReloadedEndpoint[],
  { maxBodyBytes }: EndpointLimits,
  known: ReadonlyMap<string, EndpointState>,
): Map<string, EndpointState> {
  return new Map(
    endpoints.map(({ isKept, ...endpoint }) => {
      const key = keyOf(endpoint);
      const kept = isKept ? known.get(key) : undefined;
      return [key, kept === undefined ? initialState(endpoint, maxBodyBytes) : { ...kept, maxBodyBytes }];
    }),
  );
}

function keyOf({ target, document }: EndpointKey): string {
  return JSON.stringify([target, document]);
}

/** The state of one endpoint of one target. Immutable: each poll replaces it as a whole. */
export interface EndpointState {
  readonly target: string;
  readonly targetLabels?: TargetLabels;
  readonly document: DocumentName;
  /** The current limit, exported beside the size of the last response. */
  readonly maxBodyBytes: number;
  readonly polls: number;
  readonly failures: Readonly<Record<FailureReason, number>>;
  readonly invalidValues: ReadonlyMap<string, number>;
  readonly unknownValues: ReadonlyMap<string, number>;
  /** Number of documents with a lower hub height than the previous one. */
  readonly regressions: number;
  /** The last poll; absent before the first. */
  readonly last?: LastPoll;
  /** The last successful poll, whatever its age. */
  readonly success?: {
    readonly at: Instant;
    readonly snapshot: Snapshot;
    /** Where the document was found; `undefined` for a recorded body. */
    readonly foundAt: DocumentPath | undefined;
  };
  /** The last failed poll, also after a recovery. */
  readonly failure?: { readonly at: Instant; readonly error: PollError };
  readonly regressionsSinceSuccess: number;
}

export interface LastPoll {
  readonly at: Instant;
  readonly ok: boolean;
  readonly phaseSeconds: Partial<Record<Phase, number>>;
  readonly bodyBytes: number | undefined;
}

/** The third lower height since the last success is accepted, because the node was rolled back or replaced. */
const REGRESSIONS_TO_ACCEPT = 3;

/** The state before the first poll. */
export function initialState(endpoint: Endpoint, maxBodyBytes: number): EndpointState {
  const failures = Object.fromEntries(failureReasonNames.map((reason) => [reason, 0])) as Record<FailureReason, number>;
  return {
    ...endpoint,
    maxBodyBytes,
    polls: 0,
    failures,
    invalidValues: new Map(),
    unknownValues: new Map(),
    regressions: 0,
    regressionsSinceSuccess: 0,
  };
}

/** Returns the state after one more poll. */
function applyPollResult(before: EndpointState, poll: PollResult, at: Instant): EndpointState {
  const isRegression = hasLowerHeight(poll, before.success?.snapshot);
  const consecutiveRegressions = before.regressionsSinceSuccess + (isRegression ? 1 : 0);
  const isRejected = isRegression && consecutiveRegressions < REGRESSIONS_TO_ACCEPT;
  const outcome = isRejected ? regressionFailure(before, poll) : poll.outcome;
  const polled = {
    ...before,
    polls: before.polls + 1,
    regressions: before.regressions + (isRegression ? 1 : 0),
    last: { at, ok: outcome.ok, phaseSeconds: poll.phaseSeconds, bodyBytes: poll.bodyBytes },
  };
  if (!outcome.ok) {
    const { reason } = outcome.error;
    const failures = { ...before.failures, [reason]: before.failures[reason] + 1 };
    return {
      ...polled,
      failures,
      failure: { at, error: outcome.error },
      regressionsSinceSuccess: consecutiveRegressions,
    };
  }
  return {
    ...polled,
    invalidValues: addCounts(before.invalidValues, outcome.problems.invalid),
    unknownValues: addCounts(before.unknownValues, outcome.problems.unknown),
    success: { at, snapshot: outcome, foundAt: poll.foundAt },
    regressionsSinceSuccess: 0,
  };
}

function hasLowerHeight({ outcome }: PollResult, previous: Snapshot | undefined): boolean {
  if (!outcome.ok || outcome.height === undefined || previous?.height === undefined) return false;
  return compare(decimal(outcome.height), decimal(previous.height)) < 0;
}

function regressionFailure({ success }: EndpointState, { outcome }: PollResult): FailedPoll {
  const height = outcome.ok ? outcome.height : undefined;
  const message = `hub height ${height} is below ${success?.snapshot.height} of the previous document`;
  return { ok: false, error: { reason: 'regression', message } };
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
