import { performance } from 'node:perf_hooks';
import { secondsSince, type Clock } from '../clock.js';
import type { Environment, NodeConnection } from '../config/http-client-config.js';
import { formatSource, portHint } from '../config/urls.js';
import { createClient, remainingLimits, type Client, type RequestLimits, type HttpResponse } from '../http/client.js';
import { isUnknownPath } from '../http/response.js';
import { failure, type PollError } from '../http/failure-reasons.js';
import {
  callRequest,
  contractCall,
  isSyncing,
  MAX_CONTRACT_BYTES,
  NO_CONTRACT,
  rpcRequest,
} from '../facts/contract/multicall.js';
import { sendQuery } from '../queries/send-query.js';
import { createLimit } from '../tasks.js';
import { readServerError } from '../text/error-text.js';
import { isContract, type PollJob } from '../engine/jobs.js';
import type { DocumentRequest, Received, Source } from '../engine/source.js';
import { createNodes } from './nodes.js';

/* Requests documents, at the paths where a node may have them, and sends other queries to the node. */

/** The network as a source: the nodes of the configuration. */
export interface Network extends Required<Source<PollJob>> {
  readonly close: () => void;
}

/** A busy process notices a timeout late. */
const MAX_OVERTIME_SECONDS = 5;

/** Concurrent requests of queries to the same node. Polls do not wait for them. */
const CONCURRENT_QUERIES = 4;

export function createNetwork(userAgent: string, clock: Clock, env?: Environment): Network {
  const client = createClient(userAgent, env);
  const limit = createLimit(CONCURRENT_QUERIES);
  const reserve = createBodyBudget();
  const lastBytes = new WeakMap<PollJob, number>();

  async function exchange(
    job: PollJob,
    node: NodeConnection,
    request: DocumentRequest,
    limits: RequestLimits,
  ): Promise<Received> {
    const started = performance.now();
    const sentAt = clock().at;
    const received = await (isContract(job)
      ? callContract(node, request, limits, client, clock)
      : requestDocument(job, node, request, limits, client, clock));
    const seconds = secondsSince(started);
    // The machine was suspended during the request. The document is as old as that, and its height would be one of now:
    // the measured block time would be far too short for an hour.
    if (clock().at - sentAt > limits.timeoutMs / 1000 + MAX_OVERTIME_SECONDS) {
      const message = `${formatSource(node.url, '')}: no response in time, because the machine was suspended`;
      return { ...failure('timeout', message), seconds };
    }
    return { ...received, seconds };
  }

  const several = createNodes(client, clock);

  return {
    document: async (job, request, read) => {
      const [node] = job.nodes;
      if (node === undefined) throw new Error('an endpoint has a node');
      // The body of a contract is small.
      const memory = isContract(job) ? undefined : await reserve(lastBytes.get(job), job.limits.maxBodyBytes);
      const send = async (each: NodeConnection, limits: RequestLimits): Promise<Received> => {
        const received = await exchange(job, each, request, limits);
        if (received.ok) {
          memory?.resize(received.bytes.length);
          lastBytes.set(job, received.bytes.length);
        }
        return received;
      };
      // Without an address of the contract, a poll of any node fails, and no node is at fault.
      const isAny = job.nodes.length === 1 || (isContract(job) && request.hubSide === undefined);
      const received = await (isAny ? send(node, job.limits) : several.poll(job, request, send, read));
      return { ...received, release: memory?.release };
    },
    query: async (job, query, request) => {
      const { target, document } = job.context;
      const isOfHub = query.isSentToHub && job.hubNodes !== undefined;
      const key = isOfHub ? ({ target, document: 'module_state' } as const) : { target, document };
      const node = several.nodeFor(key, (isOfHub && job.hubNodes) || job.nodes);
      if (node === undefined) throw new Error('an endpoint has a node');
      return limit(node.url.origin, async () => sendQuery({ ...node, limits: job.limits }, query, request, client));
    },
    probe: several.probe,
    close: () => client.close(),
  };
}

/* The memory of bodies. */

/** Bodies of the maximum size that are in memory together; see `MEMORY_PER_BODY_BYTE` in config/loader.ts. */
const BODIES_IN_MEMORY = 4;

/** Share of the maximum size for a first body. With all of it, four nodes that hang would hold up all others. */
const FIRST_SHARE = 1 / 4;

/** So many times the size of the last body is reserved, because a document grows from poll to poll. */
const GROWTH = 1.25;

/** The memory of a body, from before its request until its step. */
interface Reservation {
  /** Takes the size of the body that was received. */
  readonly resize: (bytes: number) => void;
  /** Ends the reservation. A second call changes nothing. */
  readonly release: () => void;
}

/** Bounds the memory of the bodies that are requested, received, or wait to be read. */
export function createBodyBudget() {
  let reservedBytes = 0;
  const waiting: { readonly bytes: number; readonly limitBytes: number; readonly start: () => void }[] = [];

  function change(bytes: number): void {
    reservedBytes += bytes;
    for (let [next] = waiting; next !== undefined && hasMemory(next); [next] = waiting) {
      waiting.shift();
      reservedBytes += next.bytes;
      next.start();
    }
  }

  const hasMemory = ({ bytes, limitBytes }: { readonly bytes: number; readonly limitBytes: number }): boolean =>
    reservedBytes === 0 || reservedBytes + bytes <= limitBytes;

  /** Resolves when there is memory for the next body of an endpoint, in the order of the calls. */
  return async (lastBytes: number | undefined, maxBytes: number): Promise<Reservation> => {
    let bytes = lastBytes === undefined ? maxBytes * FIRST_SHARE : Math.min(maxBytes, lastBytes * GROWTH);
    await new Promise<void>((start) => {
      waiting.push({ bytes, limitBytes: BODIES_IN_MEMORY * maxBytes, start });
      change(0);
    });
    const resize = (to: number): void => {
      const by = to - bytes;
      bytes = to;
      change(by);
    };
    return { resize, release: () => resize(0) };
  };
}

function formatHint(hint: string | undefined): string {
  return hint === undefined ? '' : ` — ${hint}`;
}

/** A longer body with status 200 is no error text. */
const MAX_ERROR_BYTES = 4096;

function serverText({ bytes, clean }: HttpResponse): string {
  const { text } = readServerError(bytes.length > MAX_ERROR_BYTES ? '' : bytes.toString());
  return text === '' ? '' : `: ${clean(text)}`;
}

/**
 * Requests the paths in turn until the node responds to one of them with another status than that of an unknown path.
 */
async function requestDocument(
  job: PollJob,
  node: NodeConnection,
  { servedPath: first }: DocumentRequest,
  limits: RequestLimits,
  client: Client,
  clock: Clock,
): Promise<Received> {
  const { query } = job;
  const { url } = node;
  const paths =
    first === undefined ? job.paths : [first, ...job.paths.filter(({ dialect }) => dialect !== first.dialect)];
  const remaining = remainingLimits(limits);
  const failures: PollError[] = [];
  const hint = portHint(url);
  for (const servedPath of paths) {
    // oxlint-disable-next-line no-await-in-loop -- a path is requested only if the node does not know the path before
    const response = await client.send(node, servedPath.path + query, remaining());
    if (response.ok) {
      return {
        ...response,
        receivedAt: clock().at,
        source: formatSource(url, servedPath.path),
        servedPath,
        failureText: serverText(response) + formatHint(hint),
      };
    }
    const { error } = response;
    // An internal error is a fault of the exporter, so no hint about the node.
    if (!isUnknownPath(response.statusCode)) {
      const message = error.message + formatHint(error.reason === 'internal' ? undefined : hint);
      return { ok: false, error: { ...error, message } };
    }
    failures.push(error);
  }
  const message = failures.map((error) => error.message).join('; ') + formatHint(hint);
  return { ok: false, error: { reason: 'status', ...failures[0], message, isNotServed: true } };
}

/** Reads all values of the contract with one call, and asks the node whether it is syncing. */
async function callContract(
  node: NodeConnection,
  { hubSide }: DocumentRequest,
  pollLimits: RequestLimits,
  client: Client,
  clock: Clock,
): Promise<Received> {
  const source = formatSource(node.url, '');
  if (hubSide === undefined) return failure('schema', `${source}: ${NO_CONTRACT}`);
  const call = contractCall(hubSide);
  const limits = { ...pollLimits, maxBodyBytes: Math.min(pollLimits.maxBodyBytes, MAX_CONTRACT_BYTES) };
  const send = async (json: string) => client.send(node, '', limits, { json });
  const [response, syncing] = await Promise.all([send(callRequest(call)), send(rpcRequest('eth_syncing', []))]);
  const isNodeSyncing = syncing.ok && isSyncing(syncing.bytes);
  if (!response.ok) return response;
  if (isNodeSyncing) return failure('schema', `${source}: the node is syncing`);
  return {
    ...response,
    receivedAt: clock().at,
    source,
    height: undefined,
    additionalInput: { call },
    failureText: serverText(response),
  };
}
