import { createAccount, createExternalAddress } from './addresses.js';
import type { Params } from './module-state.js';
import type { Random } from './random.js';

export const EXTERNAL_BLOCK_MS = 12_000;
export const TARGET_BATCH_TIMEOUT_MS = 12 * 60 * 60 * 1000;
/** Hub blocks a validator has to confirm; shorter than on a main network, so that old sets go within hours. */
export const SIGNED_WINDOW = 10_000;

const SLASH_FRACTION = '0.001000000000000000';
const CONTRACT_START_HEIGHT = 12_705_133;

export function createParams(random: Random, hubCoinContract: string, blockTimeMs: number): Params {
  return {
    bridge_id: 'hub-bridgeid',
    contract_source_hash: '',
    bridge_external_address: createExternalAddress(random),
    bridge_chain_id: '1',
    signed_valsets_window: String(SIGNED_WINDOW),
    signed_batches_window: String(SIGNED_WINDOW),
    signed_claims_window: String(SIGNED_WINDOW),
    target_batch_timeout: String(TARGET_BATCH_TIMEOUT_MS),
    average_block_time: String(blockTimeMs),
    average_external_block_time: String(EXTERNAL_BLOCK_MS),
    slash_fraction_valset: SLASH_FRACTION,
    slash_fraction_batch: SLASH_FRACTION,
    slash_fraction_claim: SLASH_FRACTION,
    slash_fraction_conflicting_claim: SLASH_FRACTION,
    unbond_slashing_valsets_window: String(SIGNED_WINDOW),
    slash_fraction_bad_eth_signature: SLASH_FRACTION,
    hub_coin_denom: 'hub',
    // Lower case here and mixed case in transfers, as on a chain whose genesis was written by hand.
    hub_coin_erc20_contract: hubCoinContract.toLowerCase(),
    claim_slashing_enabled: false,
    bridge_contract_start_height: String(CONTRACT_START_HEIGHT),
    valset_reward: { denom: 'hub', amount: '0' },
    admins: [createAccount(random), createAccount(random)],
  };
}
