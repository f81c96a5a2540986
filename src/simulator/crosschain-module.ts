import type { Block } from './block.js';
import { createCctx, currentRow, type Cctx, type CctxOptions, type SimulatedCctx } from './cctx.js';
import { isBitcoin, type ExternalChain } from './external-chains.js';
import { createPublicKey, type Random } from './random.js';
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
/** Number of finished cctxs kept for the past value, and of cctxs kept by index: days of normal traffic. */
const HISTORY_LENGTH = 20_000;

/** An external chain with the cctxs that the signers have to finish there. */
export interface ConnectedChain extends ExternalChain {
  readonly queue: OutboundQueue;
}

/** From `low` up to below `high`, the nonces of a chain are pending. */
export interface ChainNonces {
  readonly chainId: string;
  readonly low: number;
  readonly high: number;
}

/** Users and signers, in which simulated chains differ. */
interface CctxHabits {
  /** Share of the cctxs that are sent back to a chain with contracts. */
  readonly revertShare: number;
  /** Minimum and maximum time from creation to broadcast. */
  readonly signingSeconds: readonly [number, number];
}

/** How a cctx ends. */
type FinalStatus = 'OutboundMined' | 'Reverted' | 'Aborted';

/** A cctx that the hub keeps but does not list: a finished cctx, or a cctx of an earlier key, which has no end. */
interface StoredCctx {
  readonly cctx: SimulatedCctx;
  readonly end?: { readonly status: FinalStatus; readonly seconds: number };
}

/** The cross-chain module of the hub: unfinished cctxs by chain, as the rate limiter sees them. */
export class CrosschainModule {
  readonly chains: readonly [ConnectedChain, ...ConnectedChain[]];
  tssPubkey: string;
  readonly #random: Random;
  readonly #habits: CctxHabits;
  readonly #blockTimeMs: number;
  readonly #startMs: number;
  readonly #stored = new Map<string, StoredCctx>();
  /** Outgoing cctxs, in the order of their inbound heights. */
  #finished: SimulatedCctx[] = [];

  constructor(
    random: Random,
    chains: readonly [ExternalChain, ...ExternalChain[]],
    habits: CctxHabits,
    blockTimeMs: number,
    startMs: number,
  ) {
    const withQueue = (chain: ExternalChain): ConnectedChain => ({
      ...chain,
      queue: new OutboundQueue(random.between(1000, 90_000), chain.lookahead),
    });
    const [first, ...others] = chains;
    this.#random = random;
    this.#habits = habits;
    this.#blockTimeMs = blockTimeMs;
    this.#startMs = startMs;
    this.chains = [withQueue(first), ...others.map(withQueue)];
    this.tssPubkey = createPublicKey(random);
  }

  /** A cctx that is listed, finished or abandoned. */
  cctx(index: string, { timeMs }: Block): Cctx | undefined {
    const nowSeconds = Math.floor(timeMs / 1000);
    for (const { queue } of this.chains) {
      const listed = [...queue.pending, ...queue.missed].find(({ created }) => created.index === index);
      if (listed !== undefined) return currentRow(listed, nowSeconds);
    }
    const { cctx, end } = this.#stored.get(index) ?? {};
    if (cctx === undefined) return undefined;
    if (end === undefined) return currentRow(cctx, nowSeconds);
    const { status, seconds } = end;
    const row = currentRow(cctx, seconds);
    return { ...row, cctx_status: { ...row.cctx_status, status, lastUpdate_timestamp: String(seconds) } };
  }

  /** The nonces of each chain, as the hub keeps them. */
  get nonces(): readonly ChainNonces[] {
    return this.chains.map(({ id, queue: { pending, nextNonce } }) => ({
      chainId: id,
      low: pending[0]?.nonce ?? nextNonce,
      high: nextNonce,
    }));
  }

  get pendingCount(): number {
    return this.chains.reduce((count, { queue }) => count + queue.pending.length, 0);
  }

  get lostCount(): number {
    return this.chains.reduce((count, { queue }) => count + queue.lostCount, 0);
  }

  /** A user sends something to a random chain. `adapt` changes it before it is added. */
  addCctx(block: Block, rules: Rules, adapt = (cctx: SimulatedCctx): SimulatedCctx => cctx): void {
    const random = this.#random;
    const chain = random.pick(this.chains);
    const direction = chain.hasContracts && random.chance(this.#habits.revertShare) ? 'revert' : 'outgoing';
    const value = drawValue(random, this.#blockTimeMs, rules);
    const nonce = chain.queue.takeNonce();
    const cctx = adapt(createCctx({ ...this.outgoingOptions(chain, block, value), direction, nonce }));
    const confirmationSeconds = cctx.confirmationSeconds * (rules.confirmationFactors.get(chain.id) ?? 1);
    chain.queue.pending.push({ ...cctx, confirmationSeconds, isLost: this.#isLost(chain, rules) });
  }

  /** Options of a new outgoing cctx to a chain. */
  outgoingOptions(chain: ConnectedChain, block: Block, value: bigint): Omit<CctxOptions, 'nonce'> {
    return {
      random: this.#random,
      chain,
      direction: 'outgoing',
      value,
      tssPubkey: this.tssPubkey,
      createdSeconds: Math.floor(block.timeMs / 1000),
      hubHeight: block.height,
      chainHeight: chain.startHeight + Math.floor((block.timeMs - this.#startMs) / chain.blockMs),
      signingSeconds: this.#habits.signingSeconds,
    };
  }

  /** Whether the signers lose track of a new cctx. */
  #isLost(chain: ExternalChain, { lostShare, maxLostCctxs, losesOn }: Rules): boolean {
    const canLose = losesOn === 'all' || isBitcoin(chain);
    return canLose && this.#random.chance(lostShare) && this.lostCount < maxLostCctxs;
  }

  /**
   * Advances the cctxs of chains that are not frozen. The signers recover lost cctxs unless the scenario loses cctxs.
   */
  step({ timeMs }: Block, rules: Rules): void {
    const seconds = Math.floor(timeMs / 1000);
    for (const { id, queue } of this.chains) {
      if (rules.lostShare === 0) queue.recoverLost(Math.floor(this.#startMs / 1000));
      queue.listedNoncesBelow = rules.listedNoncesBelow;
      if (isFrozen(id, rules)) continue;
      const finished = queue.step(seconds);
      this.#finish(finished, seconds);
      for (const cctx of finished.filter(isOutgoing)) insertByHeight(this.#finished, cctx);
    }
    if (this.#finished.length > 2 * HISTORY_LENGTH) this.#finished = this.#finished.slice(-HISTORY_LENGTH);
  }

  /** An administrator aborts the pending cctxs of a chain. */
  abortPending(chainId: string, { timeMs }: Block): void {
    const queue = this.chains.find(({ id }) => id === chainId)?.queue;
    this.#finish(queue?.pending.splice(0) ?? [], Math.floor(timeMs / 1000), () => 'Aborted');
  }

  /** Only cctxs of the new key count, and their nonces begin at 0. */
  rotateKey(): void {
    for (const { queue } of this.chains) {
      for (const cctx of [...queue.pending, ...queue.missed]) this.#store({ cctx });
      queue.restart();
    }
    this.#finished = [];
    this.tssPubkey = createPublicKey(this.#random);
  }

  #finish(cctxs: readonly SimulatedCctx[], seconds: number, chooseStatus = finalStatus): void {
    for (const cctx of cctxs) {
      const status = chooseStatus(cctx);
      this.#store({ cctx, end: { status, seconds } });
    }
  }

  #store(stored: StoredCctx): void {
    this.#stored.set(stored.cctx.created.index, stored);
    const [oldest] = this.#stored.keys();
    if (this.#stored.size > HISTORY_LENGTH && oldest !== undefined) this.#stored.delete(oldest);
  }

  input({ height, timeMs }: Block, query: RateLimiterQuery) {
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
  nextNonce: number;
  pending: SimulatedCctx[] = [];
  /** Unfinished cctxs below the lowest pending nonce. */
  missed: SimulatedCctx[] = [];
  readonly #lookahead: number | undefined;
  /** How far below the lowest pending nonce the node looks for missed cctxs. */
  listedNoncesBelow = 1000;

  constructor(firstNonce: number, lookahead: number | undefined) {
    this.nextNonce = firstNonce;
    this.#lookahead = lookahead;
  }

  get lostCount(): number {
    return [...this.pending, ...this.missed].filter(({ isLost }) => isLost).length;
  }

  takeNonce(): number {
    this.nextNonce += 1;
    return this.nextNonce - 1;
  }

  /** The time of the next change in seconds, as long as nothing is added. */
  get nextSeconds(): number {
    const highest = this.#highestNonce;
    const pending = this.pending.filter(({ isLost }) => !isLost);
    const broadcasts = pending.filter(({ isBroadcast, nonce }) => !isBroadcast && nonce <= highest);
    // Nonces finish in order: a broadcast cctx waits for the first pending cctx, even if clients do not send that cctx.
    const first = pending.slice(0, 1).filter(({ isBroadcast }) => isBroadcast);
    const finishing = [...first, ...this.missed.filter(({ isLost }) => !isLost)];
    return Math.min(Infinity, ...[...broadcasts, ...finishing].map(nextStepSeconds));
  }

  /** Listed missed cctxs: near the lowest pending nonce, or in the window, whose first height is `oldest`. */
  listedMissed(oldest: number): readonly SimulatedCctx[] {
    const lowest = this.#lowestListedNonce;
    return this.missed.filter(({ nonce, inboundHeight }) => nonce >= lowest || inboundHeight >= oldest);
  }

  get #lowestListedNonce(): number {
    return (this.pending[0]?.nonce ?? this.nextNonce) - this.listedNoncesBelow;
  }

  /** The highest nonce that clients send. Clients do not see missed cctxs far below the lowest pending nonce. */
  get #highestNonce(): number {
    const seen = this.missed.filter(({ nonce }) => nonce >= this.#lowestListedNonce);
    return Math.min(...seen.map(({ nonce }) => nonce)) + (this.#lookahead ?? Infinity);
  }

  /** Begins anew with nonce 0. */
  restart(): void {
    this.nextNonce = 0;
    this.pending = [];
    this.missed = [];
  }

  /** The signers find the lost cctxs that were created since then. */
  recoverLost(sinceSeconds: number): void {
    for (const cctx of [...this.pending, ...this.missed]) if (cctx.createdSeconds >= sinceSeconds) cctx.isLost = false;
  }

  /** Broadcasts the signed cctxs. Removes and returns the finished cctxs. */
  step(nowSeconds: number): SimulatedCctx[] {
    for (const cctx of this.missed) broadcastIfDue(cctx, nowSeconds);
    const highest = this.#highestNonce;
    for (const cctx of this.pending) if (cctx.nonce <= highest) broadcastIfDue(cctx, nowSeconds);
    return [...this.#finishMissed(nowSeconds), ...this.#finishPending(nowSeconds)];
  }

  /** Nonces finish in order. A lost cctx below a finished one becomes missed. */
  #finishPending(nowSeconds: number): SimulatedCctx[] {
    let end = 0;
    for (const [index, cctx] of this.pending.entries()) {
      if (cctx.isLost) continue;
      if (!isFinished(cctx, nowSeconds)) break;
      end = index + 1;
    }
    if (end === 0) return [];
    const removed = this.pending.splice(0, end);
    this.missed.push(...removed.filter(({ isLost }) => isLost));
    return removed.filter(({ isLost }) => !isLost);
  }

  #finishMissed(nowSeconds: number): SimulatedCctx[] {
    const finished = this.missed.filter((cctx) => isFinished(cctx, nowSeconds));
    if (finished.length > 0) this.missed = this.missed.filter((cctx) => !finished.includes(cctx));
    return finished;
  }
}

/** Percentage of failures among outbounds that can fail. */
const FAILED_PERCENT = 4;

/**
 * The hub reverts a failed outgoing cctx, and aborts a failed revert. The index of a cctx decides whether its outbound
 * fails.
 */
function finalStatus({ direction, chain, created }: SimulatedCctx): FinalStatus {
  const hasFailed = chain.hasContracts && Number.parseInt(created.index.slice(-4), 16) % 100 < FAILED_PERCENT;
  if (direction === 'revert') return hasFailed ? 'Aborted' : 'Reverted';
  return hasFailed && direction === 'outgoing' ? 'Reverted' : 'OutboundMined';
}

/** The chain that the scenario `stuck-chain` freezes. */
const FREEZABLE_CHAIN_ID = '56';

export function isFrozen(chainId: string, { frozenChains, outboundEnabled }: Rules): boolean {
  if (!outboundEnabled) return true;
  if (typeof frozenChains !== 'string') return frozenChains.has(chainId);
  return frozenChains === 'all' || (frozenChains === 'one' && chainId === FREEZABLE_CHAIN_ID);
}

/** At 6 cctxs a minute and a block time of 2 s: 0.32 hub coins per block, a third of a rate limit of one coin. */
const MIN_VALUE_MILLICOINS = 400;
const MAX_VALUE_MILLICOINS = 2800;
const REFERENCE_BLOCK_MS = 2000n;

/**
 * Values are proportional to 1 / block time, so the utilization of a limit per block does not depend on the block time.
 */
function drawValue(random: Random, blockTimeMs: number, { cctxValuePercent }: Rules): bigint {
  const millicoins = BigInt(random.between(MIN_VALUE_MILLICOINS, MAX_VALUE_MILLICOINS));
  const units = millicoins * 10n ** 15n + BigInt(random.string('0123456789', 15));
  return (units * REFERENCE_BLOCK_MS * BigInt(cctxValuePercent)) / BigInt(blockTimeMs * 100);
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
