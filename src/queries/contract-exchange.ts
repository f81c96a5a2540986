import { performance } from 'node:perf_hooks';
import type { NodeConnection } from '../config/endpoint-config.js';
import { sourceOf } from '../config/urls.js';
import { loadAbi } from './abi-loader.js';
import { callsOf, isBackingDue, requestOf, type ContractCall } from './contract-calls.js';
import { denomOf, quantity, readBlock, readContract, type ContractExchange } from './contract-document.js';
import { unreadable, type RpcAnswers, type RpcRequest } from './json-rpc.js';
import type { BufferedBody } from '../http/body.js';
import type { Client, FetchLimits } from '../http/client.js';
import { failure, type Failure } from '../http/failure-reasons.js';
import { compare } from '../chain/decimal.js';
import { isPresent } from '../chain/field.js';
import type { Numeral } from '../chain/numeral.js';
import { readDocument, type UnreadableDocument } from '../chain/document.js';
import { numeral, object, string } from '../chain/fields.js';
import type { ContractFacts } from '../facts/contract/facts.js';
import type { ContractReading, HubReading } from '../facts/contract/reading.js';
import { clock } from '../clock.js';
import type { ContractNodes } from '../documents.js';
import type { RpcClient } from './rpc-client.js';

/*
 * The requests of one poll of the contract: the newest block of the external chain, calls pinned to it, and, when balances are due, the
 * supplies on the hub at the height of the module state.
 */

/** A block of the hub with its transactions. */
const MAX_HUB_BODY_BYTES = 16 * 2 ** 20;

/** Providers balance requests over nodes, some of which are a few blocks behind: how far below the newest block calls are pinned, in turn. */
const BLOCKS_BEHIND = [0n, 1n, 3n, 7n] as const;

interface FetchedContract {
  readonly ok: true;
  readonly body: BufferedBody;
  readonly exchange: ContractExchange;
}

/** The clients of the two nodes of a contract. */
interface ContractClients {
  readonly client: Client;
  readonly rpc: RpcClient;
}

export async function fetchContract(
  { rpc: node, hub }: ContractNodes,
  limits: FetchLimits,
  facts: ContractFacts,
  { previous, readsAll }: { readonly previous: ContractReading | undefined; readonly readsAll: boolean },
  { client, rpc }: ContractClients,
): Promise<FetchedContract | Failure> {
  const started = performance.now();
  const remaining = (): FetchLimits => ({ ...limits, elapsedMs: performance.now() - started });
  await loadAbi();
  const head = await fetchHead(node, facts, rpc, remaining);
  if (!head.ok) return head;
  const now = clock();
  const before = previous?.contract === facts.contract ? previous : undefined;
  const known = readsAll ? undefined : before;
  const fetched = await fetchPinned(
    head.block,
    (block) => callsOf(facts, known, block, now),
    async (requests) => rpc.send(node, requests, remaining),
  );
  if (!fetched.ok) return fetched;
  const exchange = { calls: fetched.calls, facts };
  const read = readContract(fetched.body.bytes, exchange, now, before);
  const denoms = isBackingDue(facts, known, now) ? facts.backing.map(({ contract }) => denomOf(contract)) : [];
  // Whether the hub does not know an event or a set, or only a node that is behind, is said by the time of its block.
  const isAhead = read.ok && (read.value.isValsetUnknown !== false || read.value.unobservedEvents === undefined);
  if (denoms.length === 0 && !isAhead) return { ok: true, body: fetched.body, exchange };
  const hubReading = await readHub(hub, facts.height, denoms, remaining, client);
  return { ok: true, body: fetched.body, exchange: { ...exchange, hub: hubReading } };
}

type Sent = Awaited<ReturnType<RpcClient['send']>>;

/** Sends calls that are pinned to the newest block, or to an older one if the node that receives them does not have it yet. */
async function fetchPinned(
  newest: bigint,
  callsAt: (block: string) => readonly ContractCall[],
  send: (requests: readonly RpcRequest[]) => Promise<Sent>,
): Promise<(Sent & { readonly ok: true; readonly calls: readonly ContractCall[] }) | Failure> {
  for (let step = 0; ; step += 1) {
    const behind = BLOCKS_BEHIND[step] ?? 0n;
    const calls = callsAt(`0x${(newest > behind ? newest - behind : newest).toString(16)}`);
    // oxlint-disable-next-line no-await-in-loop -- an older block is requested only if the node does not have the newer one
    const sent = await send(calls.map(requestOf));
    if (sent.ok) return { ...sent, calls };
    if (!sent.isUnknownBlock || step === BLOCKS_BEHIND.length - 1) return sent;
  }
}

/** The requests before the calls, by their id. */
const HEAD = [
  { id: 1, method: 'eth_chainId', params: [] },
  { id: 2, method: 'eth_syncing', params: [] },
  { id: 3, method: 'eth_getBlockByNumber', params: ['latest', false] },
] as const;

/** The number of the newest block of a node of the right chain that is not syncing. */
async function fetchHead(
  node: NodeConnection,
  { chainId }: ContractFacts,
  rpc: RpcClient,
  limits: () => FetchLimits,
): Promise<{ readonly ok: true; readonly block: bigint } | Failure> {
  const sent = await rpc.send(node, HEAD, limits);
  if (!sent.ok) return sent;
  const { answers } = sent;
  sent.body.release();
  const wrongChain = checkChain(answers, chainId);
  if (wrongChain !== undefined) return failureOf(node, wrongChain);
  const syncing = answers.get(2);
  // A node without this method is fine.
  if (syncing?.ok === true && syncing.result !== false && syncing.result !== undefined) {
    return failureOf(node, unreadable('schema', 'the node is syncing'));
  }
  const block = readBlock(answers, 3);
  return block.ok ? { ok: true, block: BigInt(block.height) } : failureOf(node, block);
}

function failureOf({ url }: NodeConnection, { reason, message }: UnreadableDocument): Failure {
  return failure(reason, `${sourceOf(url, '')}: ${message}`);
}

function checkChain(answers: RpcAnswers, expected: string): UnreadableDocument | undefined {
  const answer = answers.get(1);
  const chainId = answer?.ok === true ? quantity(answer.result) : undefined;
  if (chainId === undefined) return unreadable('schema', 'did not answer eth_chainId with a chain id');
  if (String(chainId) === expected) return undefined;
  return unreadable('schema', `is a node of chain ${chainId}, not of chain ${expected} (bridge_chain_id)`);
}

const supply = object({ amount: object({ amount: numeral }) });
const hubBlock = object({ block: object({ header: object({ height: numeral, time: string }) }) });

/** More than the values of a block with its transactions. */
const MAX_HUB_VALUES = 500_000;

/** At the height of the module state, so that a transfer in between changes nothing. What cannot be read is absent. */
async function readHub(
  hub: NodeConnection,
  height: Numeral | undefined,
  denoms: readonly string[],
  remaining: () => FetchLimits,
  client: Client,
): Promise<HubReading> {
  if (height === undefined) return { blockSeconds: undefined, supplies: new Map() };
  const fetchAt = async <T>(
    path: string,
    read: (body: Buffer) => T | undefined,
    isStateQuery: boolean,
  ): Promise<T | undefined> => {
    const headers = { 'x-cosmos-block-height': String(height) };
    const limits = remaining();
    const maxBodyBytes = Math.min(limits.maxBodyBytes, MAX_HUB_BODY_BYTES);
    const fetched = await client.fetch(hub, path, { ...limits, maxBodyBytes }, { headers });
    if (!fetched.ok) return undefined;
    const value = read(fetched.body.bytes);
    fetched.body.release();
    // A node or a proxy that ignores the header of the request does not answer with this height.
    return !isStateQuery || fetched.height === String(height) ? value : undefined;
  };
  const blockSeconds = await fetchAt(
    `/cosmos/base/tendermint/v1beta1/blocks/${height}`,
    (body) => blockSecondsOf(body, height),
    false,
  );
  const supplies = new Map<string, Numeral>();
  if (blockSeconds === undefined) return { blockSeconds, supplies };
  for (const denom of denoms) {
    const path = `/cosmos/bank/v1beta1/supply/by_denom?${new URLSearchParams({ denom }).toString()}`;
    // oxlint-disable-next-line no-await-in-loop -- the node has to answer other queries too
    const amount = await fetchAt(path, supplyOf, true);
    if (amount !== undefined) supplies.set(denom, amount);
  }
  return { blockSeconds, supplies };
}

function supplyOf(body: Buffer): Numeral | undefined {
  const result = readDocument(supply, body, MAX_HUB_VALUES);
  const amount = result.ok && isPresent(result.value?.amount) ? result.value.amount.amount : undefined;
  return isPresent(amount) ? amount : undefined;
}

/** `undefined` for a block of another height. */
function blockSecondsOf(body: Buffer, height: Numeral): number | undefined {
  const result = readDocument(hubBlock, body, MAX_HUB_VALUES);
  const block = result.ok && isPresent(result.value?.block) ? result.value.block : undefined;
  const header = isPresent(block?.header) ? block.header : undefined;
  if (isPresent(header?.height) && compare(header.height, height) !== 0) return undefined;
  const time = header?.time;
  const ms = isPresent(time) ? Date.parse(time) : Number.NaN;
  return Number.isFinite(ms) ? ms / 1000 : undefined;
}
