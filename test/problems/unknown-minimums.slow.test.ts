import { expect, it } from 'vitest';
import { MainnetChain } from '../../src/simulator/mainnet-chain.js';
import { chooseBlockTime, warmUpMs } from '../../src/simulator/model.js';
import { record, START_SECONDS, type Phase } from './recording.js';

/* A main network of which no token is configured, so that nobody has said which fees are too low to relay a batch. */

const DAY_MINUTES = 24 * 60;
/** The longest interval between two polls that is no gap; shorter ones see more executions. */
const SAMPLE_SECONDS = 240;

const ABOUT_RELAYING = new Set(['BridgeBatchTimeoutNear', 'BridgeBatchOverdue', 'BridgeBatchNotRelayed']);

function createMainnet(seed: number): MainnetChain {
  const options = { seed, scenario: 'mainnet' } as const;
  const times = { blockTimeMs: chooseBlockTime(options), startMs: START_SECONDS * 1000, warmUpMs: warmUpMs(options) };
  return new MainnetChain({ seed, ...times });
}

/** The alerts about batches that are relayed late, by the minute in which they begin to fire. */
function firedIn(model: MainnetChain, phases: readonly Phase[]) {
  const firing = new Map<string, number>();
  const fired: (readonly [minute: number, alert: string])[] = [];
  record(phases, {
    scenario: 'mainnet',
    model,
    sampleSeconds: SAMPLE_SECONDS,
    withoutTokens: true,
    observe: (targets, minute) => {
      for (const { alert, severity, state } of targets.flatMap(({ problems }) => problems)) {
        const key = `${alert}/${severity}`;
        if (state !== 'firing' || !ABOUT_RELAYING.has(alert)) continue;
        if (minute - (firing.get(key) ?? -Infinity) > 15) fired.push([minute, key]);
        firing.set(key, minute);
      }
    },
  });
  return fired;
}

const doubledPrices = new Map(['usdt', 'usdc', 'weth', 'hub'].map((symbol) => [symbol, 2]));

it.each([
  ['from the second day on', 1, undefined],
  ['from the second day on', 3, undefined],
  ['after the price of tokens has doubled', 1, doubledPrices],
  ['after the price of tokens has doubled', 3, doubledPrices],
] as const)('no poor batch without min_batch_fee is a warning %s (seed %i)', (_, seed, priceFactors) => {
  const model = createMainnet(seed);
  const fired = firedIn(model, [
    { minutes: 2 * DAY_MINUTES },
    { minutes: 5 * DAY_MINUTES, begin: () => priceFactors && model.setChanges({ priceFactors }) },
  ]);
  const firstMinute = (priceFactors === undefined ? 1 : 2) * DAY_MINUTES;
  expect(fired.filter(([minute]) => minute >= firstMinute)).toEqual([]);
});
