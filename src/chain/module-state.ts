import { flag, list, number, object, text, type ReadAs } from './schema.js';

/** The fields of the bridge module's state (spec §2.1) that a family reads. */
const member = object({ power: number });

const params = object({
  bridge_id: text,
  contract_source_hash: text,
  bridge_external_address: text,
  bridge_chain_id: text,
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
  hub_coin_denom: text,
  hub_coin_erc20_contract: text,
  claim_slashing_enabled: flag,
  bridge_contract_start_height: number,
  valset_reward: object({ denom: text, amount: number }),
  admins: list(text),
});

const valset = object({ nonce: number, members: list(member), height: number, reward_amount: number });

export const moduleState = object({
  params,
  last_observed_nonce: number,
  valsets: list(valset),
  valset_confirms: list(object({})),
  batches: list(object({ transactions: list(object({})) })),
  batch_confirms: list(object({})),
  attestations: list(object({ observed: flag })),
  orchestrator_addresses: list(object({})),
  erc20_to_denoms: list(object({})),
  unbatched_transfers: list(object({})),
  last_observed_external_height: number,
  last_outgoing_batch_id: number,
  last_outgoing_pool_id: number,
  last_observed_valset: valset,
  external_blacklist: list(text),
});

export type ModuleState = ReadAs<typeof moduleState>;
export type Params = ReadAs<typeof params>;
export type Valset = ReadAs<typeof valset>;
