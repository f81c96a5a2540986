import type { Block } from './block.js';
import type { Rules } from './scenarios.js';
import { belongsTo, bondedStake, type Validator, type Valset } from './validators.js';

/** Validators claim an event after 12 external blocks of 12 s. */
const CONFIRMATION_MS = 12 * 12_000;
/** Share of the stake of all validators; the product is rounded down. */
const QUORUM = 0.66;

/** An action of the bridge contract on the external chain: the part of a claim that all validators agree on. */
export type ContractAction =
  | {
      readonly kind: 'deposit';
      readonly tokenContract: string;
      readonly amount: string;
      readonly sender: string;
      readonly receiver: string;
    }
  | { readonly kind: 'withdraw'; readonly batchNonce: number; readonly tokenContract: string }
  | { readonly kind: 'valset-update'; readonly valset: Valset };

interface ContractEvent {
  readonly nonce: number;
  readonly externalHeight: number;
  readonly action: ContractAction;
}

interface PendingEvent extends ContractEvent {
  readonly confirmedAtMs: number;
}

/** The votes for one claim of an event. An event has two ballots when the validators disagree. */
interface Ballot {
  readonly claim: ReturnType<typeof encodeClaim>;
  readonly isWrong: boolean;
  /** Hub height of the first vote. */
  readonly height: number;
  readonly voters: Validator[];
  observed: boolean;
}

/** The events of the contract on the external chain, and the votes by which the hub observes them. */
export class Oracle {
  lastObservedNonce: number;
  /** Hub height at which the last event was observed. */
  lastObservedAtHeight: number;
  lastObservedExternalHeight: number;
  readonly #validators: readonly Validator[];
  #lastEmittedNonce: number;
  #lastConfirmedNonce: number;
  /** From the last observed event on, in the order of nonces. */
  readonly #events = new Map<number, PendingEvent>();
  readonly #ballots = new Map<number, Ballot[]>();
  readonly #lastClaimedNonce = new Map<Validator, number>();
  readonly #firstNonce: number;
  #disputedNonce: number | undefined;

  constructor(validators: readonly Validator[], lastNonce: number, height: number, externalHeight: number) {
    this.#validators = validators;
    this.#firstNonce = lastNonce;
    this.#lastEmittedNonce = lastNonce;
    this.#lastConfirmedNonce = lastNonce;
    this.lastObservedNonce = lastNonce;
    this.lastObservedAtHeight = height;
    this.lastObservedExternalHeight = externalHeight;
  }

  get attestations() {
    return [...this.#ballots.values()].flat().map(({ observed, voters, height, claim }) => ({
      observed,
      votes: voters.map(({ operator }) => operator),
      height: String(height),
      claim,
    }));
  }

  /** The nonce of the last event that the validator has claimed. */
  claimPosition(validator: Validator): number {
    return this.#lastClaimedNonce.get(validator) ?? this.#firstNonce;
  }

  emit(action: ContractAction, { timeMs, externalHeight }: Pick<Block, 'timeMs' | 'externalHeight'>): void {
    this.#lastEmittedNonce += 1;
    this.#events.set(this.#lastEmittedNonce, {
      nonce: this.#lastEmittedNonce,
      externalHeight,
      confirmedAtMs: timeMs + CONFIRMATION_MS,
      action,
    });
  }

  /**
   * Validators claim an event that does not exist, with the nonce of the next event. Returns false, and does nothing,
   * if there is a next event already.
   */
  claimPhantom(validators: readonly Validator[], action: ContractAction, { height, externalHeight }: Block): boolean {
    const [first] = validators;
    const nonce = this.lastObservedNonce + 1;
    if (first === undefined || this.#lastEmittedNonce >= nonce || this.#ballots.has(nonce)) return false;
    const ballot = createBallot(first, { nonce, externalHeight, action }, true, height);
    ballot.voters.push(...validators.slice(1));
    this.#ballots.set(nonce, [ballot]);
    for (const validator of validators) this.#lastClaimedNonce.set(validator, nonce);
    return true;
  }

  /**
   * Deletes the claims of an event that does not exist, as only an upgrade can, and lets their voters claim the real
   * event.
   */
  deletePhantom(nonce: number): void {
    if (nonce > this.lastObservedNonce) this.#deleteWrong(nonce);
  }

  /** Confirms the events that are old enough. With `disputesEvent`, the first event becomes disputed. */
  confirmEvents(block: Block, disputesEvent: boolean): void {
    if (!disputesEvent) this.#settleDispute();
    for (let next = this.#nextEvent(); next && next.confirmedAtMs <= block.timeMs; next = this.#nextEvent()) {
      this.#lastConfirmedNonce = next.nonce;
      if (disputesEvent) this.#disputedNonce ??= next.nonce;
    }
  }

  /** A validator claims every event in order, and the last observed event even after its observation. */
  vote(validator: Validator, rules: Rules, height: number): void {
    if (!belongsTo(rules.voters, validator)) return;
    const first = Math.max((this.#lastClaimedNonce.get(validator) ?? 0) + 1, this.lastObservedNonce);
    for (let nonce = first; nonce <= this.#lastConfirmedNonce; nonce += 1) {
      const event = this.#events.get(nonce);
      if (event) this.#castVote(validator, event, rules, height);
    }
    this.#lastClaimedNonce.set(validator, this.#lastConfirmedNonce);
  }

  /** Observes the events that have a quorum by now, and returns their actions in order. */
  observeEvents(height: number): ContractAction[] {
    const observed: ContractAction[] = [];
    for (let event = this.#nextWithQuorum(); event; event = this.#nextWithQuorum()) {
      this.#ballots.delete(this.lastObservedNonce);
      this.#events.delete(this.lastObservedNonce);
      this.lastObservedNonce = event.nonce;
      this.lastObservedAtHeight = height;
      this.lastObservedExternalHeight = event.externalHeight;
      observed.push(event.action);
    }
    return observed;
  }

  #nextEvent(): PendingEvent | undefined {
    return this.#events.get(this.#lastConfirmedNonce + 1);
  }

  #castVote(validator: Validator, event: PendingEvent, { disputing }: Rules, height: number): void {
    const isWrong = event.nonce === this.#disputedNonce && disputing.has(validator.rank);
    const ballots = this.#ballots.get(event.nonce) ?? [];
    this.#ballots.set(event.nonce, ballots);
    const ballot = ballots.find((candidate) => candidate.isWrong === isWrong);
    if (ballot?.voters.includes(validator)) return;
    validator.transactions += 1;
    if (ballot) ballot.voters.push(validator);
    else ballots.push(createBallot(validator, event, isWrong, height));
  }

  /** The next event to observe, if one of its claims has a quorum of the stake. */
  #nextWithQuorum(): ContractEvent | undefined {
    const nonce = this.lastObservedNonce + 1;
    const ballots = this.#ballots.get(nonce);
    if (ballots === undefined) return undefined;
    const quorum = Math.floor(bondedStake(this.#validators) * QUORUM);
    const winner = ballots.find(({ voters }) => bondedStake(voters) >= quorum);
    if (winner === undefined) return undefined;
    winner.observed = true;
    return this.#events.get(nonce);
  }

  /** Deletes the wrong claim, and lets its voters claim the event again. */
  #settleDispute(): void {
    if (this.#disputedNonce === undefined) return;
    this.#deleteWrong(this.#disputedNonce);
    this.#disputedNonce = undefined;
  }

  #deleteWrong(nonce: number): void {
    const ballots = this.#ballots.get(nonce) ?? [];
    for (const { isWrong, voters } of ballots) {
      if (isWrong) for (const voter of voters) this.#lastClaimedNonce.set(voter, nonce - 1);
    }
    const others = ballots.filter(({ isWrong }) => !isWrong);
    if (others.length > 0) this.#ballots.set(nonce, others);
    else this.#ballots.delete(nonce);
  }
}

/** A wrong claim has another external height. */
function createBallot(validator: Validator, event: ContractEvent, isWrong: boolean, height: number): Ballot {
  const claimed = isWrong ? { ...event, externalHeight: event.externalHeight + 1 } : event;
  const claim = encodeClaim(claimed, validator.orchestrator);
  return { claim, isWrong, height, voters: [validator], observed: false };
}

/** The claim as a protobuf message in base64, with the fields in the order of their numbers, from the event nonce on. */
function encodeClaim({ nonce, externalHeight, action }: ContractEvent, orchestrator: string) {
  switch (action.kind) {
    case 'deposit': {
      const { tokenContract, amount, sender, receiver } = action;
      const fields = [nonce, externalHeight, tokenContract, amount, sender, receiver, orchestrator];
      return createClaim('MsgDepositClaim', fields);
    }
    case 'withdraw': {
      const fields = [nonce, externalHeight, action.batchNonce, action.tokenContract, orchestrator];
      return createClaim('MsgWithdrawClaim', fields);
    }
    case 'valset-update': {
      const { nonce: valsetNonce, members, reward_amount } = action.valset;
      const rows = members.map(({ power, external_address }) => [Number(power), external_address]);
      // Without a token of the reward, which is empty.
      const fields = [nonce, Number(valsetNonce), externalHeight, rows, reward_amount, [], orchestrator];
      return createClaim('MsgValsetUpdatedClaim', fields);
    }
  }
}

/** An array is a repeated message. */
type Field = number | string | readonly (readonly Field[])[];

function createClaim(message: string, fields: readonly Field[]) {
  return { type_url: `/hub.bridge.v1.${message}`, value: Buffer.from(encodeMessage(fields)).toString('base64') };
}

function encodeMessage(fields: readonly Field[]): number[] {
  return fields.flatMap((field, index) => {
    const number = index + 1;
    if (typeof field === 'number') return [number * 8, ...encodeVarint(field)];
    if (typeof field === 'string') return encodeBytes(number, [...Buffer.from(field)]);
    return field.flatMap((inner) => encodeBytes(number, encodeMessage(inner)));
  });
}

function encodeBytes(field: number, bytes: readonly number[]): number[] {
  return [field * 8 + 2, ...encodeVarint(bytes.length), ...bytes];
}

/** Seven bits per byte, lowest first; the high bit is set when another byte follows. */
function encodeVarint(value: number): number[] {
  return value < 0x80 ? [value] : [(value % 0x80) + 0x80, ...encodeVarint(Math.floor(value / 0x80))];
}
