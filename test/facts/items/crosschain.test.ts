import { describe, expect, it } from 'vitest';
import { MAX_ROWS } from '../../../src/facts/items/item-list.js';
import { asReadable, crosschainItemsOf } from './read-items.js';

const cctx = (index: string, created: unknown = '1000', outbound: object = {}) => ({
  index,
  cctx_status: {
    status: 'PendingOutbound',
    status_message: 'initiating outbound',
    error_message: '',
    created_timestamp: created,
    lastUpdate_timestamp: '0',
  },
  inbound_params: {
    sender: '0xSender',
    sender_chain_id: '7000',
    tx_origin: '0xOrigin',
    asset: '0xToken',
    observed_hash: '0xinbound',
  },
  outbound_params: [
    { receiver_chainId: '1', coin_type: 'Gas', amount: '1', tss_nonce: '1', hash: '' },
    { receiver_chainId: '56', coin_type: 'ERC20', amount: '2', tss_nonce: '9', hash: '0xhash', ...outbound },
  ],
});
const rowsOf = (cctxs: unknown) => asReadable(crosschainItemsOf({ cctxs_pending: cctxs }).pending).rows;

describe('the cross-chain items', () => {
  it('describe the current outbound', () => {
    const document = { height: '5', total_pending: '3', cctxs_missed: [], cctxs_pending: [cctx('a')] };
    expect(crosschainItemsOf(document, { chains: { '56': 'bsc', '7000': 'zetachain' } })).toEqual({
      document: 'rate_limiter_input',
      height: '5',
      totalPending: '3',
      listed: 1,
      hidden: '2',
      aboveLimitSince: null,
      chains: {
        readable: true,
        total: 1,
        unsortable: 0,
        rows: [
          {
            chainId: '56',
            chain: 'bsc',
            pending: 1,
            missed: 0,
            ignored: 0,
            withoutHash: 0,
            oldestCreatedAt: '1970-01-01T00:16:40.000Z',
            ageLimitSeconds: 1800,
            lowestPendingNonce: '9',
            highestPendingNonce: '9',
            lowestMissedNonce: null,
            frozenSince: null,
          },
        ],
      },
      missed: { readable: true, total: 0, unsortable: 0, rows: [] },
      pending: {
        readable: true,
        total: 1,
        unsortable: 0,
        rows: [
          {
            index: 'a',
            status: 'PendingOutbound',
            statusMessage: 'initiating outbound',
            error: null,
            ignored: false,
            sourceChainId: '7000',
            sourceChain: 'zetachain',
            sender: '0xSender',
            origin: '0xOrigin',
            receiver: null,
            inboundHash: '0xinbound',
            chainId: '56',
            chain: 'bsc',
            coinType: 'ERC20',
            symbol: null,
            amount: '2',
            wholeAmount: null,
            createdAt: '1970-01-01T00:16:40.000Z',
            isCreationEstimated: false,
            hash: '0xhash',
            nonce: '9',
          },
        ],
      },
      unlisted: null,
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
    const { rows } = asReadable(crosschainItemsOf(document, { hub_chain_ids: ['101'] }).pending);
    expect(rows).toMatchObject([{ coinType: 'Native', symbol: null, wholeAmount: null }]);
  });

  it('have the amount of a configured token, by its contract', () => {
    const tokens = [{ contract: '0xtoken', symbol: 'USDT', decimals: 1 }];
    const { rows } = asReadable(crosschainItemsOf({ cctxs_pending: [cctx('a')] }, { tokens }).pending);
    expect(rows).toMatchObject([{ symbol: 'USDT', wholeAmount: '0.2' }]);
  });

  it('mark a creation time of which only the last update is known', () => {
    const status = { status: 'PendingOutbound', created_timestamp: '0', lastUpdate_timestamp: '7' };
    const [estimated, known, none] = rowsOf([
      { ...cctx('a'), cctx_status: status },
      cctx('b', '8'),
      { ...cctx('c'), cctx_status: { ...status, lastUpdate_timestamp: '0' } },
    ]);
    expect(estimated).toMatchObject({ createdAt: '1970-01-01T00:00:07.000Z', isCreationEstimated: true });
    expect(known).toMatchObject({ createdAt: '1970-01-01T00:00:08.000Z', isCreationEstimated: false });
    expect(none).toMatchObject({ createdAt: null, isCreationEstimated: false });
  });

  it('have the error on one line, and at most 300 characters of it', () => {
    const error_message = `{"error":\n"${'x'.repeat(1000)}"}`;
    const [row] = rowsOf([{ ...cctx('a'), cctx_status: { status: 'PendingRevert', error_message } }]);
    expect(row?.error).toHaveLength(300);
    expect(row?.error).toMatch(/^\{"error": "x+…$/);
  });

  it('mark ignored transactions, which count apart by chain', () => {
    const ignore = { indexes: ['b'], older_than: 0 };
    const items = crosschainItemsOf({ cctxs_missed: [], cctxs_pending: [cctx('a'), cctx('b')] }, { ignore });
    expect(asReadable(items.pending).rows.map(({ index, ignored }) => [index, ignored])).toEqual([
      ['a', false],
      ['b', true],
    ]);
    expect(asReadable(items.chains).rows).toMatchObject([{ chainId: '56', pending: 1, missed: 0, ignored: 1 }]);
  });

  it('have chains with missed transactions first, then those that reach their age limit first', () => {
    const pendingOn = (receiver_chainId: string, created: string) =>
      cctx(receiver_chainId, created, { receiver_chainId });
    // The age limit is 2 hours on Bitcoin and 30 minutes elsewhere.
    const cctxs_pending = [pendingOn('8332', '1000'), pendingOn('137', '3000'), pendingOn('56', '6000')];
    const cctxs_missed = [cctx('m', '9000', { receiver_chainId: '8453', tss_nonce: '3' })];
    const { rows } = asReadable(crosschainItemsOf({ cctxs_missed, cctxs_pending }).chains);
    expect(rows.map(({ chainId, missed }) => [chainId, missed])).toEqual([
      ['8453', 1],
      ['137', 0],
      ['56', 0],
      ['8332', 0],
    ]);
    expect(rows[0]).toMatchObject({
      pending: 0,
      lowestPendingNonce: null,
      lowestMissedNonce: '3',
      oldestCreatedAt: null,
    });
  });

  it('have the chains of the list that can be read', () => {
    const items = crosschainItemsOf({ cctxs_missed: [{ index: null }], cctxs_pending: [cctx('a')] });
    expect(asReadable(items.chains).rows).toMatchObject([{ chainId: '56', pending: 1, missed: null, ignored: null }]);
    expect(crosschainItemsOf({ height: '1' }).chains).toEqual({ readable: false, total: null });
  });

  it('keep the other values of a transaction whose inbound is invalid', () => {
    expect(rowsOf([{ ...cctx('a'), inbound_params: 5 }])).toMatchObject([{ index: 'a', sender: null, chainId: '56' }]);
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
