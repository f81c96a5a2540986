/*
 * The two responses, field by field with the names and types of the spec (docs/coverage.md): the module state, then the
 * rate limiter input.
 */

export interface ModuleStateResponse {
  readonly state: ModuleState;
}

export interface ModuleState {
  readonly params: Params;
  readonly last_observed_nonce: string;
  readonly valsets: readonly Valset[];
  readonly valset_confirms: readonly ValsetConfirm[];
  readonly batches: readonly Batch[];
  readonly batch_confirms: readonly BatchConfirm[];
  readonly attestations: readonly Attestation[];
  readonly orchestrator_addresses: readonly OrchestratorAddress[];
  readonly erc20_to_denoms: readonly Erc20ToDenom[];
  readonly unbatched_transfers: readonly OutgoingTransfer[];
  readonly last_observed_external_height: string;
  readonly last_outgoing_batch_id: string;
  readonly last_outgoing_pool_id: string;
  readonly last_observed_valset: Valset;
  readonly external_blacklist: readonly string[];
}

export interface Params {
  readonly bridge_id: string;
  readonly contract_source_hash: string;
  readonly bridge_external_address: string;
  readonly bridge_chain_id: string;
  readonly signed_valsets_window: string;
  readonly signed_batches_window: string;
  readonly signed_claims_window: string;
  readonly target_batch_timeout: string;
  readonly average_block_time: string;
  readonly average_external_block_time: string;
  readonly slash_fraction_valset: string;
  readonly slash_fraction_batch: string;
  readonly slash_fraction_claim: string;
  readonly slash_fraction_conflicting_claim: string;
  readonly unbond_slashing_valsets_window: string;
  readonly slash_fraction_bad_eth_signature: string;
  readonly hub_coin_denom: string;
  readonly hub_coin_erc20_contract: string;
  readonly claim_slashing_enabled: boolean;
  readonly bridge_contract_start_height: string;
  readonly valset_reward: Coin;
  readonly admins: readonly string[];
}

export interface Coin {
  readonly denom: string;
  readonly amount: string;
}

export interface Valset {
  readonly nonce: string;
  readonly members: readonly ValsetMember[];
  readonly height: string;
  readonly reward_amount: string;
  readonly reward_token: string;
}

export interface ValsetMember {
  readonly power: string;
  readonly external_address: string;
}

export interface ValsetConfirm {
  readonly nonce: string;
  readonly orchestrator: string;
  readonly eth_address: string;
  readonly signature: string;
}

export interface Batch {
  readonly batch_nonce: string;
  readonly batch_timeout: string;
  readonly transactions: readonly OutgoingTransfer[];
  readonly token_contract: string;
  readonly block: string;
}

export interface OutgoingTransfer {
  readonly id: string;
  readonly sender: string;
  readonly dest_address: string;
  readonly erc20_token: Erc20Amount;
  readonly erc20_fee: Erc20Amount;
}

export interface Erc20Amount {
  readonly contract: string;
  readonly amount: string;
}

export interface BatchConfirm {
  readonly nonce: string;
  readonly token_contract: string;
  readonly eth_signer: string;
  readonly orchestrator: string;
  readonly signature: string;
}

export interface Attestation {
  readonly observed: boolean;
  readonly votes: readonly string[];
  readonly height: string;
  readonly claim: Claim;
}

export interface Claim {
  readonly type_url: string;
  readonly value: string;
}

export interface OrchestratorAddress {
  readonly sender: string;
  readonly orchestrator: string;
  readonly eth_address: string;
}

export interface Erc20ToDenom {
  readonly erc20: string;
  readonly denom: string;
}

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

/** The fields of a validator of the staking module (cosmos.staking.v1beta1.Validator) that concern people. */
export interface StakingValidator {
  readonly operator_address: string;
  readonly jailed: boolean;
  readonly status: 'BOND_STATUS_BONDED' | 'BOND_STATUS_UNBONDING';
  readonly tokens: string;
  readonly description: { readonly moniker: string; readonly website: string; readonly details: string };
}
