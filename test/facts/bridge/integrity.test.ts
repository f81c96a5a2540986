import { describe, expect, it } from 'vitest';
import { lostClaims } from '../../../src/facts/bridge/events.js';
import { foreignBatchClaims, foreignValsetClaims, highestVotedShare } from '../../../src/facts/bridge/integrity.js';
import type { JsonObject } from '../../support/json.js';
import { bridgeFact } from '../derive.js';
import { bytesField, integerField, packed, textField } from '../property/documents.js';
import { attestation, batch, members, operator, orchestrator, state, valset, valueOf } from './state.js';

const VIOLATIONS = 'bridge_integrity_violations';

const none = {
  'kind="lost_claims"': 0,
  'kind="valset_claim_mismatch"': 0,
  'kind="valset_mismatch"': 0,
  'kind="valset_unknown"': 0,
  'kind="withdraw_claim_without_batch"': 0,
};

/** The highest share of the power that voted for one of the claims of a kind. */
const claimsOf = {
  lost_claims: lostClaims,
  valset_claim_mismatch: foreignValsetClaims,
  withdraw_claim_without_batch: foreignBatchClaims,
};
const votedShare = (document: JsonObject, kind: keyof typeof claimsOf) =>
  bridgeFact(document, (input) => highestVotedShare(input, claimsOf[kind](input)));

type Kind =
  'lost_claims' | 'valset_claim_mismatch' | 'valset_mismatch' | 'valset_unknown' | 'withdraw_claim_without_batch';

/** `none` without the series of some kinds. */
const without = (values: Readonly<Record<string, number>>, ...kinds: Kind[]): Record<string, number> =>
  Object.fromEntries(Object.entries(values).filter(([series]) => !kinds.some((kind) => series.includes(`"${kind}"`))));

const powers = { '0xaa': 60, '0xbb': 40 };
const bridge = state({
  last_observed_nonce: '7',
  last_observed_valset: valset('5', { '0xBB': 40, '0xaa': 60 }, { height: '0', reward_amount: '9' }),
  valsets: [valset('5', powers), valset('6', powers)],
  orchestrator_addresses: [orchestrator('aaaa', '0xaa'), orchestrator('cccc', '0xbb')],
  batches: [batch('3', '0xT')],
});
const withClaims = (...claims: JsonObject[]): JsonObject => ({
  ...bridge,
  attestations: claims.map((claim) => attestation('8', [operator('aaaa')], { claim: { event_nonce: '8', ...claim } })),
});

const withdrawal = (batch_nonce: string, token_contract: string): JsonObject => ({
  '@type': '/injective.peggy.v1.MsgWithdrawClaim',
  batch_nonce,
  token_contract,
});
const update = (valset_nonce: string, newMembers: readonly JsonObject[]): JsonObject => ({
  '@type': '/injective.peggy.v1.MsgValsetUpdatedClaim',
  valset_nonce,
  members: [...newMembers],
});

const message = (type: string, ...content: number[][]): JsonObject =>
  packed(`/hub.bridge.v1.${type}`, [...integerField(1, 8), ...content.flat()]);
const packedMember = (power: number, address: string): number[] =>
  bytesField(4, [...integerField(1, power), ...textField(2, address)]);

describe('the integrity metrics', () => {
  it('are 0 for a consistent state and for an empty one', () => {
    expect(valueOf(bridge, VIOLATIONS)).toEqual(none);
    expect(votedShare(bridge, 'withdraw_claim_without_batch')).toBe(0);
    expect(valueOf(state({}), VIOLATIONS)).toEqual(none);
    expect(votedShare(state({}), 'lost_claims')).toBe(0);
  });

  it.each<[string, JsonObject]>([
    ['another power', { last_observed_valset: valset('5', { '0xaa': 61, '0xbb': 40 }) }],
    ['another member', { last_observed_valset: valset('5', { '0xaa': 60, '0xcc': 40 }) }],
    ['a member less', { last_observed_valset: valset('5', { '0xaa': 60 }) }],
    ['two stored sets, one of which differs', { valsets: [valset('5', powers), valset('05', { '0xaa': 100 })] }],
  ])('report the validator set in the contract with %s', (_, fields) => {
    expect(valueOf({ ...bridge, ...fields }, VIOLATIONS)).toEqual({ ...none, 'kind="valset_mismatch"': 1 });
  });

  it('report a validator set in the contract that the hub has not stored, except the initial one', () => {
    const unknown = { ...bridge, last_observed_valset: valset('4', powers) };
    expect(valueOf(unknown, VIOLATIONS)).toEqual({ ...none, 'kind="valset_unknown"': 1 });
    expect(valueOf({ ...bridge, last_observed_valset: valset('0', {}) }, VIOLATIONS)).toEqual(none);
  });

  it.each<[string, JsonObject, JsonObject]>([
    ['JSON', withdrawal('3', '0xt'), withdrawal('4', '0xt')],
    ['JSON, by token', withdrawal('3', '0xT'), withdrawal('3', '0xu')],
    [
      'protobuf',
      message('MsgWithdrawClaim', integerField(3, 3), textField(4, '0xT')),
      message('MsgWithdrawClaim', integerField(3, 4), textField(4, '0xt')),
    ],
    [
      'protobuf, with a nonce of 0 left out',
      message('MsgWithdrawClaim', integerField(3, 9), integerField(3, 3), textField(4, '0xt')),
      message('MsgWithdrawClaim', textField(4, '0xt')),
    ],
  ])('count claims of a batch that the hub does not have: %s', (_, known, foreign) => {
    expect(valueOf(withClaims(known), VIOLATIONS)).toEqual(none);
    expect(valueOf(withClaims(known, foreign), VIOLATIONS)).toEqual({
      ...none,
      'kind="withdraw_claim_without_batch"': 1,
    });
    expect(votedShare(withClaims(known, foreign), 'withdraw_claim_without_batch')).toBe(0.6);
  });

  it.each<[string, JsonObject, JsonObject]>([
    ['JSON, by members', update('6', members(powers)), update('6', members({ '0xaa': 100 }))],
    ['JSON, by nonce', update('6', members(powers)), update('9', members(powers))],
    [
      'JSON of Injective',
      update('6', [
        { power: '40', ethereum_address: '0xBB' },
        { power: '60', ethereum_address: '0xaa' },
      ]),
      update('6', [{ power: '100', ethereum_address: '0xaa' }]),
    ],
    ['an unknown nonce with unreadable members', update('6', members(powers)), { ...update('9', []), members: 7 }],
    [
      'protobuf',
      message('MsgValsetUpdatedClaim', integerField(2, 6), packedMember(40, '0xBB'), packedMember(60, '0xaa')),
      message('MsgValsetUpdatedClaim', integerField(2, 6), packedMember(60, '0xaa')),
    ],
  ])('count claims of a validator set that the hub did not create: %s', (_, known, foreign) => {
    expect(valueOf(withClaims(known), VIOLATIONS)).toEqual(none);
    expect(valueOf(withClaims(foreign, known), VIOLATIONS)).toEqual({ ...none, 'kind="valset_claim_mismatch"': 1 });
    expect(votedShare(withClaims(foreign, known), 'valset_claim_mismatch')).toBe(0.6);
  });

  it('judge only claims of events that are not observed', () => {
    const observed = attestation('7', [], { observed: true, claim: { event_nonce: '7', ...withdrawal('9', '0xt') } });
    expect(valueOf({ ...bridge, attestations: [observed] }, VIOLATIONS)).toEqual(none);
  });

  it('count claims that lost against the observed one', () => {
    const observed = attestation('7', [operator('aaaa')], { observed: true });
    const lost = [attestation('7', [operator('cccc')]), attestation('7', [])];
    expect(valueOf({ ...bridge, attestations: [observed, ...lost] }, VIOLATIONS)).toEqual({
      ...none,
      'kind="lost_claims"': 2,
    });
    expect(votedShare({ ...bridge, attestations: [observed, ...lost] }, 'lost_claims')).toBe(0.4);
    expect(valueOf({ ...bridge, attestations: lost }, VIOLATIONS)).toEqual(none);
  });

  it('have no share of the power for a claim while the validator set has no power', () => {
    const document = { ...withClaims(withdrawal('4', '0xt')), valsets: [valset('5', { '0xaa': 0 })] };
    expect(votedShare(document, 'withdraw_claim_without_batch')).toBeUndefined();
  });
});

describe('the withdrawal of integrity metrics', () => {
  it.each<[string, JsonObject, Kind[]]>([
    ['the type of a claim', withClaims({}), ['valset_claim_mismatch', 'withdraw_claim_without_batch']],
    ['fields of another type', withClaims({ '@type': '/x.MsgDepositClaim', batch_nonce: 'x', members: 7 }), []],
  ])('is limited to the kinds that read the missing or invalid field: %s', (_, fields, withdrawn) => {
    expect(valueOf({ ...bridge, ...fields }, VIOLATIONS)).toEqual(without(none, ...withdrawn));
  });
});
