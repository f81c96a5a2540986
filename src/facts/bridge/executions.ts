import { compare, floorDivide, subtract, sum, type Numeral } from '../../chain/numeral.js';
import { validOrUndefined } from '../../chain/fields.js';
import type { Attestation } from '../../chain/module-state.js';
import type { Instant } from '../../clock.js';
import { DAY_SECONDS } from '../../units.js';
import { groupBy } from '../grouping.js';
import { memoize } from '../memoize.js';
import { optional, orElse, orUndefined, required, rows, WITHDRAWN } from '../required-fields.js';
import { claimContent, eventAttestations, pendingAttestations, readClaimType } from './events.js';
import type { BridgeInput, Day, ExecutedBatches, LiveBatch, LiveBatches } from './bridge-input.js';
import { batchesByKey, batchKey } from './signatures.js';
import {
  batchedTransfers,
  BATCH_SIZE,
  contractLabel,
  MAX_REMEMBERED_TOKENS,
  readId,
  totalFees,
  unbatchedTransfers,
} from './tokens.js';

/*
 * Which batches were executed between two documents, and what they have paid. The hub deletes the transfers of an
 * executed batch for good, and returns those of a canceled batch.
 */

/** More live batches than any hub has. With more, executions are not judged. */
const MAX_BATCHES = 1_000;

export const liveBatches = memoize((input: BridgeInput): LiveBatches => {
  const rowsByKey = batchesByKey(input);
  if (rowsByKey.size > MAX_BATCHES) throw WITHDRAWN;
  const byEvent = groupBy(pendingAttestations(input), ({ nonce }) => nonce);
  const events = new Map<string | undefined, Numeral>();
  for (const [nonce, [claim, ...others]] of byEvent) {
    if (claim !== undefined && others.length === 0) events.set(claimedExecution(claim.attestation), nonce);
  }
  const batches = Array.from(rowsByKey, ([key, repeated]): [string, LiveBatch] => {
    const [{ batch_nonce, token_contract, batch_timeout, block } = {}] = repeated;
    const transfers = repeated.flatMap(({ transactions }) => rows(transactions));
    const batch = {
      contract: contractLabel(token_contract),
      nonce: required(batch_nonce),
      timeout: validOrUndefined(batch_timeout),
      block: validOrUndefined(block),
      fees: orUndefined(() => sum(repeated.map(totalFees))),
      transfers: transfers.slice(0, BATCH_SIZE).map(readId),
      event: events.get(key),
    };
    return [key, batch];
  });
  const { state, past, at } = input;
  const contract = optional(state.params)?.bridge_external_address;
  return {
    at,
    // If the address is missing, the bridge may have another contract than in the last document.
    bridgeContract: past?.live?.bridgeContract === undefined ? optional(contract) : required(contract),
    lastEvent: required(state.last_observed_nonce),
    lastBatch: required(state.last_outgoing_batch_id),
    lastTransfer: required(state.last_outgoing_pool_id),
    batches: new Map(batches),
  };
});

/** Whether the contract is the same and no counter of the hub is lower, as it would be on a node that is behind. */
function isLater(after: LiveBatches, before: LiveBatches): boolean {
  return (
    after.bridgeContract === before.bridgeContract &&
    after.lastEvent >= before.lastEvent &&
    after.lastBatch >= before.lastBatch &&
    after.lastTransfer >= before.lastTransfer
  );
}

/** The batches for the next document: the last ones, without their time, if this document cannot be compared. */
export function rememberedBatches(input: BridgeInput): LiveBatches | undefined {
  return orElse(
    () => {
      goneBatches(input);
      return liveBatches(input);
    },
    () => input.past?.live && { ...input.past.live, at: undefined },
  );
}

/** The key of the batch whose execution is claimed; `undefined` for another claim, and for one that cannot be read. */
function claimedExecution(attestation: Attestation): string | undefined {
  return orUndefined(() => {
    if (readClaimType(attestation) !== 'withdraw') return undefined;
    const { batch_nonce, token_contract } = claimContent(attestation);
    return batchKey(batch_nonce, token_contract);
  });
}

/** A batch that was live in the last document and is missing in this one. */
export interface GoneBatch extends LiveBatch {
  readonly key: string;
  /**
   * `unknown`: no observed event can be its execution, as at an upgrade, or it is claimed and its transfers are back.
   */
  readonly outcome: 'executed' | 'canceled' | 'unknown';
  /** Whether an observed claim of its execution was seen. An event can come and go between two documents, unseen. */
  readonly isClaimed: boolean;
}

/**
 * Decides for alerts, learned fees and counters whether a batch was executed. Any execution proves that relayers work
 * (`lastExecutionAt`); the fees that they accept are learned from claimed executions only (`learnedFees`).
 */
export const goneBatches = memoize((input: BridgeInput): readonly GoneBatch[] => {
  const { past, state } = input;
  if (past?.live === undefined || !isLater(liveBatches(input), past.live)) return [];
  const { batches, lastEvent } = past.live;
  const live = batchesByKey(input);
  const gone = Array.from(batches).filter(([key]) => !live.has(key));
  // There can be many transfers, so they are read only if a batch is gone, which is seldom.
  if (gone.length === 0) return [];
  const waiting = new Set([...unbatchedTransfers(input), ...batchedTransfers(input)].map(readId));
  const newestEvent = required(state.last_observed_nonce);
  const observed = eventAttestations(input).filter(({ attestation }) => attestation.observed === true);
  const claimed = new Set(observed.map(({ attestation }) => claimedExecution(attestation)));
  const judged = gone.map(([key, batch]) => ({
    ...batch,
    key,
    isBack: batch.transfers.some((id) => waiting.has(id)),
    isClaimed: claimed.has(key) || (batch.event !== undefined && batch.event <= newestEvent),
  }));
  // An event executes one batch at most.
  const others = observed.filter(({ nonce, attestation }) => nonce > lastEvent && isOtherEvent(attestation));
  const executions = Number(subtract(newestEvent, lastEvent)) - others.length;
  const isPossible = judged.filter(({ isBack }) => !isBack).length <= executions;
  return judged.map(({ isBack, ...batch }) => {
    if (isBack) return { ...batch, outcome: batch.isClaimed ? 'unknown' : 'canceled' };
    return { ...batch, outcome: batch.isClaimed || isPossible ? 'executed' : 'unknown' };
  });
});

/** Whether an event is known to be no execution of a batch. */
function isOtherEvent(attestation: Attestation): boolean {
  const type = orUndefined(() => readClaimType(attestation));
  return type !== undefined && type !== 'withdraw';
}

const REMEMBERED_DAYS = 14;

/** The executed batches up to this document, by token. A document that cannot be read changes nothing. */
export const executedBatches = memoize((input: BridgeInput): ReadonlyMap<string, ExecutedBatches> => {
  const before = input.past?.executed ?? new Map<string, ExecutedBatches>();
  return orElse(
    () => {
      const executed = new Map(before);
      const gone = goneBatches(input).filter(({ outcome }) => outcome === 'executed');
      for (const batch of gone.toSorted((a, b) => compare(a.nonce, b.nonce))) {
        const known = executed.get(batch.contract);
        if (known === undefined || known.nonce < batch.nonce) {
          executed.set(batch.contract, withExecution(known, batch, input.at));
        }
      }
      const newest = Array.from(executed).toSorted(([, a], [, b]) => b.at - a.at);
      return new Map(newest.slice(0, MAX_REMEMBERED_TOKENS));
    },
    () => before,
  );
});

function withExecution(
  { days }: Pick<ExecutedBatches, 'days'> = { days: [] },
  { nonce, fees, isClaimed }: GoneBatch,
  at: Instant,
): ExecutedBatches {
  if (!isClaimed || fees === undefined) return { nonce, at, days };
  const day = Math.floor(at / DAY_SECONDS);
  const { lows, batches } = days.find((other) => other.day === day) ?? { lows: [], batches: 0 };
  const today = { day, lows: [...lows, fees].toSorted(compare).slice(0, 2), batches: batches + 1 };
  return { nonce, at, days: [...days.filter((other) => other.day !== day && isRemembered(other, at)), today] };
}

function isRemembered({ day }: Day, at: Instant): boolean {
  return day > Math.floor(at / DAY_SECONDS) - REMEMBERED_DAYS;
}

/**
 * When the last execution of any batch was seen; 0 if none was. Learned fees expire by this time instead of the present
 * time: while no batch is executed, they are needed to show that something is wrong.
 */
export const lastExecutionAt = memoize((input: BridgeInput): Instant =>
  Math.max(0, ...Array.from(executedBatches(input).values(), ({ at }) => at)),
);

/** What the executed batches of a token have paid. */
interface LearnedFees {
  /** Judged by the second lowest: a single batch with low fees can be executed by chance. */
  readonly secondLowest: Numeral;
  /** Lower fees are probably too low; absent after a day without an execution of the token, because prices move. */
  readonly minimum: Numeral | undefined;
}

const MIN_BATCHES = 10;

/**
 * The fees that relayers have accepted, by token, for tokens with enough executed batches; used where no minimum fee is
 * configured. Relayers calculate in dollars, fees are in tokens, and prices and gas move: only fees far below are
 * probably too low, and only while batches of the token are executed.
 */
export const learnedFees = memoize((input: BridgeInput): ReadonlyMap<string, LearnedFees> => {
  const { at } = input;
  return new Map(
    Array.from(executedBatches(input)).flatMap(([contract, { days, at: lastAt }]) => {
      const keptDays = days.filter((day) => isRemembered(day, lastExecutionAt(input)));
      const [, secondLowest] = keptDays.flatMap(({ lows }) => lows).toSorted(compare);
      const batches = keptDays.reduce((total, day) => total + day.batches, 0);
      if (secondLowest === undefined || batches < MIN_BATCHES) return [];
      const minimum = at - lastAt <= DAY_SECONDS ? floorDivide(secondLowest, 2n) : undefined;
      return [[contract, { secondLowest, minimum }] as const];
    }),
  );
});

/** The tokens of which a batch was executed within fourteen days before the last execution of any token. */
export const executedTokens = memoize((input: BridgeInput): ReadonlySet<string> => {
  const executed = Array.from(executedBatches(input)).filter(([, { days }]) =>
    days.some((day) => isRemembered(day, lastExecutionAt(input))),
  );
  return new Set(executed.map(([contract]) => contract));
});
