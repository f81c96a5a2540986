import { readClaimType, claimContent, eventAttestations, pendingAttestations } from './events.js';
import { compare, floorDivide, type Numeral } from '../../chain/numeral.js';
import type { Attestation, Batch } from '../../chain/module-state.js';
import type { Instant } from '../../clock.js';
import { DAY_SECONDS } from '../../units.js';
import { groupBy } from '../grouping.js';
import { memoize } from '../memoize.js';
import { orElse, orUndefined, required, rows } from '../required-fields.js';
import type { BridgeInput } from './bridge-input.js';
import { batchesByKey, batchKey } from './signatures.js';
import {
  batchedTransfers,
  contractLabel,
  readId,
  MAX_REMEMBERED_TOKENS,
  totalFees,
  unbatchedTransfers,
} from './tokens.js';

/*
 * The fees of batches that were executed: what relayers take, where no minimum is configured. Their minimum is in
 * dollars, while fees are in tokens, and prices and gas move, so that only much lower fees are probably too low, and
 * only while batches are executed.
 */

/** A live batch of the last document. */
interface LiveBatch {
  readonly contract: string;
  readonly nonce: Numeral;
  readonly fees: Numeral;
  /** A transfer in it; the hub returns it when it cancels the batch. */
  readonly transfer: Numeral | undefined;
  /** The nonce of the pending event that is claimed to be its execution, and nothing else. */
  readonly event: Numeral | undefined;
}

interface Day {
  /** Since 1970, by the process clock. */
  readonly day: number;
  /** The two lowest sums of fees, ascending. */
  readonly lows: readonly Numeral[];
  readonly batches: number;
}

/** The executed batches of a token: plain data of bounded size. */
interface ExecutedBatches {
  /** The highest nonce: each batch counts once, also when a node with an older state answers. */
  readonly nonce: Numeral;
  readonly at: Instant;
  /** The last fourteen days, ascending. */
  readonly days: readonly Day[];
}

/** The memory of earlier documents. */
export interface FeeMemory {
  readonly live: ReadonlyMap<string, LiveBatch>;
  readonly executed: ReadonlyMap<string, ExecutedBatches>;
}

const NO_FEES: FeeMemory = { live: new Map(), executed: new Map() };
const REMEMBERED_DAYS = 14;
const MAX_LIVE_BATCHES = 1_000;

/** The memory after the document; a document that cannot be read leaves it. */
export const feeMemory = memoize((input: BridgeInput): FeeMemory => {
  const { fees: before = NO_FEES } = input.past ?? {};
  return orElse(
    () => {
      const executed = new Map(before.executed);
      const gone = executedSince(input, before.live).toSorted((a, b) => compare(a.nonce, b.nonce));
      for (const batch of gone) {
        const known = executed.get(batch.contract);
        if (known !== undefined && known.nonce >= batch.nonce) continue;
        executed.set(batch.contract, withBatch(known, batch, input.at));
      }
      const newest = Array.from(executed).toSorted(([, a], [, b]) => b.at - a.at);
      return { live: liveBatches(input), executed: new Map(newest.slice(0, MAX_REMEMBERED_TOKENS)) };
    },
    () => before,
  );
});

/** The batches of the last document whose execution was observed since then. */
function executedSince(input: BridgeInput, live: FeeMemory['live']): readonly LiveBatch[] {
  const last = required(input.state.last_observed_nonce);
  const observed = new Set(
    eventAttestations(input).flatMap(({ attestation }) =>
      attestation.observed === true ? (executedBatch(attestation) ?? []) : [],
    ),
  );
  const gone = Array.from(live).filter(
    ([key, { event }]) =>
      !batchesByKey(input).has(key) && (observed.has(key) || (event !== undefined && event <= last)),
  );
  // Seldom, because there can be many transfers.
  if (gone.length === 0) return [];
  const waiting = new Set([...unbatchedTransfers(input), ...batchedTransfers(input)].map(readId));
  return gone.flatMap(([, batch]) => (batch.transfer !== undefined && waiting.has(batch.transfer) ? [] : [batch]));
}

/** The key of the batch whose execution is claimed; `undefined` for another claim, and for one that cannot be read. */
function executedBatch(attestation: Attestation): string | undefined {
  return orUndefined(() => {
    if (readClaimType(attestation) !== 'withdraw') return undefined;
    const { batchNonce, tokenContract } = claimContent(attestation);
    return batchKey(batchNonce, tokenContract);
  });
}

function liveBatches(input: BridgeInput): FeeMemory['live'] {
  const events = new Map(
    Array.from(groupBy(pendingAttestations(input), ({ nonce }) => nonce)).flatMap(([nonce, [claim, ...others]]) => {
      const key = claim && others.length === 0 ? executedBatch(claim.attestation) : undefined;
      return key === undefined ? [] : [[key, nonce] as const];
    }),
  );
  return new Map(
    rows(input.state.batches)
      .slice(0, MAX_LIVE_BATCHES)
      .flatMap((batch) => {
        const live = orUndefined(() => liveBatch(batch, events));
        return live === undefined ? [] : [[batchKey(batch.batch_nonce, batch.token_contract), live] as const];
      }),
  );
}

function liveBatch(batch: Batch, events: ReadonlyMap<string, Numeral>): LiveBatch {
  const { batch_nonce: nonce, token_contract: contract, transactions } = batch;
  const [first] = rows(transactions);
  return {
    contract: contractLabel(contract),
    nonce: required(nonce),
    fees: totalFees(batch),
    transfer: first && readId(first),
    event: events.get(batchKey(nonce, contract)),
  };
}

function withBatch(before: ExecutedBatches | undefined, { nonce, fees }: LiveBatch, at: Instant): ExecutedBatches {
  const day = Math.floor(at / DAY_SECONDS);
  const days = (before?.days ?? []).filter((other) => isRemembered(other, at));
  const { lows, batches } = days.find((other) => other.day === day) ?? { lows: [], batches: 0 };
  const today = { day, lows: [...lows, fees].toSorted(compare).slice(0, 2), batches: batches + 1 };
  return { nonce, at, days: [...days.filter((other) => other.day !== day), today] };
}

function isRemembered({ day }: Day, at: Instant): boolean {
  return day > Math.floor(at / DAY_SECONDS) - REMEMBERED_DAYS;
}

/** What the executed batches of a token have paid. */
export interface LearnedFees {
  readonly lowest: Numeral;
  /** One batch can be executed by chance. */
  readonly secondLowest: Numeral;
  /** Below it, fees are probably too low; absent while nothing is executed, because prices move. */
  readonly minimum: Numeral | undefined;
}

const MIN_BATCHES = 10;

/** The last execution. What was learned is kept while nothing is executed, because it says that something is wrong. */
const lastExecutionAt = memoize((input: BridgeInput): Instant =>
  Math.max(0, ...Array.from(feeMemory(input).executed.values(), ({ at }) => at)),
);

/** By token, of tokens with enough executed batches. */
export const learnedFees = memoize((input: BridgeInput): ReadonlyMap<string, LearnedFees> => {
  const { at } = input;
  return new Map(
    Array.from(feeMemory(input).executed).flatMap(([contract, { days, at: lastAt }]) => {
      const keptDays = days.filter((day) => isRemembered(day, lastExecutionAt(input)));
      const [lowest, secondLowest] = keptDays.flatMap(({ lows }) => lows).toSorted(compare);
      const batches = keptDays.reduce((sum, day) => sum + day.batches, 0);
      if (lowest === undefined || secondLowest === undefined || batches < MIN_BATCHES) return [];
      const minimum = at - lastAt <= DAY_SECONDS ? floorDivide(secondLowest, 2n) : undefined;
      return [[contract, { lowest, secondLowest, minimum }] as const];
    }),
  );
});

/** The tokens of which a batch was executed within fourteen days before the last execution of any token. */
export const executedTokens = memoize((input: BridgeInput): ReadonlySet<string> => {
  const executed = Array.from(feeMemory(input).executed).filter(([, { days }]) =>
    days.some((day) => isRemembered(day, lastExecutionAt(input))),
  );
  return new Set(executed.map(([contract]) => contract));
});
