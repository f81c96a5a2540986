import { describe, expect, it } from 'vitest';
import type { BridgePast } from '../../../src/facts/bridge/input.js';
import type { JsonObject } from '../../support/json.js';
import { bridgeSnapshot, type BridgeOptions } from '../../support/snapshots.js';
import type { FamilyValue } from '../derive.js';
import { batch, state, transfer, valueOf, valuesOf } from './state.js';

describe('the objective of a target', () => {
  it('is exported in seconds and as a ratio, and absent by default', () => {
    const names = ['bridge_objective_seconds', 'bridge_objective_ratio'];
    expect(valuesOf(state({}), names, { objective: { withdrawal: 5_400_000, ratio: '0.99' } })).toEqual({
      bridge_objective_seconds: 5400,
      bridge_objective_ratio: 0.99,
    });
    expect(valuesOf(state({}), names)).toEqual({});
  });
});

describe('bridge_oldest_due_transfer_timestamp_seconds', () => {
  const OLDEST = 'bridge_oldest_due_transfer_timestamp_seconds';
  const START_SECONDS = 1_700_000_000;
  const bridge = state({ params: { average_block_time: '2000' } });
  const tokens = [{ contract: '0xa', min_batch_fee: '10' }];
  const withFee = (id: number, amount: number, contract = '0xa'): JsonObject =>
    transfer(String(id), contract, '5', { contract, amount: String(amount) });
  const batchOf = (nonce: number, block: number, contract: string, transfers: readonly JsonObject[]): JsonObject =>
    batch(String(nonce), contract, { block: String(block), transactions: transfers });
  const options = { tokens, height: '1000' };

  interface Poll {
    readonly atSeconds: number;
    readonly height: number;
    readonly fields: JsonObject;
  }

  /** The seconds since the start of the test after several documents. */
  const after = (...polls: readonly Poll[]): FamilyValue => {
    let past: BridgePast | undefined;
    let value: FamilyValue;
    for (const { atSeconds, height, fields } of polls) {
      const own: BridgeOptions = {
        tokens,
        atMs: atSeconds * 1000,
        height: String(height),
        block_time: 2000,
        ...(past && { past }),
      };
      value = valueOf({ ...bridge, ...fields }, OLDEST, own);
      past = bridgeSnapshot({ ...bridge, ...fields }, own).past;
    }
    return value;
  };

  it('is the creation of the oldest batch whose fees reach the minimum of its token', () => {
    const batches = [
      batchOf(1, 700, '0xa', [withFee(1, 9)]),
      batchOf(2, 800, '0xa', [withFee(2, 4), withFee(3, 6)]),
      batchOf(3, 900, '0xa', [withFee(4, 100)]),
    ];
    expect(valueOf({ ...bridge, batches }, OLDEST, options)).toEqual({ 'fees="sufficient"': START_SECONDS - 400 });
  });

  it('is of unknown fees in a batch of a token without a minimum', () => {
    const batches = [batchOf(1, 900, '0xb', [withFee(1, 100, '0xb')])];
    expect(valueOf({ ...bridge, batches }, OLDEST, options)).toEqual({ 'fees="unknown"': START_SECONDS - 200 });
  });

  it('is absent for transfers in queues that do not pay for a batch', () => {
    const unbatched_transfers = [withFee(1, 9), withFee(2, 1000, '0xb')];
    expect(valueOf({ ...bridge, unbatched_transfers }, OLDEST, options)).toBeUndefined();
  });

  it('is absent without a height, when there is a batch', () => {
    const batches = [batchOf(1, 900, '0xb', [])];
    expect(valueOf({ ...bridge, batches }, OLDEST, { tokens })).toBeUndefined();
  });

  it('is the first document since which a queue pays for a batch, until a batch of the token is built', () => {
    const poor = { unbatched_transfers: [withFee(1, 9)] };
    const paying = { unbatched_transfers: [withFee(1, 9), withFee(2, 1)] };
    const batches = [batchOf(1, 1000, '0xa', [withFee(3, 1)])];
    const first = [
      { atSeconds: 0, height: 1000, fields: poor },
      { atSeconds: 30, height: 1015, fields: paying },
      { atSeconds: 60, height: 1030, fields: paying },
    ];
    expect(after(...first)).toEqual({ 'fees="sufficient"': START_SECONDS + 30 });
    expect(after(...first, { atSeconds: 90, height: 1045, fields: { ...paying, batches } })).toEqual({
      'fees="sufficient"': START_SECONDS + 90,
    });
    expect(after(...first, { atSeconds: 90, height: 1045, fields: poor })).toBeUndefined();
  });

  it('is kept while a document cannot be read', () => {
    const paying = { unbatched_transfers: [withFee(1, 10)] };
    const unreadable = { unbatched_transfers: null };
    const last = { atSeconds: 60, height: 1030, fields: paying };
    const interrupted = { atSeconds: 30, height: 1015, fields: unreadable };
    const first = { atSeconds: 0, height: 1000, fields: paying };
    expect(after(first, interrupted)).toBeUndefined();
    expect(after(first, interrupted, last)).toEqual({ 'fees="sufficient"': START_SECONDS });
  });
});
