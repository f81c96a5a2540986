import { describe, expect, it } from 'vitest';
import { members, state, told, valset, without, type Row } from './state.js';

const DRIFT = 'bridge_valset_power_drift_ratio';

function drift(newest: Readonly<Record<string, string | number>>, observed: Readonly<Record<string, string | number>>) {
  return told(state({ valsets: [valset('2', newest)], last_observed_valset: valset('1', observed) }), DRIFT);
}

describe('the drift of power', () => {
  it('adds up how much each share differs', () => {
    // shares 0.5, 0.3, 0.2, 0 and 0.5, 0, 0.25, 0.25: 0 + 0.3 + 0.05 + 0.25
    expect(drift({ '0xaa': 50, '0xbb': 30, '0xCC': 20 }, { '0xAA': 2, '0xcc': 1, '0xdd': 1 })).toBe(0.6);
  });

  it('is 0 for the same shares of other totals, and 2 for sets that share nobody', () => {
    expect(drift({ '0xaa': 1, '0xbb': 2 }, { '0xbb': 2000, '0xaa': 1000 })).toBe(0);
    expect(drift({ '0xaa': 1 }, { '0xbb': 5 })).toBe(2);
  });

  it('is of the valset with the highest nonce, in whatever order', () => {
    const sets = [valset('9', { '0xbb': 1 }), valset('10', { '0xaa': 1 })];
    const of = (valsets: Row[]): Row => state({ valsets, last_observed_valset: valset('1', { '0xaa': 1 }) });
    expect(told(of(sets), DRIFT)).toBe(0);
    expect(told(of(sets.toReversed()), DRIFT)).toBe(0);
  });

  it('adds up the members with one address before it compares', () => {
    const twice = { ...valset('2', {}), members: [...members({ '0xaa': 1 }), ...members({ '0xAA': 1, '0xbb': 2 })] };
    const of = state({ valsets: [twice], last_observed_valset: valset('1', { '0xaa': 1, '0xbb': 1 }) });
    expect(told(of, DRIFT)).toBe(0);
  });

  it('is exact where doubles would see no difference', () => {
    // 2^53 / (2^53 + 1) against 1, and the rest: twice 1 / (2^53 + 1), nearest to 2^-52 less one unit in its last place
    expect(drift({ '0xaa': '9007199254740992', '0xbb': 1 }, { '0xaa': 1 })).toBe(2 ** -52 - 2 ** -105);
  });

  const both = state({ valsets: [valset('2', { '0xaa': 1 })], last_observed_valset: valset('1', { '0xbb': 1 }) });
  it.each<[string, Row]>([
    ['there are no valsets', { valsets: [] }],
    ['valsets is missing', { valsets: null }],
    ['the newest valset has no members', { valsets: [valset('2', {}), valset('1', { '0xaa': 1 })] }],
    ['the newest valset has no power', { valsets: [valset('2', { '0xaa': 0 })] }],
    ['the members of the newest valset are missing', { valsets: [without(valset('2', {}), 'members')] }],
    ['none was observed', { last_observed_valset: null }],
    ['the observed one has no members', { last_observed_valset: valset('1', {}) }],
    ['the observed one has no power', { last_observed_valset: valset('1', { '0xaa': 0 }) }],
    ['a power is missing', { last_observed_valset: valset('1', { '0xaa': '' }) }],
    ['a nonce is missing', { valsets: [valset('2', { '0xaa': 1 }), valset('', {})] }],
  ])('is absent when %s', (_, fields) => {
    expect(told(both, DRIFT)).toBe(2);
    expect(told({ ...both, ...fields }, DRIFT)).toBeUndefined();
  });

  it('needs no members of other valsets', () => {
    expect(told({ ...both, valsets: [valset('2', { '0xaa': 1 }), { nonce: '1' }] }, DRIFT)).toBe(2);
  });
});
