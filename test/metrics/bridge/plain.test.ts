import { describe, expect, it } from 'vitest';
import { deriveBridge } from '../derive.js';
import {
  attestation,
  batch,
  members,
  present,
  state,
  told,
  toldOf,
  transfer,
  valset,
  without,
  type Json,
  type Row,
} from './state.js';

describe('the progress of a bridge', () => {
  const scalars = {
    bridge_last_observed_nonce: 'last_observed_nonce',
    bridge_last_observed_external_height: 'last_observed_external_height',
    bridge_last_outgoing_batch_id: 'last_outgoing_batch_id',
    bridge_last_outgoing_pool_id: 'last_outgoing_pool_id',
  };

  it.each(Object.entries(scalars))('%s is %s', (family, field) => {
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
    for (const [value, number] of values)
      expect(told(state({ [field]: value }), family), JSON.stringify(value)).toBe(number);
    expect(told(without(state({}), field), family)).toBeUndefined();
  });

  it('counts as invalid what is of a wrong kind, and not what is missing', () => {
    const of = state({
      last_observed_nonce: '',
      last_outgoing_batch_id: null,
      last_outgoing_pool_id: 'x',
      valsets: 'none',
    });
    expect(deriveBridge(of).invalid).toEqual({ 'state.last_outgoing_pool_id': 1, 'state.valsets': 1 });
  });

  it('has the height of the answer, where there is one', () => {
    expect(told(state({}), 'bridge_height', { height: '404088' })).toBe(404088);
    expect(told(state({}), 'bridge_height')).toBeUndefined();
  });
});

describe('the length of a list', () => {
  it.each([
    'valsets',
    'valset_confirms',
    'batches',
    'batch_confirms',
    'orchestrator_addresses',
    'erc20_to_denoms',
    'unbatched_transfers',
    'external_blacklist',
  ])('of %s is the number of its rows, whatever is in them', (list) => {
    const length = (value: Json) => told(state({ [list]: value }), `bridge_${list}`);
    expect([length([]), length([null, {}, 3])]).toEqual([0, 3]);
    expect([length(null), length({}), length('')]).toEqual([undefined, undefined, undefined]);
    expect(told(without(state({}), list), `bridge_${list}`)).toBeUndefined();
  });

  it('of the attestations is split by whether they are observed', () => {
    const rows = [true, false, false].map((observed) => attestation('1', [], { observed }));
    const counts = (more: Row[]) => told(state({ attestations: [...rows, ...more] }), 'bridge_attestations');
    expect(told(state({}), 'bridge_attestations')).toEqual({ 'observed="true"': 0, 'observed="false"': 0 });
    expect(counts([])).toEqual({ 'observed="true"': 1, 'observed="false"': 2 });
    const unknown = [attestation('1', [], { observed: null }), without(attestation('1', []), 'observed')];
    expect(counts(unknown)).toEqual({ 'observed="true"': 1, 'observed="false"': 2, 'observed="unknown"': 2 });
    expect(counts([attestation('1', [], { observed: 'true' })])).toBeUndefined();
  });

  it('of the transactions is that of all batches', () => {
    const one = transfer('1', '0xt', '1');
    const of = (batches: Json[]) => told(state({ batches }), 'bridge_batch_transactions');
    expect(of([batch('1', '0xt', { transactions: [one, null] }), batch('2', '0xt', { transactions: [one] })])).toBe(3);
    expect(of([])).toBe(0);
    expect(of([batch('1', '0xt', { transactions: [one] }), batch('2', '0xt', { transactions: null })])).toBeUndefined();
  });
});

describe('a valset', () => {
  const newest = ['nonce', 'height', 'members', 'power'].map((field) => `bridge_newest_valset_${field}`);
  const observed = ['nonce', 'height', 'members', 'power', 'reward_amount'].map(
    (field) => `bridge_last_observed_valset_${field}`,
  );
  const values = (of: Row, names: string[]) => Object.values(toldOf(of, names));

  it('is the newest by its nonce as a number', () => {
    const of = state({
      valsets: [valset('9', { '0xaa': 1 }), valset('0010', { '0xaa': 2, '0xbb': 3 }, { height: '77' })],
    });
    expect(values(of, newest)).toEqual([10, 77, 2, 5]);
    expect(values(state({ valsets: [valset('5', {})] }), newest)).toEqual([5, 5, 0, 0]);
    expect(present(state({}), newest)).toEqual([]);
  });

  it('was observed last', () => {
    const of = state({
      last_observed_valset: valset('8', { '0xaa': 1 }, { height: '0', reward_amount: '9007199254740992' }),
    });
    expect(values(of, observed)).toEqual([8, 0, 1, 1, 9007199254740992]);
    expect(present(state({ last_observed_valset: null }), observed)).toEqual([]);
  });

  it('has powers that are added up exactly', () => {
    const powers = { '0xaa': '9007199254740992', '0xbb': 1, '0xcc': 1, '0xdd': 1 };
    expect(told(state({ valsets: [valset('1', powers)] }), 'bridge_newest_valset_power')).toBe(9007199254740996);
  });

  it.each<[string, Row, string[]]>([
    ['a nonce of any', { valsets: [valset('2', {}), valset('', {})] }, []],
    ['its height', { valsets: [valset('2', {}, { height: null })] }, ['nonce', 'members', 'power']],
    ['its members', { valsets: [valset('2', {}, { members: {} })] }, ['nonce', 'height']],
    ['a power', { valsets: [valset('2', { '0xaa': '' })] }, ['nonce', 'height', 'members']],
    [
      'an address',
      { valsets: [valset('2', {}, { members: [{ power: '1' }] })] },
      ['nonce', 'height', 'members', 'power'],
    ],
    ['all of an older one', { valsets: [valset('2', {}), { nonce: '1' }] }, ['nonce', 'height', 'members', 'power']],
  ])('that lacks %s is told as far as it goes', (_, fields, left) => {
    expect(present(state(fields), newest)).toEqual(left.map((field) => `bridge_newest_valset_${field}`));
  });

  it('counts its rows and not its addresses', () => {
    const twice = { ...valset('1', {}), members: [...members({ '0xaa': 1 }), ...members({ '0xAA': 2 })] };
    expect(values(state({ valsets: [twice] }), newest)).toEqual([1, 1, 2, 3]);
  });
});
