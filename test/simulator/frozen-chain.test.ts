import { describe, expect, it } from 'vitest';
import { createModel } from '../../src/simulator/model.js';
import { currentOutbound } from './document-rows.js';

const MINUTE_MS = 60_000;

/** The nonces of a chain in one list. */
function noncesOf(cctxs: readonly Parameters<typeof currentOutbound>[0][], chainId: string): readonly number[] {
  const outbounds = cctxs.map(currentOutbound).filter(({ receiver_chainId }) => receiver_chainId === chainId);
  return outbounds.map(({ tss_nonce }) => Number(tss_nonce)).toSorted((a, b) => a - b);
}

describe('a chain with a missed cctx', () => {
  const model = createModel({ seed: 7, scenario: 'missed-cctxs', startTime: 1_790_000_000, blockTimeMs: 20_000 });
  model.advanceTime(70 * MINUTE_MS);
  const before = model.rateLimiterInput({ limit: 0n });
  model.advanceTime(15 * MINUTE_MS);
  const after = model.rateLimiterInput({ limit: 0n });

  it('sends nothing whose nonce is further above than the lookahead, and everything before', () => {
    const frozen = ['1', '56', '137', '8453', '42161'].filter((chainId) => {
      const lookahead = chainId === '42161' ? 30 : 60;
      const [missed = Infinity] = noncesOf(before.cctxs_missed, chainId);
      return (noncesOf(before.cctxs_pending, chainId).at(-1) ?? 0) > missed + lookahead + 5;
    });
    expect(frozen.length).toBeGreaterThan(0);
    for (const chainId of frozen) {
      const [missed = 0] = noncesOf(after.cctxs_missed, chainId);
      const pending = noncesOf(after.cctxs_pending, chainId);
      expect(pending[0]).toBe(missed + (chainId === '42161' ? 31 : 61));
      // Later ones queue up behind it.
      expect(pending.length).toBeGreaterThan(noncesOf(before.cctxs_pending, chainId).length);
      const sent = after.cctxs_pending
        .map(currentOutbound)
        .filter(({ receiver_chainId }) => receiver_chainId === chainId);
      expect(sent.filter(({ hash }) => hash !== '')).toEqual([]);
    }
  });

  it('goes on if it is Bitcoin, which is not scheduled by distance', () => {
    expect(noncesOf(before.cctxs_missed, '8332').length).toBeGreaterThan(0);
    const [lowest = 0] = noncesOf(after.cctxs_pending, '8332');
    expect(lowest).toBeGreaterThan(noncesOf(before.cctxs_pending, '8332')[0] ?? 0);
  });

  it('goes on when the missed ones are found', () => {
    model.setScenario('healthy');
    model.advanceTime(60 * MINUTE_MS);
    expect(model.rateLimiterInput({ limit: 0n }).cctxs_missed).toEqual([]);
  });
});
