import { LAST_SECONDS, type Instant } from '../clock.js';
import type { ContractCall, ContractExchange } from '../document-types.js';
import { NO_FIELD_ERRORS, unreadable, type FieldErrors, type UnreadableDocument } from '../chain/document.js';
import { MAX_BATCH_TOKENS, type HubSide } from '../facts/contract/hub-side.js';
import {
  areOfOneTime,
  backingSurplus,
  distanceAhead,
  hasObservedDeposits,
  isRecent,
  type BackingReading,
  type ContractInfo,
  type ContractReading,
  type HubReading,
} from '../facts/contract/reading.js';
import { HOUR_MS, MINUTE_MS } from '../units.js';
import {
  checksumAddress,
  decodeResult,
  decodeSlot,
  encodeCall,
  IMPLEMENTATION_SLOT,
  type ContractFunction,
  type ResultOf,
} from './contract-abi.js';
import { parseAnswers, property, rpcFailure, type RpcAnswers, type RpcFailure, type RpcRequest } from './json-rpc.js';

/*
 * The document external_contract: the answers to a batch of calls. Height, event nonce and paused are read in each poll, balances every five
 * minutes, the rest once an hour. All calls are pinned to one block, because providers balance requests over nodes of different heights. A call
 * without a valid answer affects only its families.
 */

export const NO_CONTRACT = 'the module state does not say where the contract is';

/** Five minutes, less the jitter of a poll. */
const BACKING_MS = 4.75 * MINUTE_MS;

/** The hub side and the last reading decide which calls are due. */
type CallBasis = Pick<ContractExchange, 'hubSide' | 'lastReading'>;

/** The last reading, if it is of the same contract. */
function readingBefore({ hubSide, lastReading }: CallBasis): ContractReading | undefined {
  return lastReading?.contract === hubSide.contract ? lastReading : undefined;
}

export function callsOf(basis: CallBasis, block: string, now: Instant): readonly ContractCall[] {
  const { contract, batchTokens, backing } = basis.hubSide;
  const ofContract = (data: string): Omit<ContractCall, 'id' | 'block'> => ({ to: contract, data });
  const tokens = isBackingDue(basis, now) ? backing : [];
  // Tokens whose backing is judged, then tokens with a live batch.
  const withNonces = new Set([...tokens, ...batchTokens].map((token) => token.contract));
  const isInfoDue = !isSince(readingBefore(basis)?.info.readAt, now, HOUR_MS);
  const calls = [
    { to: '', data: '' },
    ...(['state_lastEventNonce', 'state_lastValsetNonce', 'paused'] as const).map((name) =>
      ofContract(encodeCall(name)),
    ),
    ...Array.from(withNonces)
      .slice(0, MAX_BATCH_TOKENS)
      .map((token) => ofContract(encodeCall('lastBatchNonce', token))),
    ...tokens.map((token) => ({ to: token.contract, data: encodeCall('balanceOf', contract) })),
    ...(isInfoDue
      ? [encodeCall('owner'), encodeCall('state_powerThreshold'), IMPLEMENTATION_SLOT].map(ofContract)
      : []),
  ];
  return calls.map((call, index) => ({ id: index + 1, ...call, block }));
}

/** Whether balances are read, and the supplies on the hub with them. */
export function isBackingDue(basis: CallBasis, now: Instant): boolean {
  const { hubSide } = basis;
  return (
    hubSide.backing.length > 0 && isRecent(hubSide, now) && !isSince(readingBefore(basis)?.backing?.at, now, BACKING_MS)
  );
}

function isSince(at: Instant | undefined, now: Instant, ms: number): boolean {
  return at !== undefined && now.monotonicMs - at.monotonicMs < ms;
}

export function requestOf({ id, to, data, block }: ContractCall): RpcRequest {
  if (data === '') return { id, method: 'eth_getBlockByNumber', params: [block, false] };
  // The data of a call has 4 or 36 bytes.
  return data.length === IMPLEMENTATION_SLOT.length
    ? { id, method: 'eth_getStorageAt', params: [to, data, block] }
    : { id, method: 'eth_call', params: [{ to, data }, block] };
}

export type ContractResult =
  { readonly ok: true; readonly value: ContractReading; readonly errors: FieldErrors } | UnreadableDocument;

export function readContract(body: Buffer, exchange: ContractExchange, at: Instant): ContractResult {
  const { calls, hubSide, hub } = exchange;
  const parsed = parseAnswers(body);
  if (!parsed.ok) return parsed;
  const block = readBlock(parsed.answers, calls.find(({ data }) => data === '')?.id ?? 0);
  if (!block.ok) return block;
  const pinned = calls[0]?.block;
  if (pinned !== undefined && BigInt(pinned) !== BigInt(block.height)) {
    return unreadable('schema', `returned another block than ${BigInt(pinned)}`);
  }
  const invalid = new Map<string, number>();
  const answers = createAnswers(parsed.answers, calls, invalid);
  const before = readingBefore(exchange);
  const batchNonces = hubSide.batchTokens
    .filter((token) => answers.isRequested('lastBatchNonce', hubSide.contract, token.contract))
    .map((token) => ({ ...token, nonce: answers.result('lastBatchNonce', hubSide.contract, token.contract) }));
  const lastEventNonce = answers.result('state_lastEventNonce', hubSide.contract);
  const lastValsetNonce = answers.result('state_lastValsetNonce', hubSide.contract);
  const isOneTime = areOfOneTime(hub?.blockSeconds, block.seconds, at.epochSeconds);
  const isHubCurrent = isRecent(hubSide, at) && areOfOneTime(hub?.blockSeconds, at.epochSeconds);
  const unobserved = distanceAhead(lastEventNonce, hubSide.lastObservedNonce);
  const ahead = distanceAhead(lastValsetNonce, hubSide.newestValsetNonce);
  const value: ContractReading = {
    at,
    contract: hubSide.contract,
    height: BigInt(block.height),
    blockSeconds: block.seconds,
    lastEventNonce,
    lastValsetNonce,
    paused: answers.result('paused', hubSide.contract),
    batchNonces,
    unobservedEvents: unobserved === 0n || isHubCurrent ? unobserved : undefined,
    isValsetUnknown: isUnknownValset(ahead, isOneTime && isRecent(hubSide, at)),
    info: readInfo(answers, hubSide.contract, at, before?.info),
    backing:
      readBacking(
        answers,
        hubSide,
        hub,
        isOneTime && hasObservedDeposits(hubSide, hub?.blockSeconds, block.seconds),
        at,
      ) ?? recentBacking(before, at),
    configuredThreshold: hubSide.powerThreshold,
  };
  return { ok: true, value, errors: { ...NO_FIELD_ERRORS, invalid } };
}

/** A validator set that is newer than the module state cannot be in the contract yet, but the hub node may be behind. */
function isUnknownValset(ahead: ReturnType<typeof distanceAhead>, isComparable: boolean): boolean | undefined {
  if (ahead === undefined) return undefined;
  if (ahead === 0n) return false;
  return isComparable ? true : undefined;
}

interface Block {
  readonly ok: true;
  readonly height: string;
  readonly seconds: number;
}

export function readBlock(answers: RpcAnswers, id: number): Block | RpcFailure {
  const answer = answers.get(id);
  if (answer?.ok === false) return rpcFailure('eth_getBlockByNumber', answer.error);
  if (answer === undefined) return unreadable('schema', 'did not answer eth_getBlockByNumber');
  if (answer.result === null) return unreadable('schema', 'has no block with the number of its newest block');
  const [height, time] = ['number', 'timestamp'].map((name) => quantity(property(answer.result, name)));
  // A date after the year 9999 is not the time of a block.
  if (height === undefined || time === undefined || time > LAST_SECONDS) {
    return unreadable('schema', 'returned a block without a number or time');
  }
  return { ok: true, height: String(height), seconds: Number(time) };
}

/** A quantity of JSON-RPC, of at most 64 bits. */
export function quantity(value: unknown): bigint | undefined {
  return typeof value === 'string' && /^0x[\da-f]{1,16}$/i.test(value) ? BigInt(value) : undefined;
}

type Answers = ReturnType<typeof createAnswers>;

/** The decoded answers by their call; `undefined` for a call that was not sent or not answered. */
function createAnswers(answers: RpcAnswers, calls: readonly ContractCall[], invalid: Map<string, number>) {
  const byCall = new Map(calls.map(({ id, to, data }) => [`${to} ${data}`, answers.get(id)]));
  const decoded = <Value>(
    name: string,
    to: string,
    data: string,
    decode: (result: unknown) => Value,
  ): Value | undefined => {
    const answer = byCall.get(`${to} ${data}`);
    if (answer?.ok !== true) return undefined;
    const value = decode(answer.result);
    if (value === undefined) invalid.set(name, (invalid.get(name) ?? 0) + 1);
    return value;
  };
  return {
    result: <Name extends ContractFunction>(name: Name, to: string, argument?: string): ResultOf<Name> | undefined =>
      decoded(name, to, encodeCall(name, argument), (result) => decodeResult(name, result)),
    slot: (to: string) => decoded('implementation', to, IMPLEMENTATION_SLOT, decodeSlot),
    isRequested: (name: ContractFunction, to: string, argument?: string): boolean =>
      byCall.has(`${to} ${encodeCall(name, argument)}`),
  };
}

/** A value that cannot be read stays that of the last reading: a contract or a node may never have it. */
function readInfo(answers: Answers, contract: string, at: Instant, before: ContractInfo = NO_INFO): ContractInfo {
  if (!answers.isRequested('owner', contract)) return before;
  const info = {
    readAt: before.readAt,
    owner: answers.result('owner', contract) ?? before.owner,
    implementation: answers.slot(contract) ?? before.implementation,
    powerThreshold: answers.result('state_powerThreshold', contract) ?? before.powerThreshold,
  };
  // A changed value is read again by the next poll: it can be one odd answer.
  const names = ['owner', 'implementation', 'powerThreshold'] as const;
  const isChanged = before.readAt !== undefined && names.some((name) => info[name] !== before[name]);
  return { ...info, readAt: isChanged ? undefined : at };
}

const NO_INFO: ContractInfo = {
  readAt: undefined,
  owner: undefined,
  implementation: undefined,
  powerThreshold: undefined,
};

/** `undefined` when no balance was requested. */
function readBacking(
  answers: Answers,
  { contract, backing, lastBatchNonce }: HubSide,
  hub: HubReading | undefined,
  isComparable: boolean,
  at: Instant,
): BackingReading | undefined {
  const requested = backing.filter((token) => answers.isRequested('balanceOf', token.contract, contract));
  if (requested.length === 0) return undefined;
  const tokens = requested.map((token) => {
    const denom = denomOf(token.contract);
    const balance = answers.result('balanceOf', token.contract, contract);
    const supply = hub?.supplies.get(denom);
    const nonces = { executed: answers.result('lastBatchNonce', contract, token.contract), made: lastBatchNonce };
    const surplus = isComparable ? backingSurplus(token, balance, supply, nonces) : undefined;
    return { contract: token.contract, denom, balance, supply, surplus };
  });
  return { at, tokens };
}

/** Two intervals, and the delay of a poll. */
const BACKING_EXPIRY_MS = 11 * MINUTE_MS;

/** The balances of an earlier poll. They expire when they are not read any more, because the module state is not polled. */
function recentBacking(before: ContractReading | undefined, { monotonicMs }: Instant): BackingReading | undefined {
  const backing = before?.backing;
  return backing !== undefined && monotonicMs - backing.at.monotonicMs <= BACKING_EXPIRY_MS ? backing : undefined;
}

/** The denom of a bridged token on the hub, as on Injective. */
export function denomOf(contract: string): string {
  return `peggy${checksumAddress(contract)}`;
}
