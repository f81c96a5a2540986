import { createPublicKey } from './addresses.js';
import { type LiveCctx, createCctx, presentCctx } from './cctx.js';
import { ChainQueue } from './chain-queue.js';
import { EXTERNAL_CHAINS, type ExternalChain } from './external-chains.js';
import type { Moment } from './moment.js';
import { Arrivals, Random } from './random.js';
import type { RateLimiterInput } from './rate-limiter-input.js';
import type { Rules } from './scenarios.js';

/** The parameters of the query, both optional. */
export interface RateLimiterQuery {
  /** Blocks up to the present one whose finished cctxs count as past. */
  readonly window?: bigint | undefined;
  /** How many pending cctxs are listed; 0 is the same as none given. */
  readonly limit?: bigint | undefined;
}

const DEFAULT_WINDOW = 500n;
const MOST_LISTED = 500;
const REVERT_SHARE = 0.08;
/** `stuck-chain` freezes it. */
const FRAGILE_CHAIN_ID = '56';
/** Finished cctxs remembered for the past value: days of ordinary traffic. */
const HISTORY_LENGTH = 20_000;

/** The flow for one block at two seconds a block: 0.32 hub coins, a third of a limit of one coin. */
const LEAST_VALUE_MILLIS = 400;
const MOST_VALUE_MILLIS = 2800;
const ORDINARY_BLOCK_MS = 2000n;

interface Lane extends ExternalChain {
  readonly queue: ChainQueue;
}

/** Cross-chain transactions between the hub and every external chain, as the rate limiter sees them. */
export class CrosschainModel {
  readonly #random: Random;
  readonly #arrivals: Arrivals;
  readonly #lanes: readonly [Lane, ...Lane[]];
  readonly #startMs: number;
  readonly #blockTimeMs: number;
  readonly #tssPubkey: string;
  #history: LiveCctx[] = [];

  constructor(seed: number, blockTimeMs: number, start: Moment) {
    const random = new Random(seed, 'crosschain');
    const createLane = (chain: ExternalChain): Lane => ({
      ...chain,
      queue: new ChainQueue(random.between(1000, 90_000)),
    });
    const [first, ...others] = EXTERNAL_CHAINS;
    this.#random = random;
    this.#arrivals = new Arrivals(random);
    this.#lanes = [createLane(first), ...others.map(createLane)];
    this.#startMs = start.nowMs;
    this.#blockTimeMs = blockTimeMs;
    this.#tssPubkey = createPublicKey(random);
  }

  step(moment: Moment, rules: Rules): void {
    this.#arrive(moment, rules);
    for (const { id, queue } of this.#lanes) {
      if (rules.lostShare === 0) queue.findLost();
      const isFrozen = rules.frozenChains === 'all' || (rules.frozenChains === 'one' && id === FRAGILE_CHAIN_ID);
      if (!isFrozen) this.#history.push(...queue.step(Math.floor(moment.nowMs / 1000)));
    }
    if (this.#history.length > 2 * HISTORY_LENGTH) this.#history = this.#history.slice(-HISTORY_LENGTH);
  }

  /** A window left out is 500 blocks, the value the limiter of the real chain is tested with. */
  input({ height, nowMs }: Moment, query: RateLimiterQuery): RateLimiterInput {
    const nowSeconds = Math.floor(nowMs / 1000);
    const present = (cctx: LiveCctx) => presentCctx(cctx, nowSeconds);
    const pending = this.#lanes.flatMap(({ queue }) => queue.pending).toSorted(byHeightAndChain);
    const missed = this.#lanes.flatMap(({ queue }) => queue.missed);
    return {
      height: String(height),
      cctxs_missed: missed.map(present),
      cctxs_pending: pending.slice(0, listed(query.limit)).map(present),
      total_pending: String(missed.length + pending.length),
      past_cctxs_value: String(this.#pastValue(height, query.window ?? DEFAULT_WINDOW, missed)),
      pending_cctxs_value: String(sumOfValues(pending)),
      lowest_pending_cctx_height: String(this.#lowestPendingHeight()),
    };
  }

  #arrive(moment: Moment, rules: Rules): void {
    const due = this.#arrivals.due(rules.cctxsPerMinute * moment.elapsedMinutes);
    const pending = this.#lanes.reduce((count, { queue }) => count + queue.pending.length, 0);
    for (let created = 0; created < Math.min(due, rules.cctxLimit - pending); created += 1) {
      this.#create(moment, rules);
    }
  }

  #create(moment: Moment, rules: Rules): void {
    const random = this.#random;
    const { queue, ...chain } = random.pick(this.#lanes);
    const cctx = createCctx({
      random,
      chain,
      direction: chain.hasContracts && random.chance(REVERT_SHARE) ? 'revert' : 'outgoing',
      nonce: queue.takeNonce(),
      value: this.#drawValue(rules),
      tssPubkey: this.#tssPubkey,
      createdSeconds: Math.floor(moment.nowMs / 1000),
      hubHeight: moment.height,
      chainHeight: chain.startHeight + Math.floor((moment.nowMs - this.#startMs) / chain.blockMs),
    });
    const lost = this.#lanes.reduce((count, lane) => count + lane.queue.lost, 0);
    cctx.isLost = random.chance(rules.lostShare) && lost < rules.missedLimit;
    queue.add(cctx);
  }

  /** Slower blocks carry more of smaller ones: the use of a limit per block does not depend on the block time. */
  #drawValue({ cctxValuePercent }: Rules): bigint {
    const millis = BigInt(this.#random.between(LEAST_VALUE_MILLIS, MOST_VALUE_MILLIS));
    const units = millis * 10n ** 15n + BigInt(this.#random.characters('0123456789', 15));
    return (units * ORDINARY_BLOCK_MS * BigInt(cctxValuePercent)) / BigInt(this.#blockTimeMs * 100);
  }

  /** Outgoing ones only: the height of a revert is one of another chain. */
  #pastValue(height: number, window: bigint, missed: readonly LiveCctx[]): bigint {
    const oldest = window > BigInt(height) ? 1 : height - Number(window) + 1;
    const isInside = (cctx: LiveCctx) => cctx.direction === 'outgoing' && cctx.inboundHeight >= oldest;
    return sumOfValues(this.#history.filter(isInside)) + sumOfValues(missed.filter(isInside));
  }

  /** Over chains, the height of the lowest pending nonce, whichever chain that height is of; 0 if nothing is pending. */
  #lowestPendingHeight(): number {
    const heights = this.#lanes.flatMap(({ queue }) => queue.pending.slice(0, 1)).map((cctx) => cctx.inboundHeight);
    return heights.length === 0 ? 0 : Math.min(...heights);
  }
}

function listed(limit: bigint | undefined): number {
  return limit === undefined || limit === 0n || limit > BigInt(MOST_LISTED) ? MOST_LISTED : Number(limit);
}

function sumOfValues(cctxs: readonly LiveCctx[]): bigint {
  return cctxs.reduce((sum, { value }) => sum + value, 0n);
}

function byHeightAndChain(left: LiveCctx, right: LiveCctx): number {
  return left.inboundHeight - right.inboundHeight || Number(left.chain.id) - Number(right.chain.id);
}
