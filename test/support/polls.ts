import type { Moment } from '../../src/clock.js';
import type { DocumentName, ConfiguredNames, AdditionalInput, StepContext } from '../../src/document-types.js';
import { failure, type FailureReason } from '../../src/http/failure-reasons.js';
import type { Network } from '../../src/sources/network.js';
import type { DocumentRequest, ReadDocument, Received, ReceivedDocument } from '../../src/engine/source.js';
import type { PollResult } from '../../src/engine/step.js';
import type { PollJob } from '../../src/engine/jobs.js';
import { documentRequest, readAdditionalInput, queryContext } from '../../src/engine/additional-input.js';
import { withQuery, type EndpointState } from '../../src/engine/endpoint-state.js';
import { createExchange } from '../../src/sources/simulated-node.js';
import { afterRound, isDue, type QueryRequest, type QueryStates } from '../../src/queries/query.js';
import type { QueryResponse } from '../../src/simulator/query-service.js';
import { enabledQueries } from '../../src/queries/node-queries.js';
import { readPoll } from './steps.js';

/** When a document is received if the test does not tell. */
export const START: Moment = { at: 1_700_000_000, clockOffset: 0 };

export const NO_NAMES: ConfiguredNames = { tokens: [], chains: {}, validators: [] };

/** The options of a target `t` with the defaults of the configuration. */
export const TARGET_OPTIONS = {
  target: 't',
  names: NO_NAMES,
  maxSeries: 200,
  maxBodyBytes: Infinity,
  staleAfterMs: 300_000,
} as const;

interface Sent<Name extends DocumentName> extends Partial<Pick<ReceivedDocument<Name>, 'additionalInput' | 'source'>> {
  readonly height?: string | number | undefined;
  readonly at?: Moment;
}

/** A poll that has received a document. */
export function pollOf<Name extends DocumentName>(
  context: StepContext<Name>,
  json: unknown,
  { height, at = START, source = 'test', ...others }: Sent<Name> = {},
): PollResult<Name> {
  const bytes = Buffer.isBuffer(json) ? json : Buffer.from(JSON.stringify(json));
  const header = height === undefined ? undefined : String(height);
  return readPoll({ ok: true, bytes, source, height: header, receivedAt: at.at, ...others }, context);
}

/** What a node has sent. */
export function fetchedBody(body: Omit<ReceivedDocument, 'ok'>): Received {
  return { seconds: 0.05, ok: true, ...body };
}

export function failedFetch(reason: FailureReason, message: string): Received {
  return { seconds: 0.05, ...failure(reason, message) };
}

/** How the engine reads a response to a job. */
export function readerOf({ context }: PollJob): ReadDocument {
  return async (received) => readPoll(received, context);
}

/** A poll of a node. */
export async function pollNode(
  network: Pick<Network, 'document'>,
  job: PollJob,
  input: DocumentRequest = {},
): Promise<PollResult> {
  const received = await network.document(job, input, readerOf(job));
  const poll = readPoll(received, job.context);
  received.release?.();
  return poll;
}

/** What a poll uses besides its document, as the engine passes it to the source and to the step. */
export function pollInput(
  context: StepContext,
  state: EndpointState,
  siblingOf: (document: DocumentName) => EndpointState | undefined,
  now: Moment,
): DocumentRequest & { readonly additionalInput: AdditionalInput } {
  const additionalInput = readAdditionalInput(context, state, siblingOf, now);
  return { ...documentRequest(context, state, siblingOf), additionalInput };
}

/** The states of the queries of an endpoint after immediate answers to all due queries. */
export function answerQueries(
  context: StepContext,
  before: EndpointState,
  respond: (path: string, request: QueryRequest) => QueryResponse,
  at: Moment,
): QueryStates {
  let state = { ...before, queries: enabledQueries(context, before.queries) };
  for (const own of state.queries.values()) {
    const ofQuery = queryContext(context, state, at.at);
    const requests = ofQuery === undefined || !isDue(own, at.at) ? [] : own.query.requests(ofQuery);
    if (ofQuery === undefined || requests.length === 0) continue;
    const exchanges = requests.map((request) => createExchange(own.query, request, respond));
    state = withQuery(state, afterRound(own, ofQuery, exchanges, at.at, at.at));
  }
  return state.queries;
}
