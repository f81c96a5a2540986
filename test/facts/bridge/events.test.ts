import { describe, expect, it } from 'vitest';
import { type JsonObject } from '../../support/json.js';
import { account, attestation, operator, orchestrator, state, valset, valueOf, valuesOf } from './state.js';

const NEWEST = 'bridge_newest_attested_nonce';
const PENDING = 'bridge_pending_events';
const CONFLICTS = 'bridge_conflicting_claims';
const VOTED = 'bridge_next_event_voted_power_ratio';
const all = [NEWEST, PENDING, CONFLICTS, VOTED];

/** Event 7 is observed. Events 8, 9 and 11 have two claims each, event 10 has one. */
const bridge = state({
  last_observed_nonce: '7',
  valsets: [valset('1', { '0xdd': 1 }), valset('2', { '0xAA': 50, '0xbb': 30, '0xcc': 20 })],
  orchestrator_addresses: [
    orchestrator('aaaa', '0xaa'),
    orchestrator('cccc', '0xCC'),
    orchestrator('dddd', '0xdd'), // a member of an older validator set only
    orchestrator('aaaa', '0xbb'), // repeats a sender: lookups use the first row
  ],
  attestations: [
    attestation('7', [], { observed: true, height: '1' }),
    attestation('7', [operator('aaaa')], { height: '2' }),
    attestation('8', [operator('aaaa'), account('AAAA'), operator('xxxx')], { height: '60' }), // power 50, counted once
    attestation('8', [operator('cccc'), operator('dddd')], { height: '50' }), // power 20
    attestation('9', [operator('aaaa'), operator('cccc')], { height: '40' }),
    attestation('9', [], { height: '70' }),
    attestation('10', [], { height: '70' }),
    attestation('11', [], { height: '70' }),
    attestation('11.0', [], { height: '70' }),
  ],
});

describe('the event metrics', () => {
  it('count events up to the newest claim as pending and events with several claims as conflicting', () => {
    // Event 7 is already observed. The leading claim of event 8 has 50 of 100.
    expect(valuesOf(bridge, all)).toEqual({ [NEWEST]: 11, [PENDING]: 4, [CONFLICTS]: 3, [VOTED]: 0.5 });
  });

  it('count no events if there are no attestations', () => {
    expect(valuesOf({ ...bridge, attestations: [] }, all)).toEqual({
      [NEWEST]: undefined,
      [PENDING]: 0,
      [CONFLICTS]: 0,
      [VOTED]: undefined,
    });
  });

  it('count no pending events if the newest claim is already observed', () => {
    const document = { ...bridge, last_observed_nonce: '12' };
    expect(valuesOf(document, all)).toEqual({
      [NEWEST]: 11,
      [PENDING]: 0,
      [CONFLICTS]: 0,
      [VOTED]: undefined,
    });
  });

  it('count events without claims before the newest claim as pending', () => {
    expect(valuesOf({ ...bridge, attestations: [attestation('9', [])] }, [PENDING, VOTED])).toEqual({
      [PENDING]: 2,
      [VOTED]: undefined,
    });
  });
});

describe('bridge_next_event_voted_power_ratio', () => {
  const votedPower = (votes: readonly string[], fields: JsonObject = {}) =>
    valueOf({ ...bridge, attestations: [attestation('8', votes)], ...fields }, VOTED);

  it('is the power share of the voters in the newest validator set', () => {
    expect(votedPower([operator('aaaa'), operator('cccc')])).toBe(0.7);
    expect(votedPower([operator('dddd'), operator('xxxx')])).toBe(0);
    expect(votedPower([])).toBe(0);
  });

  it('counts an address once if several of its orchestrators voted', () => {
    const shared = [orchestrator('aaaa', '0xaa'), orchestrator('eeee', '0xAA')];
    expect(votedPower([operator('aaaa'), operator('eeee')], { orchestrator_addresses: shared })).toBe(0.5);
  });

  it.each([[[]], [[valset('1', {})]], [[valset('1', { '0xaa': 0 })]]])(
    'is absent with the validator sets %j',
    (valsets) => {
      expect(votedPower([operator('aaaa')], { valsets })).toBeUndefined();
    },
  );
});

describe('the event nonce of a claim', () => {
  /** The event nonce of a single claim. */
  const nonceOf = (claim: JsonObject | null) =>
    valueOf(state({ attestations: [{ votes: [], height: '1', claim }] }), NEWEST);
  const packed = (...bytes: number[]): JsonObject => ({ type_url: '/x', value: Buffer.from(bytes).toString('base64') });

  it.each<[string, JsonObject, number]>([
    ['event_nonce', { event_nonce: '7' }, 7],
    ['event_nonce as a JSON number', { event_nonce: 7 }, 7],
    ['field 1 of the protobuf message', packed(8, 9, 16, 200, 1, 26, 2, 104, 105), 9],
    ['a varint of two bytes', packed(8, 0xac, 0x02), 300],
    ['field 1 after all other fields', packed(17, 1, 2, 3, 4, 5, 6, 7, 8, 29, 1, 2, 3, 4, 18, 1, 8, 8, 5), 5],
    ['event_nonce in preference to the protobuf message', { ...packed(8, 9), event_nonce: '7' }, 7],
    ['field 1 if event_nonce is empty', { ...packed(8, 9), event_nonce: '' }, 9],
    ['field 1 if event_nonce is null', { ...packed(8, 9), event_nonce: null }, 9],
  ])('is read from %s', (_, claim, nonce) => {
    expect(nonceOf(claim)).toBe(nonce);
  });

  it.each<[string, JsonObject | null]>([
    ['a missing claim', null],
    ['an empty claim', {}],
    ['an event_nonce that is not a number', { ...packed(8, 9), event_nonce: 'nine' }],
    ['an empty message', { value: '' }],
    ['a message without field 1', packed(16, 9)],
    ['a field 1 of another wire type', packed(10, 1, 9)],
    ['a truncated varint', packed(8, 0x80)],
    ['a truncated field after the nonce', packed(8, 9, 26, 5, 104)],
    ['base64url', { value: Buffer.from([8, 9, 26, 1, 0xff]).toString('base64url') }],
  ])('is invalid for %s', (_, claim) => {
    expect(nonceOf(claim)).toBeUndefined();
  });
});
