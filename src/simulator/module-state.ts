// The response of module_state, field by field as §2.1 of the Chain Query Service document names and types it.

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
