import { describe, expect, it } from 'vitest';
import { MAX_ROWS } from '../../src/pending/items.js';
import { asReadable, crosschainItemsOf } from './read-items.js';

const cctx = (index: string, created: unknown = '1000', outbound: object = {}) => ({
  index,
  cctx_status: { status: 'PendingOutbound', created_timestamp: created, lastUpdate_timestamp: '0' },
  inbound_params: { sender_chain_id: '7000' },
  outbound_params: [
    { receiver_chainId: '1', coin_type: 'Gas', amount: '1', tss_nonce: '1', hash: '' },
    { receiver_chainId: '56', coin_type: 'ERC20', amount: '2', tss_nonce: '9', hash: '0xhash', ...outbound },
  ],
});
const rowsOf = (cctxs: unknown) => asReadable(crosschainItemsOf({ cctxs_pending: cctxs }).pending).rows;

describe('the cross-chain items', () => {
  it('describe the current outbound', () => {
    const document = { height: '5', total_pending: '3', cctxs_missed: [], cctxs_pending: [cctx('a')] };
    expect(crosschainItemsOf(document, { chains: { '56': 'bsc' } })).toEqual({
      document: 'rate_limiter_input',
      height: '5',
      totalPending: '3',
      listed: 1,
      hidden: '2',
      missed: { readable: true, total: 0, unsortable: 0, rows: [] },
      pending: {
        readable: true,
        total: 1,
        unsortable: 0,
        rows: [
          {
            index: 'a',
            status: 'PendingOutbound',
            chainId: '56',
            chain: 'bsc',
            coinType: 'ERC20',
            symbol: null,
            amount: '2',
            wholeAmount: null,
            createdAt: '1970-01-01T00:16:40.000Z',
            hash: '0xhash',
            nonce: '9',
          },
        ],
      },
    });
  });

  it.each([
    [
      'the gas coin of a chain',
      { receiver_chainId: '8332', coin_type: 'Gas', amount: '123456789' },
      '1.23456789',
      'BTC',
    ],
    ['the gas coin of Solana', { receiver_chainId: '900', coin_type: 'Gas', amount: '5' }, '0.000000005', 'SOL'],
    ['the coin of the hub', { coin_type: 'Native', amount: '2500000000000000000' }, '2.5', 'ZETA'],
    ['the gas coin of an unknown chain', { receiver_chainId: '12345', coin_type: 'Gas' }, null, null],
    ['a token', { coin_type: 'ERC20' }, null, null],
    ['an unreadable amount', { receiver_chainId: '1', coin_type: 'Gas', amount: {} }, null, 'ETH'],
  ])('have whole amounts if the decimals are known: %s', (_title, outbound, wholeAmount, symbol) => {
    expect(rowsOf([cctx('a', '5', outbound)])).toMatchObject([{ wholeAmount, symbol }]);
  });

  it('have no coin of another hub than ZetaChain', () => {
    const document = { cctxs_pending: [cctx('a', '5', { coin_type: 'Native' })] };
    const { rows } = asReadable(crosschainItemsOf(document, { hubChainIds: ['101'] }).pending);
    expect(rows).toMatchObject([{ coinType: 'Native', symbol: null, wholeAmount: null }]);
  });

  it('are sorted by age without repeated indexes, with unknown ages last', () => {
    const list = [cctx('late', '30'), cctx('none', '0'), cctx('odd', 'x'), cctx('old', '4'), cctx('old', '99')];
    expect(asReadable(crosschainItemsOf({ cctxs_pending: list }).pending).unsortable).toBe(2);
    expect(rowsOf(list).map(({ index, createdAt }) => [index, createdAt])).toEqual([
      ['old', '1970-01-01T00:00:04.000Z'],
      ['late', '1970-01-01T00:00:30.000Z'],
      ['none', null],
      ['odd', null],
    ]);
  });

  it('are sorted by exact nonce if their age is equal', () => {
    const list = ['9007199254740993', '10', '9007199254740992', '9'].map((tss_nonce) =>
      cctx(tss_nonce, '5', { tss_nonce }),
    );
    expect(rowsOf(list).map(({ nonce }) => nonce)).toEqual(['9', '10', '9007199254740992', '9007199254740993']);
  });

  it('distinguish an empty hash from an unknown one', () => {
    const hashes = [{ hash: '' }, { hash: null }, { hash: 5 }].map((outbound, index) =>
      cctx(`${index}`, '5', outbound),
    );
    expect(rowsOf(hashes).map(({ hash }) => hash)).toEqual(['', null, null]);
  });

  it('contain null for all values of a missing outbound', () => {
    const [row] = rowsOf([{ ...cctx('a'), outbound_params: [] }]);
    expect(row).toMatchObject({ index: 'a', chainId: null, coinType: null, amount: null, hash: null, nonce: null });
  });

  it('contain null for a timestamp outside the range of dates', () => {
    expect(rowsOf([cctx('a', '9'.repeat(30))])[0]?.createdAt).toBeNull();
  });

  it('are limited per list, with the total number', () => {
    const list = Array.from({ length: 300 }, (_, index) => cctx(`${index}`, String(1000 - index)));
    const { total, rows } = asReadable(crosschainItemsOf({ cctxs_missed: list }).missed);
    expect([total, rows.length, rows[0]?.index]).toEqual([300, MAX_ROWS, '299']);
  });

  it('are readable in one list if the other is unreadable', () => {
    const items = crosschainItemsOf({ cctxs_missed: [cctx('a'), { ...cctx('b'), index: null }], cctxs_pending: [] });
    expect(items.missed).toEqual({ readable: false, total: 2 });
    expect(items.pending).toEqual({ readable: true, total: 0, unsortable: 0, rows: [] });
    expect([items.listed, items.hidden]).toEqual([2, null]);
  });
});
