import { describe, expect, it } from 'vitest';
import { omit, type Json, type JsonObject } from '../../support/json.js';
import { attestation, batch, exportedOf, members, state, transfer, valset, valueOf, valuesOf } from './state.js';

describe('the progress metrics', () => {
  it('export numbers in any notation', () => {
    const values = ['7', 7, '-0007.50', '9'.repeat(100), ''].map((last_observed_nonce) =>
      valueOf(state({ last_observed_nonce }), 'bridge_last_observed_nonce'),
    );
    expect(values).toEqual([7, 7, -7.5, 1e100, undefined]);
  });

  it('export the height of the response, if it has one', () => {
    expect(valueOf(state({}), 'bridge_height', { height: '404088' })).toBe(404088);
    expect(valueOf(state({}), 'bridge_height')).toBeUndefined();
  });
});

describe('a length metric', () => {
  it.each(['valsets', 'batches', 'external_blacklist'])('counts the rows of %s, including invalid ones', (list) => {
    expect(valueOf(state({ [list]: [null, {}, 3] }), `bridge_${list}`)).toBe(3);
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
  const values = (document: JsonObject, names: string[]) => Object.values(valuesOf(document, names));

  it('select the newest validator set by the numeric value of the nonce', () => {
    const document = state({
      valsets: [valset('9', { '0xaa': 1 }), valset('0010', { '0xaa': 2, '0xbb': 3 }, { height: '77' })],
    });
    expect(values(document, newest)).toEqual([10, 77, 2, 5]);
    expect(values(state({ valsets: [valset('5', {})] }), newest)).toEqual([5, 5, 0, 0]);
    expect(exportedOf(state({}), newest)).toEqual([]);
  });

  it('count members, not distinct addresses', () => {
    const repeated = { ...valset('1', {}), members: [...members({ '0xaa': 1 }), ...members({ '0xAA': 2 })] };
    expect(values(state({ valsets: [repeated] }), newest)).toEqual([1, 1, 2, 3]);
  });
});
