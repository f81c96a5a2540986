import type { KnownEndpoint } from './known-endpoint.js';
import { performance } from 'node:perf_hooks';
import type { DocumentPath } from '../chain/dialects.js';
import { INVALID } from '../chain/field.js';
import { clock, type Instant } from '../clock.js';
import type { NodeConnection } from '../config/endpoint-config.js';
import { sourceOf, type EndpointUrl } from '../config/urls.js';
import { documents, type DocumentName, type DocumentRequest, type SideInputOf } from '../documents.js';
import { createClient, type Client, type FetchLimits } from '../http/client.js';
import { failure, statusRemedies, type Failure, type PollError } from '../http/failure-reasons.js';
import { HEIGHT_FIELD, parseHeight } from '../http/height-header.js';
import { isJsonRpc, portHint } from '../http/port-hints.js';
import type { ContractFacts } from '../facts/contract/facts.js';
import type { NodeQuery, QueryRequest } from '../queries/query.js';
import type { QueryResult } from '../queries/query-state.js';
import { errorText } from '../text/error-text.js';
import { fetchContract } from '../queries/contract-exchange.js';
import { fetchFirstKnownPath, withHint } from './document-path.js';
import { sendQuery } from '../queries/send-query.js';
import { compressBody } from './items.js';
import { createRpcClient, type RpcClient } from '../queries/rpc-client.js';
import { step, type Poll, type StepContext } from './step.js';

/** One endpoint to poll. */
export interface PollJob extends NodeConnection, Omit<DocumentRequest, 'connection' | 'settings'> {
  readonly limits: FetchLimits;
  readonly context: StepContext;
}

/** What a poll depends on besides the configuration. */
export interface PollInput {
  /** Where the last successful poll found the document. It is requested there first. */
  readonly foundPath?: DocumentPath | undefined;
  readonly sideInput?: SideInputOf[DocumentName] | undefined;
  /** What the module state says about the contract; only of a contract, and absent before the first module state. */
  readonly facts?: ContractFacts | undefined;
  /** Whether a contract is asked for all its values, also for those that are requested less often. */
  readonly readsAll?: boolean;
}

/** A response body, with what it is read with. */
export interface ReceivedBody<Name extends DocumentName = DocumentName> {
  readonly ok: true;
  readonly bytes: Buffer;
  /** Host and path of the document, or the name of its file; at the beginning of messages. */
  readonly source: string;
  /** Hub height, as the response header has it; `undefined` without one. */
  readonly height: string | undefined;
  /** When it was complete. */
  readonly at: Instant;
  readonly sideInput?: SideInputOf[Name] | undefined;
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

export function createPollExecutor(userAgent: string): PollExecutor {
  const client = createClient(userAgent);
  const rpc = createRpcClient(client);
  return {
    fetch: async (job, input) =>
      job.contract === undefined ? fetchDocument(job, input, client) : fetchOfContract(job, input, client, rpc),
    sendQuery: async (job, query, request) => sendQuery(job, query, request, client),
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
  const outcome: ReceivedBody = {
    ok: true,
    bytes: body.bytes,
    source: sourceOf(job.url, foundPath.path),
    height,
    at: clock(),
    sideInput,
  };
  return { outcome, seconds, foundPath, url: job.url, clean, release: body.release };
}

async function fetchOfContract(
  job: PollJob,
  { facts, sideInput, readsAll = false }: PollInput,
  client: Client,
  rpc: RpcClient,
): Promise<Fetched> {
  const { limits, contract, url } = job;
  const failed = { seconds: 0, ...NO_RESPONSE, url };
  const source = sourceOf(url, '');
  if (contract === undefined || facts === undefined) {
    return {
      ...failed,
      outcome: failure('schema', `${source}: the module state does not say where the contract is`),
    };
  }
  const started = performance.now();
  // The side input is that of a contract.
  const { previous } = (sideInput ?? {}) as SideInputOf['external_contract'];
  const fetched = await fetchContract(contract, limits, facts, { previous, readsAll }, { client, rpc });
  const seconds = secondsSince(started);
  if (!fetched.ok) return { ...failed, outcome: fetched, seconds };
  const { body, exchange } = fetched;
  const outcome: ReceivedBody = {
    ok: true,
    bytes: body.bytes,
    source,
    height: undefined,
    at: clock(),
    sideInput: { previous, exchange },
  };
  return { ...failed, outcome, seconds, release: body.release };
}

/** Reads the document that was fetched. */
export function readFetched<Name extends DocumentName>(
  { outcome: received, seconds, foundPath, url, clean }: Fetched,
  context: StepContext<Name>,
): Poll<Name> {
  if (!received.ok) return { outcome: received, phaseSeconds: { fetch: seconds } };
  // The document that was requested is that of the context.
  const poll = readBody(received as ReceivedBody<Name>, context);
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
  { bytes, source, height: header, at, sideInput }: Omit<ReceivedBody<Name>, 'ok'>,
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
  if (height !== INVALID) return { ...poll, outcome: { ...outcome, problems: read.problems, height } };
  const problems = { ...read.problems, invalid: new Map([...read.problems.invalid, [HEIGHT_FIELD, 1] as const]) };
  return { ...poll, outcome: { ...outcome, problems, height: undefined } };
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
