import { describe, expect, it } from 'vitest';
import { MAX_LISTED_MEMBERS } from '../../src/facts/bridge/valsets.js';
import type { BridgeOptions } from '../support/snapshots.js';
import { batch, idleState, members, transfer } from './bridge-state.js';
import { asReadable, bridgeItemsOf } from './read-items.js';

describe('the time left until a height', () => {
  it('is unknown while the node is behind, and known of the external chain when its height was read', () => {
    const valset = { nonce: '2', members, height: '950' };
    const leftWith = (options: BridgeOptions): unknown => {
      const state = { ...idleState, batches: [batch('5')], valsets: [valset] };
      const { batches, valsets, validators } = bridgeItemsOf(state, { height: '960', watch: ['0xa1'], ...options });
      const [first] = asReadable(batches).rows;
      const left = [first?.timeout, asReadable(valsets).rows[0]?.deadline, validators[0]?.deadline];
      return left.map((span) => (span === null ? null : typeof span));
    };
    const known = 'object';
    expect(leftWith({})).toEqual([known, known, known]);
    expect(leftWith({ isNodeBehind: true })).toEqual([null, null, null]);
    expect(leftWith({ isNodeBehind: true, externalHeight: 510n })).toEqual([known, null, null]);
  });
});

describe('the batch items', () => {
  it('limit the missing members, with their total number and power', () => {
    const many = Array.from({ length: 60 }, (_, index) => ({ power: '1', external_address: `0x${index + 100}` }));
    const valsets = [{ nonce: '9', members: many, height: '1' }];
    const [row] = asReadable(bridgeItemsOf({ ...idleState, valsets, batches: [batch('5')] }).batches).rows;
    expect(row?.missing?.total).toBe(60);
    expect(row?.missing?.powerRatio).toBe(1);
    expect(row?.missing?.members).toHaveLength(MAX_LISTED_MEMBERS);
    expect(row?.missing?.members[0]).toMatchObject({ externalAddress: '0x100', orchestrator: null });
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
    expect(total).toBe(60);
    expect(rows.slice(0, 5).map(({ nonce }) => nonce)).toEqual(['7', '58', '60', '1', '2']);
    expect(rows).toHaveLength(50);
  });

  it('begin with the validator sets that lack signatures too', () => {
    const numbers = Array.from({ length: 60 }, (_, index) => index + 2);
    const { valsets } = bridgeItemsOf({
      ...idleState,
      valsets: numbers.map((nonce) => ({ nonce: `${nonce}`, members, height: `${nonce}` })),
      valset_confirms: numbers
        .filter((nonce) => nonce < 60)
        .flatMap((nonce) =>
          members.map(({ external_address }) => ({ nonce: `${nonce}`, eth_address: external_address })),
        ),
    });
    expect(asReadable(valsets).total).toBe(60);
    expect(
      asReadable(valsets)
        .rows.slice(0, 3)
        .map(({ nonce }) => nonce),
    ).toEqual(['60', '61', '2']);
  });
});

describe('the tokens that wait', () => {
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

  it('begin with those that are configured, then with those with the most transfers', () => {
    const unbatched_transfers = [
      ofToken('1', '0xOther', '1'),
      ofToken('2', '0xOther', '1'),
      ofToken('3', '0xPlain', '1'),
      ofToken('4', '0xCheap', '900'),
    ];
    const { rows } = asReadable(bridgeItemsOf({ ...idleState, unbatched_transfers, batches }, { tokens }).tokens);
    expect(rows.map(({ token }) => token.contract)).toEqual(['0xcheap', '0xplain', '0xdear', '0xother']);
  });
});
