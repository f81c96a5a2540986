import type { Instant } from '../clock.js';
import type { Config } from '../config/config.js';
import type { DocumentName, OtherAnswers, StepContext } from '../document-types.js';
import { renderEndpoints } from '../exposition/metrics-page.js';
import { documentNames, documents } from '../documents.js';
import { failure } from '../http/failure-reasons.js';
import { INVALID } from '../chain/field.js';
import { parseNumeral } from '../chain/numeral.js';
import {
  endpointId,
  lastPollSucceeded,
  initialState,
  pastOf,
  type EndpointState,
  type Snapshot,
} from '../poll/endpoint-state.js';
import { currentReading, stepContext, targetOptions } from '../poll/jobs.js';
import { readPoll } from '../poll/read-poll.js';
import { rememberedOf, withRemembered } from '../poll/remembered.js';
import { repeatLastPoll, step, type PollResult } from '../poll/step.js';
import type { RecordedPoll } from './read-recording.js';
import type { RecordingHeader } from './recording-file.js';

/* The endpoints of a recording over time. */

/** A recorded poll, or a multiple of the step. */
export interface ReplayMoment {
  readonly timeMs: number;
  readonly isStep: boolean;
  /** The polled endpoint; at a step, all endpoints whose values still hold. */
  readonly endpoints: readonly ReplayedEndpoint[];
}

export interface ReplayRange {
  /** Earlier polls are not reported, but are the past of the endpoints. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly stepMs: number;
}

/** Replays recorded polls in the order of time. */
export async function* replayPolls(
  polls: AsyncIterable<RecordedPoll>,
  config: Config,
  { fromMs, toMs, stepMs }: ReplayRange,
): AsyncGenerator<ReplayMoment> {
  const endpoints = new Map<string, ReplayedEndpoint>();
  let nextStepMs: number | undefined;

  /** Takes the steps before a point in time. */
  function* stepUntil(untilMs: number): Generator<ReplayMoment> {
    for (; nextStepMs !== undefined && nextStepMs < untilMs; nextStepMs += stepMs) {
      const held: ReplayedEndpoint[] = [];
      for (const [key, endpoint] of endpoints) {
        if (endpoint.failed === undefined && nextStepMs - endpoint.timeMs > endpoint.state.staleAfterMs) continue;
        const repeated = repeatLast(endpoint, nextStepMs, config.recorder.interval);
        endpoints.set(key, repeated);
        held.push(repeated);
      }
      if (held.length > 0 && nextStepMs >= fromMs) yield { timeMs: nextStepMs, isStep: true, endpoints: held };
    }
  }

  let lastMs = -Infinity;
  for await (const poll of polls) {
    const { timeMs, target } = poll;
    yield* stepUntil(timeMs);
    nextStepMs ??= Math.ceil(timeMs / stepMs) * stepMs;
    const key = endpointId(poll);
    const endpoint = endpointAfter(endpoints.get(key), poll, config, (sibling) =>
      endpoints.get(endpointId({ target, document: sibling })),
    );
    endpoints.set(key, endpoint);
    lastMs = timeMs;
    // A step at the same time reports it.
    if (timeMs >= fromMs && timeMs !== nextStepMs) yield { timeMs, isStep: false, endpoints: [endpoint] };
  }
  yield* stepUntil(Math.min(toMs, lastMs + holdMs(config)) + 1);
}

export interface ReplayedEndpoint {
  readonly context: StepContext;
  readonly state: EndpointState;
  /** The time of the last recorded poll. */
  readonly timeMs: number;
  readonly clock: ReplayedClock;
  /** The state after the last repetition of a successful poll. */
  readonly repeated?: EndpointState;
  /** The last poll, if it has failed. It is repeated until the next poll. */
  readonly failed: { readonly poll: PollResult; readonly repeatedAtMs: number } | undefined;
}

/** The monotonic clock of the recorder, as far as it was recorded. */
interface ReplayedClock {
  readonly wallMs: number;
  readonly recordedMs: number | undefined;
  readonly offsetMs: number;
}

/** How long values hold between two recorded polls: with the default settings, 10 minutes. */
function holdMs({ poll, recorder }: Config): number {
  return poll.stale_after + recorder.interval;
}

/** The endpoint of another document of the target. */
type SiblingOf = (document: DocumentName) => ReplayedEndpoint | undefined;

function endpointAfter(
  before: ReplayedEndpoint | undefined,
  poll: RecordedPoll,
  config: Config,
  siblingOf: SiblingOf,
): ReplayedEndpoint {
  const { header, timeMs } = poll;
  const receivedMs = header.received === undefined ? timeMs : Date.parse(header.received);
  const clock = clockAfter(before?.clock, receivedMs, header.monotonic_ms);
  const received = instantAt({ clock }, receivedMs);
  const at = instantAt({ clock }, timeMs);
  const continued = before !== undefined && !isNewProcess(before.state, header) ? before : undefined;
  const { context, state } = continued ?? initialEndpoint(poll, config, at, before?.state);
  const hasOtherSucceeded = documentNames.some((document) => {
    const other = document === poll.document ? undefined : siblingOf(document);
    return other !== undefined && lastPollSucceeded(other.state);
  });
  const result = { ...pollOf(poll, context, state, received, siblingOf), hasOtherSucceeded };
  return {
    context,
    state: step(acceptOutcome(state, header), result, context, at),
    timeMs,
    clock,
    failed: result.outcome.ok ? undefined : { poll: result, repeatedAtMs: timeMs },
  };
}

/** The endpoint after the polls that were not recorded because they had the same result. Without an interval, each poll is recorded. */
function repeatLast(endpoint: ReplayedEndpoint, untilMs: number, intervalMs: number): ReplayedEndpoint {
  if (intervalMs === 0) return endpoint;
  return endpoint.failed === undefined
    ? repeatSuccess(endpoint, untilMs)
    : repeatFailure(endpoint, endpoint.failed, untilMs, intervalMs);
}

/** Repeats the last recorded failure, because only the first of equal failures is recorded. */
function repeatFailure(
  endpoint: ReplayedEndpoint,
  failed: NonNullable<ReplayedEndpoint['failed']>,
  untilMs: number,
  intervalMs: number,
): ReplayedEndpoint {
  const { clock, context } = endpoint;
  let { state } = endpoint;
  let { repeatedAtMs } = failed;
  while (repeatedAtMs + intervalMs <= untilMs) {
    repeatedAtMs += intervalMs;
    state = step(state, failed.poll, context, instantAt({ clock }, repeatedAtMs));
  }
  return { ...endpoint, state, failed: { ...failed, repeatedAtMs } };
}

function repeatSuccess(endpoint: ReplayedEndpoint, untilMs: number): ReplayedEndpoint {
  const { state } = endpoint;
  const repeated = repeatLastPoll(endpoint.repeated ?? state, instantAt(endpoint, untilMs));
  const { problems, flowHistory } = repeated;
  return { ...endpoint, state: { ...state, problems, flowHistory }, repeated };
}

/** A new process continues with what is remembered of the endpoint, as with a state file. Its counters begin anew. */
function initialEndpoint(
  { target: name, document, header }: RecordedPoll,
  config: Config,
  at: Instant,
  before: EndpointState | undefined,
): Pick<ReplayedEndpoint, 'context' | 'state'> {
  const target = config.targets.find((each) => each.name === name) ?? { name };
  const staleAfterMs = holdMs(config);
  const base = { ...targetOptions(config, target), staleAfterMs };
  const { intervalMs } = documents[document].request(target) ?? {};
  const context = stepContext(base, document, documents[document].recordedSettings(target), intervalMs);
  const addedAt = header.added === undefined ? at : { ...at, epochSeconds: Date.parse(header.added) / 1000 };
  return { context, state: withRemembered(initialState(context, addedAt), before && rememberedOf(before)) };
}

/** The values of other endpoints of the target at the time of the poll. */
function otherAnswersOf(
  { document, header: { calls, hub, external_height: height } }: RecordedPoll,
  last: Snapshot | undefined,
  at: Instant,
  siblingOf: SiblingOf,
): OtherAnswers {
  if (document === 'module_state') {
    const externalHeight = parseNumeral(height);
    const contract = siblingOf('external_contract');
    // By the clocks of the contract: clocks of two endpoints differ after a restart, or when one of the clocks was not recorded.
    const reading = contract && currentReading(contract.state, instantAt(contract, at.epochSeconds * 1000));
    return {
      externalHeight: externalHeight === INVALID ? undefined : externalHeight,
      isContractPaused: reading?.paused,
    };
  }
  if (document !== 'external_contract') return {};
  const exchange = { lastReading: pastOf(document, last), calls };
  if (hub === undefined) {
    // Between two recorded polls the module state holds.
    const facts = pastOf('module_state', siblingOf('module_state')?.state.lastSuccess?.snapshot)?.hubSide;
    return { ...exchange, hubSide: facts && { ...facts, at } };
  }
  const { age_ms: ageMs, facts, reading } = hub;
  const received = { epochSeconds: at.epochSeconds - ageMs / 1000, monotonicMs: at.monotonicMs - ageMs };
  return { ...exchange, hubSide: { ...facts, at: received }, hub: reading };
}

/** Whether counters began anew: the recorder was restarted, or a reload has changed the address. */
function isNewProcess({ addedAt }: EndpointState, { added }: RecordingHeader): boolean {
  return added !== undefined && Date.parse(added) / 1000 > addedAt.epochSeconds;
}

/** The monotonic clock follows the wall clock where it was not recorded, and from one process to the next. */
function clockAfter(before: ReplayedClock | undefined, wallMs: number, recordedMs: number | undefined): ReplayedClock {
  const recorded = recordedMs ?? wallMs;
  if (before === undefined) return { wallMs, recordedMs, offsetMs: 0 };
  const wallStepMs = Math.max(0, wallMs - before.wallMs);
  const stepMs = recorded - (before.recordedMs ?? before.wallMs);
  const isContinuous = (recordedMs === undefined) === (before.recordedMs === undefined);
  // Adjusted clocks differ by less.
  const tolerance = 1000 + wallStepMs / 100;
  if (isContinuous && stepMs >= 0 && Math.abs(stepMs - wallStepMs) <= tolerance) {
    return { wallMs, recordedMs, offsetMs: before.offsetMs };
  }
  const monotonicMs = (before.recordedMs ?? before.wallMs) + before.offsetMs + wallStepMs;
  return { wallMs, recordedMs, offsetMs: monotonicMs - recorded };
}

/** A point in time by the clocks of an endpoint. */
function instantAt({ clock }: Pick<ReplayedEndpoint, 'clock'>, ms: number): Instant {
  const { wallMs, recordedMs, offsetMs } = clock;
  return { epochSeconds: ms / 1000, monotonicMs: (recordedMs ?? wallMs) + offsetMs + (ms - wallMs) };
}

function pollOf(
  recorded: RecordedPoll,
  context: StepContext,
  { lastSuccess }: EndpointState,
  receivedAt: Instant,
  siblingOf: SiblingOf,
): PollResult {
  const { document, header, body, path: source } = recorded;
  const { outcome, message = '', phase_seconds: phaseSeconds = {} } = header;
  if (outcome !== 'ok') {
    return { outcome: failure(outcome, message), phaseSeconds, ...(body.length > 0 && { bodyBytes: body.length }) };
  }
  const otherAnswers = otherAnswersOf(recorded, lastSuccess?.snapshot, receivedAt, siblingOf);
  const foundPath = documents[document].paths.find(({ path }) => path === header.path);
  const { height } = header;
  const received = { ok: true, bytes: body, source, height, receivedAt, otherAnswers, foundPath } as const;
  return { ...readPoll(received, context), phaseSeconds };
}

/** The daemon has compared hub heights also with polls that are not recorded, so its result is replayed: a poll is accepted, or a regression. */
function acceptOutcome(state: EndpointState, { outcome }: RecordingHeader): EndpointState {
  if (outcome === 'ok') return { ...state, regressionsSinceSuccess: Infinity };
  if (outcome !== 'regression') return state;
  return { ...state, regressions: state.regressions + 1, regressionsSinceSuccess: state.regressionsSinceSuccess + 1 };
}

/** The series of endpoints at a point in time by the clocks of each, as OpenMetrics. */
export function renderAt(endpoints: readonly ReplayedEndpoint[], timeMs: number): string {
  return endpoints
    .map((endpoint) => renderEndpoints([endpoint.state], 'openmetrics', instantAt(endpoint, timeMs)))
    .join('');
}
