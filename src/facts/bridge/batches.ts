import { compare, highest, lowest, type Numeral } from '../../chain/numeral.js';
import type { Batch } from '../../chain/module-state.js';
import type { Instant } from '../../clock.js';
import { memoize } from '../memoize.js';
import { orElse, orUndefined, required, rows } from '../required-fields.js';
import { judgedExternalHeight } from './block-times.js';
import type { BridgeInput } from './bridge-input.js';
import { executionClaims, highestVotedShare } from './integrity.js';
import { executedTokens, learnedFees, liveBatches } from './executions.js';
import { THIRD_RATIO } from './valsets.js';
import { contractPower, isBatchSigned, readBatchKey, requireSigningInput } from './signatures.js';
import { contractLabel, readId, minBatchFees, totalFees } from './tokens.js';

/** Whether the batch has timed out at the current external height; `false` while that is unknown. */
function isTimedOut(input: BridgeInput, { batch_timeout }: Batch): boolean {
  const height = orUndefined(() => judgedExternalHeight(input));
  return height !== undefined && required(batch_timeout) <= height;
}

/**
 * Whether the fees of a batch reach the configured minimum fee of its token. Without one, by the learned fees: true if
 * two executed batches have paid as little, false if the fees are below half of that. In between, without learned fees,
 * or if a field that these need is missing, the result is `undefined`: learned fees withdraw no family.
 */
export function paysMinimum(input: BridgeInput, batch: Batch): boolean | undefined {
  const minimums = minBatchFees(input.tokens);
  const minimum = minimums.size === 0 ? undefined : minimums.get(required(batch.token_contract));
  if (minimum !== undefined) return totalFees(batch) >= minimum;
  return orUndefined(() => {
    const learned = learnedFees(input).get(contractLabel(batch.token_contract));
    if (learned === undefined) return undefined;
    const fees = totalFees(batch);
    if (fees >= learned.secondLowest) return true;
    return learned.minimum !== undefined && fees < learned.minimum ? false : undefined;
  });
}

/**
 * The batches that relayers should execute: with sufficient fees, or with unknown sufficiency if there are such batches
 * of two or more recently executed tokens. Of only one such token, it may be that nobody relays the batches.
 */
export function expectedBatches(input: BridgeInput, batches: readonly Batch[]): readonly Batch[] {
  const paying = batches.filter((batch) => paysMinimum(input, batch) === true);
  const unknown = batches.filter(
    (batch) =>
      paysMinimum(input, batch) === undefined && executedTokens(input).has(contractLabel(batch.token_contract)),
  );
  const tokens = new Set(unknown.map(({ token_contract }) => contractLabel(token_contract)));
  return tokens.size < 2 ? paying : [...paying, ...unknown];
}

/** False if one condition is false. Otherwise, an unknown condition, as of a missing field, withdraws the family. */
function allHold(conditions: readonly (() => boolean | undefined)[]): boolean {
  const results = conditions.map(orUndefined);
  return !results.includes(false) && results.every(required);
}

/**
 * The batches that a relayer can execute for sufficient fees; `undefined` when the validator set in the contract has no
 * power.
 */
export const relayableBatches = memoize((input: BridgeInput): readonly Batch[] | undefined => {
  requireSigningInput(input);
  const batches = rows(input.state.batches);
  if (batches.length === 0) return [];
  if (contractPower(input) === undefined) return undefined;
  return batches.filter((batch) =>
    allHold([
      () => isBatchSigned(input, batch),
      () => !isTimedOut(input, batch),
      () => paysMinimum(input, batch) !== false,
    ]),
  );
});

/**
 * When each live batch became relayable, by key: `null` while it is not, no entry if it was so in every document.
 * Signatures can come hours after the creation of a batch, and relayers are not late before that.
 */
export const relayableSince = memoize((input: BridgeInput): ReadonlyMap<string, Instant | null> => {
  const before = input.past?.relayableSince ?? new Map<string, Instant | null>();
  return orElse(
    () => {
      const relayable = new Set(relayableBatches(input)?.map(readBatchKey));
      const since = new Map<string, Instant | null>();
      for (const key of liveBatches(input).batches.keys()) {
        if (!relayable.has(key)) since.set(key, null);
        else if (before.has(key)) since.set(key, before.get(key) ?? input.at);
      }
      return since;
    },
    () => before,
  );
});

/** Whether the hub cancels the batch: its timeout is below the last observed external height. */
export function isExpired({ state }: BridgeInput, { batch_timeout }: Batch): boolean {
  return required(batch_timeout) < required(state.last_observed_external_height);
}

/**
 * Whether the batch has timed out at the current external height, but the hub does not cancel it yet: false for an
 * expired batch, else `undefined` while the current external height is unknown.
 */
export function isOverdue(input: BridgeInput, batch: Batch): boolean | undefined {
  if (isExpired(input, batch)) return false;
  return judgedExternalHeight(input) === undefined ? undefined : isTimedOut(input, batch);
}

/**
 * What a live batch or a queued transfer waits for. `observation`: a third of the power or more claims that the batch
 * was executed. `fees`: the fees are below the configured minimum fee of the token or, without one, the learned one.
 */
export const waitReasons = ['timeout', 'observation', 'signatures', 'fees', 'relayer', 'batch'] as const;
export type WaitReason = (typeof waitReasons)[number];

function isClaimedAsExecuted(input: BridgeInput, batch: Batch): boolean {
  const claims = executionClaims(input).get(readBatchKey(batch)) ?? [];
  return claims.length > 0 && (highestVotedShare(input, claims) ?? 1) >= THIRD_RATIO;
}

/** The first reason of a live batch; `undefined` without the power of the validator set in the contract. */
export function waitOfBatch(input: BridgeInput, batch: Batch): WaitReason | undefined {
  if (orUndefined(() => isExpired(input, batch)) === true || isTimedOut(input, batch)) return 'timeout';
  if (orUndefined(() => isClaimedAsExecuted(input, batch)) === true) return 'observation';
  const isSigned = isBatchSigned(input, batch);
  if (isSigned === undefined) return undefined;
  if (!isSigned) return 'signatures';
  return paysMinimum(input, batch) === false ? 'fees' : 'relayer';
}

/** The lowest height at which one of the batches was created. */
export function oldestBlock(batches: readonly Batch[]): Numeral | undefined {
  return lowest(batches.map(({ block }) => required(block)));
}

/** The lowest external height at which a live batch will time out. */
export function nextTimeout(input: BridgeInput): Numeral | undefined {
  const current = orUndefined(() => judgedExternalHeight(input));
  const timeouts = rows(input.state.batches).map(({ batch_timeout }) => required(batch_timeout));
  return lowest(timeouts.filter((timeout) => current === undefined || timeout > current));
}

/** The batches by height, each with the highest id of a transfer up to it. */
const highestIds = memoize((input: BridgeInput) => {
  const batches = rows(input.state.batches).toSorted((a, b) => compare(required(a.block), required(b.block)));
  let maxId: Numeral | undefined;
  return batches.flatMap(({ block, transactions }) => {
    maxId = highest([maxId, ...rows(transactions).map(readId)]);
    return maxId === undefined ? [] : [{ height: required(block), maxId }];
  });
});

/**
 * A hub height at which the transfer with this id existed: ids increase, and a batch has the height at which it was
 * built.
 */
export function existedAt(input: BridgeInput, id: Numeral): Numeral | undefined {
  return highestIds(input).find(({ maxId }) => id <= maxId)?.height;
}
