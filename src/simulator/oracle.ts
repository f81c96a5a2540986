import { type ContractEvent, type ContractReport, encodeClaim } from './claims.js';
import type { Attestation, Claim } from './module-state.js';
import type { Moment } from './moment.js';
import type { Rules } from './scenarios.js';
import { belongsTo, type Validator } from './validators.js';

/** Oracles wait for this many external blocks before they claim what they saw. */
const CONFIRMATION_MS = 12 * 12_000;
/** Of the stake of all validators, rounded down. */
const QUORUM = 0.66;

interface PendingEvent extends ContractEvent {
  readonly visibleAtMs: number;
}

interface Ballot {
  readonly claim: Claim;
  readonly forged: boolean;
  /** Hub height of the first vote. */
  readonly height: number;
  readonly voters: Validator[];
  observed: boolean;
}

/** Events of the contract on the external chain, and the votes that make them true on the hub. */
export class Oracle {
  readonly #validators: readonly Validator[];
  #lastEmitted: number;
  #lastVisible: number;
  #lastObserved: number;
  /** When the external height last became known here, as a hub height. */
  #observedAtHeight: number;
  #externalHeight: number;
  /** From the observed one up, in order of their nonces. */
  readonly #events = new Map<number, PendingEvent>();
  readonly #ballots = new Map<number, Ballot[]>();
  readonly #lastClaimed = new Map<Validator, number>();
  #disputedNonce: number | undefined;

  constructor(validators: readonly Validator[], lastNonce: number, height: number, externalHeight: number) {
    this.#validators = validators;
    this.#lastEmitted = lastNonce;
    this.#lastVisible = lastNonce;
    this.#lastObserved = lastNonce;
    this.#observedAtHeight = height;
    this.#externalHeight = externalHeight;
  }

  get lastObservedNonce(): number {
    return this.#lastObserved;
  }

  get observedAtHeight(): number {
    return this.#observedAtHeight;
  }

  get lastObservedExternalHeight(): number {
    return this.#externalHeight;
  }

  get attestations(): Attestation[] {
    return [...this.#ballots.values()].flat().map(({ observed, voters, height, claim }) => ({
      observed,
      votes: voters.map(({ operator }) => operator),
      height: String(height),
      claim,
    }));
  }

  emit(report: ContractReport, moment: Moment): void {
    this.#lastEmitted += 1;
    this.#events.set(this.#lastEmitted, {
      nonce: this.#lastEmitted,
      externalHeight: moment.externalHeight,
      visibleAtMs: moment.nowMs + CONFIRMATION_MS,
      report,
    });
  }

  /** What the external chain has confirmed by now, and whether the validators agree on it. */
  look(moment: Moment, disputes: boolean): void {
    if (!disputes) this.#settleDispute();
    for (let next = this.#next(); next && next.visibleAtMs <= moment.nowMs; next = this.#next()) {
      this.#lastVisible = next.nonce;
      if (disputes) this.#disputedNonce ??= next.nonce;
    }
  }

  /** Validators claim every event in turn; one that comes late still joins the observed one. */
  vote(validator: Validator, rules: Rules, height: number): void {
    if (!belongsTo(rules.voters, validator)) return;
    const first = Math.max((this.#lastClaimed.get(validator) ?? 0) + 1, this.#lastObserved);
    for (let nonce = first; nonce <= this.#lastVisible; nonce += 1) {
      const event = this.#events.get(nonce);
      if (event) this.#castVote(validator, event, height);
    }
    this.#lastClaimed.set(validator, this.#lastVisible);
  }

  /** The events that become true in this block, in order. */
  observe(height: number): ContractEvent[] {
    const observed: ContractEvent[] = [];
    for (let event = this.#decided(); event; event = this.#decided()) {
      this.#forget(this.#lastObserved);
      this.#lastObserved = event.nonce;
      this.#observedAtHeight = height;
      this.#externalHeight = event.externalHeight;
      observed.push(event);
    }
    return observed;
  }

  #next(): PendingEvent | undefined {
    return this.#events.get(this.#lastVisible + 1);
  }

  #castVote(validator: Validator, event: PendingEvent, height: number): void {
    const forged = event.nonce === this.#disputedNonce && validator.rank % 2 === 1;
    const ballots = this.#ballots.get(event.nonce) ?? [];
    this.#ballots.set(event.nonce, ballots);
    const ballot = ballots.find((candidate) => candidate.forged === forged);
    if (ballot?.voters.includes(validator)) return;
    if (ballot) ballot.voters.push(validator);
    else ballots.push(createBallot(validator, event, forged, height));
  }

  /** The next event in order, once enough stake has voted for one claim of it. */
  #decided(): ContractEvent | undefined {
    const nonce = this.#lastObserved + 1;
    const total = this.#validators.reduce((sum, { stake }) => sum + stake, 0);
    const winner = this.#ballots.get(nonce)?.find(({ voters }) => {
      return voters.reduce((sum, { stake }) => sum + stake, 0) >= Math.floor(total * QUORUM);
    });
    if (winner === undefined) return undefined;
    winner.observed = true;
    return this.#events.get(nonce);
  }

  /** The wrong claim is pruned by hand, and who voted for it claims again. */
  #settleDispute(): void {
    const disputed = this.#disputedNonce;
    if (disputed === undefined) return;
    const ballots = this.#ballots.get(disputed) ?? [];
    for (const { forged, voters } of ballots) {
      if (forged) for (const voter of voters) this.#lastClaimed.set(voter, disputed - 1);
    }
    this.#ballots.set(
      disputed,
      ballots.filter(({ forged }) => !forged),
    );
    this.#disputedNonce = undefined;
  }

  #forget(nonce: number): void {
    this.#ballots.delete(nonce);
    this.#events.delete(nonce);
  }
}

function createBallot(validator: Validator, event: PendingEvent, forged: boolean, height: number): Ballot {
  const claimed = forged ? { ...event, externalHeight: event.externalHeight + 1 } : event;
  const claim = encodeClaim(claimed, validator.orchestrator);
  return { claim, forged, height, voters: [validator], observed: false };
}
