import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../support/json.js';
import { attestation, batch, batchConfirm, exportedOf, state, transfer, valset, valueOf, valuesOf } from './state.js';

const OLDEST_HEIGHT = 'bridge_batch_oldest_height';
const NEXT_TIMEOUT = 'bridge_batch_next_timeout_height';
const EXPIRED = 'bridge_batches_expired';
const ESTIMATED_HEIGHT = 'bridge_external_height_projected';
const OVERDUE = 'bridge_batches_overdue';
const all = [OLDEST_HEIGHT, NEXT_TIMEOUT, EXPIRED, ESTIMATED_HEIGHT, OVERDUE];
const height = '110';

/**
 * The last event was observed at hub height 100 and external height 1000. At hub height 110, 20 s have passed, which are
 * 1.33 external blocks. The estimated external height is 1001.
 */
const bridge = state({
  params: { bridge_chain_id: '5', average_block_time: '2000', average_external_block_time: '15000' },
  last_observed_nonce: '7',
  last_observed_external_height: '1000',
  attestations: [
    attestation('7', [], { observed: true, height: '100' }),
    attestation('7', [], { observed: false, height: '20' }),
    attestation('8', [], { observed: true, height: '30' }),
  ],
  batches: [
    batch('1', '0xt', { batch_timeout: '999', block: '42' }), // expired
    batch('2', '0xt', { batch_timeout: '1000', block: '41' }), // overdue
    batch('3', '0xt', { batch_timeout: '1001', block: '43' }), // overdue from this block on
    batch('4', '0xt', { batch_timeout: '1002', block: '44' }), // live
  ],
});

describe('the batch metrics', () => {
  it('are derived from creation heights, timeouts and the external height', () => {
    expect(valuesOf(bridge, all, { height })).toEqual({
      [OLDEST_HEIGHT]: 41,
      [NEXT_TIMEOUT]: 1002,
      [EXPIRED]: 1,
      [ESTIMATED_HEIGHT]: 1001,
      [OVERDUE]: 2,
    });
  });

  it('export counts of 0 and no minimum if there are no batches', () => {
    expect(valuesOf({ ...bridge, batches: [] }, all, { height })).toEqual({
      [OLDEST_HEIGHT]: undefined,
      [NEXT_TIMEOUT]: undefined,
      [EXPIRED]: 0,
      [ESTIMATED_HEIGHT]: 1001,
      [OVERDUE]: 0,
    });
  });
});

describe('bridge_external_height_projected', () => {
  it.each([
    // Hub blocks since height 100 × 2000 / 15000: 0.93, 1.07 and exactly 20.
    ['107', 1000],
    ['108', 1001],
    ['250', 1020],
    // -1 × 2000 / 15000 = -0.13
    ['99', 999],
  ])('is rounded down: at hub height %s it is %s', (hubHeight, estimate) => {
    expect(valueOf(bridge, ESTIMATED_HEIGHT, { height: hubHeight })).toBe(estimate);
  });

  it('uses the earliest of several observed claims', () => {
    const earlier = attestation('7', [], { observed: true, height: '25' });
    const several = { ...bridge, attestations: [...(bridge['attestations'] as JsonObject[]), earlier] };
    // (110 - 25) × 2000 / 15000 = 11.3
    expect(valueOf(several, ESTIMATED_HEIGHT, { height })).toBe(1011);
  });

  it.each<[string, JsonObject]>([
    [
      'the external block time is 0',
      { params: { bridge_chain_id: '5', average_block_time: '2000', average_external_block_time: '0' } },
    ],
    ['the last observed event is not in the state', { last_observed_nonce: '6' }],
    ['the attestation of the event is not observed', { attestations: [attestation('7', [], { height: '100' })] }],
  ])('is absent, like bridge_batches_overdue, if %s', (_, fields) => {
    expect(
      exportedOf({ ...bridge, ...fields }, [ESTIMATED_HEIGHT, OVERDUE, OLDEST_HEIGHT, NEXT_TIMEOUT], { height }),
    ).toEqual([OLDEST_HEIGHT, NEXT_TIMEOUT]);
  });

  it('is absent, like bridge_batches_overdue, if the response has no height', () => {
    expect(exportedOf(bridge, all)).toEqual([OLDEST_HEIGHT, NEXT_TIMEOUT, EXPIRED]);
  });
});

describe('the batches that can be relayed', () => {
  const RELAYABLE = 'bridge_relayable_batches';
  const OLDEST_RELAYABLE = 'bridge_oldest_relayable_batch_height';
  const OLDEST_UNSIGNED = 'bridge_oldest_unsigned_batch_height';
  const names = [RELAYABLE, OLDEST_RELAYABLE, OLDEST_UNSIGNED];
  const fee = (amount: string, contract = '0xt') => transfer('1', '0xt', '5', { contract, amount });
  const signed = ['1', '2', '4', '5'].map((nonce) => batchConfirm(nonce, '0xt', '0xaa'));

  /** The estimated external height is 1001. */
  const queue = {
    ...bridge,
    last_observed_valset: valset('1', { '0xaa': 2, '0xbb': 1 }),
    batches: [
      batch('1', '0xt', { batch_timeout: '1002', block: '51', transactions: [fee('4'), fee('6')] }),
      batch('2', '0xT', { batch_timeout: '1001', block: '52', transactions: [fee('99')] }), // timed out
      batch('3', '0xt', { batch_timeout: '2000', block: '53', transactions: [fee('99')] }), // unsigned
      batch('4', '0xt', { batch_timeout: '2000', block: '50', transactions: [fee('9'), fee('1', '0xother')] }), // poor
      batch('5', '0xt', { batch_timeout: '2000', block: '60', transactions: [fee('10')] }),
    ],
    batch_confirms: signed,
  };
  const tokens = [{ contract: '0xt', min_batch_fee: '10' }];

  it('are signed, have not timed out, and pay the minimum fee in their own token', () => {
    expect(valuesOf(queue, names, { height, tokens })).toEqual({
      [RELAYABLE]: 2,
      [OLDEST_RELAYABLE]: 51,
      [OLDEST_UNSIGNED]: 53,
    });
  });

  it('pay enough with any fee while no minimum is configured for their token', () => {
    const expected = { [RELAYABLE]: 3, [OLDEST_RELAYABLE]: 50, [OLDEST_UNSIGNED]: 53 };
    expect(valuesOf(queue, names, { height })).toEqual(expected);
    expect(valuesOf(queue, names, { height, tokens: [{ contract: '0xu', min_batch_fee: '10' }] })).toEqual(expected);
  });

  it('have not timed out for certain without an estimated external height', () => {
    expect(valueOf(queue, RELAYABLE, { tokens })).toBe(3);
  });

  it('are unknown if the validator set in the contract has no power, unless there is no batch', () => {
    const powerless = { ...queue, last_observed_valset: valset('1', { '0xaa': 0 }) };
    expect(exportedOf(powerless, names, { height, tokens })).toEqual([]);
    expect(valuesOf({ ...powerless, batches: [] }, names, { height, tokens })).toEqual({ [RELAYABLE]: 0 });
  });

  it('are counted without reading fields of a batch that another condition excludes', () => {
    const [relayable = {}, timedOut = {}, unsigned = {}] = queue.batches;
    const batches = [
      relayable,
      { ...timedOut, transactions: null },
      { ...unsigned, transactions: null, batch_timeout: 'x' },
    ];
    expect(valueOf({ ...queue, batches }, RELAYABLE, { height, tokens })).toBe(1);
    const unknownMember = { ...valset('1', {}), members: [{ power: '2' }] };
    const onlyTimedOut = { ...queue, batches: [timedOut], last_observed_valset: unknownMember };
    expect(valueOf(onlyTimedOut, RELAYABLE, { height, tokens })).toBe(0);
    const unknownFee = [{ ...relayable, transactions: [{ erc20_fee: { amount: '99' } }] }];
    expect(exportedOf({ ...queue, batches: unknownFee }, names, { height, tokens })).toEqual([]);
    expect(valueOf({ ...queue, batches: unknownFee }, RELAYABLE, { height })).toBe(1);
  });
});
