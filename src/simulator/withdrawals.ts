import { createAccount, createExternalAddress } from './addresses.js';
import type { Batch, BatchConfirm, OutgoingTransfer } from './module-state.js';
import type { Random } from './random.js';
import { drawAmount, type Token, type Tokens } from './tokens.js';
import { createSignature, type Validator } from './validators.js';

/** More of one token are not asked for before one of them is done. */
const BATCHES_PER_TOKEN = 5;
const FEE_SHARE = 1000n;

export interface Transfer {
  readonly id: number;
  readonly fee: bigint;
  readonly wire: OutgoingTransfer;
}

export interface LiveBatch {
  readonly nonce: number;
  readonly token: Token;
  readonly timeout: number;
  readonly transfers: readonly Transfer[];
  readonly wire: Batch;
  readonly confirms: Map<Validator, BatchConfirm>;
  /** Done on the external chain; the hub hears of it by a vote. */
  executed: boolean;
}

/** The way out: transfers wait in the pool, then in a batch, until the batch is executed or cancelled. */
export class Withdrawals {
  readonly #random: Random;
  readonly #tokens: Tokens;
  readonly #queues: ReadonlyMap<Token, Transfer[]>;
  /** Oldest first. */
  #batches: readonly LiveBatch[] = [];
  #lastPoolId: number;
  #lastBatchId: number;

  constructor(random: Random, tokens: Tokens) {
    this.#random = random;
    this.#tokens = tokens;
    this.#queues = new Map(tokens.map((token) => [token, []]));
    this.#lastPoolId = random.between(400_000, 500_000);
    this.#lastBatchId = random.between(20_000, 30_000);
  }

  get lastPoolId(): number {
    return this.#lastPoolId;
  }

  get lastBatchId(): number {
    return this.#lastBatchId;
  }

  get batches(): readonly LiveBatch[] {
    return this.#batches;
  }

  get waiting(): number {
    return this.#tokens.reduce((count, token) => count + this.#queue(token).length, 0);
  }

  /** In the order of the service: by token, then the highest fee first. */
  get unbatched(): OutgoingTransfer[] {
    return this.#tokens
      .toSorted((left, right) => (left.contract < right.contract ? 1 : -1))
      .flatMap((token) => this.#queue(token).toSorted((left, right) => compare(right.fee, left.fee)))
      .map(({ wire }) => wire);
  }

  send(): void {
    const token = this.#random.pick(this.#tokens);
    this.#lastPoolId += 1;
    const amount = drawAmount(this.#random, token);
    const fee = amount / FEE_SHARE + 1n;
    const wire = {
      id: String(this.#lastPoolId),
      sender: createAccount(this.#random),
      dest_address: createExternalAddress(this.#random),
      erc20_token: { contract: token.contract, amount: String(amount) },
      erc20_fee: { contract: token.contract, amount: String(fee) },
    };
    this.#queue(token).push({ id: this.#lastPoolId, fee, wire });
  }

  /** One run of the batch creator: who waits longest is served first, then queues that fill a batch. */
  buildBatches(most: number, size: number, height: number, timeout: number): void {
    for (let built = 0; built < most; built += 1) {
      const token = built === 0 ? this.#longestWaiting() : this.#longestQueue(size);
      if (token === undefined) return;
      this.#buildBatch(token, size, height, timeout);
    }
  }

  confirm(validator: Validator, signs: (token: Token) => boolean): void {
    for (const { nonce, token, confirms } of this.#batches) {
      if (confirms.has(validator) || !signs(token)) continue;
      confirms.set(validator, {
        nonce: String(nonce),
        token_contract: validator.submitsLowerCase ? token.contract.toLowerCase() : token.contract,
        eth_signer: validator.externalAddress,
        orchestrator: validator.orchestrator,
        signature: createSignature(this.#random),
      });
    }
  }

  /** The contract has no use any more for older batches of the token: their transfers wait again. */
  observeExecution(batchNonce: number): void {
    const executed = this.#batches.find(({ nonce }) => nonce === batchNonce);
    if (executed === undefined) return;
    this.#batches = this.#batches.filter((batch) => batch !== executed);
    this.#cancel(({ nonce, token }) => token === executed.token && nonce < batchNonce);
  }

  cancelExpired(externalHeight: number): void {
    this.#cancel(({ timeout }) => timeout < externalHeight);
  }

  #cancel(isDead: (batch: LiveBatch) => boolean): void {
    for (const { token, transfers } of this.#batches.filter(isDead)) {
      const queue = this.#queue(token);
      queue.push(...transfers);
      queue.sort((left, right) => left.id - right.id);
    }
    this.#batches = this.#batches.filter((batch) => !isDead(batch));
  }

  /**
   * Takes the oldest transfers. The real service prefers high fees; here that would starve a few for ever and make
   * every backlog look stuck.
   */
  #buildBatch(token: Token, size: number, height: number, timeout: number): void {
    this.#lastBatchId += 1;
    const transfers = this.#queue(token).splice(0, size);
    const wire = {
      batch_nonce: String(this.#lastBatchId),
      batch_timeout: String(timeout),
      transactions: transfers.toSorted((left, right) => compare(right.fee, left.fee)).map((transfer) => transfer.wire),
      token_contract: token.contract,
      block: String(height),
    };
    const confirms = new Map<Validator, BatchConfirm>();
    const batch = { nonce: this.#lastBatchId, token, timeout, transfers, wire, confirms, executed: false };
    this.#batches = [...this.#batches, batch];
  }

  #longestWaiting(): Token | undefined {
    const oldestId = (token: Token) => this.#queue(token)[0]?.id ?? Infinity;
    return this.#open(1).toSorted((left, right) => oldestId(left) - oldestId(right))[0];
  }

  #longestQueue(atLeast: number): Token | undefined {
    const length = (token: Token) => this.#queue(token).length;
    return this.#open(atLeast).toSorted((left, right) => length(right) - length(left))[0];
  }

  /** Tokens that may have one more batch and have transfers for it. */
  #open(atLeast: number): Token[] {
    const liveBatches = (token: Token) => this.#batches.filter((batch) => batch.token === token).length;
    return this.#tokens.filter((token) => {
      return this.#queue(token).length >= atLeast && liveBatches(token) < BATCHES_PER_TOKEN;
    });
  }

  #queue(token: Token): Transfer[] {
    const queue = this.#queues.get(token);
    if (queue === undefined) throw new RangeError(`there is no queue for ${token.symbol}`);
    return queue;
  }
}

function compare(left: bigint, right: bigint): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
