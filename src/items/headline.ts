import { wallSeconds } from '../clock.js';
import { NATIVE } from '../chain/rate-limiter-input.js';
import { waitOfBatch, waitReasons } from '../facts/bridge/batches.js';
import { hubBlocksSince, measuredHubBlockTime } from '../facts/bridge/block-times.js';
import type { BridgeInput } from '../facts/bridge/bridge-input.js';
import {
  coinItem,
  hubCoin,
  batchedTransfers,
  totalAmount,
  unbatchedTransfers,
  waitingTokens,
} from '../facts/bridge/tokens.js';
import { conflictingNonces, pendingAttestations, pendingEventCount } from '../facts/bridge/events.js';
import { countValsetsBelowThreshold } from '../facts/bridge/signatures.js';
import { unrelayedValsets } from '../facts/bridge/valsets.js';
import {
  coinAmountItem,
  consideredCctxs,
  distinctCctxs,
  hiddenCount,
  oldestCreation,
  rateLimitUse,
  type ListName,
} from '../facts/crosschain/cctxs.js';
import type { CrosschainInput } from '../facts/crosschain/crosschain-input.js';
import { measuredBlockTime } from '../facts/hub-blocks.js';
import { countElements, orEmpty, orNull, orUndefined, required, rows } from '../facts/required-fields.js';
import { lowest, type Numeral } from '../chain/numeral.js';
import { sumText } from '../problems/sentence.js';
import { WAIT_TEXTS } from './bridge-items.js';
import { count, list, percent } from '../text/format.js';
import { ownValidatorItems } from './validator-items.js';

/*
 * What the status page shows of a document: numbers, and the own validators. Each poll derives it and keeps it, because
 * an open page is refreshed every few seconds and must not read the documents of all targets again.
 */

/** A number of the backlog. */
export interface HeadlineNumber {
  /** The list whose rows it counts. */
  readonly list: 'tokens' | 'claims' | 'valsets' | 'missed' | 'pending';
  /** `null` if it is unknown. */
  readonly count: number | string | null;
  readonly parts: readonly string[];
  /** Age of the oldest item at the time of the document; `null` if unknown, absent without an item. */
  readonly oldestSeconds?: number | null;
}

export type BridgeHeadline = ReturnType<typeof bridgeHeadline>;
export type CrosschainHeadline = ReturnType<typeof crosschainHeadline>;

const MAX_AMOUNTS = 6;

export function bridgeHeadline(input: BridgeInput) {
  return {
    document: 'module_state' as const,
    numbers: [transferNumber(input), eventNumber(input), valsetNumber(input)],
    validators: ownValidatorItems(input),
    hubCoin: orNull(() => hubCoin(input)),
    blockTimeMs: measuredHubBlockTime(input),
    /** While the node is behind, the time until a height and newer signatures are unknown. */
    isNodeBehind: input.isNodeBehind === true,
  };
}

/** Waiting transfers, in no batch and in batches, with their amounts, and how many batches wait for what. */
function transferNumber(input: BridgeInput): HeadlineNumber {
  const queued = orNull(() => unbatchedTransfers(input).length);
  const batched = orNull(() => batchedTransfers(input).length);
  const batches = orNull(() => countElements(input.state.batches));
  const waits = orEmpty(() =>
    rows(input.state.batches).map((batch) => orNull(() => waitOfBatch(input, batch)) ?? 'unknown'),
  );
  const byWait = [...waitReasons, 'unknown' as const].flatMap((reason) => {
    const number = waits.filter((wait) => wait === reason).length;
    const text = reason === 'unknown' ? 'of unknown state' : WAIT_TEXTS[reason].batches;
    return number === 0 ? [] : [`${number} ${text}`];
  });
  const tokens = orEmpty(() => waitingTokens(input));
  const amounts = tokens
    .slice(0, MAX_AMOUNTS)
    .flatMap(({ contract, unbatched, batched: own }) =>
      sumText([coinItem(input, { contract, amount: orUndefined(() => totalAmount([...unbatched, ...own])) })]),
    );
  return {
    list: 'tokens',
    count: queued === null || batched === null ? null : queued + batched,
    parts: [
      `${queued ?? 'unknown'} in no batch`,
      `${batched ?? 'unknown'} in ${batches === null ? 'batches' : count(batches, 'batch', 'batches')}${byWait.length === 0 ? '' : `: ${byWait.join(', ')}`}`,
      ...(amounts.length === 0 ? [] : [list(amounts, amounts.length + Math.max(0, tokens.length - MAX_AMOUNTS))]),
    ],
  };
}

function eventNumber(input: BridgeInput): HeadlineNumber {
  const conflicting = orNull(() => conflictingNonces(input).size);
  return {
    list: 'claims',
    count: orNull(() => String(pendingEventCount(input))),
    parts: conflicting === 0 ? [] : [`${conflicting ?? 'unknown'} with conflicting claims`],
    ...oldestAge(input, () => pendingAttestations(input).map(({ attestation }) => required(attestation.height))),
  };
}

function valsetNumber(input: BridgeInput): HeadlineNumber {
  const belowThreshold = orNull(() => countValsetsBelowThreshold(input));
  return {
    list: 'valsets',
    count: orNull(() => unrelayedValsets(input).length),
    parts: [`${belowThreshold ?? 'unknown'} short of signatures`],
    ...oldestAge(input, () => unrelayedValsets(input).map(({ height }) => required(height))),
  };
}

/** The age of the lowest of these hub heights. */
function oldestAge(input: BridgeInput, heights: () => readonly Numeral[]): Pick<HeadlineNumber, 'oldestSeconds'> {
  const all = orNull(heights);
  if (all?.length === 0) return {};
  return { oldestSeconds: all && (hubBlocksSince(input, lowest(all))?.seconds ?? null) };
}

export function crosschainHeadline(input: CrosschainInput) {
  const hidden = orNull(() => String(hiddenCount(input)));
  const value = orNull(() => required(input.document.pending_cctxs_value));
  const worth = value === null ? [] : sumText([coinAmountItem(input, '', { coinType: NATIVE, amount: String(value) })]);
  const limitUse = orUndefined(() => rateLimitUse(input))?.utilizationRatio;
  return {
    document: 'rate_limiter_input' as const,
    numbers: [
      cctxNumber(input, 'missed', []),
      cctxNumber(input, 'pending', [
        ...worth.map((text) => `worth ${text}`),
        ...(limitUse === undefined ? [] : [`${percent(limitUse)} of the rate limit`]),
        ...(hidden === null || hidden === '0' ? [] : [`${hidden} more that the node does not list`]),
      ]),
    ],
    blockTimeMs: measuredBlockTime(input),
  };
}

function cctxNumber(input: CrosschainInput, name: ListName, parts: readonly string[]): HeadlineNumber {
  const all = orNull(() => distinctCctxs[name](input));
  const ignored = orNull(() => (all?.length ?? 0) - consideredCctxs[name](input).length) ?? 0;
  return {
    list: name,
    count: all === null ? orNull(() => countElements(input.document[`cctxs_${name}`])) : all.length,
    parts: [...parts, ...(ignored === 0 ? [] : [`${ignored} ignored`])],
    ...(all?.length !== 0 && { oldestSeconds: oldestCctxAge(input, name) }),
  };
}

function oldestCctxAge(input: CrosschainInput, name: ListName): number | null {
  const created = orNull(() => oldestCreation(consideredCctxs[name](input)));
  return created === null ? null : wallSeconds(input.at, input) - Number(created);
}
