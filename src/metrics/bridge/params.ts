import { gauge, labelledGauge, labelValues, toLabelValue, secondsOf, doubleOf } from '../family.js';
import type { BridgeFamily } from './input.js';
import { optional, required } from '../withdrawal.js';

const INFO_LABELS = [
  'bridge_id',
  'bridge_chain_id',
  'bridge_external_address',
  'contract_source_hash',
  'hub_coin_denom',
  'hub_coin_erc20_contract',
] as const;

/** The parameters of the module; only governance or an upgrade changes them. */
export const paramsFamilies: readonly BridgeFamily[] = [
  labelledGauge({
    name: 'bridge_params_info',
    help: 'Identity of the bridge, in its labels; always 1.',
    unit: 'none',
    reads: INFO_LABELS.map((label) => `state.params.${label}`),
    // One series a target: its labels are single values of the state.
    labels: INFO_LABELS,
    overLimit: 'keep-first',
    derive: ({ state }) => {
      const params = optional(state.params);
      const labels = labelValues(INFO_LABELS, (label) => toLabelValue(optional(params?.[label]) ?? ''));
      return [{ labels, value: 1 }];
    },
  }),
  gauge({
    name: 'bridge_params_signed_valsets_window_blocks',
    help: 'Time to sign a validator set before its member is jailed.',
    unit: 'hub blocks',
    reads: ['state.params.signed_valsets_window'],
    value: ({ state }) => doubleOf(required(state.params).signed_valsets_window),
  }),
  gauge({
    name: 'bridge_params_signed_batches_window_blocks',
    help: 'Time to sign a batch before its signer is jailed.',
    unit: 'hub blocks',
    reads: ['state.params.signed_batches_window'],
    value: ({ state }) => doubleOf(required(state.params).signed_batches_window),
  }),
  gauge({
    name: 'bridge_params_signed_claims_window_blocks',
    help: 'Time to claim an event; not enforced by the real chains known.',
    unit: 'hub blocks',
    reads: ['state.params.signed_claims_window'],
    value: ({ state }) => doubleOf(required(state.params).signed_claims_window),
  }),
  gauge({
    name: 'bridge_params_unbond_slashing_valsets_window_blocks',
    help: 'Time after unbonding for which a validator still owes signatures under validator sets.',
    unit: 'hub blocks',
    reads: ['state.params.unbond_slashing_valsets_window'],
    value: ({ state }) => doubleOf(required(state.params).unbond_slashing_valsets_window),
  }),
  gauge({
    name: 'bridge_params_target_batch_timeout_seconds',
    help: 'Time a batch is meant to live.',
    unit: 'seconds (milliseconds on the wire)',
    reads: ['state.params.target_batch_timeout'],
    value: ({ state }) => secondsOf(required(state.params).target_batch_timeout),
  }),
  gauge({
    name: 'bridge_params_average_block_time_seconds',
    help: 'Hub block time the module reckons with; the real one can differ.',
    unit: 'seconds (milliseconds on the wire)',
    reads: ['state.params.average_block_time'],
    value: ({ state }) => secondsOf(required(state.params).average_block_time),
  }),
  gauge({
    name: 'bridge_params_average_external_block_time_seconds',
    help: 'External block time the module reckons with; the real one can differ.',
    unit: 'seconds (milliseconds on the wire)',
    reads: ['state.params.average_external_block_time'],
    value: ({ state }) => secondsOf(required(state.params).average_external_block_time),
  }),
  gauge({
    name: 'bridge_params_slash_fraction_valset_ratio',
    help: 'Share of the stake slashed for an unsigned validator set.',
    unit: 'ratio, 0 to 1',
    reads: ['state.params.slash_fraction_valset'],
    value: ({ state }) => doubleOf(required(state.params).slash_fraction_valset),
  }),
  gauge({
    name: 'bridge_params_slash_fraction_batch_ratio',
    help: 'Share of the stake slashed for an unsigned batch.',
    unit: 'ratio, 0 to 1',
    reads: ['state.params.slash_fraction_batch'],
    value: ({ state }) => doubleOf(required(state.params).slash_fraction_batch),
  }),
  gauge({
    name: 'bridge_params_slash_fraction_claim_ratio',
    help: 'Share of the stake slashed for a missing claim.',
    unit: 'ratio, 0 to 1',
    reads: ['state.params.slash_fraction_claim'],
    value: ({ state }) => doubleOf(required(state.params).slash_fraction_claim),
  }),
  gauge({
    name: 'bridge_params_slash_fraction_conflicting_claim_ratio',
    help: 'Share of the stake slashed for a claim that contradicts the others.',
    unit: 'ratio, 0 to 1',
    reads: ['state.params.slash_fraction_conflicting_claim'],
    value: ({ state }) => doubleOf(required(state.params).slash_fraction_conflicting_claim),
  }),
  gauge({
    name: 'bridge_params_slash_fraction_bad_eth_signature_ratio',
    help: 'Share of the stake slashed for a signature over something the hub never made.',
    unit: 'ratio, 0 to 1',
    reads: ['state.params.slash_fraction_bad_eth_signature'],
    value: ({ state }) => doubleOf(required(state.params).slash_fraction_bad_eth_signature),
  }),
  gauge({
    name: 'bridge_params_claim_slashing_enabled',
    help: 'Whether missing claims are slashed.',
    unit: '1 for yes, 0 for no',
    reads: ['state.params.claim_slashing_enabled'],
    value: ({ state }) => (required(required(state.params).claim_slashing_enabled) ? 1 : 0),
  }),
  gauge({
    name: 'bridge_params_bridge_contract_start_height',
    help: 'External height the contract was deployed at.',
    unit: 'external height',
    reads: ['state.params.bridge_contract_start_height'],
    value: ({ state }) => doubleOf(required(state.params).bridge_contract_start_height),
  }),
  gauge({
    name: 'bridge_params_valset_reward_amount',
    help: 'Reward for relaying a validator set.',
    unit: 'smallest units of the reward token',
    reads: ['state.params.valset_reward.amount'],
    value: ({ state }) => doubleOf(required(required(state.params).valset_reward).amount),
  }),
];
