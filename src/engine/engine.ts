import { performance } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { secondsSince, type Clock, type Instant } from '../clock.js';
import type { DocumentName } from '../document-types.js';
import { enabledQueries } from '../queries/node-queries.js';
import { afterRound, isDue, type NodeQuery, type QueryExchange, type QueryState } from '../queries/query.js';
import { createQueue, withinMs, type InParts } from '../tasks.js';
import { MEBIBYTE } from '../units.js';
import { endpointId, initialState, withQuery, type EndpointState, type PhaseSeconds } from './endpoint-state.js';
import { step, type PollResult } from './step.js';
import { documentRequest, queryContext, readAdditionalInput } from './additional-input.js';
import { readPoll } from './poll-body.js';
import type { EndpointJob, Received, Source } from './source.js';
import { withAlerts } from './target-problems.js';

/*
 * The sequence of a poll, which exists once: for the daemon, `once`, replays, and simulations.
 *
 * 1. The source exchanges the document (`Source.document`).
 * 2. The document is read, and steps the state of its endpoint, which is published by an assignment. The sinks get the
 *    state before and after.
 * 3. The queries that are due are exchanged. No poll waits for them, and their answers enter the next step.
 *
 * Once the queries after the first document of an endpoint are answered, this document is processed again from the
 * state before it, because names and judgements need the answers.
 */

/** Each change replaces it as a whole. */
export interface Endpoint<Job extends EndpointJob = EndpointJob> {
  readonly job: Job;
  readonly state: EndpointState;
  /** The state before the first document, until a second document is processed. */
  readonly beforeFirst?: EndpointState | undefined;
}

/** The endpoint of a job before its first poll. */
export function createEndpoint<Job extends EndpointJob>(job: Job, addedAt: Instant): Endpoint<Job> {
  return { job, state: { ...initialState(job.context, addedAt), queries: enabledQueries(job.context) } };
}

/** What sees the results of polls, without an effect on them: log and recorder. */
export interface Sink {
  readonly polled?: (poll: SteppedPoll) => void;
  readonly answered?: (round: AnsweredRound) => void;
}

export interface SteppedPoll {
  readonly before: EndpointState;
  readonly after: EndpointState;
  readonly received: Received;
  /** Whether this is the first document, processed again with the answers to queries. */
  readonly isReprocessed: boolean;
}

/** The state of a query before and after the exchanges that were made together. */
export interface AnsweredRound {
  readonly endpoint: EndpointState;
  readonly before: QueryState;
  readonly after: QueryState;
}

export interface Poll {
  /** For how long the server asks not to be polled again. */
  readonly retryAfterMs?: number | undefined;
  /** Resolves when a first document has stepped again. */
  readonly settled: Promise<void>;
}

export interface Engine<Job extends EndpointJob> {
  /** In the order of the configuration. */
  readonly endpoints: () => readonly Endpoint<Job>[];
  /** The states of all endpoints. The array is the same until a state changes. */
  readonly states: () => readonly EndpointState[];
  /** Replaces all endpoints. Polls and queries under way for an endpoint with another job change nothing. */
  readonly replace: (endpoints: readonly Endpoint<Job>[]) => void;
  readonly poll: (job: Job) => Promise<Poll>;
  /** Polls and queries under way change nothing from now on. */
  readonly close: () => void;
}

/** How long a first document waits for answers. */
const FIRST_ANSWERS_MS = 2_000;

export function createEngine<Job extends EndpointJob>({
  source,
  now,
  sinks = [],
}: {
  readonly source: Source<Job>;
  readonly now: Clock;
  readonly sinks?: readonly Sink[];
}): Engine<Job> {
  let endpoints = new Map<string, Endpoint<Job>>();
  let states: readonly EndpointState[] = [];
  let isClosed = false;
  const inTurn = createQueue();
  /** The names of the queries that are under way. */
  const running = new WeakMap<Job, Set<string>>();

  /** `undefined` after a reload has removed the endpoint or changed its job. */
  function findEndpoint(job: Job): Endpoint<Job> | undefined {
    const endpoint = endpoints.get(endpointId(job.context));
    return endpoint?.job === job && !isClosed ? endpoint : undefined;
  }

  function findSibling({ context: { target } }: Job, document: DocumentName): EndpointState | undefined {
    return endpoints.get(endpointId({ target, document }))?.state;
  }

  function replace(all: Iterable<Endpoint<Job>>): void {
    endpoints = new Map(Array.from(all, (endpoint) => [endpointId(endpoint.job.context), endpoint]));
    states = Array.from(endpoints.values(), ({ state }) => state);
  }

  function change(endpoint: Endpoint<Job>): void {
    endpoints.set(endpointId(endpoint.job.context), endpoint);
    states = Array.from(endpoints.values(), ({ state }) => state);
  }

  async function poll(job: Job): Promise<Poll> {
    const current = findEndpoint(job)?.state;
    if (current === undefined) return { settled: Promise.resolve() };
    const request = documentRequest(job.context, current, (document) => findSibling(job, document));
    const received = await source.document(job, request, async (each) =>
      inTurn(async () => read(job, findEndpoint(job)?.state ?? current, each)),
    );
    let settled = Promise.resolve();
    try {
      await inTurn(async () => stepWith(job, received));
      const isFirst = findEndpoint(job)?.beforeFirst !== undefined;
      // Queries are sent only to a node that has just responded.
      const isServed = findEndpoint(job)?.state.lastPoll?.ok === true;
      const answers = isServed ? sendQueries(job) : Promise.resolve();
      if (isFirst && isServed && source.query !== undefined) settled = stepAgain(job, received, answers);
      return { settled, ...(!received.ok && { retryAfterMs: received.error.retryAfterMs }) };
    } finally {
      void settled.finally(() => received.release?.());
    }
  }

  async function stepAgain(job: Job, received: Received, answers: Promise<void>): Promise<void> {
    // The list of validators says about which validators the node is asked next.
    await withinMs(
      FIRST_ANSWERS_MS,
      answers.then(async () => sendQueries(job, ({ roundStartedAt }) => roundStartedAt === undefined)),
    );
    await inTurn(async () => stepWith(job, received, true));
  }

  /** Reads a response with what is known now. */
  async function read(job: Job, state: EndpointState, received: Received): Promise<PollResult> {
    const moment = now();
    const known = readAdditionalInput(job.context, state, (document) => findSibling(job, document), moment);
    const complete = received.ok
      ? { ...received, additionalInput: { ...known, ...received.additionalInput } }
      : received;
    const { value, seconds: decode } = await runInParts(sizeOf(received), readPoll(complete, job.context, moment));
    return received.ok ? withDuration(value, { decode }) : value;
  }

  /**
   * Reads a document and takes the step with it. Yields to scrapes in between. `isReprocessed`: the first document of an
   * endpoint steps again with the answers to its queries.
   */
  async function stepWith(job: Job, received: Received, isReprocessed = false): Promise<void> {
    const current = findEndpoint(job);
    // The endpoint was removed, or another document has stepped meanwhile.
    if (current === undefined || (isReprocessed && current.beforeFirst === undefined)) return;
    const { state, beforeFirst } = current;
    const before = isReprocessed && beforeFirst !== undefined ? { ...beforeFirst, queries: state.queries } : state;
    const moment = now();
    const earlier = received.ok && !isReprocessed ? received.read : undefined;
    const content = earlier ?? (await read(job, before, received));
    const result = { ...content, nodes: received.nodes };
    await nextTurn();
    const { value, seconds: derive } = await runInParts(sizeOf(received), step(before, result, job.context, moment));
    const { lastPoll } = value;
    const stepped = lastPoll?.ok === true ? { ...value, lastPoll: withDuration(lastPoll, { derive }) } : value;
    const siblings = states.filter((other) => other !== state && other.target === state.target);
    const after = withAlerts(stepped, [stepped, ...siblings], moment);
    // A reload may have removed or changed the endpoint while scrapes were answered.
    if (findEndpoint(job) === undefined) return;
    const isFirst = before.lastSuccess === undefined && after.lastSuccess !== undefined;
    change({ job, state: after, ...(isFirst && !isReprocessed && { beforeFirst: before }) });
    for (const { polled } of sinks) polled?.({ before: state, after, received, isReprocessed });
    await nextTurn();
  }

  async function sendQueries(job: Job, isWanted = (state: QueryState) => isDue(state, now().at)): Promise<void> {
    const { query: send } = source;
    const due = Array.from(findEndpoint(job)?.state.queries.values() ?? []).filter(isWanted);
    if (send !== undefined) await Promise.all(due.map(async ({ query }) => sendQuery(job, query, send)));
  }

  async function sendQuery(job: Job, query: NodeQuery, send: NonNullable<Source<Job>['query']>): Promise<void> {
    const state = findEndpoint(job)?.state;
    const startedAt = now().at;
    const context = state && queryContext(job.context, state, startedAt);
    // The document can lack the fields from which requests are made.
    const requests = context === undefined ? [] : query.requests(context);
    const jobPolls = running.get(job) ?? new Set();
    if (requests.length === 0 || jobPolls.has(query.name)) return;
    running.set(job, jobPolls.add(query.name));
    try {
      const exchanges = await Promise.all(requests.map(async (request) => send(job, query, request)));
      // In turn, so that the state does not change while a document steps.
      await inTurn(async () => answered(job, query, exchanges, startedAt));
    } finally {
      jobPolls.delete(query.name);
    }
  }

  function answered(job: Job, query: NodeQuery, exchanges: readonly QueryExchange[], startedAt: Instant): void {
    const endpoint = findEndpoint(job);
    const before = endpoint?.state.queries.get(query.name);
    const moment = now();
    const context = endpoint && queryContext(job.context, endpoint.state, moment.at);
    if (endpoint === undefined || before === undefined || context === undefined) return;
    // What the previous node has answered about itself is not true of the present node.
    if (query.isOfNode && startedAt < (endpoint.state.switchedAt ?? startedAt)) return;
    const after = afterRound(before, context, exchanges, startedAt, moment.at);
    change({ ...endpoint, state: withQuery(endpoint.state, after) });
    for (const sink of sinks) sink.answered?.({ endpoint: endpoint.state, before, after });
  }

  return {
    endpoints: () => Array.from(endpoints.values()),
    states: () => states,
    replace,
    poll,
    close: () => {
      isClosed = true;
    },
  };
}

/** From this size on, a document is read and stepped in parts, so that a scrape waits for one part instead of all. */
const MIN_BYTES_IN_PARTS = 4 * MEBIBYTE;

function sizeOf(received: Received): number {
  return received.ok ? received.bytes.length : 0;
}

/** Runs the parts of reading a document of this size, or of its step. Measures the parts, without the turns in between. */
async function runInParts<T>(
  bytes: number,
  parts: InParts<T>,
): Promise<{ readonly value: T; readonly seconds: number }> {
  for (let seconds = 0; ;) {
    const started = performance.now();
    const part = parts.next();
    seconds += secondsSince(started);
    if (part.done === true) return { value: part.value, seconds };
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    if (bytes >= MIN_BYTES_IN_PARTS) await nextTurn();
  }
}

/** A recorded poll, whose duration of the request is not known, has no durations. */
function withDuration<Polled extends { readonly phaseSeconds: PhaseSeconds }>(
  poll: Polled,
  duration: PhaseSeconds,
): Polled {
  const { phaseSeconds } = poll;
  return phaseSeconds.fetch === undefined ? poll : { ...poll, phaseSeconds: { ...phaseSeconds, ...duration } };
}
