import { describe, expect, it } from 'vitest';
import { MAX_MEMBERS } from '../../src/pending/items.js';
import { batch, members, settled, validators, vote } from './bridge-state.js';
import { bridgeItemsOf, readable } from './read-items.js';

describe('batches', () => {
  const signedBy = (...addresses: string[]) =>
    addresses.map((eth_signer) => ({ nonce: '5', token_contract: '0xt', eth_signer }));

  it('tell age, headroom and who has not signed, most powerful first', () => {
    const state = { ...settled, batches: [batch('5')], batch_confirms: signedBy('0xA2', '0xa4', '0xstranger') };
    const { rows } = readable(bridgeItemsOf(state, { height: '960' }).batches);
    const [zero, , second] = validators;
    expect(rows).toEqual([
      {
        nonce: '5',
        token: { contract: '0xt', denom: null, symbol: null },
        transfers: 2,
        createdHeight: '940',
        age: { blocks: '20', seconds: 40 },
        timeoutHeight: '600',
        headroom: { blocks: '100', seconds: 1200 },
        // 60 hub blocks of 2 s since the last observed event are 10 external ones of 12 s.
        projectedHeadroom: { blocks: '90', seconds: 1080 },
        state: 'live',
        signedPowerRatio: 0.4,
        belowThreshold: true,
        missing: {
          total: 2,
          powerRatio: 0.6,
          members: [
            { externalAddress: '0xa1', orchestrator: zero?.orchestrator, powerRatio: 0.4, watched: false },
            { externalAddress: '0xa3', orchestrator: second?.orchestrator, powerRatio: 0.2, watched: false },
          ],
        },
      },
    ]);
  });

  it('are over by the height the hub knows, or by the projected one', () => {
    const batches = [batch('1', '499'), batch('2', '510'), batch('3', '511'), batch('4', 'never')];
    const at = (height?: string) =>
      readable(bridgeItemsOf({ ...settled, batches }, height === undefined ? {} : { height }).batches).rows.map(
        ({ state }) => state,
      );
    expect(at('960')).toEqual(['expired', 'overdue', 'live', null]);
    expect(at(), 'without a projection').toEqual(['expired', null, null, null]);
  });

  it('come by the height they were built at, and unknown heights last', () => {
    const batches = [batch('1', '600', 'x'), batch('3', '600', '20'), batch('2', '600', '30'), batch('4', '600', '20')];
    const { rows } = readable(bridgeItemsOf({ ...settled, batches }).batches);
    expect(rows.map(({ nonce }) => nonce)).toEqual(['3', '4', '2', '1']);
    expect(rows.at(-1)).toMatchObject({ createdHeight: null, age: null });
  });

  it('say unknown, not 0 and not none, for what cannot be told', () => {
    const { batch_confirms: _, params: __, ...lacking } = settled;
    const [row] = readable(bridgeItemsOf({ ...lacking, batches: [batch('5')] }, { height: '960' }).batches).rows;
    expect(row).toMatchObject({
      age: { blocks: '20', seconds: null },
      headroom: { blocks: '100', seconds: null },
      projectedHeadroom: null,
      signedPowerRatio: null,
      belowThreshold: null,
      missing: null,
    });
  });

  it('list at most so many who have not signed, with the total and their power', () => {
    const many = Array.from({ length: 60 }, (_, index) => ({ power: '1', external_address: `0x${index + 100}` }));
    const valsets = [{ nonce: '9', members: many, height: '1' }];
    const [row] = readable(bridgeItemsOf({ ...settled, valsets, batches: [batch('5')] }).batches).rows;
    expect(row?.missing?.total).toBe(60);
    expect(row?.missing?.powerRatio).toBe(1);
    expect(row?.missing?.members).toHaveLength(MAX_MEMBERS);
    expect(row?.missing?.members[0]).toMatchObject({ externalAddress: '0x100', orchestrator: null });
  });

  it('mark the orchestrators that are watched', () => {
    const watch = [validators[2]?.orchestrator ?? ''];
    const [row] = readable(bridgeItemsOf({ ...settled, batches: [batch('5')] }, { watch }).batches).rows;
    expect(row?.missing?.members.map(({ watched }) => watched)).toEqual([false, false, true, false]);
  });
});

describe('unrelayed validator sets', () => {
  it('tell the deadline and which of their own members have not signed', () => {
    const newer = { nonce: '30', height: '30', members: members.slice(0, 3) };
    const state = {
      ...settled,
      valsets: [...settled.valsets, newer],
      valset_confirms: [
        { nonce: '30', eth_address: '0xa1' },
        { nonce: '30', eth_address: '0xa4' },
      ],
    };
    const { total, rows } = readable(bridgeItemsOf(state, { height: '120' }).valsets);
    expect(total).toBe(1);
    expect(rows[0]).toMatchObject({
      nonce: '30',
      members: 3,
      createdHeight: '30',
      age: { blocks: '90', seconds: 180 },
      deadlineHeight: '130',
      headroom: { blocks: '10', seconds: 20 },
      signedPowerRatio: 0.5,
      belowThreshold: true,
      missing: { total: 2, powerRatio: 50 / 90 },
    });
    expect(rows[0]?.missing?.members.map(({ externalAddress }) => externalAddress)).toEqual(['0xa2', '0xa3']);
  });

  it('cannot be told without the set in the contract', () => {
    const { last_observed_valset: _, ...lacking } = settled;
    expect(bridgeItemsOf(lacking).valsets).toEqual({ readable: false, total: null });
    expect(bridgeItemsOf(settled).valsets).toEqual({ readable: true, total: 0, unsortable: 0, rows: [] });
  });
});

describe('claims of pending events', () => {
  const claim = (nonce: string, height: string, ...voters: number[]) => ({
    observed: false,
    height,
    votes: voters.map(vote),
    claim: { event_nonce: nonce },
  });

  it('come by event, tell who has not voted for them, and whether there is another', () => {
    const attestations = [claim('9', '950', 3), claim('8', '940', 0, 1), claim('8', '930', 2), claim('7', '900', 0)];
    const items = bridgeItemsOf({ ...settled, attestations }, { height: '960' });
    const { total, rows } = readable(items.claims);
    expect([total, items.pendingEvents, items.conflictingEvents]).toEqual([3, '2', 1]);
    expect(
      rows.map(({ eventNonce, conflicting, votes, votedPowerRatio, age, missing }) => [
        eventNonce,
        conflicting,
        votes,
        votedPowerRatio,
        age,
        missing?.members.map(({ externalAddress }) => externalAddress),
      ]),
    ).toEqual([
      ['8', true, 1, 0.2, { blocks: '30', seconds: 60 }, ['0xa1', '0xa2', '0xa4']],
      ['8', true, 2, 0.7, { blocks: '20', seconds: 40 }, ['0xa3', '0xa4']],
      ['9', false, 1, 0.1, { blocks: '10', seconds: 20 }, ['0xa1', '0xa2', '0xa3']],
    ]);
  });

  it('cannot be read when one does not say which event it is of', () => {
    const attestations = [claim('8', '940', 0), { ...claim('9', '950', 1), claim: {} }];
    const items = bridgeItemsOf({ ...settled, attestations });
    expect(items.claims).toEqual({ readable: false, total: null });
    expect([items.pendingEvents, items.conflictingEvents, items.projectedExternalHeight]).toEqual([null, null, null]);
  });
});
