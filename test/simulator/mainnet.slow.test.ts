import { describe, expect, it } from 'vitest';
import { MainnetChain } from '../../src/simulator/mainnet-chain.js';
import type { Month } from '../../src/simulator/mainnet-month.js';
import { createModel, type Model } from '../../src/simulator/model.js';
import { currentOutbound } from './document-rows.js';

const START_TIME = 1_790_000_000;
const MINUTE_MS = 60_000;
const BLOCK_MS = 630;

const createMainnet = (seed: number): Model => createModel({ seed, scenario: 'mainnet', startTime: START_TIME });

const bytesOf = (model: Model): string => JSON.stringify([model.moduleState(), model.rateLimiterInput()]);

describe('a main network', () => {
  it('shows at once what stays: dust, a poor batch, and cctxs missed a month ago', () => {
    const model = createMainnet(1);
    const { state } = model.moduleState();
    const { cctxs_missed } = model.rateLimiterInput();
    expect(state.unbatched_transfers.length).toBeGreaterThanOrEqual(8);
    const [oldest] = state.batches.toReversed();
    expect((model.height - Number(oldest?.block)) * BLOCK_MS).toBeGreaterThan(2.9 * 60 * MINUTE_MS);
    const signers = state.batch_confirms.filter(({ nonce }) => nonce === oldest?.batch_nonce);
    expect(signers.length).toBe(20);
    expect(cctxs_missed.map((cctx) => currentOutbound(cctx).receiver_chainId).toSorted()).toEqual([
      '5',
      '8332',
      '8332',
      '8332',
    ]);
    expect(cctxs_missed.map((cctx) => currentOutbound(cctx).amount)).toContain('100');
    const ages = cctxs_missed.map((cctx) => START_TIME - Number(cctx.cctx_status.created_timestamp));
    expect(Math.min(...ages)).toBeGreaterThan(30 * 86_400);
  });

  it('is the same after the same time, however it is divided', () => {
    const [inOneStep, inManySteps] = [createMainnet(3), createMainnet(3)];
    inOneStep.advanceTime(240 * MINUTE_MS);
    for (let minute = 0; minute < 240; minute += 1) {
      inManySteps.advanceTime(MINUTE_MS - 7);
      inManySteps.advanceTime(7);
    }
    expect(bytesOf(inManySteps)).toBe(bytesOf(inOneStep));
  });

  it.each([50, 20_000])('has a block every %i ms when that is given', (blockTimeMs) => {
    const model = createModel({ seed: 1, scenario: 'mainnet', startTime: START_TIME, blockTimeMs });
    const { height } = model;
    model.advanceTime(65 * MINUTE_MS);
    expect(model.height - height).toBe((65 * MINUTE_MS) / blockTimeMs);
  });
});

describe('a main network under other rules', () => {
  const startMs = START_TIME * 1000;
  const create = (month?: Partial<Month>): MainnetChain =>
    new MainnetChain({ seed: 5, blockTimeMs: BLOCK_MS, startMs, warmUpMs: 60 * MINUTE_MS, month });

  it('signs one batch a minute, the newest first', () => {
    const chain = create();
    chain.setChanges({ transfersPerMinute: 30 });
    const newBatches = new Set<string>();
    let mostPerMinute = 0;
    let signedByNonce = new Map<string, number>();
    for (let minute = 0; minute < 30; minute += 1) {
      chain.advanceTime(MINUTE_MS);
      const { batches, batch_confirms } = chain.moduleState().state;
      for (const { batch_nonce } of batches) newBatches.add(batch_nonce);
      const [first] = batch_confirms;
      const own = batch_confirms.filter(({ orchestrator }) => orchestrator === first?.orchestrator);
      const signed = new Map(own.map(({ nonce }) => [nonce, 1]));
      const added = [...signed.keys()].filter((nonce) => !signedByNonce.has(nonce));
      mostPerMinute = Math.max(mostPerMinute, minute === 0 ? 0 : added.length);
      signedByNonce = signed;
    }
    expect(newBatches.size).toBeGreaterThan(20);
    expect(mostPerMinute).toBe(1);
  });

  it('leaves the batches of a token that cannot be relayed', () => {
    const chain = create();
    const [token] = chain.bridge.tokens;
    const executed = (): number[] =>
      chain.bridge.tokens.map(({ contract }) => Number(chain.counts.get(`batches_executed ${contract}`) ?? 0));
    const [before] = executed();
    chain.setChanges({ transfersPerMinute: 3, unrelayableTokens: new Set([token.symbol]) });
    chain.advanceTime(120 * MINUTE_MS);
    const [after, ...others] = executed();
    expect(after).toBe(before);
    expect(Math.max(...others)).toBeGreaterThan(2);
    expect(chain.bridge.withdrawals.batches.some((batch) => batch.token === token)).toBe(true);
  });
});

describe('a chain in another scenario', () => {
  it('cannot become a main network', () => {
    const model = createModel({ seed: 1, scenario: 'healthy', startTime: START_TIME });
    expect(() => model.setScenario('mainnet')).toThrow('only a chain that starts in the scenario mainnet can be in it');
    expect(() => createMainnet(1).setScenario('stuck')).toThrow('a main network is in no other scenario');
  });
});
