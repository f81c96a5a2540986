import { describe, expect, it } from 'vitest';
import { type JsonObject } from '../../support/json.js';
import type { BridgePast } from '../../../src/facts/bridge/bridge-input.js';
import { bridgeSnapshot, type BridgeOptions } from '../../support/snapshots.js';
import { batch, exportedOf, state, transfer, valueOf, valuesOf } from './state.js';

const TRANSFERS = 'bridge_token_unbatched_transfers';
const AMOUNT = 'bridge_token_unbatched_amount';
const FEES = 'bridge_token_unbatched_fees_amount';
const BATCHED = 'bridge_token_batched_transfers';
const BATCHED_AMOUNT = 'bridge_token_batched_amount';
const BATCHED_FEES = 'bridge_token_batched_fees_amount';
const unbatched = [TRANSFERS, AMOUNT, FEES];
const batched = [BATCHED, BATCHED_AMOUNT, BATCHED_FEES];
const all = [...unbatched, ...batched];
const OLDEST = 'bridge_oldest_pending_transfer_id';

const label = (contract: string, denom: string): string => `token_contract="${contract}",denom="${denom}"`;
const USDT = label('0xaa', 'usdt');
const HUB_COIN = label('0xcc', 'inj');
const NO_DENOM = label('0xdd', '');

const bridge = state({
  params: { hub_coin_erc20_contract: '0xCC', hub_coin_denom: 'inj' },
  erc20_to_denoms: [
    { erc20: '0xAA', denom: 'usdt' },
    { erc20: '0xaa', denom: 'later' }, // repeats a contract: lookups use the first row
  ],
  unbatched_transfers: [
    transfer('12', '0xaa', '100', { contract: '0xaa', amount: '1' }),
    transfer('11', '0xaA', '23', { contract: '0xAA', amount: '2' }),
    transfer('13', '0xdd', '7', { contract: '0xcc', amount: '5' }), // the fee is in the hub coin
  ],
  batches: [
    // The contract of the transfer applies, not the one of the batch.
    batch('1', '0xee', { transactions: [transfer('9', '0xDD', '40', { contract: '0xdd', amount: '3' })] }),
    batch('2', '0xdd', { transactions: [transfer('10', '0xdd', '2')] }),
  ],
});

describe('the token metrics', () => {
  it('are exported for all contracts with a transfer or a denom', () => {
    expect(valuesOf(bridge, all)).toEqual({
      [TRANSFERS]: { [USDT]: 2, [HUB_COIN]: 0, [NO_DENOM]: 1 },
      [AMOUNT]: { [USDT]: 123, [HUB_COIN]: 0, [NO_DENOM]: 7 },
      [FEES]: { [USDT]: 3, [HUB_COIN]: 5, [NO_DENOM]: 0 },
      [BATCHED]: { [USDT]: 0, [HUB_COIN]: 0, [NO_DENOM]: 2 },
      [BATCHED_AMOUNT]: { [USDT]: 0, [HUB_COIN]: 0, [NO_DENOM]: 42 },
      [BATCHED_FEES]: { [USDT]: 0, [HUB_COIN]: 0, [NO_DENOM]: 3 },
    });
  });

  it('prefer the denom of erc20_to_denoms to the one of the hub coin', () => {
    const document = state({
      params: { hub_coin_erc20_contract: '0xaa', hub_coin_denom: 'inj' },
      erc20_to_denoms: [{ erc20: '0xaa', denom: 'usdt' }],
    });
    expect(valueOf(document, TRANSFERS)).toEqual({ [USDT]: 0 });
  });

  it.each<[string, JsonObject, Record<string, number>]>([
    ['erc20_to_denoms', { erc20_to_denoms: null }, { [label('0xaa', '')]: 2, [HUB_COIN]: 0, [NO_DENOM]: 1 }],
    ['params', { params: null }, { [USDT]: 2, [label('0xcc', '')]: 0, [NO_DENOM]: 1 }],
  ])('have an empty denom label if it is missing: %s', (_, fields, transfers) => {
    expect(valueOf({ ...bridge, ...fields }, TRANSFERS)).toEqual(transfers);
  });
});

describe('bridge_oldest_pending_transfer_id', () => {
  it('is the lowest id of unbatched and batched transfers', () => {
    expect(valueOf(bridge, OLDEST)).toBe(9);
    expect(valueOf({ ...bridge, batches: [] }, OLDEST)).toBe(11);
    expect(valueOf({ ...bridge, unbatched_transfers: [], batches: [] }, OLDEST)).toBeUndefined();
  });
});

describe('the queue of a token', () => {
  const OLDEST_ID = 'bridge_token_oldest_unbatched_transfer_id';
  const TOP_FEES = 'bridge_token_top_batch_fees_amount';
  const queue = [OLDEST_ID, TOP_FEES];
  const waiting = (id: string, fee: string, contract = '0xaa', feeContract = contract): JsonObject =>
    transfer(id, contract, '5', { contract: feeContract, amount: fee });

  it('has the oldest transfer and the fees of a batch', () => {
    const document = {
      ...bridge,
      unbatched_transfers: [
        waiting('9', '7'),
        waiting('8', '07'),
        waiting('3', '1'),
        waiting('4', '2', '0xdd', '0xcc'),
      ],
    };
    expect(valuesOf(document, queue)).toEqual({
      [OLDEST_ID]: { [USDT]: 3, [NO_DENOM]: 4 },
      // Under the token of the transfer, whatever the token of the fee is.
      [TOP_FEES]: { [USDT]: 15, [NO_DENOM]: 2 },
    });
    expect(exportedOf({ ...bridge, unbatched_transfers: [] }, queue)).toEqual([]);
  });

  it('has the 100 highest fees only', () => {
    const unbatched_transfers = Array.from({ length: 150 }, (_, index) => waiting(`${index}`, `${index + 1}`));
    // 51 + … + 150
    expect(valueOf({ ...bridge, unbatched_transfers }, TOP_FEES)).toEqual({ [USDT]: 10_050 });
  });

  it('keeps the series that come first by their labels above the limit, and the largest fees', () => {
    const unbatched_transfers = [waiting('1', '9', '0xbb'), waiting('2', '1', '0xaa'), waiting('3', '5', '0xcc')];
    expect(valuesOf({ ...bridge, unbatched_transfers }, queue, { maxSeries: 1 })).toEqual({
      [OLDEST_ID]: { [USDT]: 2 },
      [TOP_FEES]: { [label('0xbb', '')]: 9 },
    });
  });
});

describe('the newest batch of a token', () => {
  const at = (atMs: number, height: string, batches: JsonObject[]): [JsonObject, BridgeOptions] => [
    { ...bridge, batches, last_outgoing_batch_id: '9' },
    { atMs, height },
  ];
  /** The nonces after several documents, by token. */
  const after = (...documents: [JsonObject, BridgeOptions][]) => {
    let past: BridgePast | undefined;
    for (const [document, options] of documents) {
      past = bridgeSnapshot(document, { ...options, ...(past && { past }) }).past;
    }
    return Object.fromEntries(past?.batchNonces ?? []);
  };

  it('has the highest nonce of a live batch, also after it is gone', () => {
    const first = at(0, '1', [batch('5', '0xAA'), batch('6', '0xaa'), batch('4', '0xdd')]);
    expect(after(first)).toEqual({ '0xaa': 6n, '0xdd': 4n });
    expect(after(first, at(1000, '2', []))).toEqual({ '0xaa': 6n, '0xdd': 4n });
    expect(after(first, at(1000, '2', [batch('5', '0xaa'), batch('7', '0xdd')]))).toEqual({ '0xaa': 6n, '0xdd': 7n });
    expect(after(at(0, '1', []))).toEqual({});
  });

  it('is kept when the height goes back, unless the hub has not given the nonce yet', () => {
    const first = at(0, '9', [batch('6', '0xaa'), batch('5', '0xdd')]);
    const older = (last_outgoing_batch_id: string, batches: JsonObject[]): [JsonObject, BridgeOptions] => [
      { ...bridge, batches, last_outgoing_batch_id },
      { atMs: 1000, height: '8' },
    ];
    expect(after(first, older('6', []))).toEqual({ '0xaa': 6n, '0xdd': 5n });
    expect(after(first, older('5', []))).toEqual({ '0xdd': 5n });
    expect(after(first, older('5', [batch('4', '0xaa')]))).toEqual({ '0xaa': 4n, '0xdd': 5n });
  });

  it('is kept while a document cannot be read', () => {
    const first = at(0, '1', [batch('6', '0xaa')]);
    const invalid = at(1000, '2', [{ batch_nonce: '7' }]);
    expect(after(first, invalid)).toEqual({ '0xaa': 6n });
    expect(after(first, invalid, at(2000, '3', []))).toEqual({ '0xaa': 6n });
  });

  it('is remembered of at most 1,000 tokens, those with the highest nonces', () => {
    const many = Array.from({ length: 1001 }, (_, index) => batch(`${index + 1}`, `0x${index + 1}`));
    const { past } = bridgeSnapshot({ ...bridge, batches: many });
    expect(past.batchNonces.size).toBe(1000);
    expect(past.batchNonces.has('0x1')).toBe(false);
    expect(past.batchNonces.get('0x1001')).toBe(1001n);
  });
});

describe('bridge_backlog_limit_transfers', () => {
  it('is the configured limit', () => {
    expect(valueOf(bridge, 'bridge_backlog_limit_transfers', { backlog_limit: 7 })).toBe(7);
  });
});

describe('the withdrawal of token metrics', () => {
  const valid = transfer('1', '0xaa', '1');
  const unbatchedWith = (invalid: JsonObject): JsonObject => ({ ...bridge, unbatched_transfers: [valid, invalid] });

  it('leaves the contracts of an invalid list out of the metrics of the other list', () => {
    const document = { ...bridge, batches: [batch('1', '0xt', { transactions: [transfer('1', '0xff', '1'), null] })] };
    expect(valueOf(document, TRANSFERS)).toEqual({ [USDT]: 2, [HUB_COIN]: 0, [NO_DENOM]: 1 });
    expect(valueOf(unbatchedWith(transfer('1', '0xff', '1')), BATCHED)).toHaveProperty([label('0xff', '')], 0);
  });
});
