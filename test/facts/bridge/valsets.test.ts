import { describe, expect, it } from 'vitest';
import { type JsonObject } from '../../support/json.js';
import { state, valset, valueOf } from './state.js';

const DRIFT = 'bridge_valset_power_drift_ratio';

function driftOf(
  newest: Readonly<Record<string, string | number>>,
  observed: Readonly<Record<string, string | number>>,
) {
  return valueOf(state({ valsets: [valset('2', newest)], last_observed_valset: valset('1', observed) }), DRIFT);
}

describe('bridge_valset_power_drift_ratio', () => {
  it('is the sum of the differences of all power shares', () => {
    // The shares are 0.5, 0.3, 0.2, 0 and 0.5, 0, 0.25, 0.25. The differences are 0, 0.3, 0.05 and 0.25.
    expect(driftOf({ '0xaa': 50, '0xbb': 30, '0xCC': 20 }, { '0xAA': 2, '0xcc': 1, '0xdd': 1 })).toBe(0.6);
  });

  it('is 0 for equal shares of different totals and 2 for disjoint validator sets', () => {
    expect(driftOf({ '0xaa': 1, '0xbb': 2 }, { '0xbb': 2000, '0xaa': 1000 })).toBe(0);
    expect(driftOf({ '0xaa': 1 }, { '0xbb': 5 })).toBe(2);
  });

  const both = state({ valsets: [valset('2', { '0xaa': 1 })], last_observed_valset: valset('1', { '0xbb': 1 }) });
  it.each<[string, JsonObject]>([
    ['valsets is empty', { valsets: [] }],
    ['the newest validator set has no members', { valsets: [valset('2', {}), valset('1', { '0xaa': 1 })] }],
    ['the newest validator set has no power', { valsets: [valset('2', { '0xaa': 0 })] }],
    ['the observed validator set has no members', { last_observed_valset: valset('1', {}) }],
    ['the observed validator set has no power', { last_observed_valset: valset('1', { '0xaa': 0 }) }],
  ])('is absent if %s', (_, fields) => {
    expect(valueOf(both, DRIFT)).toBe(2);
    expect(valueOf({ ...both, ...fields }, DRIFT)).toBeUndefined();
  });
});
