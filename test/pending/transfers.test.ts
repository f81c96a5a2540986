import { describe, expect, it } from 'vitest';
import { MAX_ROWS } from '../../src/pending/items.js';
import { transfer } from './bridge-state.js';
import { bridgeItemsOf, readable } from './read-items.js';

describe('transfers', () => {
  it('come by id, as exact integers', () => {
    const ids = ['9007199254740993', '10', '9007199254740992', '9'];
    const { rows } = readable(bridgeItemsOf({ unbatched_transfers: ids.map((id) => transfer(id)) }).transfers);
    expect(rows.map(({ id }) => id)).toEqual(['9', '10', '9007199254740992', '9007199254740993']);
  });

  it('carry amount and fee exactly, and in whole tokens once the decimals are configured', () => {
    const huge = String(2n ** 256n);
    const state = {
      erc20_to_denoms: [{ erc20: '0xt', denom: 'factory/t' }],
      unbatched_transfers: [transfer('1', huge)],
    };
    const told = (tokens: Parameters<typeof bridgeItemsOf>[1]) =>
      readable(bridgeItemsOf(state, tokens).transfers).rows[0];
    expect(told({})).toEqual({
      id: '1',
      sender: 'hub1sender',
      destination: '0xDest',
      amount: { contract: '0xt', denom: 'factory/t', symbol: null, amount: huge, wholeAmount: null },
      fee: { contract: '0xt', denom: 'factory/t', symbol: null, amount: '2', wholeAmount: null },
    });
    const configured = told({ tokens: [{ contract: '0xt', symbol: 'TEE', decimals: 6 }] });
    expect(configured?.amount).toMatchObject({ symbol: 'TEE', wholeAmount: `${huge.slice(0, -6)}.${huge.slice(-6)}` });
    expect(configured?.fee.wholeAmount).toBe('0.000002');
  });

  it('are at most so many, the oldest, with the total said', () => {
    const unbatched_transfers = Array.from({ length: 812 }, (_, index) => transfer(String(812 - index)));
    const { total, rows } = readable(bridgeItemsOf({ unbatched_transfers }).transfers);
    expect(total).toBe(812);
    expect(rows.map(({ id }) => id)).toEqual(Array.from({ length: MAX_ROWS }, (_, index) => String(index + 1)));
  });

  it('none is not the same as a list that cannot be read', () => {
    expect(bridgeItemsOf({ unbatched_transfers: [] }).transfers).toEqual({
      readable: true,
      total: 0,
      unsortable: 0,
      rows: [],
    });
    expect(bridgeItemsOf({ valsets: [] }).transfers).toEqual({ readable: false, total: null });
    expect(bridgeItemsOf({ unbatched_transfers: 'many' }).transfers).toEqual({ readable: false, total: null });
    const odd = [transfer('1'), { ...transfer('2'), id: 'two' }];
    expect(bridgeItemsOf({ unbatched_transfers: odd }).transfers, 'their number is known').toEqual({
      readable: false,
      total: 2,
    });
  });

  it('what one does not tell is unknown, and takes no other away', () => {
    const { rows } = readable(bridgeItemsOf({ unbatched_transfers: [{ id: '1' }, transfer('2', 'lots')] }).transfers);
    expect(rows[0]).toMatchObject({
      id: '1',
      sender: null,
      destination: null,
      amount: { contract: null, amount: null },
    });
    expect(rows[1]).toMatchObject({ id: '2', destination: '0xDest', amount: { contract: '0xt', amount: null } });
  });

  it('texts of the chain are cut', () => {
    const long = { ...transfer('1'), dest_address: 'x'.repeat(100_000) };
    expect(readable(bridgeItemsOf({ unbatched_transfers: [long] }).transfers).rows[0]?.destination).toHaveLength(128);
  });
});
