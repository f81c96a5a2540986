import { describe, expect, it } from 'vitest';
import { MAX_ROWS } from '../../../src/facts/items/item-list.js';
import type { BridgeOptions } from '../../support/snapshots.js';
import { transfer } from './bridge-state.js';
import { asReadable, bridgeItemsOf } from './read-items.js';

describe('the transfer items', () => {
  it('are sorted by exact id', () => {
    const ids = ['9007199254740993', '10', '9007199254740992', '9'];
    const { rows } = asReadable(bridgeItemsOf({ unbatched_transfers: ids.map((id) => transfer(id)) }).transfers);
    expect(rows.map(({ id }) => id)).toEqual(['9', '10', '9007199254740992', '9007199254740993']);
  });

  it('contain exact amounts, and amounts in whole tokens if the decimals are configured', () => {
    const huge = String(2n ** 256n);
    const state = {
      erc20_to_denoms: [{ erc20: '0xt', denom: 'factory/t' }],
      unbatched_transfers: [transfer('1', huge)],
    };
    const itemWith = (options: BridgeOptions) => asReadable(bridgeItemsOf(state, options).transfers).rows[0];
    expect(itemWith({})).toEqual({
      id: '1',
      sender: 'hub1sender',
      destination: '0xDest',
      amount: { contract: '0xt', denom: 'factory/t', symbol: null, amount: huge, wholeAmount: null },
      fee: { contract: '0xt', denom: 'factory/t', symbol: null, amount: '2', wholeAmount: null },
      age: null,
      queue: {
        fees: { contract: '0xt', denom: 'factory/t', symbol: null, amount: '2', wholeAmount: null },
        minimumFee: null,
        waitsFor: 'batch',
      },
    });
    const configured = itemWith({ tokens: [{ contract: '0xt', symbol: 'TEE', decimals: 6 }] });
    expect(configured?.amount).toMatchObject({ symbol: 'TEE', wholeAmount: `${huge.slice(0, -6)}.${huge.slice(-6)}` });
    expect(configured?.fee.wholeAmount).toBe('0.000002');
  });

  it('are limited to the oldest ones, with the total number', () => {
    const unbatched_transfers = Array.from({ length: 812 }, (_, index) => transfer(String(812 - index)));
    const { total, rows } = asReadable(bridgeItemsOf({ unbatched_transfers }).transfers);
    expect(total).toBe(812);
    expect(rows.map(({ id }) => id)).toEqual(Array.from({ length: MAX_ROWS }, (_, index) => String(index + 1)));
  });

  it('distinguish an empty list from an unreadable one', () => {
    expect(bridgeItemsOf({ unbatched_transfers: [] }).transfers).toEqual({
      readable: true,
      total: 0,
      unsortable: 0,
      rows: [],
    });
    expect(bridgeItemsOf({ valsets: [] }).transfers).toEqual({ readable: false, total: null });
    expect(bridgeItemsOf({ unbatched_transfers: 'many' }).transfers).toEqual({ readable: false, total: null });
    const withInvalidId = [transfer('1'), { ...transfer('2'), id: 'two' }];
    expect(bridgeItemsOf({ unbatched_transfers: withInvalidId }).transfers, 'the number of rows is known').toEqual({
      readable: false,
      total: 2,
    });
  });

  it('contain null for unknown values, which do not affect other items', () => {
    const { rows } = asReadable(bridgeItemsOf({ unbatched_transfers: [{ id: '1' }, transfer('2', 'lots')] }).transfers);
    expect(rows[0]).toMatchObject({
      id: '1',
      sender: null,
      destination: null,
      amount: { contract: null, amount: null },
    });
    expect(rows[1]).toMatchObject({ id: '2', destination: '0xDest', amount: { contract: '0xt', amount: null } });
  });

  it('truncate strings of the chain', () => {
    const long = { ...transfer('1'), dest_address: 'x'.repeat(100_000) };
    expect(asReadable(bridgeItemsOf({ unbatched_transfers: [long] }).transfers).rows[0]?.destination).toHaveLength(128);
  });
});
