import type { DocumentName } from '../../src/document-types.js';
import type { MainnetChain } from '../../src/simulator/mainnet-chain.js';
import { minBatchFee, type Token } from '../../src/simulator/token-model.js';
import type { Validator } from '../../src/simulator/validators.js';
import type { LiveBatch } from '../../src/simulator/withdrawals.js';
import { eventNonceOf } from '../simulator/document-rows.js';
import { WATCHED_RANK, type Fault, type FaultKind } from './faults.js';

/*
 * What is true of a chain and its faults at a point in time, by the books of the chain and not by the documents.
 */

const POWER_SCALE = 2 ** 32 - 1;
const BLOCK_MINUTES = 0.63 / 60;

export interface World {
  readonly minute: number;
  readonly nowSeconds: number;
  readonly chain: MainnetChain;
  /** The faults that are there. */
  readonly faults: readonly Fault[];
  /** Those that are over. */
  readonly over: readonly Fault[];
  /** Since when the exporter remembers what it has seen: the minute in which it began without a state file; 0 if it has run since before the day. */
  readonly remembersSince: number;
}

export const faultsOf = ({ faults }: World, ...kinds: readonly FaultKind[]): readonly Fault[] =>
  faults.filter(({ kind }) => kinds.includes(kind));

export const isBlind = ({ faults }: Pick<World, 'faults'>, document: DocumentName): boolean =>
  faults.some(({ blinds = [] }) => blinds.includes(document));

const bridge = ({ chain }: World): MainnetChain['bridge'] => chain.bridge;

/** The batches that the hub holds. */
export function batchesOf(world: World) {
  const { withdrawals } = bridge(world);
  const { chain } = world;
  return withdrawals.batches.map((batch) => ({
    nonce: batch.nonce,
    token: batch.token,
    ageMinutes: (chain.latest.height - batch.height) * BLOCK_MINUTES,
    /** Of the power in the contract. */
    signed: signedShare(world, batch),
    /** Whether its fees pay for the relay. */
    isWorthwhile: batch.fees >= minBatchFee(batch.token),
    /** External blocks until the contract rejects it. */
    blocksLeft: batch.timeout - chain.external.height,
    isExecuted: batch.executed,
  }));
}

/** The powers of a set of the hub; none for one that it did not make. */
function powersOf(world: World, nonce: string): ReadonlyMap<Validator, number> {
  const set = bridge(world).valsets.newestFirst.find((own) => String(own.nonce) === nonce);
  return set?.powers ?? new Map();
}

const observedPowers = (world: World): ReadonlyMap<Validator, number> =>
  powersOf(world, bridge(world).valsets.observed.nonce);

function shareOf(powers: ReadonlyMap<Validator, number>, isPart: (validator: Validator) => boolean): number {
  let share = 0;
  for (const [validator, power] of powers) if (isPart(validator)) share += power / POWER_SCALE;
  return share;
}

const signedShare = (world: World, { confirms }: LiveBatch): number =>
  shareOf(observedPowers(world), (validator) => confirms.has(validator));

function booksOf({ chain }: World, isPart: (key: string) => boolean): number {
  let count = 0;
  for (const [key, value] of chain.counts) if (isPart(key)) count += Number(value);
  return count;
}

/** How many batches the hub has seen executed. */
export const executedBatches = (world: World): number => booksOf(world, (key) => key.startsWith('batches_executed'));

/** How many batches of a token were executed or canceled. */
const goneBatches = (world: World, { contract }: Token): number =>
  booksOf(world, (key) => key.startsWith('batches_') && key.includes(contract));

/** Tokens whose waiting transfers are worth a batch, each with the number of batches that were built. */
export function tokensWorthABatch(world: World): readonly { readonly token: Token; readonly batches: number }[] {
  const { withdrawals, tokens } = bridge(world);
  return tokens
    .filter((token) => withdrawals.waitingFees(token) >= minBatchFee(token))
    .map((token) => ({
      token,
      batches: withdrawals.batches.filter((own) => own.token === token).length + goneBatches(world, token),
    }));
}

export function waitingTransfers(world: World): number {
  const { withdrawals } = bridge(world);
  return withdrawals.unbatchedCount + withdrawals.batches.reduce((sum, { transfers }) => sum + transfers.length, 0);
}

/** The claims of the next event: the shares of the power, the largest first. */
export function nextEvent(world: World) {
  const nonce = bridge(world).oracle.lastObservedNonce + 1;
  const shares = claimsOf(world, nonce).map(({ share }) => share);
  return shares.length === 0 ? undefined : { nonce, shares: shares.toSorted((a, b) => b - a) };
}

function claimsOf(world: World, nonce: number) {
  const { oracle, validators, valsets } = bridge(world);
  const newest = powersOf(world, String(valsets.newestNonce));
  const byOperator = new Map(validators.map((validator) => [validator.operator, validator]));
  return oracle.attestations
    .filter((row) => eventNonceOf(row) === nonce)
    .map(({ votes, claim }) => {
      const voters = new Set(votes.map((vote) => byOperator.get(vote)));
      return { type: claim.type_url, voters, share: shareOf(newest, (validator) => voters.has(validator)) };
    });
}

/** The share that claims what a fault makes up, as long as it waits to be observed. */
export function phantomShare(world: World, { ranks = new Set() }: Fault, type: string): number | undefined {
  const claims = claimsOf(world, bridge(world).oracle.lastObservedNonce + 1);
  return claims.find(
    (claim) =>
      claim.type.endsWith(type) && [...claim.voters].every((voter) => voter !== undefined && ranks.has(voter.rank)),
  )?.share;
}

/** Events of the contract that the hub has not observed. */
export function unobservedEvents(world: World): { readonly count: number; readonly lastObserved: number } {
  const lastObserved = bridge(world).oracle.lastObservedNonce;
  const state = world.chain.bridge.contract.stateAt(world.chain.external.height);
  return { count: (state?.eventNonce ?? lastObserved) - lastObserved, lastObserved };
}

/** The newest validator set, if it is not in the contract. */
export function unrelayedValset(world: World): { readonly signed: number } | undefined {
  const { valsets } = bridge(world);
  const [newest] = valsets.newestFirst;
  // The contract takes no set with a lower nonce.
  if (newest === undefined || newest.nonce <= Number(valsets.observed.nonce)) return undefined;
  return { signed: shareOf(observedPowers(world), (validator) => newest.confirms.has(validator)) };
}

/** Sum of the differences between the shares in the newest set and in the contract. */
export function drift(world: World): number {
  const { valsets } = bridge(world);
  const newest = powersOf(world, String(valsets.newestNonce));
  const observed = observedPowers(world);
  const validators = new Set([...newest.keys(), ...observed.keys()]);
  let sum = 0;
  for (const own of validators) sum += Math.abs((newest.get(own) ?? 0) - (observed.get(own) ?? 0)) / POWER_SCALE;
  return sum;
}

const isWatched = ({ rank }: Validator): boolean => rank === WATCHED_RANK;

/** The share of the newest set, without the watched validator, that has not voted for the last observed event. */
export function missingVotes(world: World): { readonly others: number; readonly watched: boolean } {
  const { oracle, valsets } = bridge(world);
  const newest = powersOf(world, String(valsets.newestNonce));
  const isLate = (validator: Validator): boolean => oracle.claimPosition(validator) < oracle.lastObservedNonce;
  return {
    others: shareOf(newest, (validator) => !isWatched(validator) && isLate(validator)),
    watched: [...newest.keys()].some((validator) => isWatched(validator) && isLate(validator)),
  };
}

/** Who has not signed the newest validator set. */
export function missingConfirms(world: World): { readonly others: number; readonly watched: boolean } {
  const [newest] = bridge(world).valsets.newestFirst;
  if (newest === undefined) return { others: 0, watched: false };
  const isLate = (validator: Validator): boolean => !newest.confirms.has(validator);
  return {
    others: shareOf(newest.powers, (validator) => !isWatched(validator) && isLate(validator)),
    watched: [...newest.powers.keys()].some((validator) => isWatched(validator) && isLate(validator)),
  };
}

const WINDOW_BLOCKS = 500;

/** The queues of the chains. */
export function queuesOf({ chain, nowSeconds, remembersSince }: World, dayStartSeconds: number) {
  return chain.crosschain.chains.map(({ id, queue, lookahead }) => {
    const { pending, missed } = queue;
    const listed = queue.listedMissed(chain.latest.height - WINDOW_BLOCKS + 1);
    const nonces = pending.map(({ nonce }) => nonce);
    const missedNonces = listed.map(({ nonce }) => nonce);
    const newlyMissed = listed.filter(({ createdSeconds }) => createdSeconds >= dayStartSeconds - 86_400);
    const created = pending.filter(({ direction }) => direction !== 'command').map((cctx) => cctx.createdSeconds);
    return {
      chainId: id,
      pending: pending.length,
      lowestNonce: nonces[0],
      highestNonce: nonces.length === 0 ? undefined : Math.max(...nonces),
      /** Minutes since the creation of the oldest pending one. */
      oldestMinutes: created.length === 0 ? 0 : (nowSeconds - Math.min(...created)) / 60,
      /** How many are missed that were not when the day began. */
      newlyMissed: newlyMissed.length,
      /** Whether one of them was not missed when the exporter began. */
      isMissedSinceBegin:
        remembersSince === 0 ||
        newlyMissed.some(({ createdSeconds }) => createdSeconds >= dayStartSeconds + remembersSince * 60),
      lowestMissedNonce: missedNonces.length === 0 ? undefined : Math.min(...missedNonces),
      /** Missed ones that the node no longer lists. */
      unlisted: missed.length - listed.length,
      /** `undefined` if clients do not look at the distance. */
      lookahead,
    };
  });
}
