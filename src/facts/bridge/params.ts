import { withAllFields } from '../../chain/fields.js';
import { params as paramsSchema } from '../../chain/module-state.js';
import {
  families,
  gauge,
  labeledGauge,
  labelValues,
  millisecondsToSeconds,
  toLabelValue,
} from '../../metrics/family.js';
import { fingerprint } from '../fingerprint.js';
import { optional, required } from '../required-fields.js';
import type { BridgeInput } from './input.js';

const INFO_LABELS = [
  'bridge_id',
  'bridge_chain_id',
  'bridge_external_address',
  'contract_source_hash',
  'hub_coin_denom',
  'hub_coin_erc20_contract',
] as const;

/** The parameters of the module; only governance or an upgrade changes them. */
export const paramsFamilies = families<BridgeInput>({
  bridge_params_info: labeledGauge({
    help: 'Identity of the bridge as labels; the value is always 1.',
    // One series per target: the labels are single values of the state.
    labels: INFO_LABELS,
    derive: ({ state }) => {
      const params = optional(state.params);
      const labels = labelValues(INFO_LABELS, (label) => toLabelValue(optional(params?.[label]) ?? ''));
      return [{ labels, value: 1 }];
    },
  }),
  bridge_params_signed_valsets_window_blocks: gauge({
    help: 'Time limit for signing a validator set before the validator is jailed, in hub blocks.',
    value: ({ state }) => required(required(state.params).signed_valsets_window),
  }),
  bridge_params_signed_batches_window_blocks: gauge({
    help: 'Time limit for signing a batch before the validator is jailed, in hub blocks.',
    value: ({ state }) => required(required(state.params).signed_batches_window),
  }),
  bridge_params_signed_claims_window_blocks: gauge({
    help: 'Time limit for claiming an event, in hub blocks; not enforced by the known chains.',
    value: ({ state }) => required(required(state.params).signed_claims_window),
  }),
  bridge_params_unbond_slashing_valsets_window_blocks: gauge({
    help: 'Time after unbonding for which a validator must still sign validator sets, in hub blocks.',
    value: ({ state }) => required(required(state.params).unbond_slashing_valsets_window),
  }),
  bridge_params_target_batch_timeout_seconds: gauge({
    help: 'Intended lifetime of a batch.',
    value: ({ state }) => millisecondsToSeconds(required(state.params).target_batch_timeout),
  }),
  bridge_params_average_block_time_seconds: gauge({
    help: 'Hub block time assumed by the bridge module; the real one can differ.',
    value: ({ state }) => millisecondsToSeconds(required(state.params).average_block_time),
  }),
  bridge_params_average_external_block_time_seconds: gauge({
    help: 'External block time assumed by the bridge module; the real one can differ.',
    value: ({ state }) => millisecondsToSeconds(required(state.params).average_external_block_time),
  }),
  bridge_params_slash_fraction_valset_ratio: gauge({
    help: 'Share of the stake slashed for not signing a validator set.',
    value: ({ state }) => required(required(state.params).slash_fraction_valset),
  }),
  bridge_params_slash_fraction_batch_ratio: gauge({
    help: 'Share of the stake slashed for not signing a batch.',
    value: ({ state }) => required(required(state.params).slash_fraction_batch),
  }),
  bridge_params_slash_fraction_claim_ratio: gauge({
    help: 'Share of the stake slashed for a missing claim.',
    value: ({ state }) => required(required(state.params).slash_fraction_claim),
  }),
  bridge_params_slash_fraction_conflicting_claim_ratio: gauge({
    help: 'Share of the stake slashed for a conflicting claim.',
    value: ({ state }) => required(required(state.params).slash_fraction_conflicting_claim),
  }),
  bridge_params_slash_fraction_bad_eth_signature_ratio: gauge({
    help: 'Share of the stake slashed for signing something that the hub did not create.',
    value: ({ state }) => required(required(state.params).slash_fraction_bad_eth_signature),
  }),
  bridge_params_claim_slashing_enabled: gauge({
    help: 'Whether missing claims are slashed (1) or not (0).',
    value: ({ state }) => (required(required(state.params).claim_slashing_enabled) ? 1 : 0),
  }),
  bridge_params_bridge_contract_start_height: gauge({
    help: 'External height at which the contract was deployed.',
    value: ({ state }) => required(required(state.params).bridge_contract_start_height),
  }),
  bridge_params_valset_reward_amount: gauge({
    help: 'Reward for relaying a validator set, in smallest units of the reward token.',
    value: ({ state }) => required(required(required(state.params).valset_reward).amount),
  }),
  bridge_params_hash: gauge({
    help: 'First 48 bits of the SHA-256 of all parameters, to detect changes.',
    value: ({ state }) => fingerprint(withAllFields(paramsSchema, required(state.params))),
  }),
  bridge_params_admins_hash: gauge({
    help: 'First 48 bits of the SHA-256 of the list of admins, to detect changes.',
    value: ({ state }) => fingerprint(required(required(state.params).admins)),
  }),
  bridge_external_blacklist_hash: gauge({
    help: 'First 48 bits of the SHA-256 of the blacklist, to detect changes.',
    value: ({ state }) => fingerprint(required(state.external_blacklist)),
  }),
});
