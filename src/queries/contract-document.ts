import type { Instant } from '../clock.js';
import { asDecimalString, type Numeral } from '../chain/numeral.js';
import { NO_PROBLEMS, type FieldProblems, type UnreadableDocument } from '../chain/document.js';
import type { ContractFacts } from '../facts/contract/facts.js';
import {
  areOfOneTime,
  backingSurplus,
  distanceAhead,
  hasObservedDeposits,
  isCurrent,
  isRecent,
  isZeroDistance,
  type BackingReading,
  type ContractInfo,
  type ContractReading,
  type HubReading,
} from '../facts/contract/reading.js';
import type { ContractFunction, ResultOf } from './contract-abi.js';
import { loadedAbi } from './abi-loader.js';
import type { ContractCall } from './contract-calls.js';
import { parseAnswers, property, rpcFailure, unreadable, type RpcAnswers, type RpcFailure } from './json-rpc.js';

/* Reads the document external_contract: the answers to a batch of calls. A call without a valid answer affects only its own families. */

/** What the answers are read with, besides the body. Plain data. */
export interface ContractExchange {
  readonly calls: readonly ContractCall[];
  readonly facts: ContractFacts;
  readonly hub?: HubReading;
}

export type ContractResult =
  { readonly ok: true; readonly value: ContractReading; readonly problems: FieldProblems } | UnreadableDocument;

export function readContract(
  body: Buffer,
  { calls, facts, hub }: ContractExchange,
  at: Instant,
  previous: ContractReading | undefined,
): ContractResult {
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
  const before = previous?.contract === facts.contract ? previous : undefined;
  const batchNonces = facts.batchTokens
    .filter((token) => answers.isRequested('lastBatchNonce', facts.contract, token.contract))
    .map((token) => ({ ...token, nonce: answers.result('lastBatchNonce', facts.contract, token.contract) }));
  const lastEventNonce = answers.result('state_lastEventNonce', facts.contract);
  const lastValsetNonce = answers.result('state_lastValsetNonce', facts.contract);
  const isOneTime = areOfOneTime(hub?.blockSeconds, block.seconds, at.epochSeconds);
  const isHubCurrent = isRecent(facts, at) && isCurrent(hub?.blockSeconds, at.epochSeconds);
  const unobserved = distanceAhead(lastEventNonce, facts.lastObservedNonce);
  const ahead = distanceAhead(lastValsetNonce, facts.newestValsetNonce);
  const value: ContractReading = {
    at,
    contract: facts.contract,
    height: asDecimalString(block.height),
    blockSeconds: block.seconds,
    lastEventNonce,
    lastValsetNonce,
    paused: answers.result('paused', facts.contract),
    batchNonces,
    unobservedEvents: isZeroDistance(unobserved) || isHubCurrent ? unobserved : undefined,
    isValsetUnknown: isUnknownValset(ahead, isOneTime && isRecent(facts, at)),
    info: readInfo(answers, facts.contract, at, before?.info),
    backing:
      readBacking(answers, facts, hub, isOneTime && hasObservedDeposits(facts, hub?.blockSeconds, block.seconds), at) ??
      recentBacking(before, at),
    configuredThreshold: facts.powerThreshold,
  };
  return { ok: true, value, problems: { ...NO_PROBLEMS, invalid } };
}

/** A set that the hub made after its state was read cannot be in the contract yet, but the hub node may be behind. */
function isUnknownValset(ahead: ReturnType<typeof distanceAhead>, isHubCurrent: boolean): boolean | undefined {
  if (ahead === undefined) return undefined;
  if (isZeroDistance(ahead)) return false;
  return isHubCurrent ? true : undefined;
}

interface Block {
  readonly ok: true;
  readonly height: string;
  readonly seconds: number;
}

/** The number and the time of the block in an answer. */
export function readBlock(answers: RpcAnswers, id: number): Block | RpcFailure {
  const answer = answers.get(id);
  if (answer?.ok === false) return rpcFailure('eth_getBlockByNumber', answer.error);
  if (answer === undefined) return unreadable('schema', 'did not answer eth_getBlockByNumber');
  if (answer.result === null) return unreadable('schema', 'has no block with the number of its newest block');
  const [height, time] = ['number', 'timestamp'].map((name) => quantity(property(answer.result, name)));
  // Dates after the year 9999 are no times of blocks.
  if (height === undefined || time === undefined || time > 253_402_300_799n) {
    return unreadable('schema', 'returned a block without a number or time');
  }
  return { ok: true, height: String(height), seconds: Number(time) };
}

/** A quantity of JSON-RPC, of at most 64 bits. */
export function quantity(value: unknown): bigint | undefined {
  return typeof value === 'string' && /^0x[\da-f]{1,16}$/i.test(value) ? BigInt(value) : undefined;
}

type Answers = ReturnType<typeof createAnswers>;

/** The decoded answers by their call; `undefined` for one that was not requested or not answered. */
function createAnswers(answers: RpcAnswers, calls: readonly ContractCall[], invalid: Map<string, number>) {
  const { encodeCall, decodeResult, decodeSlot, IMPLEMENTATION_SLOT } = loadedAbi();
  const ids = new Map(calls.map(({ id, to, data }) => [`${to} ${data}`, id]));
  const idOf = (name: ContractFunction, to: string, argument?: string): number | undefined =>
    ids.get(`${to} ${encodeCall(name, argument)}`);
  const decoded = <Value>(
    name: string,
    id: number | undefined,
    decode: (result: unknown) => Value,
  ): Value | undefined => {
    const answer = id === undefined ? undefined : answers.get(id);
    if (answer?.ok !== true) return undefined;
    const value = decode(answer.result);
    if (value === undefined) invalid.set(name, (invalid.get(name) ?? 0) + 1);
    return value;
  };
  return {
    result: <Name extends ContractFunction>(name: Name, to: string, argument?: string) =>
      decoded(name, idOf(name, to, argument), (result) => decodeResult(name, result)) as ResultOf<Name>,
    slot: (to: string) => decoded('implementation', ids.get(`${to} ${IMPLEMENTATION_SLOT}`), decodeSlot),
    isRequested: (name: ContractFunction, to: string, argument?: string): boolean =>
      idOf(name, to, argument) !== undefined,
  };
}

/** Values that could not be read stay those of the last time. */
function readInfo(answers: Answers, contract: string, at: Instant, before: ContractInfo | undefined): ContractInfo {
  if (!answers.isRequested('owner', contract)) return before ?? NO_INFO;
  const owner = answers.result('owner', contract);
  const implementation = answers.slot(contract);
  const powerThreshold: Numeral | undefined = answers.result('state_powerThreshold', contract);
  const isComplete = [owner, implementation, powerThreshold].every((value) => value !== undefined);
  return {
    completeAt: isComplete ? at : undefined,
    owner: owner ?? before?.owner,
    implementation: implementation ?? before?.implementation,
    powerThreshold: powerThreshold ?? before?.powerThreshold,
  };
}

const NO_INFO: ContractInfo = {
  completeAt: undefined,
  owner: undefined,
  implementation: undefined,
  powerThreshold: undefined,
};

/** `undefined` when no balance was requested. */
function readBacking(
  answers: Answers,
  { contract, backing, lastBatchNonce }: ContractFacts,
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
const BACKING_EXPIRY_MS = 11 * 60_000;

/** The balances of an earlier poll, unless they could not be read since: the module state is not polled any more. */
function recentBacking(before: ContractReading | undefined, { monotonicMs }: Instant): BackingReading | undefined {
  const backing = before?.backing;
  return backing !== undefined && monotonicMs - backing.at.monotonicMs <= BACKING_EXPIRY_MS ? backing : undefined;
}

/** The denom of a bridged token on the hub, as on Injective. */
export function denomOf(contract: string): string {
  return `peggy${loadedAbi().checksumAddress(contract)}`;
}
