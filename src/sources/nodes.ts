import { performance } from 'node:perf_hooks';
import { secondsSince, wallSeconds, type Clock, type Instant } from '../clock.js';
import type { NodeConnection } from '../config/http-client-config.js';
import { formatSource } from '../config/urls.js';
import type { DocumentName, NodeStatus, StepContext } from '../document-types.js';
import { documents } from '../documents.js';
import { endpointId, type EndpointKey } from '../engine/endpoint-state.js';
import { isContract, type PollJob } from '../engine/jobs.js';
import type { DocumentRequest, Received, ReceivedDocument } from '../engine/source.js';
import type { PollResult, ReadContent } from '../engine/step.js';
import { readBridgeId } from '../facts/bridge/bridge-input.js';
import { rpcRequest } from '../facts/contract/multicall.js';
import type { Client, RequestLimits } from '../http/client.js';
import type { Failure, PollError } from '../http/failure-reasons.js';
import { externalBlockReader, latestBlock, STATUS_PATH, statusReader } from '../queries/node-status.js';
import type { QueryRequest } from '../queries/query.js';
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

/**
 * What the response of a node is: the document; one with a lower height than the last document; one of another bridge;
 * or a failure, with or without a body.
 */
interface Checked {
  readonly kind: 'served' | 'lower' | 'other bridge' | 'unreadable' | 'failed';
  readonly error?: PollError;
}

/** A response with a body. */
interface Kept {
  readonly node: Node;
  readonly received: ReceivedDocument;
  readonly kind: Checked['kind'];
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
      const source = sources[index] ?? '';
      return { connection, observation: { source, hasServed: source === sourceInUse, blocks: [] } };
    });
    const inUse = nodes.find(({ observation }) => observation.source === sourceInUse);
    const after = { job, nodes, inUse };
    endpoints.set(id, after);
    return after;
  }

  /** Polls the nodes in turn until one of them serves the document. */
  async function poll(job: PollJob, request: DocumentRequest, exchange: Exchange): Promise<Received> {
    const started = performance.now();
    const endpoint = findNodes(job, request.nodes);
    const order = orderNodes(endpoint.nodes, endpoint.inUse, clock().at);
    const deadlines = computeDeadlines(order, endpoint.inUse, job.limits.timeoutMs);
    const errors = new Map<Node, PollError>();
    const otherBridgeNodes: Node[] = [];
    let kept: Kept | undefined;
    const measure = () => ({ seconds: secondsSince(started), nodes: () => listStatuses(endpoint, clock().at) });

    async function pollFrom(index: number): Promise<Received> {
      const node = order[index];
      if (node === undefined) return endWithoutDocument();
      const timeoutMs = deadlines[index] ?? job.limits.timeoutMs;
      const limits = { ...job.limits, timeoutMs, elapsedMs: performance.now() - started };
      const received = await exchange(node.connection, limits);
      if (!received.ok) {
        // An internal error is a fault of the exporter, which no other node mends.
        if (received.error.reason === 'internal') return received;
        errors.set(node, received.error);
        return pollFrom(index + 1);
      }
      const check = (read: PollResult) => {
        const { kind, error } = judge(job, node, received.source, read, request);
        if (error) errors.set(node, error);
        if (kind === 'other bridge') otherBridgeNodes.push(node);
        if (preference(kind) > preference(kept?.kind ?? 'failed')) kept = { node, received, kind };
        if (kind !== 'served') return async () => pollFrom(index + 1);
        end(node);
        return undefined;
      };
      return { ...received, ...measure(), check };
    }

    function end(used: Node | undefined): void {
      const { at } = clock();
      for (const [node, { message }] of errors)
        node.observation = withFailed(node.observation, at, message, 'document');
      endpoint.inUse = used ?? endpoint.inUse;
      observeDelays(endpoint, at);
    }

    /** The result of a poll in which no node has served a document as expected. */
    function endWithoutDocument(): Received {
      const hasChanged = kept?.kind === 'other bridge' && hasBridgeChanged(otherBridgeNodes);
      for (const node of hasChanged ? otherBridgeNodes : []) {
        node.observation = withServed(node.observation, clock().at, {});
        errors.delete(node);
      }
      // `step` refuses a document with a lower height, until it is the third in a row.
      const used = kept?.kind === 'lower' || hasChanged ? kept : undefined;
      end(used?.node);
      if (used !== undefined) return { ...used.received, ...measure() };
      // The recorder writes the body.
      const body = kept?.kind === 'unreadable' && { body: kept.received.bytes };
      return { ...allFailed(endpoint, errors), ...measure(), ...body };
    }

    return pollFrom(0);
  }

  /** What a response is. */
  function judge(
    { context }: PollJob,
    node: Node,
    source: string,
    { outcome }: PollResult,
    request: DocumentRequest,
  ): Checked {
    if (!outcome.ok)
      return { kind: outcome.error.reason === 'too_large' ? 'failed' : 'unreadable', error: outcome.error };
    const { bridgeId, height } = readShown(outcome, context);
    const { observation } = node;
    const expected = readBridgeId(context.document, request.identity ?? []);
    if (bridgeId !== undefined && expected !== undefined && bridgeId !== expected) {
      node.observation = { ...observation, bridgeId };
      const message = `${source}: is a node of the bridge ${bridgeId}, not of ${expected} (bridge_id)`;
      return { kind: 'other bridge', error: { reason: 'schema', message } };
    }
    const { height: last } = request;
    // Of the external chain, nodes behind one address often differ by a block, and an answer has the time of its block.
    const isLower =
      documents[context.document].mayGoBack !== true && height !== undefined && last !== undefined && height < last;
    const { height: before = height } = observation.document ?? {};
    if (isLower && before !== undefined && height < before) {
      const message = `${source}: hub height ${height} is below ${before}, which it has served before`;
      return { kind: 'lower', error: { reason: 'regression', message } };
    }
    node.observation = withServed(observation, clock().at, { bridgeId, document: { at: clock().at, height } });
    return { kind: isLower ? 'lower' : 'served' };
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
    observeDelays(endpoint, clock().at);
  }

  return {
    poll,
    probe,
    /**
     * The node that other queries of an endpoint are sent to: at a height, the node with the document of this height.
     */
    nodeFor: (context: EndpointKey, nodes: readonly NodeConnection[], { height }: QueryRequest) => {
      const endpoint = endpoints.get(endpointId(context));
      const nodeAtHeight = endpoint?.nodes.find(({ observation }) => String(observation.document?.height) === height);
      const { connection } = nodeAtHeight ?? endpoint?.inUse ?? {};
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

/** Which of several bodies is the result of a poll. */
function preference(kind: Checked['kind']): number {
  return (['failed', 'unreadable', 'other bridge', 'lower', 'served'] as const).indexOf(kind);
}

/**
 * Whether the bridge has changed, when all nodes with a document show another one: a node has served the target before,
 * or two nodes agree. A single node that has never served it is of another network.
 */
function hasBridgeChanged(nodes: readonly Node[]): boolean {
  const ids = new Set(nodes.map(({ observation }) => observation.bridgeId));
  return ids.size === 1 && (nodes.length > 1 || nodes.some(({ observation }) => observation.hasServed));
}

function observeDelays({ nodes, inUse }: NodesOfEndpoint, at: Instant): void {
  const all = nodes.map(({ observation }) => observation);
  for (const node of nodes) node.observation = withDelay(node.observation, all, at, node === inUse);
}

function allFailed({ nodes }: NodesOfEndpoint, errors: ReadonlyMap<Node, PollError>): Failure {
  const [first] = errors.values();
  const all = nodes.flatMap((node) => errors.get(node) ?? []);
  return {
    ok: false,
    error: {
      reason: first?.reason ?? 'schema',
      remedy: first?.remedy,
      message: `all nodes failed: ${all.map(({ message }) => message).join('; ')}`,
      isNotServed: all.every(({ isNotServed }) => isNotServed === true),
      // The wait until the first node can be polled again.
      retryAfterMs: Math.min(...all.map(({ retryAfterMs = 0 }) => retryAfterMs)) || undefined,
    },
  };
}

function listStatuses({ nodes, inUse = nodes[0] }: NodesOfEndpoint, now: Instant): readonly NodeStatus[] {
  return nodes.map((node) => ({
    source: node.observation.source,
    isInUse: node === inUse,
    trouble: findTrouble(node.observation, now),
  }));
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
  const others = order.length - 1;
  let shares = 0;
  return order.map((node) => {
    shares += node === (inUse ?? order[0]) ? others : 1;
    return Math.round((timeoutMs * shares) / (2 * others));
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
  const send = async (reader: typeof statusReader, path: string, json?: string) =>
    (await sendQuery(node, reader, { key: '', path, ...(json !== undefined && { json }) }, client)).result;
  const askStatus = async () => {
    const status = await send(statusReader, STATUS_PATH);
    return status.ok || !status.isRefused ? status : send(latestBlock, latestBlock.path as string);
  };
  const newest = await (isContract(job)
    ? send(externalBlockReader, '', rpcRequest('eth_getBlockByNumber', ['latest', false]))
    : askStatus());
  if (!newest.ok) return newest.isRefused ? { block: undefined } : newest.error.message;
  const now = clock();
  const { height, epochSeconds } = newest.value;
  return { block: { at: now.at, height, seconds: Math.min(epochSeconds, wallSeconds(now.at, now)) } };
}
