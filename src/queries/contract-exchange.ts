import { numeral, object } from '../chain/fields.js';
import type { Numeral } from '../chain/numeral.js';
import { unreadable, type UnreadableDocument } from '../chain/document.js';
import type { Instant } from '../clock.js';
import type { NodeConnection } from '../config/endpoint-config.js';
import { sourceOf } from '../config/urls.js';
import type { ContractCall, ContractExchange } from '../document-types.js';
import type { HubSide } from '../facts/contract/hub-side.js';
import type { HubReading } from '../facts/contract/reading.js';
import { required } from '../facts/required-fields.js';
import { remainingLimits } from '../http/client.js';
import { failure, type Failure } from '../http/failure-reasons.js';
import { withinMs } from '../tasks.js';
import { callsOf, denomOf, isBackingDue, quantity, readBlock, readContract, requestOf } from './contract-document.js';
import type { RpcAnswers, RpcRequest, SendRequests } from './json-rpc.js';
import { blockAt, blockRequest } from './node-status.js';
import { responseReader, type QueryRequest, type QueryResult, type ResponseReader } from './query.js';
import type { QueryConnection } from './send-query.js';

/*
 * The requests of a poll of the contract: the newest block of the external chain, calls pinned to it, and, when balances are due, the
 * supplies on the hub at the height of the module state.
 */

/** How far below the newest block calls are pinned, in turn: providers balance requests over nodes that may be a few blocks behind. */
const BLOCKS_BEHIND = [0n, 1n, 3n, 7n] as const;

export type SendQuery = <Value>(
  node: QueryConnection,
  reader: ResponseReader<Value>,
  request: QueryRequest,
) => Promise<QueryResult<Value>>;

/** `readsAll`: also the values that most polls leave out. */
export async function fetchContract(
  node: QueryConnection,
  hub: NodeConnection,
  { hubSide, lastReading }: Pick<ContractExchange, 'hubSide' | 'lastReading'>,
  readsAll: boolean,
  sendRequests: SendRequests,
  sendQuery: SendQuery,
  now: Instant,
): Promise<{ readonly ok: true; readonly bytes: Buffer; readonly otherAnswers: ContractExchange } | Failure> {
  const remaining = remainingLimits(node.limits);
  const send = async (requests: readonly RpcRequest[]): Promise<Sent> => sendRequests(node, requests, remaining);
  const failed = ({ reason, message }: UnreadableDocument): Failure =>
    failure(reason, `${sourceOf(node.url, '')}: ${message}`);
  const sent = await send(FIRST_REQUESTS);
  if (!sent.ok) return sent;
  const head = readHead(sent.answers, hubSide);
  if (!head.ok) return failed(head);
  const basis = { hubSide, lastReading: readsAll ? undefined : lastReading };
  const fetched = await fetchPinned(BigInt(head.height), (block) => callsOf(basis, block, now), send);
  if (!fetched.ok) return fetched;
  const { body: bytes, calls } = fetched;
  const otherAnswers = { hubSide, calls, lastReading };
  const read = readContract(bytes, otherAnswers, now);
  const denoms = isBackingDue(basis, now) ? hubSide.backing.map(({ contract }) => denomOf(contract)) : [];
  // The time of the block of the hub tells whether the hub lacks an event or set, or only a node that is behind.
  const isAhead = read.ok && (read.value.isValsetUnknown !== false || read.value.unobservedEvents === undefined);
  if (denoms.length === 0 && !isAhead) return { ok: true, bytes, otherAnswers };
  const { timeoutMs, elapsedMs = 0 } = remaining();
  const ofHub = readHub(hubSide.height, denoms, async (reader, request) =>
    sendQuery({ ...hub, limits: remaining() }, reader, request),
  );
  const hubReading = (await withinMs(timeoutMs - elapsedMs, ofHub)) ?? NO_HUB_READING;
  return { ok: true, bytes, otherAnswers: { ...otherAnswers, hub: hubReading } };
}

type Sent = Awaited<ReturnType<SendRequests>>;

/** Sends calls that are pinned to the newest block, or to an older block if the receiving node does not have the newest yet. */
async function fetchPinned(
  newest: bigint,
  callsAt: (block: string) => readonly ContractCall[],
  send: (requests: readonly RpcRequest[]) => Promise<Sent>,
): Promise<(Sent & { readonly ok: true; readonly calls: readonly ContractCall[] }) | Failure> {
  for (let step = 0; ; step += 1) {
    const behind = BLOCKS_BEHIND[step] ?? 0n;
    const calls = callsAt(`0x${(newest > behind ? newest - behind : newest).toString(16)}`);
    // oxlint-disable-next-line no-await-in-loop -- an older block is requested only if the node does not have the newer block
    const sent = await send(calls.map(requestOf));
    if (sent.ok) return { ...sent, calls };
    if (sent.isUnknownBlock !== true || step === BLOCKS_BEHIND.length - 1) return sent;
  }
}

const FIRST_REQUESTS = [
  { id: 1, method: 'eth_chainId', params: [] },
  { id: 2, method: 'eth_syncing', params: [] },
  { id: 3, method: 'eth_getBlockByNumber', params: ['latest', false] },
] as const;

/** The newest block of a node of the right chain that is not syncing. */
function readHead(answers: RpcAnswers, { chainId }: HubSide): ReturnType<typeof readBlock> {
  const [ofChain, syncing] = [answers.get(1), answers.get(2)];
  const chainOfNode = ofChain?.ok === true ? quantity(ofChain.result) : undefined;
  if (chainOfNode === undefined) return unreadable('schema', 'did not answer eth_chainId with a chain id');
  if (String(chainOfNode) !== chainId) {
    return unreadable('schema', `is a node of chain ${chainOfNode}, not of chain ${chainId} (bridge_chain_id)`);
  }
  // A node without this method is fine.
  if (syncing?.ok === true && syncing.result !== false && syncing.result !== undefined) {
    return unreadable('schema', 'the node is syncing');
  }
  return readBlock(answers, 3);
}

const supply = responseReader({
  schema: object({ amount: object({ amount: numeral }) }),
  value: ({ amount }): Numeral => required(required(amount).amount),
});

const NO_HUB_READING: HubReading = { blockSeconds: undefined, supplies: new Map() };

/** Reads the hub at the height of the module state, so that a transfer in between changes nothing. Values that cannot be read are absent. */
async function readHub(
  height: Numeral | undefined,
  denoms: readonly string[],
  send: <Value>(reader: ResponseReader<Value>, request: QueryRequest) => Promise<QueryResult<Value>>,
): Promise<HubReading> {
  const read = async <Value>(reader: ResponseReader<Value>, request: QueryRequest): Promise<Value | undefined> => {
    const result = await send(reader, request);
    return result.ok ? result.value : undefined;
  };
  if (height === undefined) return NO_HUB_READING;
  const blockSeconds = (await read(blockAt, blockRequest(height)))?.epochSeconds;
  if (blockSeconds === undefined) return NO_HUB_READING;
  const supplies = new Map<string, Numeral>();
  for (const denom of denoms) {
    const path = `/cosmos/bank/v1beta1/supply/by_denom?${new URLSearchParams({ denom }).toString()}`;
    // oxlint-disable-next-line no-await-in-loop -- the node has to answer other queries too
    const amount = await read(supply, { key: denom, path, height: String(height) });
    if (amount !== undefined) supplies.set(denom, amount);
  }
  return { blockSeconds, supplies };
}
