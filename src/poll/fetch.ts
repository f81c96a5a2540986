import { performance } from 'node:perf_hooks';
import type { DocumentPath } from '../chain/dialects.js';
import { clock, secondsSince, type Instant } from '../clock.js';
import { sourceOf, type EndpointUrl } from '../config/urls.js';
import type { DocumentName, OtherAnswers } from '../document-types.js';
import { createClient, remainingLimits, type Client, type HttpResponse } from '../http/client.js';
import { isUnknownPath } from '../http/error-response.js';
import { failure, statusRemedies, type Failure, type PollError } from '../http/failure-reasons.js';
import { isJsonRpc, portHint, repeatedPathHint, withHint, type Protocol } from '../http/port-hints.js';
import {
  callRequest,
  contractCall,
  isSyncing,
  MAX_CONTRACT_BYTES,
  NO_CONTRACT,
  rpcRequest,
} from '../queries/contract-document.js';
import type { NodeQuery, QueryRequest, QueryResult } from '../queries/query.js';
import { sendQuery } from '../queries/send-query.js';
import { createLimit } from '../tasks.js';
import { errorText } from '../text/error-text.js';
import type { PollInput, PollJob } from './jobs.js';

/* Requests documents, at the paths where a node may have them, and sends other queries to the node. */

/** The response to the request of a document (see `PollResult`). */
export type Received<Name extends DocumentName = DocumentName> =
  ReceivedDocument<Name> | (Failure & Pick<ReceivedDocument, 'seconds' | 'release'>);

export interface ReceivedDocument<Name extends DocumentName = DocumentName> {
  readonly ok: true;
  readonly bytes: Buffer;
  /** Host and path of the document, or the name of its file, with which messages begin. */
  readonly source: string;
  /** Hub height, as in the response header; `undefined` without the header. */
  readonly height: string | undefined;
  /** When the response was complete. */
  readonly receivedAt: Instant;
  /** Duration of the requests; absent for a recorded body. */
  readonly seconds?: number;
  readonly otherAnswers?: OtherAnswers<Name> | undefined;
  /** Absent for a contract. */
  readonly foundPath?: DocumentPath | undefined;
  /** The failure of a body that is not the document, with the error text of the server in it. */
  readonly failureWithServerText?: (error: PollError) => Failure;
  /** Ends the use of the body, which until then counts against the memory of all bodies. */
  readonly release?: () => void;
}

/** No request rejects. */
export interface PollExecutor {
  readonly fetch: (job: PollJob, input: PollInput) => Promise<Received>;
  readonly sendQuery: (job: PollJob, query: NodeQuery, request: QueryRequest) => Promise<QueryResult>;
  readonly close: () => void;
}

/** Concurrent requests of queries to the same node. Polls do not wait for them. */
const CONCURRENT_QUERIES = 4;

export function createPollExecutor(userAgent: string): PollExecutor {
  const client = createClient(userAgent);
  const limit = createLimit(CONCURRENT_QUERIES);
  return {
    fetch: async (job, input) => {
      const { hubNode, limits } = job;
      const endReservation = hubNode === undefined ? await client.reserveMemory(limits.maxBodyBytes) : undefined;
      const started = performance.now();
      const received = await (hubNode === undefined
        ? fetchDocument(job, input, client)
        : callContract(job, input, client));
      endReservation?.();
      return { ...received, seconds: secondsSince(started) };
    },
    sendQuery: async (job, query, request) => {
      const node = query.isSentToHub ? { ...(job.hubNode ?? job), limits: job.limits } : job;
      return limit(node.url.origin, async () => sendQuery(node, query, request, client));
    },
    close: () => client.close(),
  };
}

/** An error with status 200 is shorter. */
const ERROR_BYTES = 4096;

function withServerText(error: PollError, { bytes, clean }: HttpResponse, details: Partial<PollError> = {}): PollError {
  const text = errorText(bytes.subarray(0, ERROR_BYTES).toString());
  return text === undefined ? error : { ...error, ...details, message: `${error.message}: ${clean(text)}` };
}

function failureWithServerText(error: PollError, url: EndpointUrl, response: HttpResponse): Failure {
  const remedy = error.reason === 'schema' ? { remedy: statusRemedies.errorDocument } : {};
  const start = response.bytes.subarray(0, ERROR_BYTES).toString();
  return withHint(withServerText(error, response, remedy), portHint(url, isJsonRpc(start) ? 'json-rpc' : undefined));
}

/** The failures of a server that is not the REST API of a node. */
const FAILURES_WITH_HINT: ReadonlySet<string> = new Set(['aborted', 'bad_request', 'not_json', 'status']);

/** Requests the paths in turn until the node responds to one of them with another status than that of an unknown path. */
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
    // oxlint-disable-next-line no-await-in-loop -- a path is requested only if the node does not know the path before
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
    const error = fetched.isPathNotServed === true ? { ...fetched.error, isNotServed: true } : fetched.error;
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

/** Reads all values of the contract with one call, and asks the node whether it is syncing. */
async function callContract(job: PollJob, { otherAnswers = {} }: PollInput, client: Client): Promise<Received> {
  const source = sourceOf(job.url, '');
  const hubSide = 'hubSide' in otherAnswers ? otherAnswers.hubSide : undefined;
  if (hubSide === undefined) return failure('schema', `${source}: ${NO_CONTRACT}`);
  const call = contractCall(hubSide);
  const limits = { ...job.limits, maxBodyBytes: Math.min(job.limits.maxBodyBytes, MAX_CONTRACT_BYTES) };
  const send = async (json: string) => client.fetch(job, '', limits, { json, hasFixedLimit: true });
  const [fetched, syncing] = await Promise.all([send(callRequest(call)), send(rpcRequest('eth_syncing', []))]);
  const isNodeSyncing = syncing.ok && isSyncing(syncing.bytes);
  if (syncing.ok) syncing.release();
  if (!fetched.ok) return fetched;
  const received = {
    ...fetched,
    source,
    height: undefined,
    receivedAt: clock(),
    otherAnswers: { ...otherAnswers, call },
    failureWithServerText: (error: PollError): Failure => ({ ok: false, error: withServerText(error, fetched) }),
  };
  if (!isNodeSyncing) return received;
  return { ...failure('schema', `${source}: the node is syncing`), release: fetched.release };
}
