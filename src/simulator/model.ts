import { DAY_MS, MINUTE_MS } from './block.js';
import { BusyChain } from './busy-chain.js';
import type { SimulatedChain } from './chain.js';
import { MainnetChain } from './mainnet-chain.js';
import type { ScenarioName } from './scenarios.js';

/** The public members of a chain: a class outside this folder cannot implement the protected ones. */
export type Model = Pick<SimulatedChain, keyof SimulatedChain>;

export interface ModelOptions {
  readonly seed: number;
  readonly scenario: ScenarioName;
  /** Unix seconds of the first block that is served. */
  readonly startTime: number;
  /** By default that of the scenario. */
  readonly blockTimeMs?: number | undefined;
}

const DEFAULT_BLOCK_MS = 2000;
/** The hub of `mainnet` is faster than its parameters say. */
const MAINNET_BLOCK_MS = 630;

/** Each half of the warm-up takes this long, within limits: the first in `healthy`, the second in the scenario. */
const WARM_UP_MS = 10 * MINUTE_MS;
const MIN_WARM_UP_BLOCKS = 150;
const MAX_WARM_UP_BLOCKS = 2000;

/** The warm-up of `mainnet`: a batch reaches its timeout in it. */
const MAINNET_WARM_UP_MS = DAY_MS;

/** Creates a chain that already has traffic, so that the first poll finds every list filled. */
export function createModel(options: ModelOptions): Model {
  const { seed, scenario, startTime } = options;
  const blockTimeMs = chooseBlockTime(options);
  const warmUp = warmUpMs(options);
  requireInteger('seed', seed, 0);
  requireInteger('blockTimeMs', blockTimeMs, 1);
  requireInteger('startTime', startTime, Math.ceil(warmUp / 1000));
  if (scenario === 'mainnet')
    return new MainnetChain({ seed, blockTimeMs, startMs: startTime * 1000, warmUpMs: warmUp });
  const chain = new BusyChain(seed, blockTimeMs, startTime * 1000 - warmUp);
  chain.advance(warmUpBlocks(blockTimeMs));
  chain.setScenario(scenario);
  chain.advance(warmUpBlocks(blockTimeMs));
  return chain;
}

/** Time on the chain that `createModel` simulates before the first block that is served. */
export function warmUpMs(options: Pick<ModelOptions, 'scenario' | 'blockTimeMs'>): number {
  const blockTimeMs = chooseBlockTime(options);
  return options.scenario === 'mainnet' ? MAINNET_WARM_UP_MS : 2 * warmUpBlocks(blockTimeMs) * blockTimeMs;
}

/** The block time that is given, or that of the scenario. */
export function chooseBlockTime({ scenario, blockTimeMs }: Pick<ModelOptions, 'scenario' | 'blockTimeMs'>): number {
  return blockTimeMs ?? (scenario === 'mainnet' ? MAINNET_BLOCK_MS : DEFAULT_BLOCK_MS);
}

function warmUpBlocks(blockTimeMs: number): number {
  return Math.round(Math.min(Math.max(WARM_UP_MS / blockTimeMs, MIN_WARM_UP_BLOCKS), MAX_WARM_UP_BLOCKS));
}

function requireInteger(name: string, value: number, minimum: number): void {
  if (!Number.isSafeInteger(value) || value < minimum) {
    throw new RangeError(`${name} is ${value}; it must be an integer of at least ${minimum}`);
  }
}
