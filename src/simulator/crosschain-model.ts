import type { Block } from './block.js';
import { createCctx, currentRow, type SimulatedCctx } from './cctx.js';
import { EXTERNAL_CHAINS, type ExternalChain } from './external-chains.js';
import { Arrivals, createPublicKey, Random } from './random.js';
import type { RateLimiterInput } from './responses.js';
import type { Rules } from './scenarios.js';

/** The query parameters, both optional. */
export interface RateLimiterQuery {
  /** The number of latest blocks whose finished cctxs count towards the past value. */
  readonly window?: bigint | undefined;
  /** The maximum number of pending cctxs in the list. 0 means the default. */
  readonly limit?: bigint | undefined;
}

/** The window that tests of the real chain use. */
const DEFAULT_WINDOW = 500n;
const MAX_LISTED = 500;
const REVERT_SHARE = 0.08;
/** The chain that the scenario `stuck-chain` freezes. */
const FREEZABLE_CHAIN_ID = '56';
/** Number of finished cctxs kept for the past value: days of normal traffic. */
const HISTORY_LENGTH = 20_000;

/** At 6 cctxs a minute and a block time of 2 s: 0.32 hub coins per block, a third of a rate limit of one coin. */
const MIN_VALUE_MILLICOINS = 400;
const MAX_VALUE_MILLICOINS = 2800;
const REFERENCE_BLOCK_MS = 2000n;

interface Chain extends ExternalChain {
  readonly queue: OutboundQueue;
}

/** The cross-chain module: cctxs between the hub and all external chains, as the rate limiter sees them. */
export class CrosschainModel {
  readonly #random: Random;
  readonly #arrivals: Arrivals;
  readonly #chains: readonly [Chain, ...Chain[]];
  readonly #startMs: number;
  readonly #blockTimeMs: number;
  readonly #tssPubkey: string;
  #finished: SimulatedCctx[] = [];

  constructor(seed: number, blockTimeMs: number, start: Block) {
    const random = new Random(seed, 'crosschain');
    const withQueue = (chain: ExternalChain): Chain => ({
      ...chain,
      queue: new OutboundQueue(random.between(1000, 90_000)),
    });
    const [first, ...others] = EXTERNAL_CHAINS;
    this.#random = random;
    this.#arrivals = new Arrivals(random);
    this.#chains = [withQueue(first), ...others.map(withQueue)];
    this.#startMs = start.timeMs;
    this.#blockTimeMs = blockTimeMs;
    this.#tssPubkey = createPublicKey(random);
  }

  step(block: Block, rules: Rules): void {
    this.#addCctxs(block, rules);
    for (const { id, queue } of this.#chains) {
      if (rules.lostShare === 0) queue.recoverLost();
      const isFrozen = rules.frozenChains === 'all' || (rules.frozenChains === 'one' && id === FREEZABLE_CHAIN_ID);
      if (!isFrozen) this.#finished.push(...queue.step(Math.floor(block.timeMs / 1000)));
    }
    if (this.#finished.length > 2 * HISTORY_LENGTH) this.#finished = this.#finished.slice(-HISTORY_LENGTH);
  }

  input({ height, timeMs }: Block, query: RateLimiterQuery): RateLimiterInput {
    const nowSeconds = Math.floor(timeMs / 1000);
    const toRow = (cctx: SimulatedCctx) => currentRow(cctx, nowSeconds);
    const pending = this.#chains.flatMap(({ queue }) => queue.pending).toSorted(byHeightAndChain);
    const missed = this.#chains.flatMap(({ queue }) => queue.missed);
    return {
      height: String(height),
      cctxs_missed: missed.map(toRow),
      cctxs_pending: pending.slice(0, effectiveLimit(query.limit)).map(toRow),
      total_pending: String(missed.length + pending.length),
      past_cctxs_value: String(this.#pastValue(height, query.window ?? DEFAULT_WINDOW, missed)),
      pending_cctxs_value: String(sumOfValues(pending)),
      lowest_pending_cctx_height: String(this.#lowestPendingHeight()),
    };
  }

  #addCctxs(block: Block, rules: Rules): void {
    const due = this.#arrivals.due(rules.cctxsPerMinute * block.elapsedMinutes);
    const pending = this.#chains.reduce((count, { queue }) => count + queue.pending.length, 0);
    for (let added = 0; added < Math.min(due, rules.maxPendingCctxs - pending); added += 1) this.#addCctx(block, rules);
  }

  #addCctx(block: Block, rules: Rules): void {
    const random = this.#random;
    const { queue, ...chain } = random.pick(this.#chains);
    const cctx = createCctx({
      random,
      chain,
      direction: chain.hasContracts && random.chance(REVERT_SHARE) ? 'revert' : 'outgoing',
      nonce: queue.takeNonce(),
      value: this.#drawValue(rules),
      tssPubkey: this.#tssPubkey,
      createdSeconds: Math.floor(block.timeMs / 1000),
      hubHeight: block.height,
      chainHeight: chain.startHeight + Math.floor((block.timeMs - this.#startMs) / chain.blockMs),
    });
    const lost = this.#chains.reduce((count, other) => count + other.queue.lostCount, 0);
    cctx.isLost = random.chance(rules.lostShare) && lost < rules.maxLostCctxs;
    queue.add(cctx);
  }

  /**
   * Values are proportional to 1 / block time, so the utilization of a limit per block does not depend on the block
   * time.
   */
  #drawValue({ cctxValuePercent }: Rules): bigint {
    const millicoins = BigInt(this.#random.between(MIN_VALUE_MILLICOINS, MAX_VALUE_MILLICOINS));
    const units = millicoins * 10n ** 15n + BigInt(this.#random.string('0123456789', 15));
    return (units * REFERENCE_BLOCK_MS * BigInt(cctxValuePercent)) / BigInt(this.#blockTimeMs * 100);
  }

  /** Counts outgoing cctxs only, since the inbound height of a revert belongs to another chain. */
  #pastValue(height: number, window: bigint, missed: readonly SimulatedCctx[]): bigint {
    const oldest = window > BigInt(height) ? 1 : height - Number(window) + 1;
    const isInWindow = (cctx: SimulatedCctx) => cctx.direction === 'outgoing' && cctx.inboundHeight >= oldest;
    return sumOfValues(this.#finished.filter(isInWindow)) + sumOfValues(missed.filter(isInWindow));
  }

  /**
   * The lowest inbound height among the lowest nonces of all chains, even though heights of different chains mix; 0 for
   * none.
   */
  #lowestPendingHeight(): number {
    const heights = this.#chains.flatMap(({ queue }) => queue.pending.slice(0, 1)).map((cctx) => cctx.inboundHeight);
    return heights.length === 0 ? 0 : Math.min(...heights);
  }
}

/** The cctxs that the signers have to finish on one external chain, in the order of their nonces. */
class OutboundQueue {
  #nextNonce: number;
  #pending: SimulatedCctx[] = [];
  #missed: SimulatedCctx[] = [];

  constructor(firstNonce: number) {
    this.#nextNonce = firstNonce;
  }

  get pending(): readonly SimulatedCctx[] {
    return this.#pending;
  }

  /** Unfinished cctxs below the lowest pending nonce. */
  get missed(): readonly SimulatedCctx[] {
    return this.#missed;
  }

  get lostCount(): number {
    return [...this.#pending, ...this.#missed].filter(({ isLost }) => isLost).length;
  }

  takeNonce(): number {
    this.#nextNonce += 1;
    return this.#nextNonce - 1;
  }

  add(cctx: SimulatedCctx): void {
    this.#pending.push(cctx);
  }

  recoverLost(): void {
    for (const cctx of [...this.#pending, ...this.#missed]) cctx.isLost = false;
  }

  /** Broadcasts the signed cctxs, and removes and returns the finished ones. */
  step(nowSeconds: number): SimulatedCctx[] {
    for (const cctx of this.#missed) broadcastIfDue(cctx, nowSeconds);
    for (const cctx of this.#pending) broadcastIfDue(cctx, nowSeconds);
    return [...this.#finishMissed(nowSeconds), ...this.#finishPending(nowSeconds)];
  }

  /** Nonces finish in order. A lost cctx below a finished one becomes missed. */
  #finishPending(nowSeconds: number): SimulatedCctx[] {
    let end = 0;
    for (const [index, cctx] of this.#pending.entries()) {
      if (cctx.isLost) continue;
      if (!isFinished(cctx, nowSeconds)) break;
      end = index + 1;
    }
    if (end === 0) return [];
    const removed = this.#pending.splice(0, end);
    this.#missed.push(...removed.filter(({ isLost }) => isLost));
    return removed.filter(({ isLost }) => !isLost);
  }

  #finishMissed(nowSeconds: number): SimulatedCctx[] {
    const finished = this.#missed.filter((cctx) => isFinished(cctx, nowSeconds));
    if (finished.length > 0) this.#missed = this.#missed.filter((cctx) => !finished.includes(cctx));
    return finished;
  }
}

function broadcastIfDue(cctx: SimulatedCctx, nowSeconds: number): void {
  if (cctx.isBroadcast || cctx.isLost || nowSeconds < cctx.broadcastAtSeconds) return;
  cctx.isBroadcast = true;
  cctx.broadcastAtSeconds = nowSeconds;
}

function isFinished(cctx: SimulatedCctx, nowSeconds: number): boolean {
  return cctx.isBroadcast && nowSeconds >= cctx.broadcastAtSeconds + cctx.confirmationSeconds;
}

function effectiveLimit(limit: bigint | undefined): number {
  return limit === undefined || limit === 0n || limit > BigInt(MAX_LISTED) ? MAX_LISTED : Number(limit);
}

function sumOfValues(cctxs: readonly SimulatedCctx[]): bigint {
  return cctxs.reduce((sum, { value }) => sum + value, 0n);
}

function byHeightAndChain(left: SimulatedCctx, right: SimulatedCctx): number {
  return left.inboundHeight - right.inboundHeight || Number(left.chain.id) - Number(right.chain.id);
}
