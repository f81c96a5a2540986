import { allAliases, bridgeDialects } from './dialects.js';
import {
  address,
  addressDataPart,
  boolean,
  chainId,
  list,
  numeral,
  objectWith,
  string,
  type SchemaValue,
} from './fields.js';

/* The bridge module state in the words of the spec, as far as something reads it. */

const object = objectWith(allAliases(bridgeDialects).fields);

const member = object({ power: numeral, external_address: address });

export const params = object({
  bridge_id: string,
  contract_source_hash: string,
  bridge_external_address: address,
  bridge_chain_id: chainId,
  signed_valsets_window: numeral,
  signed_batches_window: numeral,
  signed_claims_window: numeral,
  target_batch_timeout: numeral,
  average_block_time: numeral,
  average_external_block_time: numeral,
  slash_fraction_valset: numeral,
  slash_fraction_batch: numeral,
  slash_fraction_claim: numeral,
  slash_fraction_conflicting_claim: numeral,
  unbond_slashing_valsets_window: numeral,
  slash_fraction_bad_eth_signature: numeral,
  hub_coin_denom: string,
  hub_coin_erc20_contract: address,
  claim_slashing_enabled: boolean,
  bridge_contract_start_height: numeral,
  valset_reward: object({ denom: string, amount: numeral }),
  admins: list(address),
});

const valset = object({
  nonce: numeral,
  members: list(member),
  height: numeral,
  reward_amount: numeral,
});

const valsetConfirm = object({ nonce: numeral, eth_address: address });

const token = object({ contract: address, amount: numeral });

const outgoingTransfer = object({
  id: numeral,
  sender: string,
  dest_address: string,
  erc20_token: token,
  erc20_fee: token,
});

const batch = object({
  batch_nonce: numeral,
  batch_timeout: numeral,
  transactions: list(outgoingTransfer),
  token_contract: address,
  block: numeral,
});

const batchConfirm = object({
  nonce: numeral,
  token_contract: address,
  eth_signer: address,
});

/**
 * `type_url` and `value` are the packed bytes of the spec (`google.protobuf.Any`). Nodes that unpack the claim send
 * `@type` and the fields of that type instead.
 */
const claim = object({
  type_url: string,
  value: string,
  '@type': string,
  event_nonce: numeral,
  block_height: numeral,
  batch_nonce: numeral,
  valset_nonce: numeral,
  token_contract: address,
  amount: numeral,
  external_sender: string,
  hub_receiver: string,
  members: list(member),
});

const attestation = object({ observed: boolean, votes: list(addressDataPart), height: numeral, claim });

const orchestratorAddress = object({ sender: address, orchestrator: address, eth_address: address });

export const moduleState = object({
  params,
  last_observed_nonce: numeral,
  valsets: list(valset),
  valset_confirms: list(valsetConfirm),
  batches: list(batch),
  batch_confirms: list(batchConfirm),
  attestations: list(attestation),
  orchestrator_addresses: list(orchestratorAddress),
  erc20_to_denoms: list(object({ erc20: address, denom: string })),
  unbatched_transfers: list(outgoingTransfer),
  last_observed_external_height: numeral,
  last_outgoing_batch_id: numeral,
  last_outgoing_pool_id: numeral,
  last_observed_valset: valset,
  external_blacklist: list(address),
});

export const moduleStateResponse = object({ state: moduleState });

export type ModuleState = SchemaValue<typeof moduleState>;
export type Params = SchemaValue<typeof params>;
export type Valset = SchemaValue<typeof valset>;
export type Batch = SchemaValue<typeof batch>;
export type Coin = SchemaValue<typeof token>;
export type Transfer = SchemaValue<typeof outgoingTransfer>;
export type Claim = SchemaValue<typeof claim>;
export type Attestation = SchemaValue<typeof attestation>;
export type OrchestratorAddress = SchemaValue<typeof orchestratorAddress>;
