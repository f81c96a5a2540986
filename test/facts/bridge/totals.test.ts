import { describe, expect, it } from 'vitest';
import { omit, type Json, type JsonObject } from '../../support/json.js';
import { deriveBridge } from '../derive.js';
import { attestation, batch, exportedOf, members, state, transfer, valset, valueOf, valuesOf } from './state.js';

describe('the progress metrics', () => {
  const scalars = {
    bridge_last_observed_nonce: 'last_observed_nonce',
    bridge_last_observed_external_height: 'last_observed_external_height',
    bridge_last_outgoing_batch_id: 'last_outgoing_batch_id',
    bridge_last_outgoing_pool_id: 'last_outgoing_pool_id',
  };

  it.each(Object.entries(scalars))('export the number in the field: %s from %s', (family, field) => {
    const values: [Json, number | undefined][] = [
      ['7', 7],
      [7, 7],
      ['-0007.50', -7.5],
      ['+7', 7],
      ['9'.repeat(100), 1e100],
      ['9'.repeat(101), undefined],
      ['', undefined],
      [null, undefined],
      ['7e3', undefined],
      ['0x7', undefined],
      [' 7', undefined],
      [true, undefined],
      [['7'], undefined],
    ];
    for (const [value, expected] of values)
      expect(valueOf(state({ [field]: value }), family), JSON.stringify(value)).toBe(expected);
    expect(valueOf(omit(state({}), field), family)).toBeUndefined();
  });

  it('report invalid fields, but not missing ones, as problems', () => {
    const document = state({
      last_observed_nonce: '',
      last_outgoing_batch_id: null,
      last_outgoing_pool_id: 'x',
      valsets: 'none',
    });
    expect(deriveBridge(document).invalid).toEqual({ 'state.last_outgoing_pool_id': 1, 'state.valsets': 1 });
  });

  it('export the height of the response, if it has one', () => {
    expect(valueOf(state({}), 'bridge_height', { height: '404088' })).toBe(404088);
    expect(valueOf(state({}), 'bridge_height')).toBeUndefined();
  });
});

describe('a length metric', () => {
  it.each([
    'valsets',
    'valset_confirms',
    'batches',
    'batch_confirms',
    'orchestrator_addresses',
    'erc20_to_denoms',
    'unbatched_transfers',
    'external_blacklist',
  ])('counts the rows of %s, including invalid ones', (list) => {
    const length = (value: Json) => valueOf(state({ [list]: value }), `bridge_${list}`);
    expect([length([]), length([null, {}, 3])]).toEqual([0, 3]);
    expect([length(null), length({}), length('')]).toEqual([undefined, undefined, undefined]);
    expect(valueOf(omit(state({}), list), `bridge_${list}`)).toBeUndefined();
  });

  it('counts attestations by whether they are observed', () => {
    const rows = [true, false, false].map((observed) => attestation('1', [], { observed }));
    const countsWith = (others: JsonObject[]) =>
      valueOf(state({ attestations: [...rows, ...others] }), 'bridge_attestations');
    expect(valueOf(state({}), 'bridge_attestations')).toEqual({ 'observed="true"': 0, 'observed="false"': 0 });
    expect(countsWith([])).toEqual({ 'observed="true"': 1, 'observed="false"': 2 });
    const unknown = [attestation('1', [], { observed: null }), omit(attestation('1', []), 'observed')];
    expect(countsWith(unknown)).toEqual({ 'observed="true"': 1, 'observed="false"': 2, 'observed="unknown"': 2 });
    expect(countsWith([attestation('1', [], { observed: 'true' })])).toBeUndefined();
  });

  it('counts the transactions of all batches', () => {
    const row = transfer('1', '0xt', '1');
    const countOf = (batches: Json[]) => valueOf(state({ batches }), 'bridge_batch_transactions');
    expect(
      countOf([batch('1', '0xt', { transactions: [row, null] }), batch('2', '0xt', { transactions: [row] })]),
    ).toBe(3);
    expect(countOf([])).toBe(0);
    expect(
      countOf([batch('1', '0xt', { transactions: [row] }), batch('2', '0xt', { transactions: null })]),
    ).toBeUndefined();
  });
});

describe('the validator set metrics', () => {
  const newest = ['nonce', 'height', 'members', 'power'].map((field) => `bridge_newest_valset_${field}`);
  const observed = ['nonce', 'height', 'members', 'power', 'reward_amount'].map(
    (field) => `bridge_last_observed_valset_${field}`,
  );
  const values = (document: JsonObject, names: string[]) => Object.values(valuesOf(document, names));

  it('select the newest validator set by the numeric value of the nonce', () => {
    const document = state({
      valsets: [valset('9', { '0xaa': 1 }), valset('0010', { '0xaa': 2, '0xbb': 3 }, { height: '77' })],
    });
    expect(values(document, newest)).toEqual([10, 77, 2, 5]);
    expect(values(state({ valsets: [valset('5', {})] }), newest)).toEqual([5, 5, 0, 0]);
    expect(exportedOf(state({}), newest)).toEqual([]);
  });

  it('describe the last observed validator set', () => {
    const document = state({
      last_observed_valset: valset('8', { '0xaa': 1 }, { height: '0', reward_amount: '9007199254740992' }),
    });
    expect(values(document, observed)).toEqual([8, 0, 1, 1, 9007199254740992]);
    expect(exportedOf(state({ last_observed_valset: null }), observed)).toEqual([]);
  });

  it('add up powers exactly', () => {
    const powers = { '0xaa': '9007199254740992', '0xbb': 1, '0xcc': 1, '0xdd': 1 };
    expect(valueOf(state({ valsets: [valset('1', powers)] }), 'bridge_newest_valset_power')).toBe(9007199254740996);
  });

  it.each<[string, JsonObject, string[]]>([
    ['nonce of any validator set', { valsets: [valset('2', {}), valset('', {})] }, []],
    ['height', { valsets: [valset('2', {}, { height: null })] }, ['nonce', 'members', 'power']],
    ['members', { valsets: [valset('2', {}, { members: {} })] }, ['nonce', 'height']],
    ['power of a member', { valsets: [valset('2', { '0xaa': '' })] }, ['nonce', 'height', 'members']],
    [
      'external_address of a member',
      { valsets: [valset('2', {}, { members: [{ power: '1' }] })] },
      ['nonce', 'height', 'members', 'power'],
    ],
    [
      'all fields of an older validator set',
      { valsets: [valset('2', {}), { nonce: '1' }] },
      ['nonce', 'height', 'members', 'power'],
    ],
  ])('are withdrawn only if they read the missing or invalid field: %s', (_, fields, remaining) => {
    expect(exportedOf(state(fields), newest)).toEqual(remaining.map((field) => `bridge_newest_valset_${field}`));
  });

  it('count members, not distinct addresses', () => {
    const repeated = { ...valset('1', {}), members: [...members({ '0xaa': 1 }), ...members({ '0xAA': 2 })] };
    expect(values(state({ valsets: [repeated] }), newest)).toEqual([1, 1, 2, 3]);
  });
});
