import type { Block } from './block.js';
import { createCctx } from './cctx.js';
import { CrosschainModule } from './crosschain-module.js';
import { EXTERNAL_CHAINS, type ExternalChain } from './external-chains.js';
import { isBitcoin } from './mainnet-chains.js';
import { Arrivals, Random } from './random.js';
import type { Rules } from './scenarios.js';

const REVERT_SHARE = 0.08;
/** The chain that the scenario `stuck-chain` freezes. */
const FREEZABLE_CHAIN_ID = '56';

/** At 6 cctxs a minute and a block time of 2 s: 0.32 hub coins per block, a third of a rate limit of one coin. */
const MIN_VALUE_MILLICOINS = 400;
const MAX_VALUE_MILLICOINS = 2800;
const REFERENCE_BLOCK_MS = 2000n;

/** Busy traffic between the hub and all external chains. */
export class CrosschainModel {
  readonly module: CrosschainModule;
  readonly #random: Random;
  readonly #arrivals: Arrivals;
  readonly #startMs: number;
  readonly #blockTimeMs: number;

  constructor(seed: number, blockTimeMs: number, start: Block) {
    const random = new Random(seed, 'crosschain');
    this.#random = random;
    this.#arrivals = new Arrivals(random);
    this.module = new CrosschainModule(random, EXTERNAL_CHAINS);
    this.#startMs = start.timeMs;
    this.#blockTimeMs = blockTimeMs;
  }

  step(block: Block, rules: Rules): void {
    this.#addCctxs(block, rules);
    if (rules.lostShare === 0) for (const { queue } of this.module.chains) queue.recoverLost();
    this.module.step(block, (id) => isFrozen(id, rules), rules.listedNoncesBelow);
  }

  #addCctxs(block: Block, rules: Rules): void {
    const due = this.#arrivals.due(rules.cctxsPerMinute * block.elapsedMinutes);
    const room = rules.maxPendingCctxs - this.module.pendingCount;
    for (let added = 0; added < Math.min(due, room); added += 1) this.#addCctx(block, rules);
  }

  #addCctx(block: Block, rules: Rules): void {
    const random = this.#random;
    const { queue, ...chain } = random.pick(this.module.chains);
    const cctx = createCctx({
      random,
      chain,
      direction: chain.hasContracts && random.chance(REVERT_SHARE) ? 'revert' : 'outgoing',
      nonce: queue.takeNonce(),
      value: drawValue(random, this.#blockTimeMs, rules),
      tssPubkey: this.module.tssPubkey,
      createdSeconds: Math.floor(block.timeMs / 1000),
      hubHeight: block.height,
      chainHeight: chain.startHeight + Math.floor((block.timeMs - this.#startMs) / chain.blockMs),
    });
    cctx.isLost = isLost(random, chain, this.module, rules);
    queue.add(cctx);
  }
}

/** Whether the signers lose track of a new cctx. */
export function isLost(random: Random, chain: ExternalChain, { lostCount }: CrosschainModule, rules: Rules): boolean {
  const { lostShare, maxLostCctxs, losesOn } = rules;
  return (losesOn === 'all' || isBitcoin(chain)) && random.chance(lostShare) && lostCount < maxLostCctxs;
}

export function isFrozen(chainId: string, { frozenChains, outboundEnabled }: Rules): boolean {
  if (typeof frozenChains !== 'string') return !outboundEnabled || frozenChains.has(chainId);
  return !outboundEnabled || frozenChains === 'all' || (frozenChains === 'one' && chainId === FREEZABLE_CHAIN_ID);
}

/**
 * Values are proportional to 1 / block time, so the utilization of a limit per block does not depend on the block time.
 */
export function drawValue(random: Random, blockTimeMs: number, { cctxValuePercent }: Rules): bigint {
  const millicoins = BigInt(random.between(MIN_VALUE_MILLICOINS, MAX_VALUE_MILLICOINS));
  const units = millicoins * 10n ** 15n + BigInt(random.string('0123456789', 15));
  return (units * REFERENCE_BLOCK_MS * BigInt(cctxValuePercent)) / BigInt(blockTimeMs * 100);
}
