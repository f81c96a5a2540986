import { performance } from 'node:perf_hooks';
import { secondsSince, type Clock, type Instant } from '../clock.js';
import { sourceOf, type EndpointUrl } from '../config/urls.js';
import { createClient, remainingLimits, type Client, type HttpResponse } from '../http/client.js';
import { isUnknownPath } from '../http/error-response.js';
import { failure, statusRemedies, type Failure, type PollError } from '../http/failure-reasons.js';
import { isJsonRpc, portHint, repeatedPathHint, withHint, type Protocol } from '../http/port-hints.js';
import { NO_CONTRACT } from '../queries/contract-document.js';
import { fetchContract, type SendQuery } from '../queries/contract-exchange.js';
import type { QueryRequest, ResponseReader } from '../queries/query.js';
import { createRpcClient, type SendRequests } from '../queries/json-rpc.js';
import { sendQuery, type QueryConnection } from '../queries/send-query.js';
import { createLimit } from '../tasks.js';
import { errorText } from '../text/error-text.js';
import type { NodeConnection } from '../config/endpoint-config.js';
import type { PollJob } from '../engine/jobs.js';
import type { DocumentRequest, ReceivedDocument, Source } from '../engine/source.js';

/* Requests documents, at the paths where a node may have them, and sends other queries to the node. */

/** The network as a source: the nodes of the configuration. */
export interface Network extends Required<Source<PollJob>> {
  readonly close: () => void;
}

type Fetched = Omit<ReceivedDocument, 'receivedAt'> | Failure;

/** A busy process notices a timeout late. */
const MAX_OVERTIME_SECONDS = 5;

/** Concurrent requests of queries to the same node. Polls do not wait for them. */
const CONCURRENT_QUERIES = 4;

export function createNetwork(userAgent: string, clock: Clock): Network {
  const client = createClient(userAgent);
  const sendRequests = createRpcClient(client);
  const limit = createLimit(CONCURRENT_QUERIES);
  const exchange = async <Value>(node: QueryConnection, reader: ResponseReader<Value>, request: QueryRequest) =>
    limit(node.url.origin, async () => sendQuery(node, reader, request, client));
  const send: SendQuery = async (node, reader, request) => (await exchange(node, reader, request)).result;
  return {
    document: async (job, input) => {
      const { hubNode, limits } = job;
      const endReservation = hubNode === undefined ? await client.reserveMemory(limits.maxBodyBytes) : undefined;
      const started = performance.now();
      const sentAt = clock().at;
      const received = await (hubNode === undefined
        ? fetchDocument(job, input, client)
        : callContract(job, hubNode, input, sendRequests, send, sentAt));
      endReservation?.();
      const seconds = secondsSince(started);
      const receivedAt = clock().at;
      // The machine was suspended meanwhile: the response is as old.
      if (receivedAt - sentAt > limits.timeoutMs / 1000 + MAX_OVERTIME_SECONDS) {
        const message = `${sourceOf(job.url, '')}: no response in time: the machine was suspended`;
        return { ...failure('timeout', message), seconds };
      }
      return received.ok ? { ...received, receivedAt, seconds } : { ...received, seconds };
    },
    query: exchange,
    close: () => client.close(),
  };
}

/** An error with status 200 is shorter. */
const ERROR_BYTES = 4096;

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

/** Requests the paths in turn until the node responds to one of them with another status than that of an unknown path. */
async function fetchDocument(job: PollJob, { foundPath: first }: DocumentRequest, client: Client): Promise<Fetched> {
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

async function callContract(
  job: PollJob,
  hubNode: NodeConnection,
  { otherAnswers = {}, readsAll = false }: DocumentRequest,
  sendRequests: SendRequests,
  send: SendQuery,
  at: Instant,
): Promise<Fetched> {
  const source = sourceOf(job.url, '');
  const { hubSide, lastReading } = 'hubSide' in otherAnswers ? otherAnswers : {};
  if (hubSide === undefined) return failure('schema', `${source}: ${NO_CONTRACT}`);
  const fetched = await fetchContract(job, hubNode, { hubSide, lastReading }, readsAll, sendRequests, send, at);
  return fetched.ok ? { ...fetched, source, height: undefined } : fetched;
}
