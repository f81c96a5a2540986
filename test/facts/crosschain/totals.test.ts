import { describe, expect, it } from 'vitest';
import { cctx, rateLimiterInput, valueOf } from './document.js';

describe('crosschain_cctxs_hidden', () => {
  it.each([
    ['5', 0],
    ['4', 0],
    ['6', 1],
  ])('counts, of %s transactions with 5 listed, %s as hidden', (total_pending, hidden) => {
    const document = rateLimiterInput({
      cctxs_missed: [cctx('0x1', []), cctx('0x1', [])],
      // Invalid rows count.
      cctxs_pending: [cctx('0x2', []), cctx('0x3', []), null],
      total_pending,
    });
    expect(valueOf(document, 'crosschain_cctxs_hidden')).toBe(hidden);
  });
});
