import { describe, expect, it } from 'vitest';
import { PEGGY_NAMES, withNames } from '../../support/dialect-names.js';
import { omit, type Json, type JsonObject } from '../../support/json.js';
import { state, valueOf, valuesOf } from './state.js';

const params: JsonObject = {
  bridge_id: 'id',
  contract_source_hash: '',
  bridge_external_address: '0xF955Aa',
  bridge_chain_id: '1',
  signed_valsets_window: '25000',
  signed_batches_window: '25001',
  signed_claims_window: '25002',
  target_batch_timeout: '43200000',
  average_block_time: '1',
  average_external_block_time: '15000',
  slash_fraction_valset: '0.001000000000000000',
  slash_fraction_batch: '0.002',
  slash_fraction_claim: '0',
  slash_fraction_conflicting_claim: '1',
  unbond_slashing_valsets_window: '25003',
  slash_fraction_bad_eth_signature: '0.1',
  hub_coin_denom: 'inj',
  hub_coin_erc20_contract: '0xE28b',
  claim_slashing_enabled: false,
  bridge_contract_start_height: '12705133',
  valset_reward: { denom: 'inj', amount: '9007199254740993' },
  admins: ['inj1b', 'inj1A'],
};

const INFO = 'bridge_params_info';
const numbers = {
  bridge_params_signed_valsets_window_blocks: 25000,
  bridge_params_signed_batches_window_blocks: 25001,
  bridge_params_signed_claims_window_blocks: 25002,
  bridge_params_unbond_slashing_valsets_window_blocks: 25003,
  bridge_params_target_batch_timeout_seconds: 43200,
  bridge_params_average_block_time_seconds: 0.001,
  bridge_params_average_external_block_time_seconds: 15,
  bridge_params_slash_fraction_valset_ratio: 0.001,
  bridge_params_slash_fraction_batch_ratio: 0.002,
  bridge_params_slash_fraction_claim_ratio: 0,
  bridge_params_slash_fraction_conflicting_claim_ratio: 1,
  bridge_params_slash_fraction_bad_eth_signature_ratio: 0.1,
  bridge_params_claim_slashing_enabled: 0,
  bridge_params_bridge_contract_start_height: 12705133,
  // 2^53 + 1 is halfway between two doubles and rounds to even.
  bridge_params_valset_reward_amount: 9007199254740992,
  bridge_params_admins: 2,
};
const all = [INFO, ...Object.keys(numbers)];

const withParams = (fields: JsonObject): JsonObject => state({ params: { ...params, ...fields } });
const infoOf = (document: JsonObject): Json => valueOf(document, INFO) as Json;
const labels = (values: readonly string[]): string => {
  const [id, chain, address, source, denom, contract] = values;
  return (
    `bridge_id="${id}",bridge_chain_id="${chain}",bridge_external_address="${address}",` +
    `contract_source_hash="${source}",hub_coin_denom="${denom}",hub_coin_erc20_contract="${contract}"`
  );
};

describe('the parameter metrics', () => {
  it('convert parameters to the units of their names', () => {
    expect(valuesOf(state({ params }), Object.keys(numbers))).toEqual(numbers);
    expect(valueOf(withParams({ claim_slashing_enabled: true }), 'bridge_params_claim_slashing_enabled')).toBe(1);
  });

  it('identify the bridge in labels, with addresses in lower case', () => {
    expect(infoOf(state({ params }))).toEqual({ [labels(['id', '1', '0xf955aa', '', 'inj', '0xe28b'])]: 1 });
  });

  it('have empty labels for missing parameters', () => {
    const withoutDenom = state({ params: omit(params, 'hub_coin_denom') });
    expect(infoOf(withoutDenom)).toEqual({ [labels(['id', '1', '0xf955aa', '', '', '0xe28b'])]: 1 });
    expect(infoOf(state({ params: null }))).toEqual({ [labels(['', '', '', '', '', ''])]: 1 });
  });

  it('truncate labels to 128 characters and replace lone surrogates', () => {
    const long = withParams({ bridge_id: `${'🦊'.repeat(128)}x`, hub_coin_denom: 'a\uDC00b' });
    const [label = ''] = Object.keys(infoOf(long) as JsonObject);
    expect(label).toContain(`bridge_id="${'🦊'.repeat(128)}",`);
    expect(label).toContain('hub_coin_denom="a\uFFFDb"');
  });
});

describe('the parameter metrics', () => {
  it('are the same for the names of peggy as for those of the spec', () => {
    const peggy = withNames(params, PEGGY_NAMES, () => true) as typeof params;
    expect(Object.keys(peggy)).toContain('peggy_id');
    expect(valuesOf(state({ params: peggy }), all)).toEqual(valuesOf(state({ params }), all));
  });
});
