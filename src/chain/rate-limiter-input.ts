import {
  enumeration,
  lazyString,
  list,
  number,
  object,
  objectWithKnownKey,
  string,
  type ValueOf,
} from '../json/shapes.js';
import { chainId } from './field-shapes.js';

/* The fields of the rate limiter input that a family reads. */

export const cctxStatuses = new Map([
  [0, 'PendingInbound'],
  [1, 'PendingOutbound'],
  // The enum has no value 2.
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

const outbound = object({
  receiver_chainId: chainId,
  coin_type: enumeration(coinTypes),
  amount: number,
  tss_nonce: number,
  hash: lazyString,
});

const cctx = object({
  index: string,
  cctx_status: object({ status: enumeration(cctxStatuses), created_timestamp: number, lastUpdate_timestamp: number }),
  inbound_params: object({ sender_chain_id: chainId }),
  outbound_params: list(outbound),
});

export const rateLimiterInput = objectWithKnownKey({
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
