import { performance } from 'node:perf_hooks';
import type { NodeConnection } from '../config/endpoint-config.js';
import { requestUrl } from '../config/urls.js';
import { loadAbi } from '../external/abi-loader.js';
import { callsOf, isBackingDue, requestOf } from '../external/calls.js';
import { denomOf, quantity, readBlock, readContract, type ContractExchange } from '../external/contract-document.js';
import {
  formatBatch,
  MAX_RPC_BODY_BYTES,
  parseBatch,
  rpcFailure,
  unreadable,
  type RpcAnswers,
} from '../external/json-rpc.js';
import type { Client, FetchedDocument, FetchLimits } from '../http/client.js';
import { failure, type Failure } from '../http/failure-reasons.js';
import { compare } from '../chain/decimal.js';
import { isPresent } from '../json/field.js';
import type { Numeral } from '../json/numeral.js';
import { NO_ALIASES, number, object, readDocument, string, type UnreadableDocument } from '../json/shapes.js';
import type { ContractFacts } from '../metrics/contract/facts.js';
import type { ContractReading, HubReading } from '../metrics/contract/reading.js';
import { clock } from '../clock.js';
import type { ContractNodes } from '../documents.js';

/*
 * The requests of one poll of the contract: the newest block of the external chain, a batch of calls pinned to it, and, when balances
 * are due, the supplies on the hub at the height of the module state. No message contains a path or any text of the server.
 */

/** A block of the hub with its transactions. */
const MAX_HUB_BODY_BYTES = 16 * 2 ** 20;

interface FetchedContract extends FetchedDocument {
  readonly exchange: ContractExchange;
}

type Send = (url: URL, json: string) => ReturnType<Client['fetch']>;

export async function fetchContract(
  { rpc, hub }: ContractNodes,
  limits: FetchLimits,
  facts: ContractFacts,
  { previous, readsAll }: { readonly previous: ContractReading | undefined; readonly readsAll: boolean },
  client: Client,
): Promise<FetchedContract | Failure> {
  const started = performance.now();
  const remaining = (maxBodyBytes: number): FetchLimits => ({
    timeoutMs: limits.timeoutMs,
    maxBodyBytes: Math.min(limits.maxBodyBytes, maxBodyBytes),
    elapsedMs: performance.now() - started,
  });
  const url = requestUrl(rpc.url);
  const send: Send = async (to, json) =>
    client.fetch(to, remaining(MAX_RPC_BODY_BYTES), rpc.httpClient, { json, hasSecretPath: true });
  await loadAbi();
  const head = await fetchHead(url, facts, send);
  if (!head.ok) return head;
  const now = clock();
  const before = previous?.contract === facts.contract ? previous : undefined;
  const known = readsAll ? undefined : before;
  const calls = callsOf(facts, known, head.block, now);
  const fetched = await send(url, formatBatch(calls.map(requestOf)));
  if (!fetched.ok) return failure(fetched.error.reason, url.host + fetched.error.message);
  const exchange = { calls, facts };
  const read = readContract(fetched.body.bytes, exchange, now, before);
  const denoms = isBackingDue(facts, known, now) ? facts.backing.map(({ contract }) => denomOf(contract)) : [];
  // Whether the hub does not know an event or a set, or only a node that is behind, is said by the time of its block.
  const isAhead = read.ok && (read.value.isValsetUnknown !== false || read.value.unobservedEvents === undefined);
  if (denoms.length === 0 && !isAhead) return { ...fetched, exchange };
  const hubReading = await readHub(hub, facts.height, denoms, () => remaining(MAX_HUB_BODY_BYTES), client);
  return { ...fetched, exchange: { ...exchange, hub: hubReading } };
}

/** The requests before the calls, by their id. */
const HEAD = [
  { id: 1, method: 'eth_chainId', params: [] },
  { id: 2, method: 'eth_syncing', params: [] },
  { id: 3, method: 'eth_getBlockByNumber', params: ['latest', false] },
] as const;

/** The number of the newest block, in hexadecimal digits, of a node of the right chain that is not syncing. */
async function fetchHead(
  url: URL,
  { chainId }: ContractFacts,
  send: Send,
): Promise<{ readonly ok: true; readonly block: string } | Failure> {
  const fetched = await send(url, formatBatch(HEAD));
  if (!fetched.ok) return failure(fetched.error.reason, url.host + fetched.error.message);
  const batch = parseBatch(fetched.body.bytes);
  fetched.body.release();
  if (!batch.ok) return failureOf(url, batch);
  const { answers } = batch;
  const wrongChain = checkChain(answers, chainId);
  if (wrongChain !== undefined) return failureOf(url, wrongChain);
  const syncing = answers.get(2);
  // A node without this method is fine.
  if (syncing?.ok === true && syncing.result !== false && syncing.result !== undefined) {
    return failure('schema', `${url.host}: the node is syncing`);
  }
  const block = readBlock(answers, 3);
  return block.ok ? { ok: true, block: `0x${BigInt(block.height).toString(16)}` } : failureOf(url, block);
}

function failureOf({ host }: URL, { reason, message }: UnreadableDocument): Failure {
  return failure(reason, `${host}: ${message}`);
}

function checkChain(answers: RpcAnswers, expected: string): UnreadableDocument | undefined {
  const answer = answers.get(1);
  if (answer?.ok === false) return rpcFailure('eth_chainId', answer.code);
  const chainId = quantity(answer?.result);
  if (chainId === undefined) return unreadable('schema', 'did not answer eth_chainId with a chain id');
  if (String(chainId) === expected) return undefined;
  return unreadable('schema', `is a node of chain ${chainId}, not of chain ${expected} (bridge_chain_id)`);
}

const readSupply = object({ amount: object({ amount: number }, 'any') }, 'any').compile('', NO_ALIASES);
const readHubBlock = object(
  { block: object({ header: object({ height: number, time: string }, 'any') }, 'any') },
  'any',
).compile('', NO_ALIASES);

/** More than the values of these documents take. */
const HUB_BUDGET_BYTES = 2 ** 20;

/** At the height of the module state, so that a transfer in between changes nothing. What cannot be read is absent. */
async function readHub(
  { url, httpClient }: NodeConnection,
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
    const fetched = await client.fetch(new URL(url + path), remaining(), httpClient, { headers });
    if (!fetched.ok) return undefined;
    const value = read(fetched.body.bytes);
    fetched.body.release();
    // A node or a proxy that ignores the header of the request does not answer with this height.
    return !isStateQuery || String(fetched.height) === String(height) ? value : undefined;
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
    const supply = await fetchAt(path, supplyOf, true);
    if (supply !== undefined) supplies.set(denom, supply);
  }
  return { blockSeconds, supplies };
}

function supplyOf(body: Buffer): Numeral | undefined {
  const result = readDocument(readSupply, body, HUB_BUDGET_BYTES);
  const amount = result.ok && isPresent(result.value?.amount) ? result.value.amount.amount : undefined;
  return isPresent(amount) ? amount : undefined;
}

/** `undefined` for a block of another height. */
function blockSecondsOf(body: Buffer, height: Numeral): number | undefined {
  const result = readDocument(readHubBlock, body, HUB_BUDGET_BYTES);
  const block = result.ok && isPresent(result.value?.block) ? result.value.block : undefined;
  const header = isPresent(block?.header) ? block.header : undefined;
  if (isPresent(header?.height) && compare(header.height, height) !== 0) return undefined;
  const time = header?.time;
  const ms = isPresent(time) ? Date.parse(time) : Number.NaN;
  return Number.isFinite(ms) ? ms / 1000 : undefined;
}
