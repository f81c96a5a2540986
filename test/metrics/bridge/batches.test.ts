import { describe, expect, it } from 'vitest';
import { attestation, batch, present, state, told, toldOf, type Row } from './state.js';

const OLDEST = 'bridge_batch_oldest_height';
const NEXT = 'bridge_batch_next_timeout_height';
const EXPIRED = 'bridge_batches_expired';
const PROJECTED = 'bridge_external_height_projected';
const OVERDUE = 'bridge_batches_overdue';
const all = [OLDEST, NEXT, EXPIRED, PROJECTED, OVERDUE];
const height = '110';

/**
 * The last event was seen at hub height 100 and external height 1000. Ten hub blocks of 2 s later the outside is 20 s on:
 * 1 block of 15 s, and a third that is rounded down. So it is at 1001.
 */
const bridge = state({
  params: { average_block_time: '2000', average_external_block_time: '15000' },
  last_observed_nonce: '7',
  last_observed_external_height: '1000',
  attestations: [
    attestation('7', [], { observed: true, height: '100' }),
    attestation('7', [], { observed: false, height: '20' }),
    attestation('8', [], { observed: true, height: '30' }),
  ],
  batches: [
    batch('1', '0xt', { batch_timeout: '999', block: '42' }), // expired
    batch('2', '0xt', { batch_timeout: '1000', block: '41' }), // over by the projection
    batch('3', '0xt', { batch_timeout: '1001', block: '43' }), // over from this block on
    batch('4', '0xt', { batch_timeout: '1002', block: '44' }), // not over
  ],
});

describe('batches', () => {
  it('are told by their height, their timeout and the external height', () => {
    expect(toldOf(bridge, all, { height })).toEqual({
      [OLDEST]: 41,
      [NEXT]: 999,
      [EXPIRED]: 1,
      [PROJECTED]: 1001,
      [OVERDUE]: 2,
    });
  });

  it('are 0 expired and 0 overdue when there are none, and then have no minimum', () => {
    expect(toldOf({ ...bridge, batches: [] }, all, { height })).toEqual({
      [OLDEST]: undefined,
      [NEXT]: undefined,
      [EXPIRED]: 0,
      [PROJECTED]: 1001,
      [OVERDUE]: 0,
    });
  });

  it('are compared beyond 2^53', () => {
    const far = {
      ...bridge,
      last_observed_external_height: '9007199254740993',
      batches: [
        batch('1', '0xt', { batch_timeout: '9007199254740992' }),
        batch('2', '0xt', { batch_timeout: '9007199254740994' }),
      ],
    };
    // …992 is below …993. By height 110 the projection is one block on, …994, and the other is over.
    expect(toldOf(far, [EXPIRED, OVERDUE], { height })).toEqual({ [EXPIRED]: 1, [OVERDUE]: 1 });
  });
});

describe('the projected external height', () => {
  it.each([
    // hub blocks since × 2000 / 15000: 7 → 0.93, 8 → 1.07, 150 → exactly 20
    ['107', 1000],
    ['108', 1001],
    ['250', 1020],
    // and before it: -1 × 2000 / 15000 = -0.13
    ['99', 999],
  ])('of hub height %s is rounded down to %s', (at, projected) => {
    expect(told(bridge, PROJECTED, { height: at })).toBe(projected);
  });

  it('starts from the earliest of several observed claims', () => {
    const earlier = attestation('7', [], { observed: true, height: '25' });
    const several = { ...bridge, attestations: [...(bridge['attestations'] as Row[]), earlier] };
    // (110 - 25) × 2000 / 15000 = 11.3
    expect(told(several, PROJECTED, { height })).toBe(1011);
  });

  it.each<[string, Row]>([
    ['an external block takes no time', { params: { average_block_time: '2000', average_external_block_time: '0' } }],
    ['there are no params', { params: null }],
    ['a block time is missing', { params: { average_external_block_time: '15000' } }],
    ['the external height is missing', { last_observed_external_height: '' }],
    ['the last nonce is missing', { last_observed_nonce: null }],
    ['the event is no longer in the state', { last_observed_nonce: '6' }],
    ['the event is not observed', { attestations: [attestation('7', [], { height: '100' })] }],
    ['there are no attestations', { attestations: null }],
    ['one attestation has no nonce', { attestations: [...(bridge['attestations'] as Row[]), attestation('', [])] }],
    ['the height of the event is missing', { attestations: [attestation('7', [], { observed: true, height: '' })] }],
  ])('is absent when %s, and so is what is overdue by it', (_, fields) => {
    expect(present({ ...bridge, ...fields }, [PROJECTED, OVERDUE, OLDEST, NEXT], { height })).toEqual([OLDEST, NEXT]);
  });

  it('is absent without the height of the answer', () => {
    expect(present(bridge, all)).toEqual([OLDEST, NEXT, EXPIRED]);
  });
});

describe('what cannot be read', () => {
  it.each<[string, Row, string[]]>([
    ['batches', { batches: null }, [PROJECTED]],
    ['a batch', { batches: [null] }, [PROJECTED]],
    ['a block', { batches: [batch('1', '0xt', { block: 'x' })] }, [NEXT, EXPIRED, PROJECTED, OVERDUE]],
    ['a timeout', { batches: [batch('1', '0xt', { batch_timeout: true })] }, [OLDEST, PROJECTED]],
    ['the external height', { last_observed_external_height: {} }, [OLDEST, NEXT]],
    ['a batch nonce and token', { batches: [{ block: '1', batch_timeout: '1' }] }, all],
  ])('%s withdraws what needs it and no more', (_, broken, left) => {
    expect(present({ ...bridge, ...broken }, all, { height })).toEqual(left);
  });

  it('the external height does so without a batch as well', () => {
    const none = { ...bridge, batches: [], last_observed_external_height: '' };
    expect(present(none, all, { height })).toEqual([]);
  });
});
