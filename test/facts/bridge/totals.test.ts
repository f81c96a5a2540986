import { describe, expect, it } from 'vitest';
import { omit, type JsonObject } from '../../support/json.js';
import { attestation, exportedOf, state, valset, valueOf, valuesOf } from './state.js';

describe('bridge_height', () => {
  it('is the height of the response, if it has one', () => {
    expect(valueOf(state({}), 'bridge_height', { height: '404088' })).toBe(404088);
    expect(valueOf(state({}), 'bridge_height')).toBeUndefined();
  });
});

describe('bridge_attestations', () => {
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
});
