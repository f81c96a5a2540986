import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../support/json.js';
import { exportedOf, rateLimiterInput, valueOf, valuesOf } from './document.js';

const EFFECTIVE_WINDOW = 'crosschain_rate_limit_window_blocks';
const CONFIGURED_WINDOW = 'crosschain_rate_limit_configured_window_blocks';
const RATE = 'crosschain_withdraw_amount_per_block';
const LIMIT = 'crosschain_rate_limit_amount_per_block';
const UTILIZATION = 'crosschain_rate_limit_utilization_ratio';
const EXCEEDED = 'crosschain_rate_limit_exceeded';
const all = [EFFECTIVE_WINDOW, CONFIGURED_WINDOW, RATE, LIMIT, UTILIZATION, EXCEEDED];

const COIN = 10n ** 18n;
const coins = (count: number): string => (BigInt(count) * COIN).toString();
/** One coin per block. */
const rate = COIN.toString();

function inputOf(height: number, lowest: number, past: number, pending: number): JsonObject {
  return rateLimiterInput({
    height: String(height),
    lowest_pending_cctx_height: String(lowest),
    past_cctxs_value: coins(past),
    pending_cctxs_value: coins(pending),
  });
}

describe('the rate limit metrics', () => {
  // Test vectors of the rate limiter of the chain. Values are in coins, the rate is in smallest units.
  it.each([
    { window: '100', height: 100, past: 10, pending: 90, blocks: 100, current: 10n ** 18n, exceeded: 0 },
    { window: '50', height: 100, past: 0, pending: 90, blocks: 90, current: 10n ** 18n, exceeded: 0 },
    { window: '100', height: 100, past: 11, pending: 90, blocks: 100, current: 101n * 10n ** 16n, exceeded: 1 },
    { window: '50', height: 100, past: 0, pending: 91, blocks: 90, current: (91n * COIN) / 90n, exceeded: 1 },
    { window: '50', height: 101, past: 0, pending: 91, blocks: 91, current: 10n ** 18n, exceeded: 0 },
  ])(
    'reproduce a test vector of the chain: window $window, height $height, past value $past, pending value $pending',
    ({ window, height, past, pending, blocks, current, exceeded }) => {
      expect(valuesOf(inputOf(height, 11, past, pending), all, { window, rate })).toEqual({
        [EFFECTIVE_WINDOW]: blocks,
        [CONFIGURED_WINDOW]: Number(window),
        [RATE]: Number(current),
        [LIMIT]: 1e18,
        [UTILIZATION]: (past + pending) / blocks,
        [EXCEEDED]: exceeded,
      });
    },
  );
});

describe('crosschain_rate_limit_window_blocks', () => {
  it.each([
    ['is the configured window if nothing is pending', 100, 0, 30],
    ['is the configured window if it contains the lowest height', 100, 71, 30],
    ['is extended to the lowest height', 101, 71, 31],
    ['is the configured window if the lowest height is above the height', 100, 20_000_000, 30],
    ['is extended to a lowest height far below the height', 8_000_000, 900_000, 7_100_001],
  ])('%s', (_, height, lowest, blocks) => {
    expect(valueOf(inputOf(height, lowest, 0, 0), EFFECTIVE_WINDOW, { window: '30' })).toBe(blocks);
  });
});

describe('the export of rate limit metrics', () => {
  it('depends on the configured rate, and uses a window of 500 blocks by default', () => {
    const document = inputOf(100, 11, 10, 90);
    expect(exportedOf(document, all)).toEqual([EFFECTIVE_WINDOW, CONFIGURED_WINDOW, RATE]);
    expect(exportedOf(document, all, { rate })).toEqual(all);
    expect(valueOf(document, CONFIGURED_WINDOW)).toBe(500);
  });
});
