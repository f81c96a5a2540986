import { describe, expect, it } from 'vitest';
import { documents } from '../../src/documents.js';
import { families } from '../../src/exposition/metrics-page.js';
import type { Family } from '../../src/metrics/family.js';
import { orEmpty, WITHDRAWN } from '../../src/facts/required-fields.js';
import { deriveBridge, deriveCrosschain } from '../facts/derive.js';
import { bridgeInputs, crosschainInputs } from '../facts/property/inputs.js';

describe('a gauge', () => {
  it('is absent if its number is missing, null or an empty string', () => {
    for (const state of [{ valsets: [] }, { last_observed_nonce: null }, { last_observed_nonce: '' }]) {
      expect(deriveBridge(state).values).not.toHaveProperty('bridge_last_observed_nonce');
    }
    expect(deriveBridge({ last_observed_nonce: '0' }).values['bridge_last_observed_nonce']).toBe(0);
  });

  it('is 0 for an empty list and absent for a missing list', () => {
    expect(deriveBridge({ unbatched_transfers: [] }).values['bridge_unbatched_transfers']).toBe(0);
    expect(deriveBridge({ unbatched_transfers: null, valsets: [] }).values).not.toHaveProperty(
      'bridge_unbatched_transfers',
    );
  });

  it('is absent if it is the minimum or maximum of an empty list', () => {
    const { values } = deriveBridge({ valsets: [], batches: [], unbatched_transfers: [], attestations: [] });
    for (const name of [
      'bridge_newest_valset_nonce',
      'bridge_batch_oldest_height',
      'bridge_oldest_pending_transfer_id',
      'bridge_newest_attested_nonce',
    ]) {
      expect(values).not.toHaveProperty(name);
    }
    expect(values['bridge_batch_transactions']).toBe(0);
  });

  it('is absent if it reads an invalid value, which is counted, and does not affect other gauges', () => {
    const state = { last_observed_nonce: 'soon', last_outgoing_batch_id: '7', attestations: [] };
    const { values, invalid } = deriveBridge(state);
    expect(values).not.toHaveProperty('bridge_last_observed_nonce');
    expect(values).not.toHaveProperty('bridge_pending_events');
    expect(values['bridge_last_outgoing_batch_id']).toBe(7);
    expect(values['bridge_newest_attested_nonce'], 'it reads an empty list').toBeUndefined();
    expect(invalid).toEqual({ 'state.last_observed_nonce': 1 });
  });

  it('is absent if it sums over an invalid row, but counts that row in the length of the list', () => {
    const members = [
      { power: '1', external_address: '0xa' },
      { power: {}, external_address: '0xb' },
    ];
    const { values, invalid } = deriveBridge({ last_observed_valset: { nonce: '5', members } });
    expect(values).not.toHaveProperty('bridge_last_observed_valset_power');
    expect(values['bridge_last_observed_valset_members']).toBe(2);
    expect(values['bridge_last_observed_valset_nonce']).toBe(5);
    expect(invalid).toEqual({ 'state.last_observed_valset.members[].power': 1 });
  });

  it('shares its count of invalid values with the other families that read them', () => {
    const valsets = [{ nonce: true }, { nonce: [] }, { nonce: '3' }];
    expect(deriveBridge({ valsets }).invalid).toEqual({ 'state.valsets[].nonce': 2 });
  });

  it('is absent if its value is infinite', () => {
    const { values } = deriveBridge({ last_observed_nonce: 1e308, last_outgoing_pool_id: '9'.repeat(100) });
    expect(values['bridge_last_observed_nonce']).toBe(1e308);
    expect(values['bridge_last_outgoing_pool_id']).toBe(1e100);
    const members = [1, 2, 3].map((index) => ({ power: 1.7e308, external_address: `0x${index}` }));
    expect(deriveBridge({ last_observed_valset: { members } }).values).not.toHaveProperty(
      'bridge_last_observed_valset_power',
    );
  });

  it('is rounded to a double after amounts are added up', () => {
    const power = String(2 ** 53);
    const members = [power, '1', '1'].map((value, index) => ({ power: value, external_address: `0x${index}` }));
    const { values } = deriveBridge({ last_observed_valset: { members } });
    expect(values['bridge_last_observed_valset_power']).toBe(2 ** 53 + 2);
  });

  it('is in seconds if its field is in milliseconds', () => {
    const params = { target_batch_timeout: '43200000', average_block_time: '650' };
    const { values } = deriveBridge({ params });
    expect(values['bridge_params_target_batch_timeout_seconds']).toBe(43_200);
    expect(values['bridge_params_average_block_time_seconds']).toBe(0.65);
  });
});

describe('the families of a document', () => {
  it('export the label value unknown only if the observed flag of an attestation is missing', () => {
    const rows = [{ observed: true }, { observed: false }, {}];
    expect(deriveBridge({ attestations: rows }).values).toMatchObject({
      'bridge_attestations{observed="true"}': 1,
      'bridge_attestations{observed="false"}': 1,
      'bridge_attestations{observed="unknown"}': 1,
    });
    expect(deriveBridge({ attestations: [] }).values).toMatchObject({
      'bridge_attestations{observed="true"}': 0,
      'bridge_attestations{observed="false"}': 0,
    });
    expect(deriveBridge({ attestations: [] }).values).not.toHaveProperty('bridge_attestations{observed="unknown"}');
    expect(deriveBridge({ attestations: [{ observed: 'yes' }] }).values).not.toHaveProperty(
      'bridge_attestations{observed="true"}',
    );
  });

  it('count 0 hidden transactions if all are listed', () => {
    const listed = { cctxs_missed: [{}], cctxs_pending: [{}, {}] };
    const hiddenOf = (total: unknown): number | undefined =>
      deriveCrosschain({ ...listed, total_pending: total }).values['crosschain_cctxs_hidden'];
    expect([hiddenOf('10'), hiddenOf('3'), hiddenOf('2'), hiddenOf(null)]).toEqual([7, 0, 0, undefined]);
  });

  it('select the newest validator set by nonce, in any order', () => {
    const valsets = [
      { nonce: '9', height: '9', members: [] },
      { nonce: '10', height: '11', members: [{ power: '4', external_address: '0xa' }] },
    ];
    expect(deriveBridge({ valsets }).values).toMatchObject({
      bridge_newest_valset_nonce: 10,
      bridge_newest_valset_height: 11,
      bridge_newest_valset_members: 1,
      bridge_newest_valset_power: 4,
    });
  });

  it('ignore unknown keys', () => {
    const plain = deriveBridge({ last_observed_nonce: '1' });
    expect(deriveBridge({ last_observed_nonce: '1', rate_limits: [{ token_decimals: 6 }] })).toEqual(plain);
  });
});

describe('every family', () => {
  it('has a HELP text of one sentence', () => {
    for (const { name, help } of families) {
      expect(help, name).toMatch(/^[A-Z][^.]*(?:\.[a-z][^.]*)*\.$/);
    }
  });

  it('exports samples with exactly its labels', () => {
    const check = <Input>(family: Family<Input>, inputs: readonly Input[]): void => {
      const samples = inputs.flatMap((input) => orEmpty(() => family.derive(input)));
      for (const { labels } of samples.filter((sample) => sample !== WITHDRAWN)) {
        expect(Object.keys(labels).toSorted(), family.name).toEqual(family.labels.toSorted());
      }
    };
    const [bridge, crosschain] = [bridgeInputs(1), crosschainInputs(1)];
    for (const family of documents.module_state.families) check(family, bridge);
    for (const family of documents.rate_limiter_input.families) check(family, crosschain);
  });

  it('has a unique name, which ends in _total only for a counter', () => {
    const names = families.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const { name, type } of families) {
      expect(name).toMatch(/^(bridge|crosschain)_[a-z0-9_]+$/);
      expect(name.endsWith('_total'), name).toBe(type === 'counter');
    }
  });
});
