import { expect, it } from 'vitest';
import { runSimulate } from '../../src/commands/simulate.js';
import { createTestContext } from '../support/command-context.js';

/** Runs the command until it has printed its addresses. Returns what it printed. */
async function simulate(blockTimeMs: number | undefined, level: 'info' | 'silent' = 'info', scenario = 'stuck') {
  const context = createTestContext();
  const simulator = { listen: { port: 0 }, seed: 9, scenario, blockTimeMs, startTimeSeconds: 1_790_000_000 };
  const record = { directory: undefined, durationMs: 0, intervalMs: 0 };
  expect(await runSimulate({ command: 'simulate', simulator, record, log: { level, format: 'json' } }, context)).toBe(
    0,
  );
  return context;
}

it('prints the scenario and the addresses', async () => {
  const { stdout } = await simulate(2_000);
  expect(stdout.map((line) => line.replace(/:\d+\//, ':PORT/'))).toEqual([
    'simulated chain: scenario stuck, seed 9, a block every 2s\n',
    '  http://127.0.0.1:PORT/bridge/v1/module_state\n',
    '  http://127.0.0.1:PORT/chain/crosschain/rateLimiterInput\n',
    '  http://127.0.0.1:PORT/cosmos/staking/v1beta1/validators\n',
  ]);
});

it('announces a long warm-up, unless the log is silent', async () => {
  const announcement = 'simulating the first 10h of the chain (2m per block) …';
  expect((await simulate(120_000)).stderr).toEqual([announcement]);
  expect((await simulate(120_000, 'silent')).stderr).toEqual([]);
});

it('uses the block time of the scenario, unless another one is given', async () => {
  const firstLines = await Promise.all([
    simulate(undefined, 'silent'),
    simulate(undefined, 'silent', 'mainnet'),
    simulate(5_000, 'silent', 'mainnet'),
  ]);
  expect(firstLines.map(({ stdout }) => stdout[0])).toEqual([
    'simulated chain: scenario stuck, seed 9, a block every 2s\n',
    'simulated chain: scenario mainnet, seed 9, a block every 630ms\n',
    'simulated chain: scenario mainnet, seed 9, a block every 5s\n',
  ]);
});
