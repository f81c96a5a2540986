import { boolean, interned, list, number, object, string, type ValueOf } from '../json/shapes.js';
import { address, addressDataPart, chainId } from './addresses.js';

/*
 * The fields of the bridge module state that a family reads, and after them the names of the others. Newer nodes have some that are
 * not in the spec.
 */

const member = object({ power: number, external_address: address });

const params = object(
  {
    bridge_id: string,
    contract_source_hash: string,
    bridge_external_address: address,
    bridge_chain_id: chainId,
    signed_valsets_window: number,
    signed_batches_window: number,
    signed_claims_window: number,
    target_batch_timeout: number,
    average_block_time: number,
    average_external_block_time: number,
    slash_fraction_valset: number,
    slash_fraction_batch: number,
    slash_fraction_claim: number,
    slash_fraction_conflicting_claim: number,
    unbond_slashing_valsets_window: number,
    slash_fraction_bad_eth_signature: number,
    hub_coin_denom: string,
    hub_coin_erc20_contract: address,
    claim_slashing_enabled: boolean,
    bridge_contract_start_height: number,
    valset_reward: object({ denom: string, amount: number }),
    admins: list(address),
  },
  ['segregated_wallet_address'],
);

const valset = object({ nonce: number, members: list(member), height: number, reward_amount: number }, [
  'reward_token',
]);

const coin = object({ contract: address, amount: number });

const transfer = object({
  id: number,
  sender: string,
  dest_address: string,
  erc20_token: coin,
  erc20_fee: coin,
});

const batch = object({
  batch_nonce: number,
  batch_timeout: number,
  transactions: list(transfer),
  token_contract: address,
  block: number,
});

const typeUrl = interned((url) => url);

/**
 * `value` has the packed bytes, as in the spec (`google.protobuf.Any`), whose type is `type_url`. Nodes that unpack the claim send
 * `@type` and the fields of that type instead.
 */
const claim = object(
  {
    type_url: typeUrl,
    value: string,
    '@type': typeUrl,
    event_nonce: number,
    batch_nonce: number,
    token_contract: address,
    valset_nonce: number,
    members: list(member),
    block_height: number,
    amount: number,
    external_sender: string,
    hub_receiver: string,
  },
  'any',
);

const attestation = object({ observed: boolean, votes: list(addressDataPart), height: number, claim });

const orchestratorAddress = object({ sender: address, orchestrator: address, eth_address: address });

export const moduleState = object(
  {
    params,
    last_observed_nonce: number,
    valsets: list(valset),
    valset_confirms: list(object({ nonce: number, eth_address: address }, ['orchestrator', 'signature'])),
    batches: list(batch),
    batch_confirms: list(
      object({ nonce: number, token_contract: address, eth_signer: address }, ['orchestrator', 'signature']),
    ),
    attestations: list(attestation),
    orchestrator_addresses: list(orchestratorAddress),
    erc20_to_denoms: list(object({ erc20: address, denom: string })),
    unbatched_transfers: list(transfer),
    last_observed_external_height: number,
    last_outgoing_batch_id: number,
    last_outgoing_pool_id: number,
    last_observed_valset: valset,
    external_blacklist: list(address),
  },
  ['rate_limits', 'rate_limit_transfers', 'mint_amounts'],
  { needsKnownKey: true },
);

export type ModuleState = ValueOf<typeof moduleState>;
export type Params = ValueOf<typeof params>;
export type Valset = ValueOf<typeof valset>;
export type Batch = ValueOf<typeof batch>;
export type Coin = ValueOf<typeof coin>;
export type Transfer = ValueOf<typeof transfer>;
export type Claim = ValueOf<typeof claim>;
export type Attestation = ValueOf<typeof attestation>;
export type OrchestratorAddress = ValueOf<typeof orchestratorAddress>;
