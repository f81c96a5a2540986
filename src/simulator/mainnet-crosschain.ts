import { Agenda } from './agenda.js';
import { DAY_MS, type Block } from './block.js';
import { createCctx, createCommand, type SimulatedCctx } from './cctx.js';
import { type ConnectedChain, CrosschainModule, isFrozen } from './crosschain-module.js';
import { isBitcoin, isUnused, MAINNET_CHAINS } from './external-chains.js';
import type { Month } from './mainnet-month.js';
import { Random } from './random.js';
import type { Rules } from './scenarios.js';

/** Signers take turns, so each nonce waits for its turn. */
const HABITS = { revertShare: 0.03, signingSeconds: [20, 180] } as const;
const BITCOIN_BLOCK_SECONDS = 600;
/** Signers consider a transaction final after this number of blocks. */
const BITCOIN_CONFIRMATIONS = 2;
/** How many days ago the missed cctxs were created. */
const MISSED_DAYS: readonly [number, number] = [31, 44];
const MISSED_ON_BITCOIN = 3;
/** Fewer than the node looks back. */
const NONCES_SINCE_MISSED = 600;

/** Traffic between the hub of a main network and its external chains. */
export class MainnetCrosschain {
  readonly module: CrosschainModule;
  readonly #random: Random;
  readonly #agenda = new Agenda();
  readonly #bitcoinBlocks: RandomBlocks;
  readonly #blockTimeMs: number;
  /** While the funds move to a new key, nothing else is sent. */
  #migration: 'none' | 'waiting' | 'moving' = 'none';

  constructor(seed: number, blockTimeMs: number, start: Block, { keyRotationMs }: Month) {
    const random = new Random(seed, 'crosschain');
    this.#random = random;
    this.#blockTimeMs = blockTimeMs;
    this.#bitcoinBlocks = new RandomBlocks(new Random(seed, 'bitcoin'), BITCOIN_BLOCK_SECONDS, start.timeMs / 1000);
    this.module = new CrosschainModule(random, MAINNET_CHAINS, HABITS, blockTimeMs, start.timeMs);
    this.#addMissed(start);
    this.#agenda.atRandom(
      start.timeMs,
      random,
      ({ cctxsPerMinute }) => cctxsPerMinute,
      (block, rules, dueMs) => this.#addCctx(dueMs, block, rules),
    );
    this.#agenda.until(keyRotationMs, (block) => this.#migrate(block));
  }

  nextMs(rules: Rules): number {
    const moving = this.module.chains.filter(({ id }) => !isFrozen(id, rules));
    const queueMs = Math.min(Infinity, ...moving.map(({ queue }) => queue.nextSeconds * 1000));
    return Math.min(this.#agenda.nextMs, queueMs);
  }

  step(block: Block, rules: Rules): void {
    this.#agenda.run(block, rules);
    this.module.step(block, rules);
  }

  #addMissed(start: Block): void {
    for (const chain of this.module.chains) {
      const missed = Array.from({ length: isBitcoin(chain) ? MISSED_ON_BITCOIN : 0 }, (_, index) =>
        this.#drawMissed(chain, start, NONCES_SINCE_MISSED + index, 10n ** 18n),
      );
      chain.queue.missed.push(...missed);
      // 100 wei
      if (isUnused(chain)) chain.queue.missed.push(this.#drawMissed(chain, start, 1, 100n * chain.gas.hubCoins));
    }
  }

  #drawMissed(chain: ConnectedChain, start: Block, noncesAgo: number, value: bigint): SimulatedCctx {
    const secondsAgo = (this.#random.between(...MISSED_DAYS) * DAY_MS) / 1000;
    const cctx = createCctx({
      ...this.module.outgoingOptions(chain, start, value),
      nonce: chain.queue.nextNonce - noncesAgo,
      createdSeconds: Math.floor(start.timeMs / 1000) - secondsAgo,
      hubHeight: start.height - Math.floor((secondsAgo * 1000) / this.#blockTimeMs),
      asset: chain.gas,
    });
    return { ...cctx, isLost: true };
  }

  #addCctx(dueMs: number, block: Block, rules: Rules): void {
    const isHalted = block.timeMs - dueMs > this.#blockTimeMs;
    const isFull = this.module.pendingCount >= rules.maxPendingCctxs;
    if (isHalted || isFull || this.#migration !== 'none') return;
    this.module.addCctx(block, rules, (cctx) => this.#withBlocks(cctx));
  }

  /** Bitcoin has no regular blocks. */
  #withBlocks(cctx: SimulatedCctx): SimulatedCctx {
    if (!isBitcoin(cctx.chain)) return cctx;
    const blocks = this.#bitcoinBlocks.secondsTo(BITCOIN_CONFIRMATIONS, cctx.broadcastAtSeconds);
    return { ...cctx, confirmationSeconds: cctx.confirmationSeconds + blocks };
  }

  /** Moves the funds after all cctxs are finished, then changes the key. Returns whether the key has changed. */
  #migrate(block: Block): boolean {
    if (this.#migration === 'none') this.#migration = 'waiting';
    if (this.module.pendingCount > 0) return false;
    if (this.#migration === 'moving') {
      this.module.rotateKey();
      this.#migration = 'none';
      return true;
    }
    this.#migration = 'moving';
    for (const chain of this.module.chains) {
      // Funds of unused chains and of chains without contracts, except Bitcoin, are not bound to the key.
      const hasFunds = (chain.hasContracts && !isUnused(chain)) || isBitcoin(chain);
      if (!hasFunds) continue;
      const options = { ...this.module.outgoingOptions(chain, block, 0n), nonce: chain.queue.takeNonce() };
      chain.queue.pending.push(this.#withBlocks(createCommand(options)));
    }
    return false;
  }
}

/** Two confirmations take less than two hours with it, which they exceed once in years. */
const MAX_GAP_FACTOR = 5;
const REMEMBERED_BLOCKS = 50;

/** The times of blocks that come at random. */
class RandomBlocks {
  readonly #random: Random;
  readonly #meanSeconds: number;
  #times: number[];

  constructor(random: Random, meanSeconds: number, startSeconds: number) {
    this.#random = random;
    this.#meanSeconds = meanSeconds;
    this.#times = [startSeconds];
  }

  /** Seconds from a time to the block with this number after it. */
  secondsTo(count: number, fromSeconds: number): number {
    let later = this.#times.filter((time) => time > fromSeconds);
    while (later.length < count) {
      const gap = Math.min(this.#random.exponential(this.#meanSeconds), MAX_GAP_FACTOR * this.#meanSeconds);
      this.#times = [...this.#times.slice(-REMEMBERED_BLOCKS), (this.#times.at(-1) ?? fromSeconds) + gap];
      later = this.#times.filter((time) => time > fromSeconds);
    }
    return Math.ceil((later[count - 1] ?? fromSeconds) - fromSeconds);
  }
}
