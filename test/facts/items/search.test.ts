import { describe, expect, it } from 'vitest';
import { MAX_ROWS } from '../../../src/facts/items/item-list.js';
import { searchCctxs, type SearchResult } from '../../../src/facts/items/search.js';
import { keptInput } from '../../../src/poll/kept-body.js';
import { crosschainSnapshot } from '../../support/snapshots.js';

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

function search(query: string, { cctxs_missed, cctxs_pending }: typeof document = document): SearchResult {
  const input = keptInput(crosschainSnapshot({ cctxs_missed, cctxs_pending }));
  if (input === undefined) throw new Error('the body is kept');
  return searchCctxs(input, query);
}

const foundBy = (query: string) => search(query).rows.map(({ list, nonce }) => `${list} ${nonce}`);

describe('the search', () => {
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
      expect(search(query)).toEqual({ query, searched: 21, found: 0, rows: [] });
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
