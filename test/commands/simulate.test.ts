import { describe, expect, it } from 'vitest';
import { runSimulate } from '../../src/commands/simulate.js';
import { createTestContext, optionsOf } from '../support/command-context.js';
import { waitUntil } from '../support/wait-for.js';

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

it('goes on to the present from a start of up to a day ago', async () => {
  const printed = createTestContext();
  const now = Math.floor(Date.now() / 1000);
  const heads: { readonly header: { readonly height: string; readonly time: string } }[] = [];
  const context = {
    ...printed,
    handleStopSignals: () => async () => {
      const address = /http:\/\/[^/]+/.exec(printed.stdout.at(-1) ?? '')?.[0];
      const response = await fetch(`${address}/cosmos/base/tendermint/v1beta1/blocks/latest`);
      heads.push(((await response.json()) as { sdk_block: (typeof heads)[number] }).sdk_block);
      return 'SIGTERM' as const;
    },
  };
  const args = ['simulate', '--listen=:0', `--start-time=${now - 7200}`, '--scenario=stuck'];
  expect(await runSimulate(await optionsOf(args), context)).toBe(0);
  expect(Date.parse(heads[0]?.header.time ?? '') / 1000).toBeGreaterThan(now - 60);
});

it('serves the chain at several addresses', async () => {
  const { stdout } = await simulate('--nodes=3');
  const others = stdout.filter((line) => line.startsWith('another node of the chain: http://127.0.0.1:'));
  expect(new Set(others).size).toBe(2);
});

describe('a node of several', () => {
  /** The addresses of two nodes while the command runs. */
  async function whileRunning(run: (first: string, second: string) => Promise<void>): Promise<void> {
    const printed = createTestContext();
    const context = {
      ...printed,
      handleStopSignals: () => async () => {
        const [first = '', second = ''] = printed.stdout
          .filter((line) => /^ {2}http|^another/.test(line))
          .map((line) => new URL(/http\S+/.exec(line)?.[0] ?? '').origin)
          .filter((origin, index, all) => all.indexOf(origin) === index);
        await run(first, second);
        return 'SIGTERM' as const;
      },
    };
    const args = ['simulate', '--listen=:0', '--nodes=2', '--block-time=20ms', '--start-time=1790000000'];
    expect(await runSimulate(await optionsOf(args), context)).toBe(0);
  }

  const setFault = async (url: string, name: string) => fetch(`${url}/-/fault/${name}`, { method: 'POST' });

  const stateOf = async (url: string, timeoutMs = 5000) => {
    const response = await fetch(`${url}/bridge/v1/module_state`, { signal: AbortSignal.timeout(timeoutMs) });
    return { height: Number(response.headers.get('grpc-metadata-x-cosmos-block-height')), body: await response.text() };
  };

  it('dies, hangs, falls behind and serves another chain one by one and while it runs, until it is healthy again', async () => {
    await whileRunning(async (first, second) => {
      expect((await setFault(second, 'dead')).status).toBe(200);
      await expect(stateOf(second)).rejects.toThrow('fetch failed');
      await setFault(second, 'hang');
      await expect(stateOf(second, 200)).rejects.toThrow('timeout');
      await setFault(second, 'foreign');
      expect((await stateOf(second)).body).toContain('"bridge_id":"other-bridgeid"');
      await setFault(second, 'behind');
      const standing = await stateOf(second);
      await waitUntil(async () => (await stateOf(first)).height > standing.height + 3);
      expect(await stateOf(second)).toEqual(standing);
      await setFault(second, 'none');
      expect((await stateOf(second)).height).toBeGreaterThan(standing.height + 3);
    });
  });

  it('rejects a fault that it does not have', async () => {
    await whileRunning(async (first) => {
      const response = await setFault(first, 'broken');
      expect([response.status, await response.text()]).toEqual([
        400,
        expect.stringContaining('a fault is one of none, dead, hang, behind, foreign'),
      ]);
      expect((await stateOf(first)).height).toBeGreaterThan(0);
    });
  });
});

it('uses the block time of the scenario, unless another one is given', async () => {
  const firstLines = await Promise.all([
    simulate('--scenario=mainnet'),
    simulate('--scenario=mainnet', '--block-time=5s'),
  ]);
  expect(firstLines.map(({ stdout }) => stdout[0])).toEqual([
    'simulated chain: scenario mainnet, seed 9, a block every 630ms\n',
    'simulated chain: scenario mainnet, seed 9, a block every 5s\n',
  ]);
});
