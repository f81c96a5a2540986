import { expect, it } from 'vitest';
import { runSimulate } from '../../src/commands/simulate.js';
import { createTestContext, optionsOf } from '../support/command-context.js';

/** Runs the command until it has printed its addresses. Returns what it printed. */
async function simulate(...flags: readonly string[]) {
  const context = createTestContext();
  const args = ['simulate', '--listen=:0', '--seed=9', '--start-time=1790000000', ...flags];
  expect(await runSimulate(await optionsOf(args), context)).toBe(0);
  return context;
}

it('prints the scenario and the addresses', async () => {
  const { stdout } = await simulate('--scenario=stuck');
  expect(stdout.map((line) => line.replace(/:\d+\//, ':PORT/'))).toEqual([
    'simulated chain: scenario stuck, seed 9, a block every 2s\n',
    '  http://127.0.0.1:PORT/bridge/v1/module_state\n',
    '  http://127.0.0.1:PORT/chain/crosschain/rateLimiterInput\n',
    '  http://127.0.0.1:PORT/cosmos/staking/v1beta1/validators\n',
  ]);
});

it('prints the addresses of the documents that the chain of the dialect has', async () => {
  const addressesOf = async (dialect: string) =>
    (await simulate(`--dialect=${dialect}`)).stdout.slice(1).map((line) => line.replace(/^.*:\d+/, '').trim());
  expect(await addressesOf('peggy')).toEqual(['/peggy/v1/module_state', '/cosmos/staking/v1beta1/validators']);
  expect(await addressesOf('zeta')).toEqual([
    '/zeta-chain/crosschain/rateLimiterInput',
    '/cosmos/staking/v1beta1/validators',
  ]);
});

it('serves the chain at several addresses', async () => {
  const { stdout } = await simulate('--nodes=3');
  const others = stdout.filter((line) => line.startsWith('another node of the chain: http://127.0.0.1:'));
  expect(new Set(others).size).toBe(2);
});

it('announces a long warm-up, unless the log is silent', async () => {
  const announcement = 'simulating the first 10h of the chain (2m per block) …';
  expect((await simulate('--block-time=2m')).stderr).toEqual([announcement]);
  expect((await simulate('--block-time=2m', '--log.level=silent')).stderr).toEqual([]);
});

it('uses the block time of the scenario, unless another one is given', async () => {
  const firstLines = await Promise.all([
    simulate('--scenario=stuck'),
    simulate('--scenario=mainnet'),
    simulate('--scenario=mainnet', '--block-time=5s'),
  ]);
  expect(firstLines.map(({ stdout }) => stdout[0])).toEqual([
    'simulated chain: scenario stuck, seed 9, a block every 2s\n',
    'simulated chain: scenario mainnet, seed 9, a block every 630ms\n',
    'simulated chain: scenario mainnet, seed 9, a block every 5s\n',
  ]);
});
