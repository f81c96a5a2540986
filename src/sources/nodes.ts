import { performance } from 'node:perf_hooks';
import { secondsSince, wallSeconds, type Clock } from '../clock.js';
import type { NodeConnection } from '../config/http-client-config.js';
import { formatSource } from '../config/urls.js';
import type { DocumentName, NodeStatus, StepContext } from '../document-types.js';
import { documents } from '../documents.js';
import { endpointId, type EndpointKey } from '../engine/endpoint-state.js';
import { isContract, type PollJob } from '../engine/jobs.js';
import type { DocumentRequest, ReadDocument, Received } from '../engine/source.js';
import type { PollResult, ReadContent } from '../engine/step.js';
import { readBridgeId } from '../facts/bridge/bridge-input.js';
import { rpcRequest } from '../facts/contract/multicall.js';
import type { Client, RequestLimits } from '../http/client.js';
import type { Failure, PollError } from '../http/failure-reasons.js';
import { externalBlockReader, latestBlock, STATUS_PATH, statusReader } from '../queries/node-status.js';
import { sendQuery } from '../queries/send-query.js';
import {
  findTrouble,
  orderNodes,
  withDelay,
  withFailed,
  withProbe,
  withServed,
  type NodeObservation,
  type ShownBlock,
} from './node-selection.js';

/*
 * Polls the nodes of an endpoint in turn, within the timeout of one poll, and probes them between the polls. Nothing
 * else knows that there are several.
 */

/** Requests the document of a node. */
type Exchange = (node: NodeConnection, limits: RequestLimits) => Promise<Received>;

interface Node {
  readonly connection: NodeConnection;
  observation: NodeObservation;
}

/** The nodes of an endpoint with several. */
interface NodesOfEndpoint {
  readonly job: PollJob;
  readonly nodes: readonly Node[];
  inUse: Node | undefined;
}

/** The response of a node within a poll. */
interface Attempt {
  readonly node: Node;
  readonly received: Received;
  /** The document, one with a lower height than the last document, one of another bridge, or a failure. */
  readonly kind: 'served' | 'lower' | 'other bridge' | 'failed';
  readonly shown?: Pick<NodeObservation, 'document' | 'bridgeId'>;
  /** What is wrong with the node, unless its document is used; absent only of a served one. */
  readonly error?: PollError;
}

export function createNodes(client: Client, clock: Clock) {
  const endpoints = new Map<string, NodesOfEndpoint>();

  /** `earlier`: the nodes of the last poll, before a reload or in an earlier process. */
  function findNodes(job: PollJob, earlier: readonly NodeStatus[] = []): NodesOfEndpoint {
    const id = endpointId(job.context);
    const before = endpoints.get(id);
    if (before?.job === job) return before;
    const sources = listSources(job);
    const sourceInUse = earlier.find(({ isInUse }) => isInUse)?.source ?? before?.inUse?.observation.source;
    const nodes = job.nodes.map((connection, index): Node => {
      return { connection, observation: { source: sources[index] ?? '', blocks: [] } };
    });
    const inUse = nodes.find(({ observation }) => observation.source === sourceInUse);
    const after = { job, nodes, inUse };
    endpoints.set(id, after);
    return after;
  }

  /** Polls the nodes in turn until one of them serves the document. */
  async function poll(
    job: PollJob,
    request: DocumentRequest,
    exchange: Exchange,
    read: ReadDocument,
  ): Promise<Received> {
    const started = performance.now();
    const endpoint = findNodes(job, request.nodes);
    const order = orderNodes(endpoint.nodes, endpoint.inUse, clock().at);
    const attempts: Attempt[] = [];
    for (const [index, node] of order.entries()) {
      // oxlint-disable no-await-in-loop -- a node is polled only when the nodes before it have failed
      const elapsedMs = performance.now() - started;
      // Each node has an equal share of the time that is left.
      const timeoutMs = Math.round(elapsedMs + (job.limits.timeoutMs - elapsedMs) / (order.length - index));
      const response = await exchange(node.connection, { ...job.limits, timeoutMs, elapsedMs });
      const received = response.ok ? { ...response, read: await read(response) } : response;
      // oxlint-enable no-await-in-loop
      const attempt = judgeAttempt(job, node, received, request);
      // An internal error is a fault of the exporter, which no other node mends.
      if (attempt.error?.reason === 'internal') return received;
      attempts.push(attempt);
      if (attempt.kind === 'served') break;
    }
    const expected = readBridgeId(job.context.document, request.identity ?? []);
    const used = chooseAttempt(attempts, endpoint.inUse, expected);
    endpoint.inUse = used?.node ?? endpoint.inUse;
    observeAttempts(attempts, used);
    observeDelays(endpoint);
    const seconds = secondsSince(started);
    return { ...(used?.received ?? allFailed(endpoint, attempts)), seconds, nodes: listStatuses(endpoint) };
  }

  /** What a response is. */
  function judgeAttempt(job: PollJob, node: Node, received: Received, request: DocumentRequest): Attempt {
    const { context } = job;
    if (!received.ok) return { node, received, kind: 'failed', error: received.error };
    const { outcome } = received.read as PollResult;
    if (!outcome.ok) return { node, received, kind: 'failed', error: outcome.error };
    const { source } = received;
    const { height, bridgeId } = readShown(outcome, context);
    const shown = { bridgeId, document: { at: clock().at, height } };
    const expected = readBridgeId(context.document, request.identity ?? []);
    if (bridgeId !== undefined && expected !== undefined && bridgeId !== expected) {
      const message = `${source}: the node is of bridge ${bridgeId} and not of ${expected} (bridge_id)`;
      return { node, received, kind: 'other bridge', shown, error: { reason: 'schema', message } };
    }
    const { height: last } = request;
    // Of the external chain, nodes behind one address often differ by a block, and an answer has the time of its block.
    if (documents[context.document].mayGoBack !== true && height !== undefined && last !== undefined && height < last) {
      const message = `${source}: hub height ${height} is below ${last} of the last document`;
      return { node, received, kind: 'lower', shown, error: { reason: 'regression', message } };
    }
    return { node, received, kind: 'served', shown };
  }

  /** `used`: with it, documents of the same kind are no failures of their nodes. */
  function observeAttempts(attempts: readonly Attempt[], used: Attempt | undefined): void {
    const { at } = clock();
    for (const { node, kind, shown, error } of attempts) {
      const observation = { ...node.observation, ...shown };
      node.observation =
        error === undefined || kind === used?.kind
          ? withServed(observation, at)
          : withFailed(observation, at, error.message, 'document');
    }
  }

  function observeDelays({ nodes, inUse }: NodesOfEndpoint): void {
    const all = nodes.map(({ observation }) => observation);
    for (const node of nodes) node.observation = withDelay(node.observation, all, clock().at, node === inUse);
  }

  function listStatuses({ nodes, inUse = nodes[0] }: NodesOfEndpoint): readonly NodeStatus[] {
    return nodes.map((node) => ({
      source: node.observation.source,
      isInUse: node === inUse,
      trouble: findTrouble(node.observation, clock().at),
    }));
  }

  /** Probes all nodes. A failed probe of the node in use does not count while the node serves documents. */
  async function probe(job: PollJob): Promise<void> {
    const endpoint = findNodes(job);
    await Promise.all(
      endpoint.nodes.map(async (node) => {
        const probed = await probeNode(job, node.connection, client, clock);
        const { at } = clock();
        if (typeof probed !== 'string') node.observation = withProbe(node.observation, at, probed.block);
        else if (node !== endpoint.inUse || node.observation.failed !== undefined)
          node.observation = withFailed(node.observation, at, probed, 'probe');
      }),
    );
    observeDelays(endpoint);
  }

  return {
    poll,
    probe,
    /** The node that other queries of an endpoint are sent to. */
    nodeFor: (context: EndpointKey, nodes: readonly NodeConnection[]) => {
      const { connection } = endpoints.get(endpointId(context))?.inUse ?? {};
      return connection !== undefined && nodes.includes(connection) ? connection : nodes[0];
    },
  };
}

/** What a document shows of its node. */
function readShown<Name extends DocumentName>(
  { content, height }: ReadContent<Name>,
  { document, settings }: StepContext<Name>,
) {
  return {
    height: documents[document].height(content, height),
    bridgeId: readBridgeId(document, documents[document].identity(content, settings)),
  };
}

/**
 * The response that is the result of a poll. Without the expected document, it is one with a lower height, which `step`
 * refuses until it is the third in a row; or the bridge has changed: all nodes with a document show another one, and
 * two nodes do, or one that has served the target before. A single other node is of another network.
 */
function chooseAttempt(
  attempts: readonly Attempt[],
  inUse: Node | undefined,
  expectedId: string | undefined,
): Attempt | undefined {
  const used = attempts.find(({ kind }) => kind === 'served') ?? attempts.find(({ kind }) => kind === 'lower');
  if (used !== undefined) return used;
  const others = attempts.filter(({ kind }) => kind === 'other bridge');
  const ids = new Set(others.map(({ shown }) => shown?.bridgeId));
  const [first] = others;
  const hasServed = first?.node === inUse || first?.node.observation.bridgeId === expectedId;
  return ids.size === 1 && (others.length > 1 || hasServed) ? first : undefined;
}

/** The failure of the first node, with the messages of all. */
function allFailed({ nodes }: NodesOfEndpoint, attempts: readonly Attempt[]): Failure & { readonly body?: Buffer } {
  const [first] = attempts;
  const errors = nodes.flatMap((each) => attempts.find(({ node }) => node === each)?.error ?? []);
  return {
    ok: false,
    error: {
      reason: first?.error?.reason ?? 'schema',
      remedy: first?.error?.remedy,
      message: `all nodes failed: ${errors.map(({ message }) => message).join('; ')}`,
      isNotServed: errors.every(({ isNotServed }) => isNotServed === true),
      // The wait until the first node can be polled again.
      retryAfterMs: Math.min(...errors.map(({ retryAfterMs = 0 }) => retryAfterMs)) || undefined,
    },
    // The recorder writes the body.
    ...(first?.received.ok === true && { body: first.received.bytes }),
  };
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
 * Asks a node for its newest block, which is `undefined` where no path for it is served. Returns the message of the
 * failure if it does not answer.
 */
async function probeNode(
  job: PollJob,
  connection: NodeConnection,
  client: Client,
  clock: Clock,
): Promise<{ readonly block: ShownBlock | undefined } | string> {
  const node = { ...connection, limits: job.limits };
  const probes = isContract(job)
    ? [{ reader: externalBlockReader, path: '', json: rpcRequest('eth_getBlockByNumber', ['latest', false]) }]
    : [
        { reader: statusReader, path: STATUS_PATH },
        { reader: latestBlock, path: latestBlock.path as string },
      ];
  for (const { reader, ...request } of probes) {
    // oxlint-disable-next-line no-await-in-loop -- a path is requested only if the one before is not served
    const { result } = await sendQuery(node, reader, { key: '', ...request }, client);
    if (result.ok) {
      const { height, epochSeconds } = result.value;
      const now = clock();
      return { block: { at: now.at, height, seconds: Math.min(epochSeconds, wallSeconds(now.at, now)) } };
    }
    if (!result.isRefused) return result.error.message;
  }
  return { block: undefined };
}
