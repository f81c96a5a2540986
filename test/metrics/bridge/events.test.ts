import { describe, expect, it } from 'vitest';
import {
  account,
  attestation,
  members,
  operator,
  orchestrator,
  present,
  state,
  told,
  toldOf,
  valset,
  without,
  type Row,
} from './state.js';

const NEWEST = 'bridge_newest_attested_nonce';
const PENDING = 'bridge_pending_events';
const CONFLICTS = 'bridge_conflicting_claims';
const VOTED = 'bridge_next_event_voted_power_ratio';
const FIRST = 'bridge_next_event_first_vote_height';
const all = [NEWEST, PENDING, CONFLICTS, VOTED, FIRST];

/** Event 7 is executed; of 8 there are two claims, of 9 and 11 two each, of 10 one. */
const bridge = state({
  last_observed_nonce: '7',
  valsets: [valset('1', { '0xdd': 1 }), valset('2', { '0xAA': 50, '0xbb': 30, '0xcc': 20 })],
  orchestrator_addresses: [
    orchestrator('aaaa', '0xaa'),
    orchestrator('cccc', '0xCC'),
    orchestrator('dddd', '0xdd'), // of an older set
    orchestrator('aaaa', '0xbb'), // repeats a sender: in look-ups the first row counts
  ],
  attestations: [
    attestation('7', [], { observed: true, height: '1' }),
    attestation('7', [operator('aaaa')], { height: '2' }),
    attestation('8', [operator('aaaa'), account('AAAA'), operator('xxxx')], { height: '60' }), // 50, once
    attestation('8', [operator('cccc'), operator('dddd')], { height: '50' }), // 20
    attestation('9', [operator('aaaa'), operator('cccc')], { height: '40' }),
    attestation('9', [], { height: '70' }),
    attestation('10', [], { height: '70' }),
    attestation('11', [], { height: '70' }),
    attestation('11.0', [], { height: '70' }),
  ],
});

describe('events', () => {
  it('are pending up to the newest claim, and conflict where a pending one is claimed twice', () => {
    // The claims of 7 are several as well, but that is executed; best of 8 is 50 / 100, and its first vote at 50.
    expect(toldOf(bridge, all)).toEqual({ [NEWEST]: 11, [PENDING]: 4, [CONFLICTS]: 3, [VOTED]: 0.5, [FIRST]: 50 });
  });

  it('are none without an attestation', () => {
    expect(toldOf({ ...bridge, attestations: [] }, all)).toEqual({
      [NEWEST]: undefined,
      [PENDING]: 0,
      [CONFLICTS]: 0,
      [VOTED]: undefined,
      [FIRST]: undefined,
    });
  });

  it('are none when the newest claim is executed, or older', () => {
    const quiet = { ...bridge, last_observed_nonce: '12' };
    expect(toldOf(quiet, all)).toEqual({
      [NEWEST]: 11,
      [PENDING]: 0,
      [CONFLICTS]: 0,
      [VOTED]: undefined,
      [FIRST]: undefined,
    });
  });

  it('may have a gap after the executed one', () => {
    expect(toldOf({ ...bridge, attestations: [attestation('9', [])] }, [PENDING, VOTED, FIRST])).toEqual({
      [PENDING]: 2,
      [VOTED]: undefined,
      [FIRST]: undefined,
    });
  });

  it('have nonces beyond 2^53', () => {
    const far = {
      ...bridge,
      last_observed_nonce: '9007199254740992',
      attestations: [attestation('9007199254740993', [], { height: '5' }), attestation('9007199254740995', [])],
    };
    expect(toldOf(far, [PENDING, CONFLICTS, FIRST])).toEqual({ [PENDING]: 3, [CONFLICTS]: 0, [FIRST]: 5 });
  });
});

describe('the voted power', () => {
  const voted = (votes: readonly string[], fields: Row = {}) =>
    told({ ...bridge, attestations: [attestation('8', votes)], ...fields }, VOTED);

  it('is that of the members of the newest set behind the votes', () => {
    expect(voted([operator('aaaa'), operator('cccc')])).toBe(0.7);
    expect(voted([operator('dddd'), operator('xxxx')])).toBe(0);
    expect(voted([])).toBe(0);
  });

  it('counts an address once, whoever voted for it', () => {
    const shared = [orchestrator('aaaa', '0xaa'), orchestrator('eeee', '0xAA')];
    expect(voted([operator('aaaa'), operator('eeee')], { orchestrator_addresses: shared })).toBe(0.5);
  });

  it('adds up the members with one address', () => {
    const twice = { ...valset('3', {}), members: [...members({ '0xaa': 1, '0xbb': 2 }), ...members({ '0xAA': 1 })] };
    expect(voted([operator('aaaa')], { valsets: [twice] })).toBe(0.5);
  });

  it.each([[[]], [[valset('1', {})]], [[valset('1', { '0xaa': 0 })]]])('is absent with the valsets %j', (valsets) => {
    expect(voted([operator('aaaa')], { valsets })).toBeUndefined();
  });
});

describe('the nonce of an event', () => {
  /** `told` of one claim; the field after the nonce makes the message look like a real one. */
  const nonceOf = (claim: Row | null) => told(state({ attestations: [{ votes: [], height: '1', claim }] }), NEWEST);
  const packed = (...bytes: number[]): Row => ({ type_url: '/x', value: Buffer.from(bytes).toString('base64') });

  it.each<[string, Row, number]>([
    ['event_nonce', { event_nonce: '7' }, 7],
    ['event_nonce as a number', { event_nonce: 7 }, 7],
    ['field 1 of the bytes', packed(8, 9, 16, 200, 1, 26, 2, 104, 105), 9],
    ['a varint of two bytes', packed(8, 0xac, 0x02), 300],
    ['a varint of ten bytes', packed(8, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1), 2 ** 64],
    ['field 1 after all others', packed(17, 1, 2, 3, 4, 5, 6, 7, 8, 29, 1, 2, 3, 4, 18, 1, 8, 8, 5), 5],
    ['the last of two fields 1', packed(8, 1, 16, 9, 8, 2), 2],
    ['a field 1 that is 0', packed(8, 0), 0],
    ['event_nonce before the bytes', { ...packed(8, 9), event_nonce: '7' }, 7],
    ['the bytes where event_nonce is empty', { ...packed(8, 9), event_nonce: '' }, 9],
    ['the bytes where event_nonce is null', { ...packed(8, 9), event_nonce: null }, 9],
    ['event_nonce before bytes that are none', { event_nonce: '7', value: '???' }, 7],
  ])('is %s', (_, claim, nonce) => {
    expect(nonceOf(claim)).toBe(nonce);
  });

  it.each<[string, Row | null]>([
    ['no claim', null],
    ['an empty claim', {}],
    ['an event_nonce that is no number', { ...packed(8, 9), event_nonce: 'nine' }],
    ['no bytes', { value: '' }],
    ['bytes that are no text', { value: 8 }],
    ['no field 1', packed(16, 9)],
    ['a field 1 of another wire type', packed(10, 1, 9)],
    ['a last field 1 of another wire type', packed(8, 9, 10, 1, 9)],
    ['a varint that is cut off', packed(8, 0x80)],
    ['a field that is cut off after the nonce', packed(8, 9, 26, 5, 104)],
    ['a number of eight bytes that is cut off', packed(8, 9, 17, 1, 2, 3)],
    ['a tag alone', packed(8, 9, 16)],
    ['a group, which no claim has', packed(8, 9, 19, 20)],
    ['field 0', packed(0, 1, 8, 9)],
    ['a varint of eleven bytes', packed(8, ...Array.from({ length: 10 }, () => 0x80), 0)],
    ['base64 without its padding', { value: 'CAk' }],
    ['base64 with bits left over', { value: 'CAl=' }],
    ['base64 with a line break', { value: 'CAk=\n' }],
    ['the alphabet of URLs', { value: Buffer.from([8, 9, 26, 1, 0xff]).toString('base64url') }],
  ])('cannot be read from %s', (_, claim) => {
    expect(nonceOf(claim)).toBeUndefined();
  });

  it('reads the base64 that the refused ones differ from', () => {
    expect(nonceOf({ value: 'CAk=' })).toBe(9);
  });
});

describe('what cannot be read', () => {
  const last = (bridge['attestations'] as Row[])[2] ?? {};
  const but = (...names: string[]): string[] => all.filter((name) => !names.includes(name));

  it.each<[string, Row, string[]]>([
    ['attestations', { attestations: null }, []],
    ['one claim', { attestations: [...(bridge['attestations'] as Row[]), { ...last, claim: null }] }, []],
    ['last_observed_nonce', { last_observed_nonce: '' }, [NEWEST]],
    ['last_observed_nonce, without an attestation', { last_observed_nonce: '', attestations: [] }, []],
    ['the votes of the next event', { attestations: [without(last, 'votes')] }, but(VOTED)],
    ['one vote', { attestations: [{ ...last, votes: [3] }] }, but(VOTED)],
    ['the height of the next event', { attestations: [without(last, 'height')] }, but(FIRST)],
    ['votes and height of others', { attestations: [last, { claim: { event_nonce: '9' } }] }, all],
    ['observed', { attestations: [without(last, 'observed')] }, all],
    ['orchestrator_addresses', { orchestrator_addresses: null }, but(VOTED)],
    ['a sender', { orchestrator_addresses: [{ eth_address: '0xaa' }] }, but(VOTED)],
    ['the address of a voter', { orchestrator_addresses: [{ sender: account('aaaa') }] }, but(VOTED)],
    ['the address of no voter', { orchestrator_addresses: [{ sender: account('zzzz') }] }, all],
    ['valsets', { valsets: null }, but(VOTED)],
    ['a power', { valsets: [valset('1', { '0xaa': '' })] }, but(VOTED)],
  ])('%s withdraws what needs it and no more', (_, broken, left) => {
    expect(present({ ...bridge, ...broken }, all)).toEqual(left);
  });
});
