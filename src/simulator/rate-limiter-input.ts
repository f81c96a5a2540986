// The response of rateLimiterInput, field by field as §2.2 of the Chain Query Service document names and types it.

export interface RateLimiterInput {
  readonly height: string;
  readonly cctxs_missed: readonly Cctx[];
  readonly cctxs_pending: readonly Cctx[];
  readonly total_pending: string;
  readonly past_cctxs_value: string;
  readonly pending_cctxs_value: string;
  readonly lowest_pending_cctx_height: string;
}

export interface Cctx {
  readonly creator: string;
  readonly index: string;
  readonly native_fees: string;
  readonly relayed_message: string;
  readonly cctx_status: CctxStatus;
  readonly inbound_params: InboundParams;
  readonly outbound_params: readonly OutboundParams[];
  readonly protocol_contract_version: string;
  readonly revert_options: RevertOptions;
}

export interface CctxStatus {
  readonly status: string;
  readonly status_message: string;
  readonly error_message: string;
  readonly lastUpdate_timestamp: string;
  readonly isAbortRefunded: boolean;
  readonly created_timestamp: string;
}

export interface InboundParams {
  readonly sender: string;
  readonly sender_chain_id: string;
  readonly tx_origin: string;
  readonly coin_type: string;
  readonly asset: string;
  readonly amount: string;
  readonly observed_hash: string;
  readonly observed_external_height: string;
  readonly ballot_index: string;
  readonly finalized_native_height: string;
  readonly tx_finalization_status: string;
  readonly is_cross_chain_call: boolean;
}

export interface OutboundParams {
  readonly receiver: string;
  readonly receiver_chainId: string;
  readonly coin_type: string;
  readonly amount: string;
  readonly tss_nonce: string;
  readonly gas_limit: string;
  readonly gas_price: string;
  readonly gas_priority_fee: string;
  readonly hash: string;
  readonly ballot_index: string;
  readonly observed_external_height: string;
  readonly gas_used: string;
  readonly effective_gas_price: string;
  readonly effective_gas_limit: string;
  readonly tss_pubkey: string;
  readonly tx_finalization_status: string;
  readonly call_options: CallOptions;
}

export interface CallOptions {
  readonly gas_limit: string;
  readonly is_arbitrary_call: boolean;
}

export interface RevertOptions {
  readonly revert_address: string;
  readonly call_on_revert: boolean;
  readonly abort_address: string;
  readonly revert_message: string;
  readonly revert_gas_limit: string;
}
