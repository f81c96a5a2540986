import type { Valset, ValsetConfirm } from './module-state.js';
import type { Random } from './random.js';
import { createSignature, type Validator } from './validators.js';

/** Powers in a validator set are shares of this. */
const POWER_SCALE = 2 ** 32 - 1;
/** A new set is made when this share of the power has moved since the newest. */
const MOVED_POWER = 0.05;
/** The contract takes a set or batch signed by more than two thirds of the power it knows. */
const CONTRACT_QUORUM = 2 / 3;

export interface LiveValset {
  readonly nonce: number;
  readonly wire: Valset;
  readonly powers: ReadonlyMap<Validator, number>;
  readonly confirms: Map<Validator, ValsetConfirm>;
}

/** The validator sets the hub keeps, and the one installed in the contract on the external chain. */
export class Valsets {
  readonly #random: Random;
  readonly #validators: readonly Validator[];
  /** Oldest first; never empty. */
  #sets: readonly LiveValset[];
  #newest: LiveValset;
  #installed: LiveValset;
  /** What the hub has seen of the contract: `#installed` once its event is observed. */
  #observed: Valset;

  constructor(random: Random, validators: readonly Validator[], height: number) {
    this.#random = random;
    this.#validators = validators;
    this.#newest = createValset(validators, height);
    this.#sets = [this.#newest];
    this.#installed = this.#newest;
    this.#observed = asObserved(this.#newest.wire);
  }

  get observed(): Valset {
    return this.#observed;
  }

  get newestFirst(): readonly LiveValset[] {
    return this.#sets.toReversed();
  }

  /** One stake moves within its spread; those a wider spread has left outside come back at once. */
  changeStake(spread: number): void {
    const moving = this.#random.between(0, this.#validators.length - 1);
    const share = spread * (2 * this.#random.next() - 1);
    for (const validator of this.#validators) {
      const { rank, baseStake, stake } = validator;
      const aim = rank === moving ? baseStake * (1 + share) : stake;
      validator.stake = Math.round(Math.min(Math.max(aim, baseStake * (1 - spread)), baseStake * (1 + spread)));
    }
  }

  createIfMoved(height: number): void {
    const powers = normalisedPowers(this.#validators);
    let moved = 0;
    for (const [validator, power] of powers) moved += Math.abs(power - (this.#newest.powers.get(validator) ?? 0));
    if (moved <= POWER_SCALE * MOVED_POWER) return;
    this.#newest = createValset(this.#validators, height);
    this.#sets = [...this.#sets, this.#newest];
  }

  confirm(validator: Validator, chance: number): void {
    for (const { nonce, confirms } of this.#sets) {
      if (confirms.has(validator) || !this.#random.chance(chance)) continue;
      confirms.set(validator, {
        nonce: String(nonce),
        orchestrator: validator.orchestrator,
        eth_address: validator.submittedAddress,
        signature: createSignature(this.#random),
      });
    }
  }

  /** Whether the contract would take what these validators signed: it knows the powers of the installed set. */
  isEnough(signers: ReadonlyMap<Validator, unknown>): boolean {
    let signed = 0;
    for (const [validator, power] of this.#installed.powers) if (signers.has(validator)) signed += power;
    return signed > POWER_SCALE * CONTRACT_QUORUM;
  }

  /** Installs the newest set in the contract if it may; one update at a time. */
  relay(): Valset | undefined {
    const inFlight = String(this.#installed.nonce) !== this.#observed.nonce;
    if (inFlight || this.#newest === this.#installed || !this.isEnough(this.#newest.confirms)) return undefined;
    this.#installed = this.#newest;
    return this.#newest.wire;
  }

  observe(valset: Valset): void {
    this.#observed = asObserved(valset);
  }

  /** Sets older than the observed one go once their window has passed, and their confirms with them. */
  prune(height: number, window: number): void {
    const goes = ({ nonce }: LiveValset) => nonce < Number(this.#observed.nonce) && nonce < height - window;
    if (this.#sets.some(goes)) this.#sets = this.#sets.filter((valset) => !goes(valset));
  }
}

/** The nonce of a set is the hub height at which it is made. */
function createValset(validators: readonly Validator[], height: number): LiveValset {
  const powers = normalisedPowers(validators);
  const members = [...powers]
    .toSorted(([, left], [, right]) => right - left)
    .map(([{ externalAddress }, power]) => ({ power: String(power), external_address: externalAddress }));
  const wire = { nonce: String(height), members, height: String(height), reward_amount: '0', reward_token: '' };
  return { nonce: height, wire, powers, confirms: new Map() };
}

function normalisedPowers(validators: readonly Validator[]): Map<Validator, number> {
  const total = validators.reduce((sum, { stake }) => sum + stake, 0);
  return new Map(validators.map((validator) => [validator, Math.floor((validator.stake * POWER_SCALE) / total)]));
}

/** The claim carries no hub height, so the observed set has none. */
function asObserved(valset: Valset): Valset {
  return { ...valset, height: '0' };
}
