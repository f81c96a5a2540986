import { createAccount, createExternalAddress } from './addresses.js';
import type { CctxOrder } from './cctx.js';
import type { Asset } from './external-chains.js';
import type { Cctx, CctxStatus, InboundParams, OutboundParams, RevertOptions } from './rate-limiter-input.js';

export const HUB_CHAIN_ID = '7000';

/** Sent from the hub, waiting for its one outbound. */
export function describeOutgoing(order: CctxOrder, asset: Asset, amount: string): Cctx {
  const { random } = order;
  const index = `0x${random.hex(64)}`;
  const sender = createExternalAddress(random);
  const isCall = order.chain.hasContracts && random.chance(0.2);
  return {
    creator: '',
    index,
    native_fees: '0',
    relayed_message: isCall ? random.hex(64) : '',
    cctx_status: statusOf(order, 'PendingOutbound', 'initiating outbound', ''),
    inbound_params: {
      ...inboundOf(order, asset, amount, sender),
      sender_chain_id: HUB_CHAIN_ID,
      observed_external_height: String(order.hubHeight),
      ballot_index: index,
      is_cross_chain_call: isCall,
    },
    outbound_params: [pendingOutbound(order, asset, amount, createExternalAddress(random))],
    protocol_contract_version: random.chance(0.3) ? 'V1' : 'V2',
    revert_options: revertOptions(sender, isCall),
  };
}

/** Came from an external chain, failed on the hub and goes back. */
export function describeRevert(order: CctxOrder, asset: Asset, amount: string): Cctx {
  const { random } = order;
  const sender = createExternalAddress(random);
  const error = JSON.stringify({ type: 'contract_call_error', message: 'execution reverted', error: 'no liquidity' });
  return {
    creator: createAccount(random),
    index: `0x${random.hex(64)}`,
    native_fees: '0',
    relayed_message: random.hex(128),
    cctx_status: statusOf(order, 'PendingRevert', 'outbound failed', error),
    inbound_params: {
      ...inboundOf(order, asset, amount, sender),
      ballot_index: `0x${random.hex(64)}`,
      finalized_native_height: String(order.hubHeight),
      tx_finalization_status: 'Executed',
      is_cross_chain_call: true,
    },
    outbound_params: [failedOutbound(order, asset, amount), pendingOutbound(order, asset, amount, sender)],
    protocol_contract_version: 'V2',
    revert_options: revertOptions(sender, true),
  };
}

function statusOf({ createdSeconds }: CctxOrder, status: string, message: string, error: string): CctxStatus {
  return {
    status,
    status_message: message,
    error_message: error,
    lastUpdate_timestamp: String(createdSeconds),
    isAbortRefunded: false,
    created_timestamp: String(createdSeconds),
  };
}

function inboundOf({ random, chain, chainHeight }: CctxOrder, asset: Asset, amount: string, sender: string) {
  return {
    sender,
    sender_chain_id: chain.id,
    tx_origin: sender,
    coin_type: asset.coinType,
    asset: asset.contract,
    amount,
    observed_hash: `0x${random.hex(64)}`,
    observed_external_height: String(chainHeight),
    ballot_index: '',
    finalized_native_height: '0',
    tx_finalization_status: 'NotFinalized',
    is_cross_chain_call: false,
  } satisfies InboundParams;
}

function pendingOutbound(order: CctxOrder, asset: Asset, amount: string, receiver: string): OutboundParams {
  return {
    receiver,
    receiver_chainId: order.chain.id,
    coin_type: asset.coinType,
    amount,
    tss_nonce: String(order.nonce),
    gas_limit: '0',
    gas_price: String(order.chain.gasPrice),
    gas_priority_fee: '0',
    hash: '',
    ballot_index: '',
    observed_external_height: '0',
    gas_used: '0',
    effective_gas_price: '0',
    effective_gas_limit: '0',
    tss_pubkey: order.tssPubkey,
    tx_finalization_status: 'NotFinalized',
    call_options: { gas_limit: asset.coinType === 'Gas' ? '21000' : '100000', is_arbitrary_call: false },
  };
}

/** The outbound to the hub that could not be carried out; it never had a price of gas. */
function failedOutbound(order: CctxOrder, asset: Asset, amount: string): OutboundParams {
  const { random } = order;
  return {
    ...pendingOutbound(order, asset, amount, createExternalAddress(random)),
    receiver_chainId: HUB_CHAIN_ID,
    tss_nonce: '0',
    gas_price: '',
    gas_priority_fee: '',
    hash: `0x${random.hex(64)}`,
    ballot_index: `0x${random.hex(64)}`,
    observed_external_height: String(order.hubHeight),
    tx_finalization_status: 'Executed',
  };
}

function revertOptions(sender: string, callsOnRevert: boolean): RevertOptions {
  return {
    revert_address: sender,
    call_on_revert: callsOnRevert,
    abort_address: '',
    revert_message: callsOnRevert ? Buffer.from('send it back').toString('base64') : '',
    revert_gas_limit: callsOnRevert ? '200000' : '0',
  };
}
