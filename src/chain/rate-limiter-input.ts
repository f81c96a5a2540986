import { allAliases, crosschainDialects } from './dialects.js';
import { address, chainId, enumeration, list, numeral, objectWith, string, type SchemaValue } from './fields.js';

/* The rate limiter input in the words of the spec, as far as something reads it. */

const aliases = allAliases(crosschainDialects);

const object = objectWith(aliases.fields);

const cctxStatuses = new Map([
  [0, 'PendingInbound'],
  [1, 'PendingOutbound'],
  // The enum has no value 2.
  [3, 'OutboundMined'],
  [4, 'PendingRevert'],
  [5, 'Reverted'],
  [6, 'Aborted'],
]);

export const NATIVE = 'Native';

const coinTypes = new Map([
  [0, NATIVE],
  [1, 'Gas'],
  [2, 'ERC20'],
  [3, 'Cmd'],
  [4, 'NoAssetCall'],
]);

export const cctxStatus = object({
  status: enumeration(cctxStatuses, aliases.values),
  status_message: string,
  error_message: string,
  created_timestamp: numeral,
  lastUpdate_timestamp: numeral,
});

const inboundParams = object({
  sender: string,
  sender_chain_id: chainId,
  tx_origin: string,
  asset: address,
  observed_hash: string,
});

const outboundParams = object({
  receiver: string,
  receiver_chainId: chainId,
  coin_type: enumeration(coinTypes, aliases.values),
  amount: numeral,
  tss_nonce: numeral,
  hash: string,
  tss_pubkey: string,
});

const cctx = object({
  index: string,
  cctx_status: cctxStatus,
  inbound_params: inboundParams,
  outbound_params: list(outboundParams),
});

export const rateLimiterInput = object({
  height: numeral,
  cctxs_missed: list(cctx),
  cctxs_pending: list(cctx),
  total_pending: numeral,
  past_cctxs_value: numeral,
  pending_cctxs_value: numeral,
  lowest_pending_cctx_height: numeral,
});

export type RateLimiterInput = SchemaValue<typeof rateLimiterInput>;
export type Cctx = SchemaValue<typeof cctx>;
export type Outbound = SchemaValue<typeof outboundParams>;
