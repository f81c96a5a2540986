import { describe, expect, it } from 'vitest';
import { MAX_ROWS } from '../../src/pending/items.js';
import { searchCctxs, type SearchResult } from '../../src/pending/search.js';
import { itemsOf } from '../../src/poll/poll.js';
import { crosschainSnapshot } from '../support/snapshots.js';

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

const COUNT = 3000;
const long = { cctxs_missed: [cctx(5000)], cctxs_pending: cctxs(COUNT) };
const short = { cctxs_missed: [cctx(5000)], cctxs_pending: cctxs(20) };

function search(document: unknown, query: string): SearchResult {
  const snapshot = crosschainSnapshot(document);
  const items = itemsOf(snapshot);
  if (items.document !== 'rate_limiter_input') throw new Error('not the items of a rate limiter input');
  return searchCctxs(items, snapshot.searchIndex, query);
}

const foundIn = (document: unknown, query: string) =>
  search(document, query).rows.map(({ list, nonce }) => `${list} ${nonce}`);

describe.each([
  ['a long list, of which the items have the oldest', long, 2999],
  ['a short list, which the items contain', short, 19],
])('the search in %s', (_title, document, number) => {
  it.each([
    ['index', padded('aa', number)],
    ['index in upper case', padded('AA', number)],
    ['sender', padded('bb', number)],
    ['origin', padded('cc', number)],
    ['inbound hash', padded('dd', number)],
    ['receiver', padded('ee', number)],
    ['outbound hash', padded('ff', number)],
    ['part of a hash', padded('ff', number).slice(2)],
    ['nonce', String(number)],
    ['nonce between spaces', ` ${number} `],
  ])('finds a transaction by its %s', (_field, query) => {
    expect(foundIn(document, query)).toEqual([`pending ${number}`]);
  });

  it('finds a missed transaction', () => {
    expect(foundIn(document, padded('ff', 5000))).toEqual(['missed 5000']);
  });

  it('finds nothing for a text that is in no id', () => {
    for (const query of ['PendingOutbound', 'tss_nonce', '"', '\\n', '[', '7000', '0x']) {
      const { total, searched, listed } = search(document, query);
      expect([query, total]).toEqual([query, query === '0x' ? listed : 0]);
      expect(searched).toBe(listed);
    }
  });
});

describe('the search', () => {
  it('returns the first transactions and the number of all that match: missed ones, then the oldest', () => {
    const { total, rows, searched } = search(long, '0x');
    expect([total, rows.length, searched]).toEqual([COUNT + 1, MAX_ROWS, COUNT + 1]);
    expect(rows.slice(0, 3).map(({ list, nonce }) => `${list} ${nonce}`)).toEqual([
      'missed 5000',
      'pending 1',
      'pending 2',
    ]);
  });

  it('returns the same values as the items', () => {
    const snapshot = crosschainSnapshot(long);
    const items = itemsOf(snapshot);
    const row = items.document === 'rate_limiter_input' && items.pending.readable ? items.pending.rows[0] : undefined;
    expect(search(long, '1').rows).toEqual([{ list: 'pending', ...row }]);
  });

  it('leaves out the newest transactions of a hostile document, and says so', () => {
    const id = '\u0001'.repeat(128);
    const cctxs_pending = Array.from({ length: 4000 }, (_, number) =>
      cctx(number, {
        cctx_status: { created_timestamp: String(number + 1), lastUpdate_timestamp: '0' },
        inbound_params: { sender: id, sender_chain_id: id, tx_origin: id, observed_hash: id },
        outbound_params: [{ receiver: id, receiver_chainId: id, tss_nonce: String(number), hash: id }],
      }),
    );
    const document = { cctxs_missed: [], cctxs_pending };
    const { rows = 0, total, gzip } = crosschainSnapshot(document).searchIndex ?? {};
    expect(total).toBe(4000);
    expect(rows).toBeGreaterThan(2000);
    expect(rows).toBeLessThan(4000);
    expect(gzip?.buffer.byteLength).toBe(gzip?.length);
    expect(search(document, '0')).toMatchObject({ total: 1, searched: rows, listed: total });
    expect(search(document, '3999')).toMatchObject({ total: 0, searched: rows, listed: total });
  });

  it('has no index for lists that the items contain, or that cannot be read', () => {
    expect(crosschainSnapshot(short).searchIndex).toBeUndefined();
    expect(crosschainSnapshot({ cctxs_missed: [], cctxs_pending: [{ index: null }] }).searchIndex).toBeUndefined();
    expect(crosschainSnapshot(long).searchIndex?.rows).toBe(COUNT + 1);
  });
});
