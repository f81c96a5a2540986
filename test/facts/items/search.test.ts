import { describe, expect, it } from 'vitest';
import { searchItems } from '../../../src/engine/kept-body.js';
import type { BridgeItems } from '../../../src/facts/items/bridge.js';
import { batch, idleState, transfer, validators, vote } from './bridge-state.js';
import { bridgeSnapshot, crosschainSnapshot } from '../../support/snapshots.js';
import type { CrosschainItems } from '../../../src/facts/items/crosschain-items.js';
import { type ItemList, MAX_ROWS, searchFor } from '../../../src/facts/items/item-list.js';

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

function search(query: string, { cctxs_missed, cctxs_pending }: typeof document = document): CrosschainItems {
  const items = searchItems(crosschainSnapshot({ cctxs_missed, cctxs_pending }), searchFor(query));
  if (items?.document !== 'rate_limiter_input') throw new Error('the body is kept');
  return items;
}

function rowsOf<Row>(list: ItemList<Row> | null): readonly Row[] {
  if (list?.readable !== true) throw new Error('the list cannot be read');
  return list.rows;
}

const foundBy = (query: string, searched = document) => {
  const { missed, pending } = search(query, searched);
  return [
    ...rowsOf(missed).map(({ nonce }) => `missed ${nonce}`),
    ...rowsOf(pending).map(({ nonce }) => `pending ${nonce}`),
  ];
};

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
  ])('finds a transaction by its %s', (_field, query) => {
    expect(foundBy(query)).toEqual(['pending 19']);
  });

  it('finds a missed transaction', () => {
    expect(foundBy(padded('ff', 5000))).toEqual(['missed 5000']);
  });

  it('finds nothing for a text that is in no id', () => {
    for (const query of ['PendingOutbound', 'tss_nonce', '"', '\\n', '[', '7000']) {
      expect(foundBy(query)).toEqual([]);
      expect(search(query)).toMatchObject({ missed: { searched: 1, total: 0 }, pending: { searched: 20, total: 0 } });
    }
  });

  it('finds the oldest, and lists some of many', () => {
    const { pending } = search('0x', { ...document, cctxs_pending: cctxs(3000) });
    expect(pending).toMatchObject({ searched: 3000, total: 3000 });
    expect(rowsOf(pending).length).toBe(MAX_ROWS);
    expect(
      rowsOf(pending)
        .slice(0, 2)
        .map(({ nonce }) => nonce),
    ).toEqual(['1', '2']);
  });

  it('finds one that is not among the oldest, which are on the page', () => {
    expect(foundBy(padded('ff', 2999), { ...document, cctxs_pending: cctxs(3000) })).toEqual(['pending 2999']);
  });

  it('finds a chain by its id and its name', () => {
    const chains = { '1': 'ethereum' };
    for (const query of ['1', 'ETHER']) {
      const items = searchItems(crosschainSnapshot(document, { chains }), searchFor(query));
      expect(items).toMatchObject({ chains: { searched: 1, rows: [{ chainId: '1' }] } });
    }
  });
});

describe('the search in a bridge', () => {
  const transferOf = (id: string, from: string) => ({
    ...transfer(id),
    sender: `hub1${from}`,
    dest_address: `0xTo${from}`,
  });
  const batchOf = (nonce: string, transactions: readonly object[]) => ({ ...batch(nonce), transactions });
  const claimed = (event_nonce: string, others: object) => ({
    observed: false,
    height: '900',
    votes: [vote(0)],
    claim: { '@type': '/b.MsgDepositClaim', event_nonce, ...others },
  });
  const bridge = {
    ...idleState,
    unbatched_transfers: [transferOf('31', 'carol'), transferOf('30', 'alice')],
    batches: [batchOf('5', [transferOf('12', 'alice'), transferOf('11', 'bob')])],
    attestations: [
      ...idleState.attestations,
      claimed('90727', { token_contract: '0xT', hub_receiver: 'hub1dave', amount: '1' }),
      claimed('90728', { '@type': '/b.MsgWithdrawClaim', batch_nonce: '77', token_contract: '0xT' }),
    ],
  };
  const searchIn = (query: string, changes: object = {}): BridgeItems => {
    const items = searchItems(bridgeSnapshot({ ...bridge, ...changes }), searchFor(query));
    if (items?.document !== 'module_state') throw new Error('the body is kept');
    return items;
  };
  const transfersBy = (query: string) =>
    rowsOf(searchIn(query).transfers).map(({ id, batch: nonce, waitsFor }) => [id, nonce, waitsFor]);
  const [inBatch, inNone] = [
    ['5', 'signatures'],
    [null, 'batch'],
  ];

  it.each([
    ['sender', 'HUB1bob', [['11', ...inBatch]]],
    ['destination', '0xTOcarol', [['31', ...inNone]]],
    [
      'part of an address',
      'alice',
      [
        ['12', ...inBatch],
        ['30', ...inNone],
      ],
    ],
    ['id', '12', [['12', ...inBatch]]],
    ['number that is no id', '1', []],
  ])('finds transfers by %s, and says in which batch they are and what that waits for', (_, query, found) => {
    expect(transfersBy(query)).toEqual(found);
  });

  it('finds batches, claims, validator sets and validators by what alerts name', () => {
    const numbers = (query: string) => {
      const { batches, claims, registrations, tokens } = searchIn(query);
      return [batches, claims, registrations, tokens].map((list) => list?.total);
    };
    expect(numbers('5'), 'nonce of a batch').toEqual([1, 0, 0, 0]);
    expect(numbers('90727'), 'nonce of an event').toEqual([0, 1, 0, 0]);
    expect(numbers('77'), 'batch that is claimed as executed').toEqual([0, 1, 0, 0]);
    expect(numbers('hub1dave'), 'receiver of a deposit').toEqual([0, 1, 0, 0]);
    expect(numbers('0xt'), 'contract of a token, and destinations').toEqual([1, 2, 0, 1]);
    const orchestrator = idleState.orchestrator_addresses[0]?.orchestrator ?? '';
    expect(numbers(orchestrator)).toEqual([0, 0, 1, 0]);
    expect(validators.length).toBeGreaterThan(1);
    const unrelayed = { valsets: [{ ...idleState.valsets[0], nonce: '8216566', height: '990' }, ...idleState.valsets] };
    expect(searchIn('8216566', unrelayed).valsets).toMatchObject({ total: 1, rows: [{ nonce: '8216566' }] });
  });

  it('says which lists it cannot search', () => {
    const { transfers, batches } = searchIn('5', { unbatched_transfers: 'none' });
    expect(transfers).toEqual({ readable: false, total: null });
    expect(batches).toMatchObject({ searched: 1, total: 1 });
  });
});
