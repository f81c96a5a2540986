import { createAccount, createExternalAddress, createSignature, type Random } from './random.js';
import { drawAmount, type Token, type Tokens } from './token-model.js';
import type { Validator } from './validators.js';

const MAX_BATCHES_PER_TOKEN = 5;
/** The fee of a transfer is its amount divided by this. */
const FEE_DIVISOR = 1000n;

interface PooledTransfer {
  readonly id: number;
  readonly amount: bigint;
  readonly fee: bigint;
  readonly wire: ReturnType<typeof transferRow>;
}

export interface LiveBatch {
  readonly nonce: number;
  readonly token: Token;
  /** Hub height at which it was created. */
  readonly height: number;
  readonly timeout: number;
  readonly transfers: readonly PooledTransfer[];
  /** Sum of the fees of its transfers. */
  readonly fees: bigint;
  readonly wire: ReturnType<typeof batchRow>;
  readonly confirms: Map<Validator, ReturnType<typeof confirmRow>>;
  /** Executed on the external chain. The hub removes the batch when it observes the event. */
  executed: boolean;
}

/**
 * Outgoing transfers: each is in the pool or in one batch until the batch is executed. A canceled batch returns its
 * transfers.
 */
export class Withdrawals {
  /** Oldest first. */
  batches: readonly LiveBatch[] = [];
  lastPoolId: number;
  lastBatchId: number;
  /** Events since the chain began, by name and labels: `batches_canceled 0xa timeout`. Tests compare the flow of the exporter with them. */
  readonly counts = new Map<string, bigint>();
  readonly #random: Random;
  readonly #tokens: Tokens;
  /** The unbatched transfers of each token, oldest first. */
  readonly #pool: Map<Token, PooledTransfer[]>;

  constructor(random: Random, tokens: Tokens) {
    this.#random = random;
    this.#tokens = tokens;
    this.#pool = new Map(tokens.map((token) => [token, []]));
    this.lastPoolId = random.between(400_000, 500_000);
    this.lastBatchId = random.between(20_000, 30_000);
  }

  get unbatchedCount(): number {
    return this.#tokens.reduce((count, token) => count + this.#findPool(token).length, 0);
  }

  /** In the order of the service: by token, then by falling fee. */
  get unbatched() {
    return this.#tokens
      .toSorted((left, right) => (left.contract < right.contract ? 1 : -1))
      .flatMap((token) => this.#findPool(token).toSorted(byFallingFee))
      .map(({ wire }) => wire);
  }

  /** A user sends a random amount of a random token for a usual fee. */
  addTransfer(): void {
    const token = this.#random.pick(this.#tokens);
    const amount = drawAmount(this.#random, token);
    this.add(token, amount, amount / FEE_DIVISOR + 1n);
  }

  add(token: Token, amount: bigint, fee: bigint): void {
    this.lastPoolId += 1;
    const wire = transferRow(this.#random, this.lastPoolId, token, amount, fee);
    this.#findPool(token).push({ id: this.lastPoolId, amount, fee, wire });
  }

  /**
   * A run of the batch creator: a batch for the token of the oldest transfer, then full batches for the longest
   * queues.
   */
  buildBatches(maxBatches: number, size: number, height: number, timeout: number): void {
    for (let built = 0; built < maxBatches; built += 1) {
      const token = built === 0 ? this.#tokenOfOldest() : this.#tokenOfLongestQueue(size);
      if (token === undefined) return;
      // The oldest transfers. A real hub takes the highest fees, which would leave transfers in the pool forever: every
      // backlog would look stuck.
      this.#createBatch(token, this.#findPool(token).slice(0, size), height, timeout);
    }
  }

  /** Sum of the fees of the transfers of a token that are in no batch. */
  waitingFees(token: Token): bigint {
    return sumOfFees(this.#findPool(token));
  }

  /** Creates a batch of the transfers with the highest fees, if there are any. */
  requestBatch(token: Token, size: number, height: number, timeout: number): void {
    const transfers = this.#findPool(token).toSorted(byFallingFee).slice(0, size);
    if (transfers.length > 0) this.#createBatch(token, transfers, height, timeout);
  }

  /** The sender of the oldest transfer with a lower fee cancels it. */
  cancelTransfer(token: Token, belowFee: bigint): void {
    const pool = this.#findPool(token);
    const index = pool.findIndex(({ fee }) => fee < belowFee);
    if (index === -1) return;
    pool.splice(index, 1);
  }

  /** Confirms all batches of the tokens. */
  confirm(validator: Validator, signsFor: (token: Token) => boolean): void {
    for (const batch of this.batches) if (signsFor(batch.token)) this.#confirmBatch(validator, batch);
  }

  /** Confirms the newest batch of the tokens without a confirm of the validator. */
  confirmNewest(validator: Validator, signsFor: (token: Token) => boolean): void {
    const newest = this.batches.findLast(({ token, confirms }) => !confirms.has(validator) && signsFor(token));
    if (newest !== undefined) this.#confirmBatch(validator, newest);
  }

  /** Removes the executed batch and cancels older batches of its token, which the contract no longer accepts. */
  observeExecution(batchNonce: number): void {
    const executed = this.batches.find(({ nonce }) => nonce === batchNonce);
    if (executed === undefined) return;
    this.batches = this.batches.filter((batch) => batch !== executed);
    const { contract } = executed.token;
    this.#count(`batches_executed ${contract}`);
    this.#count(`transfers_executed ${contract}`, executed.transfers.length);
    this.#cancel('superseded', ({ nonce, token }) => token === executed.token && nonce < batchNonce);
  }

  cancelExpired(externalHeight: number): void {
    this.#cancel('timeout', ({ timeout }) => timeout < externalHeight);
  }

  #confirmBatch(validator: Validator, batch: LiveBatch): void {
    if (batch.confirms.has(validator)) return;
    validator.transactions += 1;
    batch.confirms.set(validator, confirmRow(this.#random, validator, batch));
  }

  #cancel(reason: string, isCanceled: (batch: LiveBatch) => boolean): void {
    if (!this.batches.some(isCanceled)) return;
    for (const { token, transfers } of this.batches.filter(isCanceled)) {
      const pool = this.#findPool(token);
      this.#count(`batches_canceled ${token.contract} ${reason}`);
      pool.push(...transfers);
      pool.sort((left, right) => left.id - right.id);
    }
    this.batches = this.batches.filter((batch) => !isCanceled(batch));
  }

  #count(key: string, by = 1): void {
    this.counts.set(key, (this.counts.get(key) ?? 0n) + BigInt(by));
  }

  #createBatch(token: Token, transfers: readonly PooledTransfer[], height: number, timeout: number): void {
    this.lastBatchId += 1;
    const batched = new Set(transfers);
    this.#pool.set(
      token,
      this.#findPool(token).filter((transfer) => !batched.has(transfer)),
    );
    const wire = batchRow(this.lastBatchId, token, transfers, height, timeout);
    const fees = sumOfFees(transfers);
    const nonce = this.lastBatchId;
    const batch = { nonce, token, height, timeout, transfers, fees, wire, confirms: new Map(), executed: false };
    this.batches = [...this.batches, batch];
  }

  /** Amounts and fees of the transfers of a token that the contract has not executed. The hub has burned them. */
  held(token: Token): bigint {
    const batches = this.batches.filter((batch) => batch.token === token && !batch.executed);
    return batches.reduce((sum, { transfers }) => sum + sumAmounts(transfers), sumAmounts(this.#findPool(token)));
  }

  #tokenOfOldest(): Token | undefined {
    const oldestId = (token: Token) => this.#findPool(token)[0]?.id ?? Infinity;
    return this.#batchableTokens(1).toSorted((left, right) => oldestId(left) - oldestId(right))[0];
  }

  #tokenOfLongestQueue(minTransfers: number): Token | undefined {
    const length = (token: Token) => this.#findPool(token).length;
    return this.#batchableTokens(minTransfers).toSorted((left, right) => length(right) - length(left))[0];
  }

  /** Tokens that have enough transfers for a batch and fewer batches than allowed. */
  #batchableTokens(minTransfers: number): Token[] {
    const liveBatches = (token: Token) => this.batches.filter((batch) => batch.token === token).length;
    return this.#tokens.filter((token) => {
      return this.#findPool(token).length >= minTransfers && liveBatches(token) < MAX_BATCHES_PER_TOKEN;
    });
  }

  #findPool(token: Token): PooledTransfer[] {
    const pool = this.#pool.get(token);
    if (pool === undefined) throw new RangeError(`${token.symbol} has no pool`);
    return pool;
  }
}

function transferRow(random: Random, id: number, { contract }: Token, amount: bigint, fee: bigint) {
  return {
    id: String(id),
    sender: createAccount(random),
    dest_address: createExternalAddress(random),
    erc20_token: { contract, amount: String(amount) },
    erc20_fee: { contract, amount: String(fee) },
  };
}

function batchRow(
  nonce: number,
  { contract }: Token,
  transfers: readonly PooledTransfer[],
  height: number,
  timeout: number,
) {
  return {
    batch_nonce: String(nonce),
    batch_timeout: String(timeout),
    transactions: transfers.toSorted(byFallingFee).map((transfer) => transfer.wire),
    token_contract: contract,
    block: String(height),
  };
}

function confirmRow(random: Random, validator: Validator, { nonce, token }: LiveBatch) {
  return {
    nonce: String(nonce),
    token_contract: validator.submitsLowerCase ? token.contract.toLowerCase() : token.contract,
    eth_signer: validator.externalAddress,
    orchestrator: validator.orchestrator,
    signature: createSignature(random),
  };
}

/** Amounts and fees. */
export function sumAmounts(transfers: readonly PooledTransfer[]): bigint {
  return transfers.reduce((sum, { amount, fee }) => sum + amount + fee, 0n);
}

function sumOfFees(transfers: readonly PooledTransfer[]): bigint {
  return transfers.reduce((sum, { fee }) => sum + fee, 0n);
}

function byFallingFee({ fee: left }: PooledTransfer, { fee: right }: PooledTransfer): number {
  if (left === right) return 0;
  return left < right ? 1 : -1;
}
