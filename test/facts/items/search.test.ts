import { describe, expect, it } from 'vitest';
import { MAX_ROWS } from '../../../src/facts/items/item-list.js';
import {
  searchCctxs,
  searchText,
  searchTransfers,
  type SearchHits,
  type FoundCctx,
} from '../../../src/facts/items/search.js';
import { keptInput } from '../../../src/engine/kept-body.js';
import { batch, idleState, transfer } from './bridge-state.js';
import { bridgeSnapshot, crosschainSnapshot } from '../../support/snapshots.js';

const padded = (prefix: string, number: number): string => `0x${prefix}${String(number).padStart(8, '0')}`;
const cctx = (number: number, others: object = {}) => ({
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
  ...others,
});
const cctxs = (count: number) => Array.from({ length: count }, (_, index) => cctx(count - index));

const document = { cctxs_missed: [cctx(5000)], cctxs_pending: cctxs(20) };

function search(query: string, { cctxs_missed, cctxs_pending }: typeof document = document): SearchHits<FoundCctx> {
  const input = keptInput(crosschainSnapshot({ cctxs_missed, cctxs_pending }));
  if (input === undefined) throw new Error('the body is kept');
  return searchCctxs(input, searchText(query));
}

const foundBy = (query: string) => search(query).rows.map(({ list, nonce }) => `${list} ${nonce}`);

describe('the search for cctxs', () => {
  it.each([
    ['index', padded('aa', 19)],
    ['index in upper case', padded('AA', 19)],
    ['sender', padded('bb', 19)],
    ['origin', padded('cc', 19)],
    ['inbound hash', padded('dd', 19)],
    ['receiver', padded('ee', 19)],
    ['outbound hash', padded('ff', 19)],
    ['part of a hash', padded('ff', 19).slice(2)],
    ['nonce', '19'],
    ['nonce between spaces', ' 19 '],
  ])('finds a transaction by its %s', (_field, query) => {
    expect(foundBy(query)).toEqual(['pending 19']);
  });

  it('finds a missed transaction', () => {
    expect(foundBy(padded('ff', 5000))).toEqual(['missed 5000']);
  });

  it('finds nothing for a text that is in no id', () => {
    for (const query of ['PendingOutbound', 'tss_nonce', '"', '\\n', '[', '7000']) {
      expect(search(query)).toEqual({ searched: 21, found: 0, rows: [] });
    }
  });

  it('finds missed ones, then the oldest, and shows some of many', () => {
    const { rows, searched, found } = search('0x', { ...document, cctxs_pending: cctxs(3000) });
    expect([rows.length, searched, found]).toEqual([MAX_ROWS, 3001, 3001]);
    expect(rows.slice(0, 3).map(({ list, nonce }) => `${list} ${nonce}`)).toEqual([
      'missed 5000',
      'pending 1',
      'pending 2',
    ]);
  });

  it('finds one that is not among the oldest, which are on the page', () => {
    const { rows } = search(padded('ff', 2999), { ...document, cctxs_pending: cctxs(3000) });
    expect(rows.map(({ nonce }) => nonce)).toEqual(['2999']);
  });
});

describe('the search for transfers', () => {
  const transferOf = (id: string, from: string) => ({
    ...transfer(id),
    sender: `hub1${from}`,
    dest_address: `0xTo${from}`,
  });
  const batchOf = (nonce: string, transactions: readonly object[]) => ({ ...batch(nonce), transactions });
  const bridge = {
    ...idleState,
    unbatched_transfers: [transferOf('31', 'carol'), transferOf('30', 'alice')],
    batches: [batchOf('5', [transferOf('12', 'alice'), transferOf('11', 'bob')])],
  };
  const searchIn = (query: string, changes: object = {}) => {
    const input = keptInput(bridgeSnapshot({ ...bridge, ...changes }));
    if (input === undefined) throw new Error('the body is kept');
    const { searched, rows } = searchTransfers(input, searchText(query));
    return { searched, found: rows.map((found) => [found.id, found.batch]) };
  };
  const inBatch = { nonce: '5', waitsFor: 'signatures' };

  it.each([
    ['sender', 'HUB1bob', [['11', inBatch]]],
    ['destination', '0xTOcarol', [['31', null]]],
    [
      'part of an address',
      'alice',
      [
        ['30', null],
        ['12', inBatch],
      ],
    ],
    ['id', '12', [['12', inBatch]]],
    ['number that is no id', '1', []],
  ])('finds them by %s, and says in which batch they are and what that waits for', (_, query, found) => {
    expect(searchIn(query)).toEqual({ searched: 4, found });
  });

  it('finds those of the lists that can be read', () => {
    expect(searchIn('alice', { unbatched_transfers: 'none' })).toEqual({ searched: 2, found: [['12', inBatch]] });
    const unreadable = [transferOf('31', 'alice'), { ...transferOf('30', 'alice'), id: 'none' }];
    expect(searchIn('alice', { unbatched_transfers: unreadable, batches: [] })).toEqual({
      searched: 1,
      found: [['31', null]],
    });
    expect(searchIn('alice', { batches: [{ transactions: 'none' }] })).toEqual({ searched: 2, found: [['30', null]] });
  });
});
