import { describe, expect, it } from 'vitest';
import { deriveBridge } from '../derive.js';
import { batch, present, state, told, toldOf, transfer, without, type Row } from './state.js';

const TRANSFERS = 'bridge_token_unbatched_transfers';
const AMOUNT = 'bridge_token_unbatched_amount';
const FEES = 'bridge_token_unbatched_fees';
const BATCHED = 'bridge_token_batched_transfers';
const BATCHED_AMOUNT = 'bridge_token_batched_amount';
const BATCHED_FEES = 'bridge_token_batched_fees';
const unbatched = [TRANSFERS, AMOUNT, FEES];
const batched = [BATCHED, BATCHED_AMOUNT, BATCHED_FEES];
const all = [...unbatched, ...batched];
const OLDEST = 'bridge_oldest_pending_transfer_id';

const label = (contract: string, denom: string): string => `token_contract="${contract}",denom="${denom}"`;
const USDT = label('0xaa', 'usdt');
const HUB = label('0xcc', 'inj');
const JUNK = label('0xdd', '');

const bridge = state({
  params: { hub_coin_erc20_contract: '0xCC', hub_coin_denom: 'inj' },
  erc20_to_denoms: [
    { erc20: '0xAA', denom: 'usdt' },
    { erc20: '0xaa', denom: 'later' }, // in look-ups the first row counts
  ],
  unbatched_transfers: [
    transfer('12', '0xaa', '100', { contract: '0xaa', amount: '1' }),
    transfer('11', '0xaA', '23', { contract: '0xAA', amount: '2' }),
    transfer('13', '0xdd', '7', { contract: '0xcc', amount: '5' }), // pays its fee in the hub coin
  ],
  batches: [
    // The contract of a transfer counts, not that of its batch.
    batch('1', '0xee', { transactions: [transfer('9', '0xDD', '40', { contract: '0xdd', amount: '3' })] }),
    batch('2', '0xdd', { transactions: [transfer('10', '0xdd', '2')] }),
  ],
});

describe('tokens', () => {
  it('are told for each contract of either list and each that has a denom', () => {
    expect(toldOf(bridge, all)).toEqual({
      [TRANSFERS]: { [USDT]: 2, [HUB]: 0, [JUNK]: 1 },
      [AMOUNT]: { [USDT]: 123, [HUB]: 0, [JUNK]: 7 },
      [FEES]: { [USDT]: 3, [HUB]: 5, [JUNK]: 0 },
      [BATCHED]: { [USDT]: 0, [HUB]: 0, [JUNK]: 2 },
      [BATCHED_AMOUNT]: { [USDT]: 0, [HUB]: 0, [JUNK]: 42 },
      [BATCHED_FEES]: { [USDT]: 0, [HUB]: 0, [JUNK]: 3 },
    });
  });

  it('are not told when there is neither a transfer nor a denom', () => {
    expect(present(state({}), all)).toEqual([]);
  });

  it('have the denom of erc20_to_denoms before that of the hub coin', () => {
    const both = state({
      params: { hub_coin_erc20_contract: '0xaa', hub_coin_denom: 'inj' },
      erc20_to_denoms: [{ erc20: '0xaa', denom: 'usdt' }],
    });
    expect(told(both, TRANSFERS)).toEqual({ [USDT]: 0 });
  });

  it.each<[string, Row, Record<string, number>]>([
    ['erc20_to_denoms', { erc20_to_denoms: null }, { [label('0xaa', '')]: 2, [HUB]: 0, [JUNK]: 1 }],
    ['a denom', { erc20_to_denoms: [{ erc20: '0xaa' }] }, { [label('0xaa', '')]: 2, [HUB]: 0, [JUNK]: 1 }],
    ['params', { params: null }, { [USDT]: 2, [label('0xcc', '')]: 0, [JUNK]: 1 }],
    ['the hub coin contract', { params: { hub_coin_denom: 'inj' } }, { [USDT]: 2, [label('0xcc', '')]: 0, [JUNK]: 1 }],
    [
      'the hub coin denom',
      { params: { hub_coin_erc20_contract: '0xcc' } },
      { [USDT]: 2, [label('0xcc', '')]: 0, [JUNK]: 1 },
    ],
  ])('have an empty denom without %s', (_, fields, transfers) => {
    expect(told({ ...bridge, ...fields }, TRANSFERS)).toEqual(transfers);
  });

  it('are added up exactly, up to amounts of 2^256', () => {
    const one = transfer('1', '0xaa', '1');
    const much = transfer('2', '0xaa', (2n ** 256n).toString());
    const sums = (transfers: Row[]) => told(state({ unbatched_transfers: transfers }), AMOUNT);
    expect(sums([transfer('1', '0xaa', '9007199254740992'), one, one, one])).toEqual({
      // As doubles, 2^53 + 1 is 2^53, however often.
      [label('0xaa', '')]: 9007199254740996,
    });
    expect(sums([much, much])).toEqual({ [label('0xaa', '')]: 2 ** 257 });
  });

  it('whose contracts are cut to one label are one series', () => {
    const long = (end: string): string => `0x${'a'.repeat(126)}${end}`;
    const two = state({ unbatched_transfers: [transfer('1', long('b'), '1'), transfer('2', long('c'), '2')] });
    expect(told(two, AMOUNT)).toEqual({ [label(`0x${'a'.repeat(126)}`, '')]: 3 });
  });

  it('may have any text for a contract or a denom', () => {
    const odd = state({
      erc20_to_denoms: [{ erc20: '__proto__', denom: 'a"b\\c\nd' }],
      unbatched_transfers: [
        transfer('1', 'constructor', '1'),
        transfer('2', '__proto__', '1'),
        transfer('3', 'x\uD800', '1'),
      ],
    });
    expect(told(odd, TRANSFERS)).toEqual({
      [label('__proto__', 'a\\"b\\\\c\\nd')]: 1,
      [label('constructor', '')]: 1,
      [label('x\uFFFD', '')]: 1,
    });
  });
});

describe('the oldest transfer', () => {
  it('has the lowest id of both lists', () => {
    expect(told(bridge, OLDEST)).toBe(9);
    expect(told({ ...bridge, batches: [] }, OLDEST)).toBe(11);
    expect(told({ ...bridge, unbatched_transfers: [], batches: [] }, OLDEST)).toBeUndefined();
  });
});

describe('configured tokens', () => {
  it('are told as they are configured, with or without a symbol', () => {
    const tokens = [
      { contract: '0xaa', symbol: 'USDT', decimals: 6 },
      { contract: '0xbb', symbol: 'X"Y' },
      { contract: '0xcc', decimals: 0 },
    ];
    expect(toldOf(bridge, ['bridge_token_info', 'bridge_token_decimals'], { tokens })).toEqual({
      bridge_token_info: {
        'token_contract="0xaa",symbol="USDT"': 1,
        'token_contract="0xbb",symbol="X\\"Y"': 1,
      },
      bridge_token_decimals: { 'token_contract="0xaa"': 6, 'token_contract="0xcc"': 0 },
    });
  });
});

describe('what cannot be read', () => {
  const waits = transfer('1', '0xaa', '1');
  const inList = (broken: Row): Row => ({ ...bridge, unbatched_transfers: [waits, broken] });
  const inBatch = (broken: Row): Row => ({
    ...bridge,
    batches: [batch('1', '0xt', { transactions: [waits, broken] })],
  });
  const but = (...names: string[]): string[] => [...all, OLDEST].filter((name) => !names.includes(name));

  it.each<[string, Row, string[]]>([
    ['unbatched_transfers', { ...bridge, unbatched_transfers: null }, batched],
    ['batches', { ...bridge, batches: null }, unbatched],
    ['the transactions of a batch', { ...bridge, batches: [{ token_contract: '0xaa' }] }, unbatched],
    ['a transfer', { ...bridge, unbatched_transfers: [null] }, batched],
    ['a contract', inList({ ...waits, erc20_token: { amount: '1' } }), but(TRANSFERS, AMOUNT)],
    ['a coin', inList({ ...waits, erc20_token: null }), but(TRANSFERS, AMOUNT)],
    ['an amount', inList({ ...waits, erc20_token: { contract: '0xaa', amount: '' } }), but(AMOUNT)],
    ['the contract of a fee', inList({ ...waits, erc20_fee: { amount: '1' } }), but(FEES)],
    ['a fee', inList({ ...waits, erc20_fee: { contract: '0xaa', amount: 'x' } }), but(FEES)],
    ['an id', inList(without(waits, 'id')), but(OLDEST)],
    ['a contract in a batch', inBatch({ ...waits, erc20_token: { amount: '1' } }), but(BATCHED, BATCHED_AMOUNT)],
    ['an amount in a batch', inBatch({ ...waits, erc20_token: { contract: '0xaa' } }), but(BATCHED_AMOUNT)],
    ['a fee in a batch', inBatch({ ...waits, erc20_fee: null }), but(BATCHED_FEES)],
    ['erc20_to_denoms, a text,', { ...bridge, erc20_to_denoms: 'x' }, [OLDEST]],
    ['a denom, a number,', { ...bridge, erc20_to_denoms: [{ erc20: '0xaa', denom: 1 }] }, [OLDEST]],
    [
      'the hub coin denom, a list,',
      { ...bridge, params: { hub_coin_erc20_contract: '0xcc', hub_coin_denom: [] } },
      [OLDEST],
    ],
  ])('%s withdraws what needs it and no more', (_, broken, left) => {
    expect(present(broken, [...all, OLDEST])).toEqual(left);
  });

  it('adds no zeros of the list it is in to the families of the other', () => {
    const broken = { ...bridge, batches: [batch('1', '0xt', { transactions: [transfer('1', '0xff', '1'), null] })] };
    expect(told(broken, TRANSFERS)).toEqual({ [USDT]: 2, [HUB]: 0, [JUNK]: 1 });
    expect(told(inList(transfer('1', '0xff', '1')), BATCHED)).toHaveProperty([label('0xff', '')], 0);
  });

  it('counts as invalid only when it is of a wrong kind', () => {
    const broken = inList({
      id: 1.5,
      erc20_token: { contract: 3, amount: '' },
      erc20_fee: { contract: null, amount: '0x' },
    });
    expect(deriveBridge(broken).invalid).toEqual({
      'state.unbatched_transfers[].erc20_token.contract': 1,
      'state.unbatched_transfers[].erc20_fee.amount': 1,
    });
  });
});
