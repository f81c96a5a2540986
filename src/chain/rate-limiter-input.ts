import { chainId, number, numberPlace, oneOf, text, textPlace } from './field-shapes.js';
import { inlined, lastOf, list, object } from '../json/object-shape.js';
import type { ValueOf } from '../json/shape.js';

export const cctxStatuses = new Map([
  [0, 'PendingInbound'],
  [1, 'PendingOutbound'],
  [3, 'OutboundMined'],
  [4, 'PendingRevert'],
  [5, 'Reverted'],
  [6, 'Aborted'],
]);

export const NATIVE = 'Native';

export const coinTypes = new Map([
  [0, NATIVE],
  [1, 'Gas'],
  [2, 'ERC20'],
  [3, 'Cmd'],
  [4, 'NoAssetCall'],
]);

/** The fields of the rate limiter's input (spec §2.2) that a family reads. */
const outbound = object({
  receiver_chainId: chainId,
  coin_type: oneOf(coinTypes),
  amount: numberPlace,
  tss_nonce: number,
  hash: textPlace,
});

const cctx = object({
  index: text,
  cctx_status: inlined({ status: oneOf(cctxStatuses), created_timestamp: number, lastUpdate_timestamp: number }),
  inbound_params: inlined({ sender_chain_id: chainId }),
  outbound_params: lastOf(outbound),
});

export const rateLimiterInput = object({
  height: number,
  cctxs_missed: list(cctx),
  cctxs_pending: list(cctx),
  total_pending: number,
  past_cctxs_value: number,
  pending_cctxs_value: number,
  lowest_pending_cctx_height: number,
});

export type RateLimiterInput = ValueOf<typeof rateLimiterInput>;
export type Cctx = ValueOf<typeof cctx>;
export type Outbound = ValueOf<typeof outbound>;
