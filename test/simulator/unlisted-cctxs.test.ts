import { describe, expect, it } from 'vitest';
import { createModel } from '../../src/simulator/model.js';
import type { Cctx } from '../../src/simulator/responses.js';
import { currentOutbound } from './document-rows.js';

const MINUTE_MS = 60_000;
const BLOCK_MS = 2000;
const WINDOW = 500n;

const onBitcoin = (cctxs: readonly Cctx[]): readonly string[] =>
  cctxs.filter((cctx) => currentOutbound(cctx).receiver_chainId === '8332').map(({ index }) => index);

describe('missed cctxs that are far below the lowest nonce of their chain', () => {
  const model = createModel({ seed: 7, scenario: 'healthy', startTime: 1_790_000_000, blockTimeMs: BLOCK_MS });
  model.setScenario('unlisted-cctxs');
  const missed = new Set<string>();
  for (let minute = 0; minute < 30; minute += 1) {
    model.advanceTime(MINUTE_MS);
    for (const index of onBitcoin(model.rateLimiterInput().cctxs_missed)) missed.add(index);
  }

  it('are listed only while they are in the window, and stay pending', () => {
    expect(missed.size).toBeGreaterThan(1);
    const { cctxs_missed, total_pending, cctxs_pending } = model.rateLimiterInput({ window: WINDOW });
    expect(cctxs_missed).toEqual([]);
    expect(Number(total_pending)).toBe(cctxs_pending.length);
    for (const index of missed) expect(model.cctx(index)?.cctx_status.status).toBe('PendingOutbound');
    const inLongWindow = onBitcoin(model.rateLimiterInput({ window: 10n * WINDOW }).cctxs_missed);
    expect(inLongWindow).toEqual(expect.arrayContaining(Array.from(missed)));
  });

  it('are listed and finish on a chain that looks further back and finds them', () => {
    model.setScenario('healthy');
    model.advance(1);
    expect(onBitcoin(model.rateLimiterInput().cctxs_missed)).toEqual(expect.arrayContaining(Array.from(missed)));
    model.advanceTime(60 * MINUTE_MS);
    for (const index of missed) expect(model.cctx(index)?.cctx_status.status).toBe('OutboundMined');
  });
});
