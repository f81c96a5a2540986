import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../support/json.js';
import { cctx, rateLimiterInput, valueOf, valuesOf } from './document.js';

const HIDDEN = 'crosschain_cctxs_hidden';
const lengths = ['crosschain_cctxs_missed', 'crosschain_cctxs_pending'];
const scalars = [
  'crosschain_height',
  'crosschain_total_pending',
  'crosschain_past_cctxs_value',
  'crosschain_pending_cctxs_value',
  'crosschain_lowest_pending_cctx_height',
];
const all = [...scalars, ...lengths, HIDDEN];

const document = rateLimiterInput({
  height: '8214702',
  cctxs_missed: [cctx('0x1', []), cctx('0x1', [])],
  cctxs_pending: [cctx('0x2', []), cctx('0x3', []), null],
  total_pending: '9',
  past_cctxs_value: '1200000000000000000000',
  pending_cctxs_value: (2n ** 256n).toString(),
  lowest_pending_cctx_height: 8214000,
});

describe('the total metrics', () => {
  it('export the totals of the response and the lengths of its lists', () => {
    expect(valuesOf(document, all)).toEqual({
      crosschain_height: 8214702,
      crosschain_total_pending: 9,
      crosschain_past_cctxs_value: 1.2e21,
      crosschain_pending_cctxs_value: 2 ** 256,
      crosschain_lowest_pending_cctx_height: 8214000,
      // Invalid rows count.
      crosschain_cctxs_missed: 2,
      crosschain_cctxs_pending: 3,
      [HIDDEN]: 4,
    });
  });

  it.each([
    ['5', 0],
    ['4', 0],
    ['6', 1],
    ['9007199254740999', 9007199254740994],
  ])('count, of %s transactions with 5 listed, %s as hidden', (total_pending, hidden) => {
    expect(valueOf({ ...document, total_pending }, HIDDEN)).toBe(hidden);
  });

  it('count transactions beyond the limit of the list as hidden', () => {
    const listed = (name: string, count: number): JsonObject[] =>
      Array.from({ length: count }, (_, index) => cctx(`${name}${index}`, []));
    const withPending = (pending: number): JsonObject =>
      rateLimiterInput({ total_pending: '400', cctxs_missed: listed('m', 200), cctxs_pending: listed('p', pending) });
    expect([valueOf(withPending(200), HIDDEN), valueOf(withPending(100), HIDDEN)]).toEqual([0, 100]);
  });
});
