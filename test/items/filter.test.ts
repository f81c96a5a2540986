import { describe, expect, it } from 'vitest';
import { getItems } from '../../src/engine/poll-body.js';
import type { BridgeItems } from '../../src/items/bridge-items.js';
import type { CrosschainItems } from '../../src/items/crosschain-items.js';
import { MAX_ROWS } from '../../src/items/item-list.js';
import { bridgeSnapshot, crosschainSnapshot } from '../support/snapshots.js';
import { batch, idleState, transfer, vote } from './bridge-state.js';
import { asReadable } from './read-items.js';

const padded = (prefix: string, number: number): string => `0x${prefix}${String(number).padStart(8, '0')}`;
const cctx = (number: number) => ({
  index: padded('Aa', number),
  cctx_status: { status: 'PendingOutbound', created_timestamp: String(1000 + number), lastUpdate_timestamp: '0' },
  inbound_params: {
    sender: padded('bb', number),
    sender_chain_id: '7000',
    tx_origin: padded('cc', number),
    observed_hash: padded('dd', number),
  },
  outbound_params: [
    { receiver: padded('ee', number), receiver_chainId: '1', tss_nonce: String(number), hash: padded('ff', number) },
  ],
});
const cctxs = (count: number) => Array.from({ length: count }, (_, index) => cctx(count - index));

function crosschainBy(query: string, pending = cctxs(20)): CrosschainItems {
  const snapshot = crosschainSnapshot({ cctxs_missed: [cctx(5000)], cctxs_pending: pending });
  return getItems(snapshot, query) as CrosschainItems;
}

const noncesBy = (query: string, pending = cctxs(20)) =>
  asReadable(crosschainBy(query, pending).pending).rows.map(({ nonce }) => nonce);

describe('the filter of cctxs', () => {
  it.each([
    ['index in another case', padded('AA', 19)],
    ['sender', padded('bb', 19)],
    ['origin', padded('cc', 19)],
    ['inbound hash', padded('dd', 19)],
    ['receiver', padded('ee', 19)],
    ['part of the outbound hash, with spaces', ` ${padded('ff', 19).slice(2)} `],
    ['nonce', '19'],
  ])('keeps a transaction by its %s', (_field, query) => {
    expect(noncesBy(query)).toEqual(['19']);
  });

  it('keeps digits alone only as a whole nonce, and nothing by a text that is in no id', () => {
    for (const query of ['0000', 'PendingOutbound', 'tss_nonce', '"', '7000']) {
      expect(noncesBy(query)).toEqual([]);
      expect(crosschainBy(query)).toMatchObject({ pending: { total: 20, found: 0 } });
    }
  });

  it('is applied before the list is cut', () => {
    expect(noncesBy(padded('ff', 2999), cctxs(3000))).toEqual(['2999']);
    const all = asReadable(crosschainBy('0x', cctxs(3000)).pending);
    expect([all.total, all.found, all.rows.length, all.rows[0]?.nonce]).toEqual([3000, 3000, MAX_ROWS, '1']);
    expect(crosschainBy('', cctxs(3)).pending).not.toHaveProperty('found');
  });

  it('keeps a chain by its id and its name', () => {
    for (const query of ['1', 'ETHER']) {
      const snapshot = crosschainSnapshot(
        { cctxs_missed: [], cctxs_pending: cctxs(2) },
        { chains: { '1': 'ethereum' } },
      );
      expect(getItems(snapshot, query)).toMatchObject({ chains: { found: 1, rows: [{ chainId: '1' }] } });
    }
  });
});

describe('the filter of a bridge', () => {
  const transferOf = (id: string, from: string) => ({
    ...transfer(id),
    sender: `hub1${from}`,
    dest_address: `0xTo${from}`,
  });
  const claimed = (event_nonce: string, others: object) => ({
    observed: false,
    height: '900',
    votes: [vote(0)],
    claim: { '@type': '/b.MsgDepositClaim', event_nonce, ...others },
  });
  const bridge = {
    ...idleState,
    unbatched_transfers: [transferOf('31', 'carol'), transferOf('30', 'alice')],
    batches: [{ ...batch('5'), transactions: [transferOf('12', 'alice'), transferOf('11', 'bob')] }],
    attestations: [
      ...idleState.attestations,
      claimed('90727', { token_contract: '0xT', hub_receiver: 'hub1dave', amount: '1' }),
      claimed('90728', { '@type': '/b.MsgWithdrawClaim', batch_nonce: '77', token_contract: '0xT' }),
    ],
  };
  const itemsBy = (query: string, changes: object = {}) =>
    getItems(bridgeSnapshot({ ...bridge, ...changes }), query) as BridgeItems;
  const transfersBy = (query: string) =>
    asReadable(itemsBy(query).transfers).rows.map(({ id, batch: nonce, waits }) => [id, nonce, waits]);

  it('keeps transfers in batches and in none, each with its batch and what it waits for', () => {
    expect(transfersBy('')).toEqual([
      ['11', '5', 'needs signatures'],
      ['12', '5', 'needs signatures'],
      ['30', undefined, 'waits for a batch'],
      ['31', undefined, 'waits for a batch'],
    ]);
    expect(transfersBy('HUB1bob')).toEqual([['11', '5', 'needs signatures']]);
    expect(transfersBy('0xTOcarol').map(([id]) => id)).toEqual(['31']);
    expect(transfersBy('alice').map(([id]) => id)).toEqual(['12', '30']);
    expect(transfersBy('12').map(([id]) => id)).toEqual(['12']);
    expect(transfersBy('1'), 'a part of an id').toEqual([]);
  });

  it('keeps batches, claims, validator sets and validators by what alerts name', () => {
    const numbers = (query: string) => {
      const { batches, claims, tokens, validators } = itemsBy(query);
      return [...[batches, claims, tokens].map((list) => asReadable<unknown>(list).found), validators.length];
    };
    expect(numbers('5'), 'nonce of a batch').toEqual([1, 0, 0, 0]);
    expect(numbers('90727'), 'nonce of an event').toEqual([0, 1, 0, 0]);
    expect(numbers('77'), 'batch that is claimed as executed').toEqual([0, 1, 0, 0]);
    expect(numbers('hub1dave'), 'receiver of a deposit').toEqual([0, 1, 0, 0]);
    expect(numbers('0xt'), 'contract of a token, and destinations').toEqual([1, 2, 1, 0]);
    expect(numbers(idleState.orchestrator_addresses[0]?.orchestrator ?? '')).toEqual([0, 0, 0, 1]);
    const unrelayed = { valsets: [{ ...idleState.valsets[0], nonce: '8216566', height: '990' }, ...idleState.valsets] };
    expect(itemsBy('8216566', unrelayed).valsets).toMatchObject({ found: 1, rows: [{ nonce: '8216566' }] });
  });

  it('does not make a list readable', () => {
    const { transfers, batches } = itemsBy('5', { unbatched_transfers: 'none' });
    expect(transfers).toEqual({ readable: false });
    expect(batches).toMatchObject({ total: 1, found: 1 });
  });
});
