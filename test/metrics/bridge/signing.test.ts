import { describe, expect, it } from 'vitest';
import {
  batch,
  batchConfirm,
  members,
  present,
  state,
  told,
  toldOf,
  valset,
  valsetConfirm,
  without,
  type Json,
  type Row,
} from './state.js';

const UNRELAYED = 'bridge_unrelayed_valsets';
const VALSET_RATIO = 'bridge_unrelayed_valset_min_signed_power_ratio';
const VALSETS_BELOW = 'bridge_unrelayed_valsets_below_threshold';
const BATCH_RATIO = 'bridge_batch_min_signed_power_ratio';
const BATCHES_BELOW = 'bridge_batches_below_threshold';
const all = [UNRELAYED, VALSET_RATIO, VALSETS_BELOW, BATCH_RATIO, BATCHES_BELOW];

/** The contract has set 10 with powers 50, 30 and 20; sets 11 and 12 wait, and a batch of each of two tokens. */
const waiting = state({
  last_observed_valset: valset('10', { '0xAa': 50, '0xbb': 30, '0xcc': 20 }),
  valsets: [valset('12', { '0xdd': 1 }), valset('10', { '0xaa': 50 }), valset('11', { '0xdd': 1 })],
  valset_confirms: [
    valsetConfirm('11', '0xaA'), // 50, in another case
    valsetConfirm('11', '0xbb'), // 30
    valsetConfirm('12', '0xaa'), // 50
    valsetConfirm('12', '0xAA'), // the same once more
    valsetConfirm('12', '0xdd'), // a member of the waiting set only
    valsetConfirm('10', '0xcc'), // of the set that is there already
    valsetConfirm('99', '0xcc'), // of no set
  ],
  batches: [batch('7', '0xT1'), batch('7', '0xt2')],
  batch_confirms: [
    batchConfirm('7', '0xt1', '0xaa'), // 50
    batchConfirm('007', '0xT1', '0xBB'), // 30; the same number
    batchConfirm('7', '0xT2', '0xcc'), // 20 of the other token with the same nonce
    batchConfirm('8', '0xt2', '0xaa'), // of no batch
  ],
});

describe('signed power', () => {
  it('is that of the set in the contract, whoever is in the waiting one', () => {
    // 11: (50 + 30) / 100, 12: 50 / 100; batch of t1: (50 + 30) / 100, of t2: 20 / 100
    expect(toldOf(waiting, all)).toEqual({
      [UNRELAYED]: 2,
      [VALSET_RATIO]: 0.5,
      [VALSETS_BELOW]: 1,
      [BATCH_RATIO]: 0.2,
      [BATCHES_BELOW]: 1,
    });
  });

  it('adds up the members with one address', () => {
    const twice = [...members({ '0xaa': 10, '0xbb': 70 }), ...members({ '0xAA': 20 })];
    const both = { ...waiting, last_observed_valset: { ...valset('10', {}), members: twice } };
    // 12 has 0xaa: (10 + 20) / 100
    expect(told(both, VALSET_RATIO)).toBe(0.3);
  });

  it('is exact where doubles would round the total', () => {
    const large = { ...waiting, last_observed_valset: valset('10', { '0xaa': '9007199254740992', '0xbb': 1 }) };
    // 2^53 / (2^53 + 1) is nearest to 1 - 2^-53; as doubles it would be 1
    expect(told(large, VALSET_RATIO)).toBe(1 - 2 ** -53);
  });

  it('counts repeated sets and batches each time', () => {
    const repeated = state({
      last_observed_valset: valset('10', { '0xaa': 1 }),
      valsets: [valset('11', {}), valset('11', {})],
      batches: [batch('1', '0xt'), batch('1', '0xt')],
    });
    expect(toldOf(repeated, all)).toEqual({
      [UNRELAYED]: 2,
      [VALSET_RATIO]: 0,
      [VALSETS_BELOW]: 2,
      [BATCH_RATIO]: 0,
      [BATCHES_BELOW]: 2,
    });
  });

  it('is of the newest set while the observed one has no members', () => {
    const fresh = { ...waiting, last_observed_valset: valset('0', {}) };
    // the newest is 12, of 0xdd alone, who signed 12 and nothing else
    expect(toldOf(fresh, all)).toEqual({
      [UNRELAYED]: 3,
      [VALSET_RATIO]: 0,
      [VALSETS_BELOW]: 2,
      [BATCH_RATIO]: 0,
      [BATCHES_BELOW]: 2,
    });
  });

  it.each([
    ['there is no set at all', state({ batches: [batch('1', '0xt')] })],
    ['the set has no power', { ...waiting, last_observed_valset: valset('10', { '0xaa': 0 }) }],
  ])('is no ratio when %s, and then nothing has one below the threshold', (_, of) => {
    expect(toldOf(of, [VALSET_RATIO, BATCH_RATIO])).toEqual({ [VALSET_RATIO]: undefined, [BATCH_RATIO]: undefined });
    expect(toldOf(of, [VALSETS_BELOW, BATCHES_BELOW])).toEqual({ [VALSETS_BELOW]: 0, [BATCHES_BELOW]: 0 });
  });

  it('has no minimum when nothing waits, and a count of 0', () => {
    const idle = state({ last_observed_valset: valset('10', { '0xaa': 1 }), valsets: [valset('10', { '0xaa': 1 })] });
    expect(toldOf(idle, all)).toEqual({
      [UNRELAYED]: 0,
      [VALSET_RATIO]: undefined,
      [VALSETS_BELOW]: 0,
      [BATCH_RATIO]: undefined,
      [BATCHES_BELOW]: 0,
    });
  });
});

describe('the threshold', () => {
  const signed = (powers: Readonly<Record<string, number>>): Row =>
    state({
      last_observed_valset: valset('1', powers),
      batches: [batch('1', '0xt')],
      batch_confirms: [batchConfirm('1', '0xt', '0xaa')],
    });

  it.each([
    // 6667 / 10000 is 0.6667 and not below it
    [{ '0xaa': 6667, '0xbb': 3333 }, '0.6667', 0],
    [{ '0xaa': 6666, '0xbb': 3334 }, '0.6667', 1],
    [{ '0xaa': 6667, '0xbb': 3333 }, '0.66670000000000000000000000000001', 1],
    // 2 / 3 lies between these two, which one double stands for
    [{ '0xaa': 2, '0xbb': 1 }, '0.66666666666666666', 0],
    [{ '0xaa': 2, '0xbb': 1 }, '0.66666666666666667', 1],
    [{ '0xaa': 1 }, '1', 0],
    [{ '0xaa': 1 }, '1.0', 0],
  ])('compares %j with the text %s exactly', (powers, powerThreshold, below) => {
    expect(told(signed(powers), BATCHES_BELOW, { powerThreshold })).toBe(below);
  });

  it('is told as configured', () => {
    expect(told(waiting, 'bridge_power_threshold_ratio', { powerThreshold: '0.75' })).toBe(0.75);
    expect(told(waiting, 'bridge_power_threshold_ratio')).toBe(0.6667);
  });
});

describe('what cannot be read', () => {
  const ofBatches = [BATCH_RATIO, BATCHES_BELOW];
  const ofValsets = [VALSET_RATIO, VALSETS_BELOW];
  const observed = waiting['last_observed_valset'] as Row;

  it.each<[string, Row, string[]]>([
    ['last_observed_valset', { last_observed_valset: null }, []],
    ['its members', { last_observed_valset: without(observed, 'members') }, [UNRELAYED]],
    ['its members, a text,', { last_observed_valset: { ...observed, members: '' } }, [UNRELAYED]],
    ['its nonce', { last_observed_valset: { ...observed, nonce: '' } }, ofBatches],
    ['a power of it', { last_observed_valset: { ...observed, members: [{ external_address: '0xaa' }] } }, [UNRELAYED]],
    ['an address of it', { last_observed_valset: { ...observed, members: [{ power: '1' }] } }, [UNRELAYED]],
    ['valsets', { valsets: null }, ofBatches],
    ['the nonce of a set', { valsets: [valset('', {})] }, ofBatches],
    ['valset_confirms', { valset_confirms: null }, [UNRELAYED, ...ofBatches]],
    ['the signer of a waiting set', { valset_confirms: [{ nonce: '11' }] }, [UNRELAYED, ...ofBatches]],
    ['the signer of another set', { valset_confirms: [{ nonce: '99' }] }, all],
    ['batches', { batches: {} }, [UNRELAYED, ...ofValsets]],
    ['batch_confirms', { batch_confirms: null }, [UNRELAYED, ...ofValsets]],
    [
      'the signer of a live batch',
      { batch_confirms: [{ nonce: '7', token_contract: '0xt1' }] },
      [UNRELAYED, ...ofValsets],
    ],
    ['the signer of another batch', { batch_confirms: [{ nonce: '9', token_contract: '0xt1' }] }, all],
    ['the members of a set that is not the newest', { valsets: [valset('12', { a: 1 }), { nonce: '11' }] }, all],
    ['orchestrator_addresses', { orchestrator_addresses: null }, all],
  ])('%s withdraws what needs it and no more', (_, broken, left) => {
    expect(present({ ...waiting, ...broken }, all)).toEqual(left);
  });

  const quiet = state({ last_observed_valset: valset('10', { '0xaa': 1 }), valsets: [valset('10', { '0xaa': 1 })] });
  it.each<[string, Json, string[]]>([
    ['valset_confirms', null, [UNRELAYED, BATCHES_BELOW]],
    ['batch_confirms', null, [UNRELAYED, VALSETS_BELOW]],
    ['last_observed_valset', null, []],
    ['last_observed_valset', { nonce: '10' }, [UNRELAYED]],
  ])('a list of the definition does so even when nothing waits: %s as %j', (name, value, left) => {
    expect(present(quiet, all)).toEqual([UNRELAYED, VALSETS_BELOW, BATCHES_BELOW]);
    expect(present({ ...quiet, [name]: value }, all)).toEqual(left);
  });
});
