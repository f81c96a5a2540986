import type { KnownEndpoint } from './known-endpoint.js';
import { performance } from 'node:perf_hooks';
import type { DocumentPath } from '../chain/dialects.js';
import { INVALID } from '../chain/field.js';
import { clock, type Instant } from '../clock.js';
import type { NodeConnection } from '../config/endpoint-config.js';
import { sourceOf, type EndpointUrl } from '../config/urls.js';
import { documents, type DocumentName, type DocumentRequest, type SideInput } from '../documents.js';
import { createClient, type Client, type FetchLimits } from '../http/client.js';
import { failure, statusRemedies, type Failure, type PollError } from '../http/failure-reasons.js';
import { HEIGHT_FIELD, parseHeight } from '../http/height-header.js';
import { isJsonRpc, portHint } from '../http/port-hints.js';
import { NO_CONTRACT } from '../queries/contract-document.js';
import { fetchContract, type SendQuery } from '../queries/contract-exchange.js';
import type { NodeQuery, QueryRequest, QueryResult } from '../queries/query.js';
import { createRpcClient, type SendRequests } from '../queries/json-rpc.js';
import { sendQuery } from '../queries/send-query.js';
import { createLimit } from '../queue.js';
import { errorText } from '../text/error-text.js';
import { fetchFirstKnownPath, withHint } from './document-path.js';
import { compressBody } from './kept-body.js';
import type { Poll } from './poll.js';
import { step, type StepContext } from './step.js';

/** One endpoint to poll. */
export interface PollJob extends NodeConnection, Omit<DocumentRequest, 'connection' | 'settings'> {
  readonly limits: FetchLimits;
  readonly context: StepContext;
}

/** What a poll depends on besides the configuration. */
export interface PollInput {
  /** Where the last successful poll found the document. It is requested there first. */
  readonly foundPath?: DocumentPath | undefined;
  readonly sideInput?: SideInput | undefined;
  /** Whether a contract is asked for all its values, also for those that are requested less often. */
  readonly readsAll?: boolean;
}

/** A response body, with what it is read with. */
export interface ReceivedBody {
  readonly ok: true;
  readonly bytes: Buffer;
  /** Host and path of the document, or the name of its file; at the beginning of messages. */
  readonly source: string;
  /** Hub height, as the response header has it; `undefined` without one. */
  readonly height: string | undefined;
  /** When it was complete. */
  readonly at: Instant;
  readonly sideInput?: SideInput | undefined;
}

/** The response to the request of a document. */
export interface Fetched {
  readonly outcome: ReceivedBody | Failure;
  readonly seconds: number;
  /** Where the document was found. */
  readonly foundPath?: DocumentPath;
  readonly url: EndpointUrl;
  /** Removes the secrets of the request from what the server says. */
  readonly clean: (text: string) => string;
  /** To be called when the body is not needed any more. Until then it counts against the memory of all bodies. */
  readonly release: () => void;
}

/** Requests documents and other queries, and never rejects. */
export interface PollExecutor {
  readonly fetch: (job: PollJob, input: PollInput) => Promise<Fetched>;
  /** Sends one request of a query besides the document. */
  readonly sendQuery: (job: PollJob, query: NodeQuery, request: QueryRequest) => Promise<QueryResult>;
  readonly close: () => void;
}

/** Requests of queries to one node at a time. Polls do not wait for them. */
const QUERIES_AT_A_TIME = 4;

export function createPollExecutor(userAgent: string): PollExecutor {
  const client = createClient(userAgent);
  const sendRequests = createRpcClient(client);
  const limit = createLimit(QUERIES_AT_A_TIME);
  const send: SendQuery = async (node, reader, request) =>
    limit(node.url.origin, async () => sendQuery(node, reader, request, client));
  return {
    fetch: async (job, input) =>
      job.hub === undefined ? fetchDocument(job, input, client) : fetchAnswers(job, job.hub, input, sendRequests, send),
    sendQuery: send,
    close: () => client.close(),
  };
}

const NO_RESPONSE = { clean: (text: string) => text, release: () => undefined };

async function fetchDocument(
  job: PollJob,
  { foundPath: first, sideInput }: PollInput,
  client: Client,
): Promise<Fetched> {
  const release = await client.waitForMemory(job.limits.maxBodyBytes);
  const started = performance.now();
  const others = job.paths.filter(({ dialect }) => dialect !== first?.dialect);
  const fetched = await fetchFirstKnownPath(
    { ...job, paths: first === undefined ? job.paths : [first, ...others] },
    client,
  );
  release();
  const seconds = secondsSince(started);
  if (!fetched.ok) return { outcome: fetched, seconds, ...NO_RESPONSE, url: job.url };
  const { foundPath, body, height, clean } = fetched;
  const source = sourceOf(job.url, foundPath.path);
  const outcome: ReceivedBody = { ok: true, bytes: body.bytes, source, height, at: clock(), sideInput };
  return { outcome, seconds, foundPath, url: job.url, clean, release: body.release };
}

/** Calls a contract. */
async function fetchAnswers(
  job: PollJob,
  hub: NodeConnection,
  { sideInput, readsAll = false }: PollInput,
  sendRequests: SendRequests,
  send: SendQuery,
): Promise<Fetched> {
  const started = performance.now();
  const { url } = job;
  const source = sourceOf(url, '');
  const { facts, lastReading } = sideInput ?? {};
  const fetched =
    facts === undefined
      ? failure('schema', `${source}: ${NO_CONTRACT}`)
      : await fetchContract(job, hub, { facts, lastReading }, readsAll ? undefined : lastReading, sendRequests, send);
  const outcome: Fetched['outcome'] = fetched.ok
    ? { ok: true, bytes: fetched.body, source, height: undefined, at: clock(), sideInput: fetched.exchange }
    : fetched;
  return { outcome, seconds: secondsSince(started), ...NO_RESPONSE, url };
}

/** Reads the document that was fetched. */
export function readFetched<Name extends DocumentName>(
  { outcome: received, seconds, foundPath, url, clean }: Fetched,
  context: StepContext<Name>,
): Poll<Name> {
  if (!received.ok) return { outcome: received, phaseSeconds: { fetch: seconds } };
  const poll = readBody(received, context);
  const phaseSeconds = { fetch: seconds, ...poll.phaseSeconds };
  if (poll.outcome.ok) return { ...poll, phaseSeconds, foundPath };
  const { error } = poll.outcome;
  // The answers of a contract are no document at a path.
  const isOther = foundPath !== undefined && (error.reason === 'schema' || error.reason === 'not_json');
  const outcome = isOther ? otherDocument(error, url, received.bytes, clean) : poll.outcome;
  return { ...poll, outcome, phaseSeconds };
}

/** A body that is not the document is short, if it is an error with status 200. */
const ERROR_BYTES = 4096;

/** The failure of a response that is not the document, with what the server says instead. */
function otherDocument(error: PollError, url: EndpointUrl, body: Buffer, clean: (text: string) => string): Failure {
  const start = body.subarray(0, ERROR_BYTES).toString();
  const text = errorText(start);
  const hint = portHint(url, isJsonRpc(start) ? 'json-rpc' : undefined);
  if (text === undefined) return withHint(error, hint);
  const remedy = error.reason === 'schema' ? { remedy: statusRemedies.errorDocument } : {};
  return withHint({ ...error, ...remedy, message: `${error.message}: ${clean(text)}` }, hint);
}

/** Reads a response body. */
export function readBody<Name extends DocumentName>(
  { bytes, source, height: header, at, sideInput }: Omit<ReceivedBody, 'ok'>,
  { document, maxValues }: StepContext<Name>,
): Poll<Name> {
  const started = performance.now();
  const read = documents[document].read(bytes, { maxValues, at, sideInput });
  const { isDense = false } = read;
  const compressed = read.ok ? compressBody(bytes) : undefined;
  const poll = { phaseSeconds: { decode: secondsSince(started) }, bodyBytes: bytes.length, source, isDense };
  if (!read.ok) return { ...poll, outcome: failure(read.reason, `${source}: ${read.message}`) };
  const { value: content } = read;
  if (content === undefined) {
    const message = `${source}: not a ${document} document: none of its fields is present`;
    return { ...poll, outcome: failure('schema', message) };
  }
  const height = parseHeight(header);
  const outcome = { ok: true, content, at, sideInput, compressed } as const;
  if (height !== INVALID) return { ...poll, outcome: { ...outcome, errors: read.errors, height } };
  const errors = { ...read.errors, invalid: new Map([...read.errors.invalid, [HEIGHT_FIELD, 1] as const]) };
  return { ...poll, outcome: { ...outcome, errors, height: undefined } };
}

/** A step whose duration is measured. */
export function timedStep<Name extends DocumentName>(
  before: KnownEndpoint,
  poll: Poll<Name>,
  context: StepContext<Name>,
  at: Instant,
): KnownEndpoint {
  const started = performance.now();
  const after = step(before, poll, context, at);
  const { last } = after.state;
  if (last?.ok !== true) return after;
  const phaseSeconds = { ...last.phaseSeconds, derive: secondsSince(started) };
  return { ...after, state: { ...after.state, last: { ...last, phaseSeconds } } };
}

function secondsSince(started: number): number {
  return (performance.now() - started) / 1000;
}
