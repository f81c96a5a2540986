import { describe, expect, it } from 'vitest';
import { type JsonObject } from '../../support/json.js';
import { batch, batchConfirm, state, valset, valsetConfirm, valueOf, valuesOf } from './state.js';

const UNRELAYED = 'bridge_unrelayed_valsets';
const VALSET_RATIO = 'bridge_unrelayed_valset_min_signed_power_ratio';
const VALSETS_BELOW = 'bridge_unrelayed_valsets_below_threshold';
const NEWEST_RATIO = 'bridge_newest_valset_signed_power_ratio';
const BATCH_RATIO = 'bridge_batch_min_signed_power_ratio';
const BATCHES_BELOW = 'bridge_batches_below_threshold';
const all = [UNRELAYED, VALSET_RATIO, VALSETS_BELOW, NEWEST_RATIO, BATCH_RATIO, BATCHES_BELOW];

/** The validator set in the contract is 10. Validator sets 11 and 12 and a batch of each of two tokens are not relayed. */
const bridge = state({
  last_observed_valset: valset('10', { '0xAa': 50, '0xbb': 30, '0xcc': 20 }),
  valsets: [valset('12', { '0xdd': 1 }), valset('10', { '0xaa': 50 }), valset('11', { '0xdd': 1 })],
  valset_confirms: [
    valsetConfirm('11', '0xaA'), // power 50, in another case
    valsetConfirm('11', '0xbb'), // power 30
    valsetConfirm('12', '0xaa'), // power 50
    valsetConfirm('12', '0xAA'), // repeated
    valsetConfirm('12', '0xdd'), // not a member of the validator set in the contract
    valsetConfirm('10', '0xcc'), // an already relayed validator set
    valsetConfirm('99', '0xcc'), // an unknown validator set
  ],
  batches: [batch('7', '0xT1'), batch('7', '0xt2')],
  batch_confirms: [
    batchConfirm('7', '0xt1', '0xaa'), // power 50
    batchConfirm('007', '0xT1', '0xBB'), // power 30, the same nonce
    batchConfirm('7', '0xT2', '0xcc'), // power 20, the other token
    batchConfirm('8', '0xt2', '0xaa'), // an unknown batch
  ],
});

describe('the signing metrics', () => {
  it('use the powers of the validator set in the contract', () => {
    // Validator sets: 80 / 100 and 50 / 100. Batches: 80 / 100 and 20 / 100.
    expect(valuesOf(bridge, all)).toEqual({
      [UNRELAYED]: 2,
      [VALSET_RATIO]: 0.5,
      [VALSETS_BELOW]: 1,
      [NEWEST_RATIO]: 0.5,
      [BATCH_RATIO]: 0.2,
      [BATCHES_BELOW]: 1,
    });
  });

  it('use the newest validator set if the observed one has no members', () => {
    const document = { ...bridge, last_observed_valset: valset('0', {}) };
    // The only member of the newest validator set 12 is 0xdd, which has signed nothing but 12.
    expect(valuesOf(document, all)).toEqual({
      [UNRELAYED]: 3,
      [VALSET_RATIO]: 0,
      [VALSETS_BELOW]: 2,
      [NEWEST_RATIO]: 1,
      [BATCH_RATIO]: 0,
      [BATCHES_BELOW]: 2,
    });
  });

  it.each([
    ['there is no validator set', state({ batches: [batch('1', '0xt')] })],
    ['the validator set has no power', { ...bridge, last_observed_valset: valset('10', { '0xaa': 0 }) }],
  ])('have no ratio and counts of 0 if %s', (_, document) => {
    expect(valuesOf(document, [VALSET_RATIO, BATCH_RATIO])).toEqual({
      [VALSET_RATIO]: undefined,
      [BATCH_RATIO]: undefined,
    });
    expect(valuesOf(document, [VALSETS_BELOW, BATCHES_BELOW])).toEqual({ [VALSETS_BELOW]: 0, [BATCHES_BELOW]: 0 });
  });

  it('have no minimum and counts of 0 if everything is relayed', () => {
    const document = state({
      last_observed_valset: valset('10', { '0xaa': 1 }),
      valsets: [valset('10', { '0xaa': 1 })],
    });
    expect(valuesOf(document, all)).toEqual({
      [UNRELAYED]: 0,
      [VALSET_RATIO]: undefined,
      [VALSETS_BELOW]: 0,
      [NEWEST_RATIO]: undefined,
      [BATCH_RATIO]: undefined,
      [BATCHES_BELOW]: 0,
    });
  });
});

describe('the power threshold', () => {
  const withSignedBatch = (powers: Readonly<Record<string, number>>): JsonObject =>
    state({
      last_observed_valset: valset('1', powers),
      batches: [batch('1', '0xt')],
      batch_confirms: [batchConfirm('1', '0xt', '0xaa')],
    });

  it.each([
    // 6667 / 10000 equals the threshold.
    [{ '0xaa': 6667, '0xbb': 3333 }, '0.6667', 0],
    [{ '0xaa': 6666, '0xbb': 3334 }, '0.6667', 1],
    // 2 / 3 is between these two thresholds, which are the same double.
    [{ '0xaa': 2, '0xbb': 1 }, '0.66666666666666666', 0],
    [{ '0xaa': 2, '0xbb': 1 }, '0.66666666666666667', 1],
    [{ '0xaa': 1 }, '1', 0],
  ])('is compared exactly: %j with %s', (powers, powerThreshold, below) => {
    expect(valueOf(withSignedBatch(powers), BATCHES_BELOW, { power_threshold: powerThreshold })).toBe(below);
  });

  it('is exported as bridge_power_threshold_ratio', () => {
    expect(valueOf(bridge, 'bridge_power_threshold_ratio', { power_threshold: '0.75' })).toBe(0.75);
  });
});
