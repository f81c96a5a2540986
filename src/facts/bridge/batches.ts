import { compare, highest, lowest, type Numeral } from '../../chain/numeral.js';
import type { Batch } from '../../chain/module-state.js';
import type { Instant } from '../../clock.js';
import { memoize } from '../memoize.js';
import { orElse, orUndefined, required, rows } from '../required-fields.js';
import { judgedExternalHeight } from './external-height.js';
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
 * Whether the fees of a batch reach the minimum of its token. Without a configured minimum: whether executed batches
 * have paid as little, and `undefined` if that is not known, or if they are only a little lower. What was learned
 * withdraws nothing.
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
 * The batches that relayers should execute. Where it is not known which fees they take, there have to be several tokens
 * whose batches were executed lately: nobody may relay those of a single one.
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

/**
 * Whether the fees make relayers execute the batch. Unknown signatures withdraw the family also for a batch that pays
 * too little.
 */
export function feeSufficiency(
  input: BridgeInput,
  batch: Batch,
): 'sufficient' | 'insufficient' | 'unsigned' | 'unknown' {
  const pays = paysMinimum(input, batch);
  if (pays === undefined) return 'unknown';
  const isSigned = isBatchSigned(input, batch) === true;
  if (!pays) return 'insufficient';
  return isSigned ? 'sufficient' : 'unsigned';
}

/** Whether all conditions hold. A missing field withdraws the family unless another condition does not hold. */
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
 * The first document in which a live batch was relayable, by key: `null` while it is not, nothing if it always was.
 * Signatures can come hours after the creation, and relayers are not late before.
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
 * Whether the batch has timed out at the current external height and is still held by the hub. `undefined` while that
 * height is unknown, unless the batch has expired.
 */
export function isOverdue(input: BridgeInput, batch: Batch): boolean | undefined {
  if (isExpired(input, batch)) return false;
  return judgedExternalHeight(input) === undefined ? undefined : isTimedOut(input, batch);
}

/**
 * What a live batch or a queued transfer waits for. `observation`: a third of the power or more claims that the batch
 * was executed. `fees`: the fees are below the minimum fee of the token, the learned one without a configured one.
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
