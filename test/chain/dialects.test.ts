import { describe, expect, it } from 'vitest';
import { jobsOf } from '../../src/poll/jobs.js';
import { parseValidConfig } from '../support/config.js';
import { sampleModel } from '../support/sample-endpoints.js';
import { bridgeSnapshot, crosschainSnapshot } from '../support/snapshots.js';

/*
 * The wire names repeat those of src/chain/dialects.ts, so that a change there fails a test.
 */
const PEGGY_NAMES = {
  bridge_id: 'peggy_id',
  bridge_external_address: 'bridge_ethereum_address',
  average_external_block_time: 'average_ethereum_block_time',
  hub_coin_denom: 'cosmos_coin_denom',
  hub_coin_erc20_contract: 'cosmos_coin_erc20_contract',
  external_address: 'ethereum_address',
  last_observed_external_height: 'last_observed_ethereum_height',
  external_blacklist: 'ethereum_blacklist',
};
const ZETA_NAMES = { native_fees: 'zeta_fees', finalized_native_height: 'finalized_zeta_height' };

/** Replaces the field names and the enum value of the spec with those of a chain. */
function withWireNames(json: unknown, names: Readonly<Record<string, string>>): unknown {
  return JSON.parse(JSON.stringify(json), (_key, value: unknown) => {
    if (value === 'Native') return 'Zeta';
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [names[name] ?? name, inner]));
  });
}

const model = sampleModel();

describe('a dialect', () => {
  it('reads the same snapshot from the wire names of peggy', () => {
    const { state } = model.moduleState();
    const neutral = bridgeSnapshot(state);
    expect(bridgeSnapshot(withWireNames(state, PEGGY_NAMES), { dialect: 'peggy' })).toEqual(neutral);
  });

  it('reads the same snapshot from the wire names of zeta', () => {
    const input = model.rateLimiterInput({ window: 500n });
    const neutral = crosschainSnapshot(input);
    expect(JSON.stringify(input)).toContain('"Native"');
    expect(crosschainSnapshot(withWireNames(input, ZETA_NAMES), { dialect: 'zeta' })).toEqual(neutral);
    expect(neutral).toMatchObject({ problems: { unknown: new Map() } });
  });

  it('ignores the wire names of other dialects', () => {
    const { families } = bridgeSnapshot(withWireNames(model.moduleState().state, PEGGY_NAMES));
    expect(families.map(({ name }) => name)).not.toContain('bridge_last_observed_external_height');
    expect(families.map(({ name }) => name)).toContain('bridge_last_observed_nonce');
  });

  it('determines the path of the URL, whose query contains only configured parameters', () => {
    const config = parseValidConfig(
      `targets:
  - {name: a, bridge: {url: "http://n/prefix/"}, crosschain: {url: "http://n", window: 500, limit: 20}}
  - {name: b, bridge: {url: "http://n", dialect: peggy}, crosschain: {url: "http://n", dialect: zeta, window: 7}}
  - {name: c, crosschain: {url: "http://n"}}`,
    );
    expect(jobsOf(config).map(({ url }) => url)).toEqual([
      'http://n/prefix/bridge/v1/module_state',
      'http://n/chain/crosschain/rateLimiterInput?limit=20&window=500',
      'http://n/peggy/v1/module_state',
      'http://n/zeta-chain/crosschain/rateLimiterInput?window=7',
      'http://n/chain/crosschain/rateLimiterInput',
    ]);
  });
});
