import { enumeration, interned, list, number, object, string, type ValueOf } from '../json/shapes.js';
import { address, chainId } from './addresses.js';

/*
 * The fields of the rate limiter input that a family reads, and after them the names of the others. Newer nodes have some that are
 * not in the spec.
 */

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

const outbound = object(
  {
    receiver: string,
    receiver_chainId: chainId,
    coin_type: enumeration(coinTypes),
    amount: number,
    tss_nonce: number,
    hash: string,
    tss_pubkey: interned((text) => text),
  },
  [
    'gas_limit',
    'gas_price',
    'gas_priority_fee',
    'ballot_index',
    'observed_external_height',
    'gas_used',
    'effective_gas_price',
    'effective_gas_limit',
    'tx_finalization_status',
    'call_options',
    'confirmation_mode',
    'user_gas_fee_paid',
  ],
);

export const cctxStatus = object(
  {
    status: enumeration(cctxStatuses),
    status_message: interned((text) => text),
    error_message: string,
    created_timestamp: number,
    lastUpdate_timestamp: number,
  },
  ['isAbortRefunded', 'error_message_revert', 'error_message_abort'],
);

const inboundParams = object(
  { sender: string, sender_chain_id: chainId, tx_origin: string, asset: address, observed_hash: string },
  [
    'coin_type',
    'amount',
    'observed_external_height',
    'ballot_index',
    'finalized_native_height',
    'tx_finalization_status',
    'is_cross_chain_call',
    'status',
    'confirmation_mode',
    'error_message',
  ],
);

const cctx = object(
  {
    index: string,
    cctx_status: cctxStatus,
    inbound_params: inboundParams,
    outbound_params: list(outbound),
  },
  ['creator', 'native_fees', 'relayed_message', 'protocol_contract_version', 'revert_options'],
);

export const rateLimiterInput = object(
  {
    height: number,
    cctxs_missed: list(cctx),
    cctxs_pending: list(cctx),
    total_pending: number,
    past_cctxs_value: number,
    pending_cctxs_value: number,
    lowest_pending_cctx_height: number,
  },
  [],
  { needsKnownKey: true },
);

export type RateLimiterInput = ValueOf<typeof rateLimiterInput>;
export type Cctx = ValueOf<typeof cctx>;
export type Outbound = ValueOf<typeof outbound>;
