import { performance } from 'node:perf_hooks';
import { isDeepStrictEqual } from 'node:util';
import { validOrUndefined } from '../chain/field.js';
import type { Numeral } from '../chain/numeral.js';
import { secondsSince, type Clock, type Instant } from '../clock.js';
import type { NodeConnection } from '../config/endpoint-config.js';
import { formatSource } from '../config/urls.js';
import type { DocumentName, StepContext } from '../document-types.js';
import { documents } from '../documents.js';
import { endpointId } from '../engine/endpoint-state.js';
import { isContract, type PollJob } from '../engine/jobs.js';
import type { NodeObservation, ObservedNode } from '../engine/node-observation.js';
import { readContent } from '../engine/read-poll.js';
import type { DocumentRequest, Received, ReceivedDocument } from '../engine/source.js';
import { readBridgeId } from '../facts/bridge/bridge-input.js';
import type { Client, RequestLimits } from '../http/client.js';
import { failure, type Failure, type PollError } from '../http/failure-reasons.js';
import { parseHeight } from '../http/response.js';
import { runToEnd } from '../parts.js';
import type { QueryRequest } from '../queries/query.js';
import {
  hasShownMore,
  isChainDue,
  isTrialDue,
  isProbeDue,
  othersOfChain,
  select,
  findTrouble,
  withFailed,
  withFailedProbe,
  withProbe,
  withServed,
} from './node-selection.js';
import { probeNode } from './probe.js';

/*
 * Polls the nodes of an endpoint in turn, within the timeout of one poll, and probes them between the polls. Nothing
 * else knows that there are several.
 */

/** Requests the document of a node. */
export type Exchange = (
  job: PollJob,
  node: NodeConnection,
  request: DocumentRequest,
  limits: RequestLimits,
) => Promise<Received>;

interface Node {
  readonly connection: NodeConnection;
  observation: NodeObservation;
}

/**
 * The nodes of an endpoint with several, with what was observed of them. A reload keeps what was observed of nodes that
 * stay.
 */
interface NodesOfEndpoint {
  readonly job: PollJob;
  readonly nodes: readonly Node[];
  inUse: Node | undefined;
  chainId: string | undefined;
  /** The last request, which a document between two polls has too. */
  request: DocumentRequest | undefined;
}

export function createNodes(exchange: Exchange, client: Client, clock: Clock) {
  const endpoints = new Map<string, NodesOfEndpoint>();

  function createEndpointNodes(job: PollJob, processNodes: readonly ObservedNode[] = []): NodesOfEndpoint {
    const id = endpointId(job.context);
    const before = endpoints.get(id);
    if (before?.job === job) return before;
    const { at } = clock();
    const sources = listSources(job);
    const nodes = job.nodes.map((connection, index) => {
      const source = sources[index] ?? '';
      const known = before
        ? before.nodes.find((node) => isDeepStrictEqual(node.connection, connection))?.observation
        : observationBefore(processNodes, source);
      return { connection, observation: { addedAt: at, ...known, source } };
    });
    const inUseBefore = processNodes.find(({ isInUse }) => isInUse)?.source;
    const inUse = nodes.find(({ connection, observation }) =>
      before ? isDeepStrictEqual(connection, before.inUse?.connection) : observation.source === inUseBefore,
    );
    const { chainId, request } = before ?? { chainId: inUse?.observation.chain?.id, request: undefined };
    const after = { job, nodes, inUse, chainId, request };
    endpoints.set(id, after);
    return after;
  }

  /** Polls the nodes in turn until one of them serves the document. */
  async function poll(job: PollJob, request: DocumentRequest): Promise<Received> {
    const started = performance.now();
    const endpoint = createEndpointNodes(job, request.nodes);
    endpoint.request = request;
    const order = select(endpoint.nodes, listObservations(endpoint), clock().at);
    const deadlines = computeDeadlines(order, endpoint.inUse, job.limits.timeoutMs);
    const errors = new Map<Node, PollError>();
    let body: ReceivedDocument | undefined;
    for (const [index, node] of order.entries()) {
      const timeoutMs = deadlines[index] ?? job.limits.timeoutMs;
      const limits = { ...job.limits, timeoutMs, elapsedMs: performance.now() - started };
      // oxlint-disable-next-line no-await-in-loop -- a node is polled only when the nodes before it have failed
      const received = await exchange(job, node.connection, request, limits);
      const checked = check(endpoint, node, received);
      // What fails is the exporter.
      if (!checked.ok && checked.error.reason === 'internal') return received;
      observe(node, checked);
      if (received.ok && checked.ok) {
        body?.release?.();
        endpoint.inUse = node;
        return served(endpoint, node, received, checked.height, secondsSince(started));
      }
      if (checked.ok) continue;
      errors.set(node, checked.error);
      if (received.ok && checked.isUnreadable === true) {
        body?.release?.();
        body = received;
      } else received.release?.();
    }
    return allFailed(endpoint, errors, body, secondsSince(started));
  }

  /** Whether a response is the document of this network. */
  function check(endpoint: NodesOfEndpoint, node: Node, received: Received): Checked {
    if (!received.ok) return received;
    const { job, request = {} } = endpoint;
    const { hubSide } = request;
    const withHub = hubSide === undefined ? {} : { additionalInput: { ...received.additionalInput, hubSide } };
    const read = readShown({ ...received, ...withHub }, job.context, clock().clockOffset);
    if (!read.ok) return { ...read, isUnreadable: read.error.reason !== 'too_large' };
    const { bridgeId } = read;
    const expected = readBridgeId(job.context.document, request.identity ?? []);
    node.observation = { ...node.observation, bridgeId };
    const isOther = bridgeId !== undefined && expected !== undefined && bridgeId !== expected;
    // When all nodes say so, the bridge has changed.
    if (isOther && !endpoint.nodes.every((other) => other.observation.bridgeId === bridgeId)) {
      const message = `${received.source}: is a node of the bridge ${bridgeId}, not of ${expected} (bridge_id)`;
      return failure('schema', message);
    }
    return read;
  }

  function observe(node: Node, checked: Checked): void {
    const { at } = clock();
    node.observation = checked.ok
      ? withServed(node.observation, at, checked.height)
      : withFailed(node.observation, at, checked.error);
  }

  /** A height below that of the last document is not accepted while another node shows a greater one. */
  function served(
    endpoint: NodesOfEndpoint,
    node: Node,
    received: ReceivedDocument,
    height: Numeral | undefined,
    seconds: number,
  ): Received {
    const others = othersOfChain(node.observation, listObservations(endpoint));
    const isLower = height !== undefined && hasShownMore(height, others, clock().at);
    const nodes = listStatuses(endpoint, clock().at);
    return { ...received, seconds, nodes, ...(isLower && { isAccepted: false }) };
  }

  function allFailed(
    endpoint: NodesOfEndpoint,
    errors: ReadonlyMap<Node, PollError>,
    body: ReceivedDocument | undefined,
    seconds: number,
  ): Received {
    const { at } = clock();
    const observations = listObservations(endpoint);
    const all = endpoint.nodes.map((node): PollError => {
      const { message = `${node.observation.source} was not polled` } =
        findTrouble(node.observation, observations, at) ?? {};
      return errors.get(node) ?? { reason: 'schema', message };
    });
    const first = errors.values().next().value ?? all[0];
    const error = {
      reason: first?.reason ?? 'schema',
      remedy: first?.remedy,
      message: `all nodes failed: ${all.map(({ message }) => message).join('; ')}`,
      isNotServed: all.every(({ isNotServed }) => isNotServed === true),
      retryAfterMs: all.every(({ retryAfterMs }) => retryAfterMs !== undefined)
        ? Math.min(...all.map(({ retryAfterMs = 0 }) => retryAfterMs))
        : undefined,
    };
    const failed: Failure = { ok: false, error };
    const nodes = listStatuses(endpoint, at);
    // A recording has the body.
    return body === undefined
      ? { ...failed, seconds, nodes }
      : { ...body, seconds, nodes, failureWithServerText: () => failed };
  }

  /** Probes the nodes that are due, and requests the document of failed ones for a trial. */
  async function probe(job: PollJob): Promise<void> {
    const endpoint = createEndpointNodes(job);
    await Promise.all(
      endpoint.nodes.map(async (node) => {
        const { at } = clock();
        if (isProbeDue(node.observation, at)) await probeOne(endpoint, node);
        if (node !== endpoint.inUse && isTrialDue(node.observation, clock().at)) await tryDocument(endpoint, node);
      }),
    );
  }

  async function probeOne(endpoint: NodesOfEndpoint, node: Node): Promise<void> {
    const { job } = endpoint;
    const withChain = isChainDue(node.observation, listObservations(endpoint), clock().at);
    const result = await probeNode(job, node.connection, withChain, client, clock);
    const others = othersOfChain(node.observation, listObservations(endpoint));
    node.observation =
      typeof result === 'string'
        ? withFailedProbe(node.observation, clock().at, result)
        : withProbe(node.observation, result, others);
    const { chainId } = endpoint;
    const ids = new Set(endpoint.nodes.map(({ observation }) => observation.chain?.id));
    const [only] = ids;
    if (ids.size === 1) endpoint.chainId = only ?? chainId;
    else if (node === endpoint.inUse) endpoint.chainId ??= node.observation.chain?.id;
  }

  async function tryDocument(endpoint: NodesOfEndpoint, node: Node): Promise<void> {
    const { job, request } = endpoint;
    if (request === undefined || (isContract(job) && request.hubSide === undefined)) return;
    const endReservation = isContract(job) ? undefined : await client.reserveMemory(job.limits.maxBodyBytes);
    const received = await exchange(job, node.connection, request, job.limits);
    endReservation?.();
    const checked = check(endpoint, node, received);
    if (checked.ok || checked.error.reason !== 'internal') observe(node, checked);
    received.release?.();
  }

  return {
    poll,
    probe,
    /**
     * The node that other queries of an endpoint are sent to: at a height, the node with the document of this height.
     */
    nodeFor: (
      context: Parameters<typeof endpointId>[0],
      nodes: readonly NodeConnection[],
      { height }: QueryRequest,
    ) => {
      const endpoint = endpoints.get(endpointId(context));
      const nodeAtHeight = endpoint?.nodes.find(({ observation }) => String(observation.served?.height) === height);
      const { connection } = nodeAtHeight ?? endpoint?.inUse ?? {};
      return connection !== undefined && nodes.includes(connection) ? connection : nodes[0];
    },
  };
}

/** What a document shows of its node. */
function readShown<Name extends DocumentName>(
  received: ReceivedDocument<Name>,
  { document, settings }: StepContext<Name>,
  clockOffset: number,
) {
  const read = runToEnd(readContent(received, document, clockOffset));
  if (!read.ok) return read;
  const { content } = read;
  return {
    ok: true,
    height: documents[document].height(content, validOrUndefined(parseHeight(received.height))),
    bridgeId: readBridgeId(document, documents[document].identity(content, settings)),
  } as const;
}

type Checked =
  | { readonly ok: true; readonly height: Numeral | undefined }
  /** `isUnreadable`: the body is not the document. */
  | (Failure & { readonly isUnreadable?: boolean });

function listObservations({ nodes, inUse, chainId }: NodesOfEndpoint) {
  const index = nodes.findIndex((node) => node === inUse);
  return {
    inUse: index < 0 ? undefined : index,
    chainId,
    nodeObservations: nodes.map(({ observation }) => observation),
  };
}

function listStatuses(endpoint: NodesOfEndpoint, now: Instant): readonly ObservedNode[] {
  const observations = listObservations(endpoint);
  return endpoint.nodes.map((node) => ({
    source: node.observation.source,
    isInUse: node === (endpoint.inUse ?? endpoint.nodes[0]),
    trouble: findTrouble(node.observation, observations, now),
    observation: node.observation,
  }));
}

/** What an earlier process has observed of a node: without probes in between, they prove nothing. */
function observationBefore(nodes: readonly ObservedNode[], source: string): NodeObservation | undefined {
  const observation = nodes.find((node) => node.source === source)?.observation;
  return observation && { ...observation, goodSince: undefined };
}

/** Host and port of each node, numbered when several nodes have the same. */
function listSources({ nodes }: PollJob): readonly string[] {
  const hosts = nodes.map(({ url }) => formatSource(url, ''));
  return hosts.map((host, index) => {
    const number = hosts.slice(0, index + 1).filter((other) => other === host).length;
    return hosts.indexOf(host) === hosts.lastIndexOf(host) ? host : `${host} (${number})`;
  });
}

/**
 * When each node must have responded, in milliseconds from the start of the poll. The node in use has half of the time,
 * and what is left by nodes before it.
 */
function computeDeadlines(order: readonly Node[], inUse: Node | undefined, timeoutMs: number): readonly number[] {
  const first = inUse !== undefined && order.includes(inUse) ? inUse : order[0];
  const share = timeoutMs / 2 / Math.max(1, order.length - 1);
  let deadline = 0;
  return order.map((node, index) => {
    deadline += node === first ? timeoutMs / 2 : share;
    return index === order.length - 1 ? timeoutMs : Math.round(deadline);
  });
}
