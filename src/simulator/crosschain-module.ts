import type { Block } from './block.js';
import type { Books } from './books.js';
import { CctxStore } from './cctx-store.js';
import { currentRow, type SimulatedCctx } from './cctx.js';
import type { ExternalChain } from './external-chains.js';
import { createPublicKey, type Random } from './random.js';
import type { Cctx, RateLimiterInput } from './responses.js';

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
/** Number of finished cctxs kept for the past value: days of normal traffic. */
const HISTORY_LENGTH = 20_000;

/** An external chain with the cctxs that the signers have to finish there. */
export interface Chain extends ExternalChain {
  readonly queue: OutboundQueue;
}

/** From `low` up to below `high`, the nonces of a chain are pending. */
export interface ChainNonces {
  readonly chainId: string;
  readonly low: number;
  readonly high: number;
}

/** The cross-chain module of the hub: unfinished cctxs by chain, as the rate limiter sees them. */
export class CrosschainModule {
  readonly chains: readonly [Chain, ...Chain[]];
  readonly #random: Random;
  #tssPubkey: string;
  readonly #store = new CctxStore();
  /** The outgoing ones, in the order of their inbound heights. */
  #finished: SimulatedCctx[] = [];

  constructor(random: Random, chains: readonly [ExternalChain, ...ExternalChain[]]) {
    const withQueue = (chain: ExternalChain): Chain => ({
      ...chain,
      queue: new OutboundQueue(random.between(1000, 90_000), chain.lookahead),
    });
    const [first, ...others] = chains;
    this.#random = random;
    this.chains = [withQueue(first), ...others.map(withQueue)];
    this.#tssPubkey = createPublicKey(random);
  }

  get books(): Books {
    return this.#store.books;
  }

  /** A cctx that is listed, finished or abandoned. */
  cctx(index: string, { timeMs }: Block): Cctx | undefined {
    const nowSeconds = Math.floor(timeMs / 1000);
    for (const { queue } of this.chains) {
      const listed = [...queue.pending, ...queue.missed].find(({ created }) => created.index === index);
      if (listed !== undefined) return currentRow(listed, nowSeconds);
    }
    return this.#store.row(index, nowSeconds);
  }

  /** The nonces of each chain, as the hub keeps them. */
  get nonces(): readonly ChainNonces[] {
    return this.chains.map(({ id, queue: { pending, nextNonce } }) => ({
      chainId: id,
      low: pending[0]?.nonce ?? nextNonce,
      high: nextNonce,
    }));
  }

  get tssPubkey(): string {
    return this.#tssPubkey;
  }

  get pendingCount(): number {
    return this.chains.reduce((count, { queue }) => count + queue.pending.length, 0);
  }

  get lostCount(): number {
    return this.chains.reduce((count, { queue }) => count + queue.lostCount, 0);
  }

  /** Goes on with the cctxs of the chains that are not frozen. */
  step(block: Block, isFrozen: (chainId: string) => boolean, listedNoncesBelow: number): void {
    for (const { id, queue } of this.chains) {
      queue.listedNoncesBelow = listedNoncesBelow;
      if (isFrozen(id)) continue;
      const seconds = Math.floor(block.timeMs / 1000);
      const finished = queue.step(seconds);
      this.#store.finish(finished, seconds);
      for (const cctx of finished.filter(isOutgoing)) insertByHeight(this.#finished, cctx);
    }
    if (this.#finished.length > 2 * HISTORY_LENGTH) this.#finished = this.#finished.slice(-HISTORY_LENGTH);
  }

  /** An administrator aborts what is pending on a chain. */
  abortPending(chainId: string, { timeMs }: Block): void {
    const queue = this.chains.find(({ id }) => id === chainId)?.queue;
    this.#store.finish(queue?.takePending() ?? [], Math.floor(timeMs / 1000), () => 'Aborted');
  }

  /** Only cctxs of the new key count, and their nonces begin at 0. */
  rotateKey(): void {
    for (const { queue } of this.chains) {
      this.#store.abandon([...queue.pending, ...queue.missed]);
      queue.restart();
    }
    this.#finished = [];
    this.#tssPubkey = createPublicKey(this.#random);
  }

  input({ height, timeMs }: Block, query: RateLimiterQuery): RateLimiterInput {
    const nowSeconds = Math.floor(timeMs / 1000);
    const toRow = (cctx: SimulatedCctx) => currentRow(cctx, nowSeconds);
    const pending = this.chains.flatMap(({ queue }) => queue.pending).toSorted(byHeightAndChain);
    const window = query.window ?? DEFAULT_WINDOW;
    const oldest = window > BigInt(height) ? 1 : height - Number(window) + 1;
    const missed = this.chains.flatMap(({ queue }) => queue.listedMissed(oldest));
    return {
      height: String(height),
      cctxs_missed: missed.map(toRow),
      cctxs_pending: pending.slice(0, effectiveLimit(query.limit)).map(toRow),
      total_pending: String(missed.length + pending.length),
      past_cctxs_value: String(this.#pastValue(oldest, missed)),
      pending_cctxs_value: String(sumOfValues(pending)),
      lowest_pending_cctx_height: String(this.#lowestPendingHeight()),
    };
  }

  /** Counts outgoing cctxs only, since the inbound height of a revert belongs to another chain. */
  #pastValue(oldest: number, missed: readonly SimulatedCctx[]): bigint {
    const isInWindow = ({ inboundHeight }: SimulatedCctx) => inboundHeight >= oldest;
    const before = this.#finished.findLastIndex((cctx) => !isInWindow(cctx));
    return sumOfValues(this.#finished.slice(before + 1)) + sumOfValues(missed.filter(isOutgoing).filter(isInWindow));
  }

  /**
   * The lowest inbound height among the lowest nonces of all chains, even though heights of different chains mix; 0 for
   * none.
   */
  #lowestPendingHeight(): number {
    const heights = this.chains.flatMap(({ queue }) => queue.pending.slice(0, 1)).map((cctx) => cctx.inboundHeight);
    return heights.length === 0 ? 0 : Math.min(...heights);
  }
}

/** The cctxs that the signers have to finish on one external chain, in the order of their nonces. */
class OutboundQueue {
  #nextNonce: number;
  #pending: SimulatedCctx[] = [];
  #missed: SimulatedCctx[] = [];

  readonly #lookahead: number | undefined;

  /** How far below the lowest pending nonce the node looks for missed ones. */
  listedNoncesBelow = 1000;

  constructor(firstNonce: number, lookahead: number | undefined) {
    this.#nextNonce = firstNonce;
    this.#lookahead = lookahead;
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

  get nextNonce(): number {
    return this.#nextNonce;
  }

  takeNonce(): number {
    this.#nextNonce += 1;
    return this.#nextNonce - 1;
  }

  add(cctx: SimulatedCctx): void {
    this.#pending.push(cctx);
  }

  /** Cctxs that are listed as missed from now on. */
  addMissed(cctxs: readonly SimulatedCctx[]): void {
    this.#missed.push(...cctxs);
  }

  /** The time of the next change in seconds, as long as nothing is added. */
  get nextSeconds(): number {
    const highest = this.#highestNonce;
    const pending = this.#pending.filter(({ isLost }) => !isLost);
    const broadcasts = pending.filter(({ isBroadcast, nonce }) => !isBroadcast && nonce <= highest);
    // Nonces finish in order: a later one that is broadcast waits for the first, also while that one may not be sent.
    const first = pending.slice(0, 1).filter(({ isBroadcast }) => isBroadcast);
    const finishing = [...first, ...this.#missed.filter(({ isLost }) => !isLost)];
    return Math.min(Infinity, ...[...broadcasts, ...finishing].map(nextStepSeconds));
  }

  /** The missed ones that are listed: those that are not far below the pending ones, and those in the window, whose first height is `oldest`. */
  listedMissed(oldest: number): readonly SimulatedCctx[] {
    const lowest = this.#lowestListedNonce;
    return this.#missed.filter(({ nonce, inboundHeight }) => nonce >= lowest || inboundHeight >= oldest);
  }

  get #lowestListedNonce(): number {
    return (this.#pending[0]?.nonce ?? this.#nextNonce) - this.listedNoncesBelow;
  }

  /** The highest nonce that clients send. They do not see missed ones far below the pending ones. */
  get #highestNonce(): number {
    const seen = this.#missed.filter(({ nonce }) => nonce >= this.#lowestListedNonce);
    return Math.min(...seen.map(({ nonce }) => nonce)) + (this.#lookahead ?? Infinity);
  }

  takePending(): readonly SimulatedCctx[] {
    return this.#pending.splice(0);
  }

  /** Begins anew with nonce 0. */
  restart(): void {
    this.#nextNonce = 0;
    this.#pending = [];
    this.#missed = [];
  }

  /** The signers find the lost cctxs that were created since then. */
  recoverLost(sinceSeconds = 0): void {
    for (const cctx of [...this.#pending, ...this.#missed])
      if (cctx.createdSeconds >= sinceSeconds) cctx.isLost = false;
  }

  /** Broadcasts the signed cctxs, and removes and returns the finished ones. */
  step(nowSeconds: number): SimulatedCctx[] {
    for (const cctx of this.#missed) broadcastIfDue(cctx, nowSeconds);
    const highest = this.#highestNonce;
    for (const cctx of this.#pending) if (cctx.nonce <= highest) broadcastIfDue(cctx, nowSeconds);
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

const isOutgoing = ({ direction }: SimulatedCctx): boolean => direction === 'outgoing';

function insertByHeight(sorted: SimulatedCctx[], cctx: SimulatedCctx): void {
  const before = sorted.findLastIndex(({ inboundHeight }) => inboundHeight <= cctx.inboundHeight);
  sorted.splice(before + 1, 0, cctx);
}

function broadcastIfDue(cctx: SimulatedCctx, nowSeconds: number): void {
  if (cctx.isBroadcast || cctx.isLost || nowSeconds < cctx.broadcastAtSeconds) return;
  cctx.isBroadcast = true;
  cctx.broadcastAtSeconds = nowSeconds;
}

function nextStepSeconds({ isBroadcast, broadcastAtSeconds, confirmationSeconds }: SimulatedCctx): number {
  return isBroadcast ? broadcastAtSeconds + confirmationSeconds : broadcastAtSeconds;
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
