import { performance } from 'node:perf_hooks';
import type { DocumentPath } from '../chain/dialects.js';
import { clock, type Instant } from '../clock.js';
import { sourceOf, type EndpointUrl } from '../config/urls.js';
import type { DocumentName, OtherAnswers } from '../document-types.js';
import { createClient, remainingLimits, type Client, type HttpResponse } from '../http/client.js';
import { isUnknownPath } from '../http/error-response.js';
import { failure, statusRemedies, type Failure, type PollError } from '../http/failure-reasons.js';
import { isJsonRpc, portHint, repeatedPathHint, withHint, type Protocol } from '../http/port-hints.js';
import { NO_CONTRACT } from '../queries/contract-document.js';
import { fetchContract, type SendQuery } from '../queries/contract-exchange.js';
import type { NodeQuery, QueryRequest, QueryResult } from '../queries/query.js';
import { createRpcClient, type SendRequests } from '../queries/json-rpc.js';
import { sendQuery } from '../queries/send-query.js';
import { createLimit } from '../tasks.js';
import { errorText } from '../text/error-text.js';
import { isContract, type ContractJob, type PollInput, type PollJob } from './jobs.js';
import { secondsSince } from './read-poll.js';

/* Requests documents, at the paths where a node may have them, and the other queries of an endpoint. */

/** What the request of a document has returned. */
export type Received<Name extends DocumentName = DocumentName> =
  ReceivedDocument<Name> | (Failure & Pick<ReceivedDocument, 'seconds' | 'release'>);

export interface ReceivedDocument<Name extends DocumentName = DocumentName> {
  readonly ok: true;
  readonly bytes: Buffer;
  /** Host and path of the document, or the name of its file; at the beginning of messages. */
  readonly source: string;
  /** Hub height, as the response header has it; `undefined` without one. */
  readonly height: string | undefined;
  /** When it was complete. */
  readonly receivedAt: Instant;
  /** How long the requests took; absent for a recorded body. */
  readonly seconds?: number;
  readonly otherAnswers?: OtherAnswers<Name> | undefined;
  /** Where the document was found; absent for a contract. */
  readonly foundPath?: DocumentPath | undefined;
  /** Adds what the server says to the failure of a body that is not the document. */
  readonly failureWithServerText?: (error: PollError) => Failure;
  /** To be called when the body is not needed any more. Until then it counts against the memory of all bodies. */
  readonly release?: () => void;
}

/** Requests documents and other queries, and never rejects. */
export interface PollExecutor {
  readonly fetch: (job: PollJob, input: PollInput) => Promise<Received>;
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
    fetch: async (job, input) => {
      const endReservation = isContract(job) ? undefined : await client.reserveMemory(job.limits.maxBodyBytes);
      const started = performance.now();
      const received = isContract(job)
        ? await callContract(job, input, sendRequests, send)
        : await fetchDocument(job, input, client);
      endReservation?.();
      return { ...received, seconds: secondsSince(started) };
    },
    sendQuery: send,
    close: () => client.close(),
  };
}

/** A body that is not the document is short, if it is an error with status 200. */
const ERROR_BYTES = 4096;

/** The failure of a response that is not the document, with what the server says instead. */
function failureWithServerText(error: PollError, url: EndpointUrl, { bytes, clean }: HttpResponse): Failure {
  const start = bytes.subarray(0, ERROR_BYTES).toString();
  const text = errorText(start);
  const hint = portHint(url, isJsonRpc(start) ? 'json-rpc' : undefined);
  if (text === undefined) return withHint(error, hint);
  const remedy = error.reason === 'schema' ? { remedy: statusRemedies.errorDocument } : {};
  return withHint({ ...error, ...remedy, message: `${error.message}: ${clean(text)}` }, hint);
}

/** The failures of a server that is not the REST API of a node. */
const FAILURES_WITH_HINT: ReadonlySet<string> = new Set(['aborted', 'bad_request', 'not_json', 'status']);

/** Requests the paths in turn until the node responds to one with another status than those of an unknown path. */
async function fetchDocument(
  job: PollJob,
  { foundPath: first, otherAnswers }: PollInput,
  client: Client,
): Promise<Received> {
  const { url, query, limits } = job;
  const paths =
    first === undefined ? job.paths : [first, ...job.paths.filter(({ dialect }) => dialect !== first.dialect)];
  const remaining = remainingLimits(limits);
  const failures: PollError[] = [];
  let protocol: Protocol | undefined;
  for (const foundPath of paths) {
    // oxlint-disable-next-line no-await-in-loop -- a path is requested only if the node does not know the one before
    const fetched = await client.fetch(job, foundPath.path + query, remaining());
    if (fetched.ok) {
      return {
        ...fetched,
        source: sourceOf(url, foundPath.path),
        receivedAt: clock(),
        otherAnswers,
        foundPath,
        failureWithServerText: (error) => failureWithServerText(error, url, fetched),
      };
    }
    const error = fetched.isNotServed === true ? { ...fetched.error, isNotServed: true } : fetched.error;
    protocol ??= fetched.protocol;
    if (!isUnknownPath(fetched.statusCode)) {
      return withHint(error, FAILURES_WITH_HINT.has(error.reason) ? portHint(url, protocol) : undefined);
    }
    failures.push(error);
  }
  const repeated = repeatedPathHint(
    url,
    paths.map(({ path }) => path),
  );
  const message = failures.map((error) => error.message).join('; ');
  return withHint(
    { reason: 'status', ...failures[0], message, isNotServed: true },
    repeated ?? portHint(url, protocol),
  );
}

async function callContract(
  job: ContractJob,
  { otherAnswers = {}, readsAll = false }: PollInput,
  sendRequests: SendRequests,
  send: SendQuery,
): Promise<Received> {
  const source = sourceOf(job.url, '');
  const { facts, lastReading } = 'facts' in otherAnswers ? otherAnswers : {};
  if (facts === undefined) return failure('schema', `${source}: ${NO_CONTRACT}`);
  const knownBefore = readsAll ? undefined : lastReading;
  const fetched = await fetchContract(job, job.hubNode, { facts, lastReading }, knownBefore, sendRequests, send);
  return fetched.ok ? { ...fetched, source, height: undefined, receivedAt: clock() } : fetched;
}
