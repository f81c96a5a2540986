import {
  callKey,
  checksumAddress,
  decodeResult,
  decodeResults,
  encodeCall,
  encodeCalls,
  MULTICALL3,
  type Call,
  type ContractFunction,
  type FunctionResult,
} from '../../chain/contract-abi.js';
import { NO_FIELD_ERRORS, readDocument, unreadable, type DocumentResult } from '../../chain/document.js';
import { isValid, validOrUndefined, numeral, object, string } from '../../chain/fields.js';
import { LAST_SECONDS, wallSeconds, type Moment } from '../../clock.js';
import { runToEnd, type InParts } from '../../tasks.js';
import { MEBIBYTE } from '../../units.js';
import {
  areOfOneTime,
  backedSupply,
  distanceAhead,
  hasObservedDeposits,
  hubSeconds,
  isRecent,
  MAX_BATCH_TOKENS,
  type ContractReading,
  type HubBlock,
  type HubSide,
} from './reading.js';

/*
 * The document external_contract: the result of one call of Multicall3, so that all values are of the newest block. If
 * the contract does not return a value, only this value is absent.
 */

export const NO_CONTRACT = 'the module state does not say where the contract is';

/** The result has 160 bytes for each call, in hexadecimal digits. */
export const MAX_CONTRACT_BYTES = MEBIBYTE;

/** A call at a block, as recordings have it. */
export interface ContractCall {
  readonly to: string;
  readonly data: string;
  readonly block: string;
}

/** The values from the hub, from queries and from earlier polls that reading a contract needs. Plain data. */
export interface ContractAnswers extends Partial<Pick<ContractReading, 'implementation' | 'backing'>> {
  /** What the module state says about the contract; `undefined` before the first one. */
  readonly hubSide?: HubSide | undefined;
  /** The newest block of the hub, as its node has last named it. */
  readonly hubBlock?: HubBlock | undefined;
  /** The call with the values; absent before the poll. */
  readonly call?: ContractCall | undefined;
}

/** The body of a JSON-RPC request. */
export function rpcRequest(method: string, params: readonly unknown[]): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
}

/** The call of a poll, which reads everything. */
export function contractCall({ contract, batchTokens, backing }: HubSide): ContractCall {
  // Tokens whose backing is judged, then tokens with a live batch.
  const withNonces = new Set([...backing, ...batchTokens].map((token) => token.contract));
  const calls: Call[] = [
    ...BLOCK_FUNCTIONS.map((name) => ({ to: MULTICALL3, data: encodeCall(name) })),
    ...CONTRACT_FUNCTIONS.map((name) => ({ to: contract, data: encodeCall(name) })),
    ...Array.from(withNonces)
      .slice(0, MAX_BATCH_TOKENS)
      .map((token) => ({ to: contract, data: encodeCall('lastBatchNonce', token) })),
    ...backing.map((token) => ({ to: token.contract, data: encodeCall('balanceOf', contract) })),
  ];
  return { to: MULTICALL3, data: encodeCalls(calls), block: 'latest' };
}

const BLOCK_FUNCTIONS = ['getChainId', 'getBlockNumber', 'getCurrentBlockTimestamp'] as const;

const CONTRACT_FUNCTIONS = [
  'state_lastEventNonce',
  'state_lastValsetNonce',
  'paused',
  'owner',
  'state_powerThreshold',
] as const;

export function callRequest({ to, data, block }: ContractCall): string {
  return rpcRequest('eth_call', [{ to, data }, block]);
}

/** Maximum number of JSON values. A real result has three. */
const MAX_VALUES = 500_000;

const syncingResponse = object({ result: object({ currentBlock: string, highestBlock: string }) });

/**
 * Whether a node answers to `eth_syncing` that its newest block is below the highest known block. False for a node that
 * has the newest block and is still indexing, and for a node without this method.
 */
export function isSyncing(body: Buffer): boolean {
  const json = runToEnd(readDocument(syncingResponse, body, MAX_VALUES));
  const result = json.ok ? json.value?.result : undefined;
  if (result === undefined || !isValid(result)) return false;
  return Number(validOrUndefined(result.currentBlock)) < Number(validOrUndefined(result.highestBlock));
}

const response = object({ result: string, error: object({ code: numeral }) });

/** `limit exceeded` of EIP-1474, and the HTTP status that some providers use as the code. */
const RATE_LIMIT_CODES: ReadonlySet<string> = new Set(['-32005', '429']);

/** Reads the result of a call with the functions in its data: a recording may have other ones than this version. */
export function* readContract(
  body: Buffer,
  call: ContractCall,
  hubSide: HubSide,
  { hubBlock, implementation, backing = [] }: ContractAnswers,
  now: Moment,
): InParts<DocumentResult<ContractReading>> {
  const json = yield* readDocument(response, body, MAX_VALUES);
  if (!json.ok) return json;
  const { result, error } = json.value ?? {};
  if (error !== undefined) {
    const code = isValid(error) ? validOrUndefined(error.code) : undefined;
    const reason = RATE_LIMIT_CODES.has(String(code)) ? 'rate_limited' : 'schema';
    return unreadable(reason, `responded with ${code === undefined ? 'an error' : `JSON-RPC error ${code}`}`);
  }
  if (!isValid(result)) return unreadable('schema', 'the response is not JSON-RPC');
  if (result === '0x') return unreadable('schema', NO_MULTICALL);
  const results = decodeResults(call.data, result);
  if (results === undefined) return unreadable('schema', NOT_OF_MULTICALL);

  const invalid = new Map<string, number>();
  const { contract } = hubSide;
  const readValue = <Name extends ContractFunction>(
    name: Name,
    to = contract,
    argument?: string,
  ): FunctionResult<Name> | undefined => {
    const returned = results.get(callKey({ to, data: encodeCall(name, argument) }));
    const value = returned === undefined ? undefined : decodeResult(name, returned);
    if (returned !== undefined && value === undefined) invalid.set(name, (invalid.get(name) ?? 0) + 1);
    return value;
  };
  const isRead = (name: ContractFunction, to: string, argument: string): boolean =>
    results.has(callKey({ to, data: encodeCall(name, argument) }));

  const [chainId, height, time] = BLOCK_FUNCTIONS.map((name) => readValue(name, MULTICALL3));
  const blockSeconds = Number(time ?? NaN);
  // A date after the year 9999 is not the time of a block.
  if (chainId === undefined || height === undefined || !(blockSeconds <= LAST_SECONDS)) {
    return unreadable('schema', NOT_OF_MULTICALL);
  }
  if (String(chainId) !== hubSide.chainId) {
    return unreadable('schema', `is a node of chain ${chainId}, not of chain ${hubSide.chainId} (bridge_chain_id)`);
  }

  const hubTime = hubSeconds(hubSide, hubBlock);
  const isHubRecent = isRecent(hubSide, now.at);
  const isOneTime = isHubRecent && areOfOneTime(hubTime, blockSeconds, wallSeconds(now.at, now));
  const isComparable = isOneTime && hasObservedDeposits(hubSide, blockSeconds, now);
  const lastEventNonce = readValue('state_lastEventNonce');
  const lastValsetNonce = readValue('state_lastValsetNonce');
  const unobserved = distanceAhead(lastEventNonce, hubSide.lastObservedNonce);
  const isHubCurrent = isHubRecent && areOfOneTime(hubTime, wallSeconds(now.at, now));
  const balances = hubSide.backing
    .filter((token) => isRead('balanceOf', token.contract, contract))
    .map((token) => {
      const balance = readValue('balanceOf', token.contract, contract);
      const nonces = {
        executed: readValue('lastBatchNonce', contract, token.contract),
        made: hubSide.lastBatchNonce,
      };
      const backed = isComparable ? backedSupply(token, balance, nonces) : undefined;
      return { contract: token.contract, denom: hubDenom(token), balance, backed };
    });
  const value: ContractReading = {
    at: now.at,
    contract,
    height,
    blockSeconds,
    lastEventNonce,
    lastValsetNonce,
    paused: readValue('paused'),
    owner: readValue('owner'),
    implementation,
    powerThreshold: readValue('state_powerThreshold'),
    batchNonces: hubSide.batchTokens
      .filter((token) => isRead('lastBatchNonce', contract, token.contract))
      .map((token) => ({ ...token, nonce: readValue('lastBatchNonce', contract, token.contract) })),
    unobservedEvents: unobserved === 0n || isHubCurrent ? unobserved : undefined,
    isValsetUnknown: isUnknownValset(distanceAhead(lastValsetNonce, hubSide.newestValsetNonce), isOneTime),
    isHubTimeKnown: hubTime !== undefined,
    hubHeight: isHubRecent && hubTime !== undefined ? hubSide.height : undefined,
    balances,
    backing: isComparable ? backing : backing.map((token) => ({ ...token, surplus: undefined })),
    configuredThreshold: hubSide.powerThreshold,
  };
  return { ok: true, value, errors: { ...NO_FIELD_ERRORS, invalid } };
}

/** The denom of a token on the hub, as on Injective. */
function hubDenom({ contract }: { readonly contract: string }): string {
  return `peggy${checksumAddress(contract)}`;
}

const NO_MULTICALL =
  'the chain has no Multicall3 at 0xcA11bde05977b3631167028862bE2a173976CA11, through which the contract is read';
const NOT_OF_MULTICALL = 'the result is not that of Multicall3';

/**
 * A validator set that is newer than the module state cannot be in the contract yet, but the hub node may be behind.
 */
function isUnknownValset(ahead: ReturnType<typeof distanceAhead>, isOneTime: boolean): boolean | undefined {
  if (ahead === undefined) return undefined;
  if (ahead === 0n) return false;
  return isOneTime ? true : undefined;
}
