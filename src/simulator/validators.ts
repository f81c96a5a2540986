import { createHash } from 'node:crypto';
import { bech32 } from '@scure/base';
import {
  Arrivals,
  createAccount,
  createAccountPair,
  createExternalAddress,
  createSignature,
  type Random,
} from './random.js';
import type { Immutable } from './responses.js';
import type { ValidatorGroup } from './scenarios.js';

/** The two largest equal the next four, as in real sets. No validator alone can block a quorum of two thirds. */
export const BASE_STAKES: readonly number[] = [
  140_000, 115_000, 72_000, 64_000, 60_000, 56_000, 52_000, 48_000, 45_000, 42_000, 39_000, 36_000, 33_000, 30_000,
  27_000, 24_000, 21_000, 18_000, 15_000, 12_000,
];
/** Monikers by rank. Two validators chose the same, which any chain allows. */
const MONIKERS = [
  'Northwind Staking',
  'Quorum Works',
  'Harbor Nodes',
  'Blue Mesa',
  'Validator Guild',
  'Tidewater',
  'Copperfield',
  'Signal Hill',
  'Ostrich Labs',
  'Keel & Anchor',
  'Meridian',
  'Fern Gully',
  'Basalt',
  'Long Shadow',
  'Tidewater',
  'Paper Crane',
  'Lantern',
  'Three Rivers',
  'Osprey',
  'Little Endian',
];
/** Two validators of medium size, without which a quorum is still reached. */
const SILENT_RANKS = new Set([4, 9]);
const MINORITY_SHARE = 0.5;
/** Registrations of validators that have left; the hub never deletes them. */
const FORMER_VALIDATORS = 3;

/** Powers in a validator set are shares of this. */
const POWER_SCALE = 2 ** 32 - 1;
/** The hub creates a validator set when this share of the power has moved since the newest set. */
const POWER_CHANGE_THRESHOLD = 0.05;
/** The contract accepts a set or batch signed by more than two thirds of the power of its installed set. */
const CONTRACT_QUORUM = 2 / 3;

export interface Validator {
  /** Position by base stake; 0 is the largest. */
  readonly rank: number;
  /** bech32 address of the operator key, as it appears in votes. */
  readonly operator: string;
  readonly moniker: string;
  readonly sender: string;
  readonly orchestrator: string;
  readonly externalAddress: string;
  /** The external address in the case in which the orchestrator submits it. */
  readonly submittedAddress: string;
  readonly submitsLowerCase: boolean;
  readonly baseStake: number;
  readonly inMinority: boolean;
  readonly orchestratorRuns: Arrivals;
  stake: number;
  /** Transactions of the orchestrator, which it pays for. */
  transactions: number;
  /** Neither in new validator sets nor counted in votes. */
  isJailed: boolean;
}

export function createValidators(random: Random, baseStakes: readonly number[]): Validator[] {
  const minority = minorityRanks(baseStakes);
  return baseStakes.map((baseStake, rank) => {
    const { account, operator } = createAccountPair(random);
    const externalAddress = createExternalAddress(random);
    const submitsLowerCase = rank % 3 === 1;
    return {
      rank,
      operator,
      moniker: MONIKERS[rank] ?? `Validator ${rank}`,
      sender: account,
      orchestrator: rank % 4 === 3 ? createAccount(random) : account,
      externalAddress,
      submittedAddress: submitsLowerCase ? externalAddress.toLowerCase() : externalAddress,
      submitsLowerCase,
      baseStake,
      inMinority: minority.has(rank),
      orchestratorRuns: new Arrivals(random),
      stake: baseStake,
      transactions: 0,
      isJailed: false,
    };
  });
}

const GROUPS: Record<Extract<ValidatorGroup, string>, (validator: Validator) => boolean> = {
  all: () => true,
  'all-but-two': ({ rank }) => !SILENT_RANKS.has(rank),
  minority: ({ inMinority }) => inMinority,
};

export function belongsTo(group: ValidatorGroup, validator: Validator): boolean {
  return typeof group === 'string' ? GROUPS[group](validator) : !group.has(validator.rank);
}

export function createOrchestratorAddresses(random: Random, validators: readonly Validator[]) {
  const former = Array.from({ length: FORMER_VALIDATORS }, () => {
    const sender = createAccount(random);
    return { sender, orchestrator: sender, eth_address: createExternalAddress(random) };
  });
  const current = validators.map(({ sender, orchestrator, externalAddress }) => ({
    sender,
    orchestrator,
    eth_address: externalAddress,
  }));
  return [...former, ...current].toSorted((left, right) => (left.eth_address < right.eth_address ? -1 : 1));
}

/** The consensus key of a validator, and the address that the slashing module makes of it. */
export function deriveConsensus({ operator }: Validator): { readonly key: string; readonly address: string } {
  const key = createHash('sha256').update(operator).digest();
  const hash = createHash('sha256').update(key).digest();
  return {
    key: key.toString('base64'),
    address: bech32.encode('hubvalcons', bech32.toWords(hash.subarray(0, 20))),
  };
}

/** The stake of the validators that are not jailed. */
export function bondedStake(validators: Iterable<Validator>): number {
  let sum = 0;
  for (const { stake, isJailed } of validators) if (!isJailed) sum += stake;
  return sum;
}

/** The smallest validators that together hold at most half of the stake. */
function minorityRanks(baseStakes: readonly number[]): Set<number> {
  const total = baseStakes.reduce((sum, stake) => sum + stake, 0);
  const ranks = new Set<number>();
  let held = 0;
  for (const [rank, stake] of [...baseStakes.entries()].toReversed()) {
    held += stake;
    if (held > total * MINORITY_SHARE) break;
    ranks.add(rank);
  }
  return ranks;
}

/** The row of a validator set in the response. */
export type Valset = Immutable<ReturnType<typeof valsetRow>>;

interface SimulatedValset {
  readonly nonce: number;
  readonly wire: Valset;
  readonly powers: ReadonlyMap<Validator, number>;
  readonly confirms: Map<Validator, ReturnType<typeof confirmRow>>;
}

/** The validator sets that the hub keeps, and the set in the contract on the external chain. */
export class Valsets {
  /**
   * The installed set that the hub has observed. It lags behind `#installed` until the event of the update is observed.
   */
  observed: Valset;
  readonly #random: Random;
  readonly #validators: readonly Validator[];
  /** Oldest first; never empty. */
  #sets: readonly SimulatedValset[];
  #newest: SimulatedValset;
  #installed: SimulatedValset;

  constructor(random: Random, validators: readonly Validator[], height: number) {
    this.#random = random;
    this.#validators = validators;
    this.#newest = createValset(validators, height);
    this.#sets = [this.#newest];
    this.#installed = this.#newest;
    this.observed = asObserved(this.#newest.wire);
  }

  /** The nonce of the newest set. */
  get newestNonce(): number {
    return this.#newest.nonce;
  }

  get newestFirst(): readonly SimulatedValset[] {
    return this.#sets.toReversed();
  }

  /** Moves the stake of one validator within the spread, and limits all stakes to the spread. */
  changeStake(spread: number): void {
    const changedRank = this.#random.between(0, this.#validators.length - 1);
    const share = spread * (2 * this.#random.next() - 1);
    for (const validator of this.#validators) {
      const { rank, baseStake, stake } = validator;
      const newStake = rank === changedRank ? baseStake * (1 + share) : stake;
      validator.stake = Math.round(Math.min(Math.max(newStake, baseStake * (1 - spread)), baseStake * (1 + spread)));
    }
  }

  createIfPowerChanged(height: number): void {
    const powers = normalizedPowers(this.#validators);
    let change = 0;
    for (const [validator, power] of powers) change += Math.abs(power - (this.#newest.powers.get(validator) ?? 0));
    if (change > POWER_SCALE * POWER_CHANGE_THRESHOLD) this.create(height);
  }

  /** A new set of the validators that are not jailed. */
  create(height: number): void {
    this.#newest = createValset(this.#validators, height);
    this.#sets = [...this.#sets, this.#newest];
  }

  /** Confirms the sets of which the validator is a member, from a nonce on. */
  confirm(validator: Validator, chance: number, firstNonce = 0): void {
    for (const { nonce, powers, confirms } of this.#sets) {
      if (nonce < firstNonce || confirms.has(validator) || !powers.has(validator)) continue;
      if (!this.#random.chance(chance)) continue;
      validator.transactions += 1;
      confirms.set(validator, confirmRow(this.#random, validator, nonce));
    }
  }

  /** Whether the contract accepts something signed by these validators; it counts the powers of the installed set. */
  isQuorum(signers: ReadonlyMap<Validator, unknown>): boolean {
    let signed = 0;
    for (const [validator, power] of this.#installed.powers) if (signers.has(validator)) signed += power;
    return signed > POWER_SCALE * CONTRACT_QUORUM;
  }

  /** Installs the newest set in the contract if the contract accepts it. Only one update is in flight at a time. */
  relay(): Valset | undefined {
    const inFlight = String(this.#installed.nonce) !== this.observed.nonce;
    if (inFlight || this.#newest === this.#installed || !this.isQuorum(this.#newest.confirms)) return undefined;
    this.#installed = this.#newest;
    return this.#newest.wire;
  }

  observe(valset: Valset): void {
    this.observed = asObserved(valset);
  }

  /** Removes sets that are older than both the observed set and the signing window, with their confirms. */
  prune(height: number, window: number): void {
    const isExpired = ({ nonce }: SimulatedValset) => nonce < Number(this.observed.nonce) && nonce < height - window;
    if (this.#sets.some(isExpired)) this.#sets = this.#sets.filter((valset) => !isExpired(valset));
  }
}

/** The nonce of a set is the hub height at which it is created. */
function createValset(validators: readonly Validator[], height: number): SimulatedValset {
  const powers = normalizedPowers(validators);
  return { nonce: height, wire: valsetRow(powers, height), powers, confirms: new Map() };
}

function valsetRow(powers: ReadonlyMap<Validator, number>, height: number) {
  const members = [...powers]
    .toSorted(([, left], [, right]) => right - left)
    .map(([{ externalAddress }, power]) => ({ power: String(power), external_address: externalAddress }));
  return { nonce: String(height), members, height: String(height), reward_amount: '0', reward_token: '' };
}

function confirmRow(random: Random, { orchestrator, submittedAddress }: Validator, nonce: number) {
  return { nonce: String(nonce), orchestrator, eth_address: submittedAddress, signature: createSignature(random) };
}

function normalizedPowers(validators: readonly Validator[]): Map<Validator, number> {
  const bonded = validators.filter(({ isJailed }) => !isJailed);
  const total = bondedStake(bonded);
  return new Map(bonded.map((validator) => [validator, Math.floor((validator.stake * POWER_SCALE) / total)]));
}

/** The hub takes the observed set from a claim, which has no hub height. */
function asObserved(valset: Valset): Valset {
  return { ...valset, height: '0' };
}
