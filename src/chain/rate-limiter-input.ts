import { list, number, object, type ReadAs } from './schema.js';

/** The fields of the rate limiter's input (spec §2.2) that a family reads. */
const cctx = object({});

export const rateLimiterInput = object({
  height: number,
  cctxs_missed: list(cctx),
  cctxs_pending: list(cctx),
  total_pending: number,
  past_cctxs_value: number,
  pending_cctxs_value: number,
  lowest_pending_cctx_height: number,
});

export type RateLimiterInput = ReadAs<typeof rateLimiterInput>;
