import { createAccount, createAccountPair, createExternalAddress } from './addresses.js';
import type { OrchestratorAddress } from './module-state.js';
import { Arrivals, type Random } from './random.js';
import type { Crew } from './scenarios.js';

/** Two of them weigh as much as the next four, as in real sets; none can stop a quorum of two thirds alone. */
const BASE_STAKES = [
  140_000, 115_000, 72_000, 64_000, 60_000, 56_000, 52_000, 48_000, 45_000, 42_000, 39_000, 36_000, 33_000, 30_000,
  27_000, 24_000, 21_000, 18_000, 15_000, 12_000,
];
/** Mid-sized: without these two a quorum is still reached. */
const SILENT_RANKS = new Set([4, 9]);
const MINORITY_SHARE = 0.5;
/** Keys of validators that left: rows are never pruned. */
const FORMER_VALIDATORS = 3;

const SIGNATURE_BYTES = 65;

export interface Validator {
  readonly rank: number;
  /** bech32 of the operator key: what votes show. */
  readonly operator: string;
  readonly sender: string;
  readonly orchestrator: string;
  readonly externalAddress: string;
  /** The same as the orchestrator's software submits it: some keep the checksum's case, some do not. */
  readonly submittedAddress: string;
  readonly submitsLowerCase: boolean;
  readonly baseStake: number;
  readonly inMinority: boolean;
  readonly runs: Arrivals;
  stake: number;
}

export function createValidators(random: Random): Validator[] {
  const minority = minorityRanks();
  return BASE_STAKES.map((baseStake, rank) => {
    const { account, operator } = createAccountPair(random);
    const externalAddress = createExternalAddress(random);
    const submitsLowerCase = rank % 3 === 1;
    return {
      rank,
      operator,
      sender: account,
      orchestrator: rank % 4 === 3 ? createAccount(random) : account,
      externalAddress,
      submittedAddress: submitsLowerCase ? externalAddress.toLowerCase() : externalAddress,
      submitsLowerCase,
      baseStake,
      inMinority: minority.has(rank),
      runs: new Arrivals(random),
      stake: baseStake,
    };
  });
}

const CREWS: Record<Crew, (validator: Validator) => boolean> = {
  all: () => true,
  'all-but-two': ({ rank }) => !SILENT_RANKS.has(rank),
  minority: ({ inMinority }) => inMinority,
};

export function belongsTo(crew: Crew, validator: Validator): boolean {
  return CREWS[crew](validator);
}

/** 130 hex characters without 0x; the last byte is the recovery id. */
export function createSignature(random: Random): string {
  return `${random.hex((SIGNATURE_BYTES - 1) * 2)}0${random.between(0, 1)}`;
}

export function createOrchestratorAddresses(random: Random, validators: readonly Validator[]): OrchestratorAddress[] {
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

/** From the smallest up, as long as they hold no more than half of the stake together. */
function minorityRanks(): Set<number> {
  const total = BASE_STAKES.reduce((sum, stake) => sum + stake, 0);
  const ranks = new Set<number>();
  let held = 0;
  for (const [rank, stake] of [...BASE_STAKES.entries()].toReversed()) {
    held += stake;
    if (held > total * MINORITY_SHARE) break;
    ranks.add(rank);
  }
  return ranks;
}
