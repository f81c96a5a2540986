import { describe, expect, it } from 'vitest';
import { deriveBridge } from '../derive.js';
import { present, state, told, toldOf, without, type Json, type Row } from './state.js';

const params: Row = {
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
const HASH = 'bridge_params_hash';
const BLACKLIST_HASH = 'bridge_external_blacklist_hash';
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
  // 2^53 + 1 lies between two doubles; the even one is nearest by convention
  bridge_params_valset_reward_amount: 9007199254740992,
  bridge_params_admins: 2,
};
const all = [INFO, ...Object.keys(numbers), HASH];

const withParams = (changed: Row): Row => state({ params: { ...params, ...changed } });
const info = (of: Row): Json => told(of, INFO) as Json;
const labels = (values: readonly string[]): string => {
  const [id, chain, address, source, denom, contract] = values;
  return (
    `bridge_id="${id}",bridge_chain_id="${chain}",bridge_external_address="${address}",` +
    `contract_source_hash="${source}",hub_coin_denom="${denom}",hub_coin_erc20_contract="${contract}"`
  );
};

describe('parameters', () => {
  it('are told in the units of their names', () => {
    expect(toldOf(state({ params }), Object.keys(numbers))).toEqual(numbers);
    expect(told(withParams({ claim_slashing_enabled: true }), 'bridge_params_claim_slashing_enabled')).toBe(1);
  });

  it('name the bridge in labels, addresses in lower case', () => {
    expect(info(state({ params }))).toEqual({ [labels(['id', '1', '0xf955aa', '', 'inj', '0xe28b'])]: 1 });
  });

  it('may have a chain id that is a JSON integer', () => {
    const changed = withParams({ bridge_chain_id: 1 });
    expect(info(changed)).toEqual({ [labels(['id', '1', '0xf955aa', '', 'inj', '0xe28b'])]: 1 });
    expect(present(changed, all)).toEqual(all);
    expect(deriveBridge(changed).invalid).toEqual({});
  });

  it('leave the labels empty that are missing, alone or all together', () => {
    const one = state({ params: without(params, 'hub_coin_denom') });
    expect(info(one)).toEqual({ [labels(['id', '1', '0xf955aa', '', '', '0xe28b'])]: 1 });
    expect(info(state({ params: null }))).toEqual({ [labels(['', '', '', '', '', ''])]: 1 });
  });

  it('have labels cut at 128 characters, with halves of surrogate pairs replaced', () => {
    const long = withParams({ bridge_id: `${'🦊'.repeat(128)}x`, hub_coin_denom: 'a\uDC00b' });
    const [label = ''] = Object.keys(info(long) as Row);
    expect(label).toContain(`bridge_id="${'🦊'.repeat(128)}",`);
    expect(label).toContain('hub_coin_denom="a\uFFFDb"');
  });

  it.each(Object.keys(params))('%s withdraws only its own series when it is missing, and never the hash', (name) => {
    const missing = present(state({ params: without(params, name) }), all);
    const own = name === 'admins' ? ['bridge_params_admins'] : all.filter((family) => family.includes(`_${name}`));
    expect(missing).toEqual(all.filter((family) => !own.includes(family)));
  });

  it('of a wrong kind withdraw the hash as well', () => {
    expect(present(withParams({ slash_fraction_batch: {} }), all)).toEqual(
      all.filter((family) => family !== 'bridge_params_slash_fraction_batch_ratio' && family !== HASH),
    );
    expect(present(withParams({ hub_coin_denom: 5 }), all)).toEqual(Object.keys(numbers));
    expect(present(state({ params: 'none' }), all)).toEqual([]);
  });
});

describe('the hash of the parameters', () => {
  const hash = (of: Row) => told(of, HASH) as number;
  const usual = hash(state({ params }));

  it('has 48 bits', () => {
    expect(usual).toBeGreaterThan(0);
    expect(usual).toBeLessThan(2 ** 48);
    expect(Number.isInteger(usual)).toBe(true);
  });

  it.each(Object.keys(params))('changes with %s', (name) => {
    const value = params[name] ?? null;
    const other = typeof value === 'boolean' ? !value : typeof value === 'string' ? `${value}1` : [];
    const changed = name === 'valset_reward' ? { denom: 'inj', amount: '1' } : other;
    expect(hash(withParams({ [name]: changed }))).not.toBe(usual);
    const missing = hash(state({ params: without(params, name) }));
    expect(missing).not.toBe(usual);
    expect(hash(withParams({ [name]: null }))).toBe(missing);
  });

  it('knows empty from missing', () => {
    expect(hash(withParams({ contract_source_hash: null }))).not.toBe(usual);
    expect(hash(withParams({ admins: [] }))).not.toBe(hash(withParams({ admins: null })));
  });

  it('does not change with the order of keys and lists, the case of addresses, or keys the spec does not have', () => {
    expect(hash(state({ params: Object.fromEntries(Object.entries(params).toReversed()) }))).toBe(usual);
    expect(hash(withParams({ admins: ['inj1a', 'INJ1B'] }))).toBe(usual);
    expect(hash(withParams({ bridge_external_address: '0xf955aA', hub_coin_erc20_contract: '0xe28B' }))).toBe(usual);
    expect(hash(withParams({ segregated_wallet_address: '0x1' }))).toBe(usual);
    expect(hash({ ...state({ params }), last_observed_nonce: '9' })).toBe(usual);
  });
});

describe('the hash of the blacklist', () => {
  const hash = (external_blacklist: Json) => told(state({ external_blacklist }), BLACKLIST_HASH);

  it('does not change with the order and the case of its rows', () => {
    expect(hash(['0xAA', '0xbb', '0xcc'])).toBe(hash(['0xCC', '0xaa', '0xBB']));
  });

  it('changes with its rows, and their number', () => {
    const lists = [[], ['0xaa'], ['0xbb'], ['0xaa', '0xaa'], ['0xaa', '0xbb']];
    expect(new Set(lists.map(hash)).size).toBe(lists.length);
  });

  it.each([null, 'none', [3], [['0xaa']]])('is absent for %j', (blacklist) => {
    expect(hash(blacklist)).toBeUndefined();
  });
});

describe('the dialect of real nodes', () => {
  it('says the same under other names', () => {
    const names: Record<string, string> = {
      bridge_id: 'peggy_id',
      bridge_external_address: 'bridge_ethereum_address',
      average_external_block_time: 'average_ethereum_block_time',
      hub_coin_denom: 'cosmos_coin_denom',
      hub_coin_erc20_contract: 'cosmos_coin_erc20_contract',
    };
    const peggy = Object.fromEntries(Object.entries(params).map(([name, value]) => [names[name] ?? name, value]));
    expect(toldOf(state({ params: peggy }), all, { dialect: 'peggy' })).toEqual(toldOf(state({ params }), all));
    expect(present(state({ params }), [INFO, HASH], { dialect: 'peggy' })).toEqual([INFO, HASH]);
    expect(told(state({ params }), HASH, { dialect: 'peggy' })).not.toBe(told(state({ params }), HASH));
  });
});
