import { type Block, BlockClock, DAY_MS, type TimeSpan } from './block.js';
import type { BridgeModule } from './bridge-module.js';
import { SimulatedChain, type ExternalBlock, externalBlock, type UpgradePlan } from './chain.js';
import type { CrosschainModule } from './crosschain-module.js';
import { MainnetBridge } from './mainnet-bridge.js';
import { MainnetCrosschain } from './mainnet-crosschain.js';
import { planMonth, type Month } from './mainnet-month.js';
import { createRules, type Rules, type ScenarioName } from './scenarios.js';

const FIRST_HEIGHT = 168_000_000;
const FIRST_EXTERNAL_HEIGHT = 23_400_000;
/** How long before an upgrade it is decided. */
const PLANNED_MS = 3 * DAY_MS;

interface MainnetOptions {
  readonly seed: number;
  readonly blockTimeMs: number;
  /** Time of the first block that is served. */
  readonly startMs: number;
  readonly warmUpMs: number;
  /** Replaces the planned events. */
  readonly month?: Partial<Month> | undefined;
}

/** A main network. It makes only the blocks in which something happens, so that a month takes seconds. */
export class MainnetChain extends SimulatedChain {
  readonly blockTimeMs: number;
  readonly bridge: BridgeModule;
  readonly crosschain: CrosschainModule;
  readonly scenario = 'mainnet';
  protected rules = createRules('mainnet');
  readonly #clock: BlockClock;
  readonly #upgrade: TimeSpan;
  readonly #bridgeUsers: MainnetBridge;
  readonly #crosschainUsers: MainnetCrosschain;
  #nowMs: number;
  /** When the cross-chain module changes next. */
  #crosschainMs: number;

  constructor({ seed, blockTimeMs, startMs, warmUpMs, month: changes }: MainnetOptions) {
    super();
    const month = { ...planMonth(seed, startMs), ...changes };
    const firstMs = startMs - warmUpMs;
    this.blockTimeMs = blockTimeMs;
    this.#clock = new BlockClock({
      firstHeight: FIRST_HEIGHT + (seed % 1000),
      firstExternalHeight: FIRST_EXTERNAL_HEIGHT,
      startMs: firstMs,
      blockTimeMs,
      halt: month.upgrade,
    });
    const first = this.#clock.at(firstMs);
    this.#upgrade = month.upgrade;
    this.#bridgeUsers = new MainnetBridge(seed, this.#clock, first, startMs, month);
    this.#crosschainUsers = new MainnetCrosschain(seed, blockTimeMs, first, month);
    this.bridge = this.#bridgeUsers.module;
    this.crosschain = this.#crosschainUsers.module;
    this.#nowMs = firstMs;
    this.#crosschainMs = firstMs;
    this.#advanceTo(startMs);
  }

  get latest(): Block {
    return this.#clock.at(this.#nowMs);
  }

  override get external(): ExternalBlock {
    return externalBlock(this.#clock.externalHeightAt(this.#nowMs), this.#nowMs);
  }

  override get upgradePlan(): UpgradePlan | undefined {
    const isPlanned = this.#nowMs >= this.#upgrade.fromMs - PLANNED_MS && this.#nowMs < this.#upgrade.untilMs;
    return isPlanned ? { name: 'v2.0.0', height: this.#clock.at(this.#upgrade.fromMs).height + 1 } : undefined;
  }

  advance(blocks: number): void {
    this.#advanceTo(this.#clock.after(this.latest, blocks).timeMs);
  }

  advanceTime(ms: number): void {
    this.#advanceTo(this.#nowMs + ms);
  }

  setScenario(scenario: ScenarioName): void {
    if (scenario !== this.scenario) throw new RangeError('a main network is in no other scenario');
  }

  /** Differences from the scenario, for overlapping faults. Takes effect with the next block. */
  setChanges(changes: Partial<Rules>): void {
    this.rules = { ...createRules('mainnet'), ...changes };
    this.#crosschainMs = this.#nowMs;
  }

  /** Jails these validators, or lets them return. */
  setJailed(ranks: ReadonlySet<number>, isJailed: boolean): void {
    this.#bridgeUsers.setJailed(ranks, isJailed, this.latest);
  }

  #advanceTo(timeMs: number): void {
    for (let block = this.#nextBlock(); block.timeMs <= timeMs; block = this.#nextBlock()) this.#step(block);
    this.#nowMs = timeMs;
  }

  /** The first block in which something is due. */
  #nextBlock(): Block {
    return this.#clock.from(Math.min(this.#bridgeUsers.nextMs, this.#crosschainMs));
  }

  #step(block: Block): void {
    if (this.#bridgeUsers.nextMs <= block.timeMs) this.#bridgeUsers.step(block, this.rules);
    if (this.#crosschainMs > block.timeMs) return;
    this.#crosschainUsers.step(block, this.rules);
    this.#crosschainMs = this.#crosschainUsers.nextMs(this.rules);
  }
}
