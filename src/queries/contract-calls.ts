import type { Instant } from '../clock.js';
import { MAX_BATCH_TOKENS, type ContractFacts } from '../facts/contract/facts.js';
import { isRecent, type ContractReading } from '../facts/contract/reading.js';
import { loadedAbi } from './abi-loader.js';
import type { RpcRequest } from './json-rpc.js';

/*
 * Which calls a poll of the contract makes: height, event nonce and paused in each, balances every five minutes, the rest once an
 * hour. All are pinned to one block, because providers balance requests over nodes of different heights.
 */

/** A call at a block, as recordings have it. Without `data` it requests the block; `data` of 32 bytes is a storage slot. */
export interface ContractCall {
  readonly id: number;
  readonly to: string;
  readonly data: string;
  /** In hexadecimal digits. */
  readonly block: string;
}

const HOUR_MS = 3_600_000;
/** Five minutes, less the jitter of a poll. */
const BACKING_MS = 4.75 * 60_000;

export function callsOf(
  facts: ContractFacts,
  previous: ContractReading | undefined,
  block: string,
  now: Instant,
): readonly ContractCall[] {
  const { encodeCall, IMPLEMENTATION_SLOT } = loadedAbi();
  const { contract } = facts;
  const ofContract = (data: string): Omit<ContractCall, 'id' | 'block'> => ({ to: contract, data });
  const needsInfo = !isSince(previous?.info.completeAt, now, HOUR_MS);
  const tokens = isBackingDue(facts, previous, now) ? facts.backing : [];
  const calls = [
    { to: '', data: '' },
    ...(['state_lastEventNonce', 'state_lastValsetNonce', 'paused'] as const).map((name) =>
      ofContract(encodeCall(name)),
    ),
    ...batchNonceTokens(facts, tokens).map((token) => ofContract(encodeCall('lastBatchNonce', token))),
    ...tokens.map((token) => ({ to: token.contract, data: encodeCall('balanceOf', contract) })),
    ...(needsInfo
      ? [encodeCall('owner'), encodeCall('state_powerThreshold'), IMPLEMENTATION_SLOT].map(ofContract)
      : []),
  ];
  return calls.map((call, index) => ({ id: index + 1, ...call, block }));
}

/** The tokens whose backing is judged, then those with a live batch. */
function batchNonceTokens({ batchTokens }: ContractFacts, judged: ContractFacts['backing']): readonly string[] {
  const contracts = new Set([...judged, ...batchTokens].map(({ contract }) => contract));
  return Array.from(contracts).slice(0, MAX_BATCH_TOKENS);
}

/** Whether balances are read, and the supplies on the hub with them. */
export function isBackingDue(facts: ContractFacts, previous: ContractReading | undefined, now: Instant): boolean {
  return facts.backing.length > 0 && isRecent(facts, now) && !isSince(previous?.backing?.at, now, BACKING_MS);
}

function isSince(at: Instant | undefined, now: Instant, ms: number): boolean {
  return at !== undefined && now.monotonicMs - at.monotonicMs < ms;
}

/** A storage slot has 32 bytes, the data of a call 4 or 36. */
const SLOT_CHARACTERS = 66;

export function requestOf({ id, to, data, block }: ContractCall): RpcRequest {
  if (data === '') return { id, method: 'eth_getBlockByNumber', params: [block, false] };
  return data.length === SLOT_CHARACTERS
    ? { id, method: 'eth_getStorageAt', params: [to, data, block] }
    : { id, method: 'eth_call', params: [{ to, data }, block] };
}
