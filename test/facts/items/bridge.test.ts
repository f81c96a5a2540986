import { describe, expect, it } from 'vitest';
import { MAX_MEMBERS } from '../../../src/facts/bridge/valsets.js';
import { asDecimalString } from '../../../src/chain/numeral.js';
import type { BridgeOptions } from '../../support/snapshots.js';
import { batch, idleState, members, transfer, validators, vote } from './bridge-state.js';
import { asReadable, bridgeItemsOf } from './read-items.js';

describe('the time left until a height', () => {
  it('is unknown while the node is behind, and known of the external chain when its height was read', () => {
    const valset = { nonce: '2', members, height: '950' };
    const leftWith = (options: BridgeOptions): unknown => {
      const state = { ...idleState, batches: [batch('5')], valsets: [valset] };
      const { batches, valsets, watched } = bridgeItemsOf(state, { height: '960', watch: ['0xa1'], ...options });
      const [first] = asReadable(batches).rows;
      const left = [first?.headroom, first?.projectedHeadroom, asReadable(valsets).rows[0]?.headroom];
      return [...left, watched[0]?.jailedIn].map((span) => (span === null ? null : typeof span));
    };
    const known = 'object';
    expect(leftWith({})).toEqual([known, known, known, known]);
    expect(leftWith({ isNodeBehind: true })).toEqual([null, null, null, null]);
    expect(leftWith({ isNodeBehind: true, externalHeight: asDecimalString('510') })).toEqual([
      known,
      known,
      null,
      null,
    ]);
  });
});

describe('the batch items', () => {
  const confirmsOf = (...addresses: string[]) =>
    addresses.map((eth_signer) => ({ nonce: '5', token_contract: '0xt', eth_signer }));

  it('contain age, headroom and missing members, most powerful first', () => {
    const state = { ...idleState, batches: [batch('5')], batch_confirms: confirmsOf('0xA2', '0xa4', '0xunknown') };
    const { rows } = asReadable(bridgeItemsOf(state, { height: '960' }).batches);
    const [first, , third] = validators;
    expect(rows).toEqual([
      {
        nonce: '5',
        token: { contract: '0xt', denom: null, symbol: null },
        transfers: 2,
        amount: { contract: '0xt', denom: null, symbol: null, amount: '2', wholeAmount: null },
        fee: { contract: '0xt', denom: null, symbol: null, amount: '4', wholeAmount: null },
        createdHeight: '940',
        age: { blocks: '20', seconds: 40 },
        timeoutHeight: '600',
        headroom: { blocks: '100', seconds: 1200 },
        // The 60 hub blocks of 2 s since the last observed event are 10 external blocks of 12 s.
        projectedHeadroom: { blocks: '90', seconds: 1080 },
        state: 'live',
        fees: 'unknown',
        minimumFee: null,
        waitsFor: 'signatures',
        executedPowerRatio: null,
        signedPowerRatio: 0.4,
        belowThreshold: true,
        missing: {
          total: 2,
          powerRatio: 0.6,
          members: [
            { externalAddress: '0xa1', orchestrator: first?.orchestrator, name: null, powerRatio: 0.4, watched: false },
            { externalAddress: '0xa3', orchestrator: third?.orchestrator, name: null, powerRatio: 0.2, watched: false },
          ],
        },
      },
    ]);
  });

  it('are expired at the observed external height and overdue at the estimated one', () => {
    const batches = [batch('1', '499'), batch('2', '510'), batch('3', '511'), batch('4', 'never')];
    const statesAt = (height?: string) =>
      asReadable(bridgeItemsOf({ ...idleState, batches }, height === undefined ? {} : { height }).batches).rows.map(
        ({ state }) => state,
      );
    expect(statesAt('960')).toEqual(['expired', 'overdue', 'live', null]);
    expect(statesAt(), 'without an estimate').toEqual(['expired', null, null, null]);
  });

  it('are sorted by creation height, with unknown heights last', () => {
    const batches = [batch('1', '600', 'x'), batch('3', '600', '20'), batch('2', '600', '30'), batch('4', '600', '20')];
    const { rows } = asReadable(bridgeItemsOf({ ...idleState, batches }).batches);
    expect(rows.map(({ nonce }) => nonce)).toEqual(['3', '4', '2', '1']);
    expect(rows.at(-1)).toMatchObject({ createdHeight: null, age: null });
  });

  it('contain null for values that are unknown', () => {
    const { batch_confirms: _, params: __, ...incompleteState } = idleState;
    const [row] = asReadable(
      bridgeItemsOf({ ...incompleteState, batches: [batch('5')] }, { height: '960' }).batches,
    ).rows;
    expect(row).toMatchObject({
      age: { blocks: '20', seconds: null },
      headroom: { blocks: '100', seconds: null },
      projectedHeadroom: null,
      signedPowerRatio: null,
      belowThreshold: null,
      missing: null,
    });
  });

  it('limit the missing members, with their total number and power', () => {
    const many = Array.from({ length: 60 }, (_, index) => ({ power: '1', external_address: `0x${index + 100}` }));
    const valsets = [{ nonce: '9', members: many, height: '1' }];
    const [row] = asReadable(bridgeItemsOf({ ...idleState, valsets, batches: [batch('5')] }).batches).rows;
    expect(row?.missing?.total).toBe(60);
    expect(row?.missing?.powerRatio).toBe(1);
    expect(row?.missing?.members).toHaveLength(MAX_MEMBERS);
    expect(row?.missing?.members[0]).toMatchObject({ externalAddress: '0x100', orchestrator: null });
  });

  it('mark watched orchestrators, and list them first', () => {
    const watch = [validators[2]?.orchestrator ?? ''];
    const [row] = asReadable(bridgeItemsOf({ ...idleState, batches: [batch('5')] }, { watch }).batches).rows;
    expect(row?.missing?.members.map(({ watched }) => watched)).toEqual([true, false, false, false]);
  });

  const signatures = (nonce: number) =>
    members.map(({ external_address }) => ({ nonce: `${nonce}`, token_contract: '0xT', eth_signer: external_address }));

  it('begin with the batches that lack signatures, so that none of these is left out', () => {
    const numbers = Array.from({ length: 60 }, (_, index) => index + 1);
    const unsigned = new Set([7, 58, 60]);
    const items = bridgeItemsOf({
      ...idleState,
      batches: numbers.map((nonce) => batch(`${nonce}`, '600', `${nonce}`)),
      batch_confirms: numbers.filter((nonce) => !unsigned.has(nonce)).flatMap(signatures),
    });
    const { total, rows } = asReadable(items.batches);
    expect([total, items.batchesBelowThreshold]).toEqual([60, 3]);
    expect(rows.slice(0, 5).map(({ nonce }) => nonce)).toEqual(['7', '58', '60', '1', '2']);
    expect(rows).toHaveLength(50);
  });
});

describe('the validator set items', () => {
  it('contain the deadline and the members that have not signed', () => {
    const newer = { nonce: '30', height: '30', members: members.slice(0, 3) };
    const state = {
      ...idleState,
      valsets: [...idleState.valsets, newer],
      valset_confirms: [
        { nonce: '30', eth_address: '0xa1' },
        { nonce: '30', eth_address: '0xa4' },
      ],
    };
    const { total, rows } = asReadable(bridgeItemsOf(state, { height: '120' }).valsets);
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

  it('are unreadable without last_observed_valset', () => {
    const { last_observed_valset: _, ...incompleteState } = idleState;
    expect(bridgeItemsOf(incompleteState).valsets).toEqual({ readable: false, total: null });
    expect(bridgeItemsOf(idleState).valsets).toEqual({ readable: true, total: 0, unsortable: 0, rows: [] });
  });
});

describe('the claim items', () => {
  const claim = (nonce: string, height: string, ...voters: number[]) => ({
    observed: false,
    height,
    votes: voters.map(vote),
    claim: { event_nonce: nonce },
  });

  it('are sorted by event and contain missing votes and conflicts', () => {
    const attestations = [claim('9', '950', 3), claim('8', '940', 0, 1), claim('8', '930', 2), claim('7', '900', 0)];
    const items = bridgeItemsOf({ ...idleState, attestations }, { height: '960' });
    const { total, rows } = asReadable(items.claims);
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

  const pending = (content: object) =>
    asReadable(
      bridgeItemsOf({ ...idleState, attestations: [{ ...claim('8', '940', 0), claim: content }] }, { tokens }).claims,
    ).rows[0];
  const tokens = [{ contract: '0xt', symbol: 'USDT', decimals: 6 }];
  const deposited = {
    type: 'deposit',
    externalHeight: '812',
    token: { contract: '0xt', symbol: 'USDT' },
    amount: { contract: '0xt', amount: '2500000', wholeAmount: '2.5' },
    sender: '0xFrom',
    receiver: 'hub1to',
    batchNonce: null,
    valsetNonce: null,
  };

  it('say what an unpacked claim is about', () => {
    const common = { event_nonce: '8', block_height: '812' };
    const deposit = {
      ...common,
      '@type': '/injective.peggy.v1.MsgDepositClaim',
      token_contract: '0xT',
      amount: '2500000',
      ethereum_sender: '0xFrom',
      cosmos_receiver: 'hub1to',
    };
    expect(pending(deposit)).toMatchObject(deposited);
    const withdraw = { ...common, '@type': 'MsgWithdrawClaim', batch_nonce: '31', token_contract: '0xT' };
    expect(pending(withdraw)).toMatchObject({
      type: 'withdraw',
      batchNonce: '31',
      token: { symbol: 'USDT' },
      amount: null,
    });
    const valset = { ...common, '@type': 'MsgValsetUpdatedClaim', valset_nonce: '5', members: [] };
    expect(pending(valset)).toMatchObject({ type: 'valset', valsetNonce: '5', token: null });
    const unknown = { ...common, '@type': 'MsgOtherClaim', token_contract: '0xT' };
    expect(pending(unknown)).toMatchObject({ type: null, externalHeight: null, token: null });
    const unreadable = { ...deposit, token_contract: 5, amount: 'many' };
    expect(pending(unreadable)).toMatchObject({
      type: 'deposit',
      token: null,
      amount: { amount: null },
      sender: '0xFrom',
    });
  });

  it('say what a packed claim is about', () => {
    const text = (field: number, value: string) => [field * 8 + 2, value.length, ...Buffer.from(value)];
    const number = (field: number, value: number) => [field * 8, (value & 0x7f) | 0x80, value >> 7];
    const packed = (type: string, ...fields: readonly (readonly number[])[]) =>
      pending({ type_url: `/hub.bridge.v1.${type}`, value: Buffer.from([8, 8, ...fields.flat()]).toString('base64') });
    const details = [text(3, '0xT'), text(4, '2500000'), text(5, '0xFrom'), text(6, 'hub1to')];
    expect(packed('MsgDepositClaim', number(2, 812), ...details)).toMatchObject(deposited);
    expect(packed('MsgWithdrawClaim', number(2, 812), number(3, 131), text(4, '0xT'))).toMatchObject({
      type: 'withdraw',
      externalHeight: '812',
      batchNonce: '131',
      token: { symbol: 'USDT' },
    });
    expect(packed('MsgValsetUpdatedClaim', number(2, 205), number(3, 812))).toMatchObject({
      type: 'valset',
      externalHeight: '812',
      valsetNonce: '205',
    });
    expect(packed('MsgERC20DeployedClaim', number(2, 812), text(3, 'uhub'), text(4, '0xT'))).toMatchObject({
      type: 'erc20_deployed',
      token: { contract: '0xt' },
    });
    expect(packed('MsgDepositClaim', text(2, '812'))).toMatchObject({
      type: 'deposit',
      externalHeight: null,
      token: null,
    });
  });

  it('are unreadable if a claim has no event nonce', () => {
    const attestations = [claim('8', '940', 0), { ...claim('9', '950', 1), claim: {} }];
    const items = bridgeItemsOf({ ...idleState, attestations });
    expect(items.claims).toEqual({ readable: false, total: null });
    expect([items.pendingEvents, items.conflictingEvents, items.projectedExternalHeight]).toEqual([null, null, null]);
  });
});

describe('the tokens that wait, by worth', () => {
  const ofToken = (id: string, contract: string, amount: string) => ({
    ...transfer(id, amount),
    erc20_token: { contract, amount },
    erc20_fee: { contract, amount },
  });
  const tokens = [
    { contract: '0xcheap', decimals: 0, min_batch_fee: '1000' },
    { contract: '0xdear', decimals: 0, min_batch_fee: '2' },
    { contract: '0xplain', symbol: 'PLAIN', decimals: 0 },
  ];
  const batches = [
    { ...batch('1', '9999', '940'), token_contract: '0xDear', transactions: [ofToken('5', '0xDear', '7')] },
    { ...batch('2', '9999', '940'), token_contract: '0xCheap', transactions: [ofToken('6', '0xCheap', '900')] },
  ];

  it('begin with those that are the largest multiple of the minimum fee', () => {
    const unbatched_transfers = [
      ofToken('1', '0xOther', '1'),
      ofToken('2', '0xOther', '1'),
      ofToken('3', '0xPlain', '1'),
      ofToken('4', '0xCheap', '900'),
    ];
    const { rows } = asReadable(bridgeItemsOf({ ...idleState, unbatched_transfers, batches }, { tokens }).tokens);
    expect(rows.map(({ token }) => token.contract)).toEqual(['0xdear', '0xcheap', '0xplain', '0xother']);
  });

  it('tell apart what relayers can execute and are paid for', () => {
    const batch_confirms = validators.flatMap(({ eth_address }) => [
      { nonce: '1', token_contract: '0xDear', eth_signer: eth_address },
      { nonce: '2', token_contract: '0xCheap', eth_signer: eth_address },
    ]);
    const state = { ...idleState, batches, batch_confirms };
    const { rows } = asReadable(bridgeItemsOf(state, { height: '1000', tokens }).tokens);
    expect(
      rows.map(({ token, relayableTransfers, relayable }) => [token.contract, relayableTransfers, relayable?.amount]),
    ).toEqual([
      ['0xdear', 1, '7'],
      ['0xcheap', 0, '0'],
    ]);
  });
});

describe('the tokens that wait', () => {
  const own = (contract: string, id: string, amount: string) => ({
    ...transfer(id, amount),
    erc20_token: { contract, amount },
  });
  const tokens = [{ contract: '0xusdt', symbol: 'USDT', decimals: 6 }];

  it('have exact amounts in no batch and in batches, the configured ones first', () => {
    const state = {
      ...idleState,
      unbatched_transfers: [own('0xA', '5', '1'), own('0xA', '6', '2'), own('0xUSDT', '7', '9007199254740993')],
      batches: [{ ...batch('5'), transactions: [own('0xUSDT', '3', '1500000')] }],
    };
    const { total, rows } = asReadable(bridgeItemsOf(state, { tokens }).tokens);
    expect(total).toBe(2);
    expect(rows).toMatchObject([
      {
        token: { contract: '0xusdt', symbol: 'USDT' },
        unbatchedTransfers: 1,
        unbatched: { amount: '9007199254740993', wholeAmount: '9007199254.740993' },
        batchedTransfers: 1,
        batched: { wholeAmount: '1.5' },
      },
      {
        token: { contract: '0xa' },
        unbatchedTransfers: 2,
        unbatched: { amount: '3', wholeAmount: null },
        batchedTransfers: 0,
      },
    ]);
  });

  it('are unknown when one of the lists is, and so is an amount with an unreadable transfer', () => {
    const { batches: _, ...withoutBatches } = idleState;
    expect(bridgeItemsOf(withoutBatches).tokens).toEqual({ readable: false, total: null });
    const unreadable = { ...idleState, unbatched_transfers: [own('0xA', '5', '1'), own('0xA', '6', 'many')] };
    expect(asReadable(bridgeItemsOf(unreadable).tokens).rows[0]).toMatchObject({
      unbatchedTransfers: 2,
      unbatched: { amount: null },
    });
  });
});
