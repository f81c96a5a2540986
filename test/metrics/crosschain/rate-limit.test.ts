import { describe, expect, it } from 'vitest';
import { answer, present, told, toldOf, type Row } from './document.js';

const WINDOW = 'crosschain_rate_limit_window_blocks';
const CONFIGURED = 'crosschain_rate_limit_configured_window_blocks';
const RATE = 'crosschain_withdraw_rate';
const LIMIT = 'crosschain_rate_limit';
const USED = 'crosschain_rate_limit_utilization_ratio';
const EXCEEDED = 'crosschain_rate_limit_exceeded';
const all = [WINDOW, CONFIGURED, RATE, LIMIT, USED, EXCEEDED];

const coin = 10n ** 18n;
const coins = (count: number): string => (BigInt(count) * coin).toString();
const rate = coin.toString();

function queue(height: number, lowest: number, past: number, pending: number): Row {
  return answer({
    height: String(height),
    lowest_pending_cctx_height: String(lowest),
    past_cctxs_value: coins(past),
    pending_cctxs_value: coins(pending),
  });
}

describe('the rate limiter, one coin a block', () => {
  // The vectors of the limiter's own unit tests; values in coins, the rate in the smallest unit.
  it.each([
    { window: '100', height: 100, past: 10, pending: 90, blocks: 100, current: 10n ** 18n, exceeded: 0 },
    { window: '50', height: 100, past: 0, pending: 90, blocks: 90, current: 10n ** 18n, exceeded: 0 },
    { window: '100', height: 100, past: 11, pending: 90, blocks: 100, current: 101n * 10n ** 16n, exceeded: 1 },
    { window: '50', height: 100, past: 0, pending: 91, blocks: 90, current: (91n * coin) / 90n, exceeded: 1 },
    { window: '50', height: 101, past: 0, pending: 91, blocks: 91, current: 10n ** 18n, exceeded: 0 },
  ])(
    'with window $window at height $height, lowest 11: $past past and $pending pending',
    ({ window, height, past, pending, blocks, current, exceeded }) => {
      expect(toldOf(queue(height, 11, past, pending), all, { window, rate })).toEqual({
        [WINDOW]: blocks,
        [CONFIGURED]: Number(window),
        [RATE]: Number(current),
        [LIMIT]: 1e18,
        [USED]: (past + pending) / blocks,
        [EXCEEDED]: exceeded,
      });
    },
  );

  // What the node itself answers at height 1199, window 500 or 1200, before and after a gap is confirmed.
  it.each([
    { window: '500', lowest: 1100, past: 1200, pending: 300, blocks: 500, current: 3n * coin },
    { window: '1200', lowest: 1100, past: 3297, pending: 300, blocks: 1200, current: (3597n * coin) / 1200n },
    { window: '500', lowest: 1000, past: 900, pending: 600, blocks: 500, current: 3n * coin },
    { window: '150', lowest: 1000, past: 900, pending: 600, blocks: 200, current: (15n * coin) / 2n },
  ])('at height 1199 with window $window, lowest $lowest', ({ window, lowest, past, pending, blocks, current }) => {
    const found = toldOf(queue(1199, lowest, past, pending), [WINDOW, RATE, EXCEEDED], { window, rate });
    expect(found).toEqual({ [WINDOW]: blocks, [RATE]: Number(current), [EXCEEDED]: 1 });
  });
});

describe('the window', () => {
  it.each([
    ['is the configured one when nothing is pending', 100, 0, 30],
    ['is the configured one when that reaches as far', 100, 71, 30],
    ['grows by one with the next block', 101, 71, 31],
    ['is the configured one when the lowest height is that of another chain, far above', 100, 20_000_000, 30],
    ['is huge when the lowest height is that of another chain, far below', 8_000_000, 900_000, 7_100_001],
  ])('%s', (_, height, lowest, blocks) => {
    expect(told(queue(height, lowest, 0, 0), WINDOW, { window: '30' })).toBe(blocks);
  });
});

describe('the rate', () => {
  const of = (past: string, pending: string): Row => answer({ past_cctxs_value: past, pending_cctxs_value: pending });

  it('is rounded down to the smallest unit', () => {
    expect(told(of('10', '9'), RATE, { window: '10' })).toBe(1);
    expect(told(of('0', '9'), RATE, { window: '10' })).toBe(0);
  });

  it('is exact where doubles are not', () => {
    // 2^53 + 1 over 2^53 × 1: as doubles they are equal
    const [past, limit] = ['9007199254740992', '9007199254740992'];
    expect(toldOf(of(past, '1'), [EXCEEDED], { window: '1', rate: limit })).toEqual({ [EXCEEDED]: 1 });
    expect(toldOf(of(past, '0'), [EXCEEDED], { window: '1', rate: limit })).toEqual({ [EXCEEDED]: 0 });
    // (2^53 + 1) + 2 is 2^53 + 3, which as a double is 2^53 + 4; added as doubles it would be 2^53 + 2
    expect(told(of('9007199254740993', '2'), RATE, { window: '1' })).toBe(9007199254740996);
  });

  it('may be of values and limits of 256 bits', () => {
    const most = (2n ** 256n - 1n).toString();
    expect(toldOf(of(most, most), [USED, EXCEEDED, LIMIT], { window: '1', rate: most })).toEqual({
      [USED]: 2,
      [EXCEEDED]: 1,
      [LIMIT]: 2 ** 256,
    });
  });
});

describe('the rate limit', () => {
  it('is told only as far as it is configured', () => {
    const busy = queue(100, 11, 10, 90);
    expect(present(busy, all)).toEqual([]);
    expect(present(busy, all, { rate })).toEqual([]);
    expect(present(busy, all, { window: '100' })).toEqual([WINDOW, CONFIGURED, RATE]);
  });

  const [ofHeights, ofValues] = [
    [CONFIGURED, LIMIT],
    [WINDOW, CONFIGURED, LIMIT],
  ];
  it.each<[string, Row, string[] | undefined]>([
    ['height', { height: null }, ofHeights],
    ['lowest_pending_cctx_height', { lowest_pending_cctx_height: '' }, ofHeights],
    ['past_cctxs_value', { past_cctxs_value: 'x' }, ofValues],
    ['pending_cctxs_value', { pending_cctxs_value: null }, ofValues],
    ['the height though nothing is pending', { height: null, lowest_pending_cctx_height: '0' }, ofHeights],
    ['the lists', { cctxs_missed: null, cctxs_pending: null, total_pending: null }, all],
  ])('is withdrawn for want of %s where it needs it, and nowhere else', (_, broken, left) => {
    expect(present({ ...queue(100, 11, 10, 90), ...broken }, all, { window: '100', rate })).toEqual(left);
  });
});
