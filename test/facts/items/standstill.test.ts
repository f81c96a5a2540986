import { describe, expect, it } from 'vitest';
import { batch, idleState, transfer } from './bridge-state.js';
import { asReadable, bridgeItemsOf, crosschainItemsOf } from './read-items.js';
import type { BridgeItems } from '../../../src/facts/items/bridge.js';

/* What one document proves about the time for which something has waited. */

/** Each transfer pays 2. */
const TOKENS = [{ contract: '0xt', decimals: 6, min_batch_fee: '6' }];

function itemsOf(state: object, settings = {}): BridgeItems {
  return bridgeItemsOf({ ...idleState, ...state }, { height: '1000', tokens: TOKENS, ...settings });
}

/** The first token. */
const standstillOf = (state: object): string | null =>
  asReadable(itemsOf(state).tokens).rows.find(({ token }) => token.contract === '0xt')?.standstillSinceHeight ?? null;

/** A batch of another token, whose transfers have these ids. */
const batchOfOther = (block: string, ...ids: string[]) => ({
  ...batch(block, '600', block),
  token_contract: '0xu',
  transactions: ids.map((id) => ({ ...transfer(id), erc20_token: { contract: '0xU', amount: '1' } })),
});

const transfers = (...ids: string[]) => ids.map((id) => transfer(id));

describe('the standstill of a token', () => {
  it('has lasted since a batch was built that has a later transfer than those that pay', () => {
    const unbatched_transfers = transfers('11', '12', '13', '40', '41');
    expect(standstillOf({ unbatched_transfers, batches: [batchOfOther('950', '14'), batchOfOther('960', '50')] })).toBe(
      '950',
    );
    // Before the second batch, two transfers are known, which do not pay.
    expect(standstillOf({ unbatched_transfers, batches: [batchOfOther('950', '12'), batchOfOther('960', '50')] })).toBe(
      '960',
    );
    expect(standstillOf({ unbatched_transfers, batches: [batchOfOther('950', '12')] })).toBeNull();
  });

  it('has not lasted since before the last event, with which transfers return from canceled batches', () => {
    const unbatched_transfers = transfers('11', '12', '13');
    expect(standstillOf({ unbatched_transfers, batches: [batchOfOther('800', '14')] })).toBe('900');
    expect(standstillOf({ unbatched_transfers, batches: [batchOfOther('950', '14')], attestations: [] })).toBeNull();
  });

  it('has not lasted since before the newest batch of the token', () => {
    const state = {
      unbatched_transfers: transfers('11', '12', '13'),
      batches: [batchOfOther('950', '14'), batch('1', '600', '970')],
    };
    expect(standstillOf(state)).toBe('970');
    expect(asReadable(itemsOf(state).tokens).rows[0]?.newestBatchHeight).toBe('970');
  });

  it('counts the 100 highest fees, like a batch', () => {
    const ids = Array.from({ length: 150 }, (_, index) => String(index + 1));
    const tokens = (min_batch_fee: string) => [{ contract: '0xt', decimals: 6, min_batch_fee }];
    const state = { ...idleState, unbatched_transfers: transfers(...ids), batches: [batchOfOther('950', '500')] };
    const standstill = (minimum: string) =>
      asReadable(bridgeItemsOf(state, { height: '1000', tokens: tokens(minimum) }).tokens).rows.find(
        ({ token }) => token.contract === '0xt',
      )?.standstillSinceHeight;
    expect(standstill('200')).toBe('950');
    expect(standstill('201')).toBeNull();
  });
});

describe('a backlog above its limit', () => {
  it('has lasted since a batch was built that has a later transfer than so many', () => {
    const state = { unbatched_transfers: transfers('11', '12', '13'), batches: [batchOfOther('950', '14')] };
    expect(itemsOf(state, { backlog_limit: 3 }).aboveLimitSinceHeight).toBe('950');
    expect(itemsOf(state, { backlog_limit: 4 }).aboveLimitSinceHeight).toBeNull();
    expect(
      itemsOf({ unbatched_transfers: transfers('11', '12', '13', '15') }, { backlog_limit: 3 }).aboveLimitSinceHeight,
    ).toBeNull();
  });
});

describe('a frozen chain', () => {
  const cctx = (nonce: number, created: number, source = '7000') => ({
    index: `${source} ${nonce}`,
    cctx_status: { status: 'PendingOutbound', created_timestamp: String(created), lastUpdate_timestamp: '0' },
    inbound_params: { sender_chain_id: source },
    outbound_params: [{ receiver_chainId: '56', coin_type: 'Gas', amount: '1', tss_nonce: String(nonce), hash: '' }],
  });
  const frozenSince = (...pending: readonly object[]): string | null | undefined =>
    asReadable(
      crosschainItemsOf({ height: '5', total_pending: '9', cctxs_missed: [cctx(100, 500)], cctxs_pending: pending })
        .chains,
    ).rows[0]?.frozenSince;

  it('has been frozen since the first nonce out of reach of the missed one was created', () => {
    expect(frozenSince(cctx(150, 1000), cctx(160, 3000), cctx(161, 2000), cctx(170, 4000))).toBe(
      '1970-01-01T00:33:20.000Z',
    );
    expect(frozenSince(cctx(150, 1000), cctx(159, 2000))).toBeNull();
  });

  it('is not dated by what came from other chains, which got its nonce later', () => {
    expect(frozenSince(cctx(160, 1000, '1'), cctx(170, 4000))).toBe('1970-01-01T01:06:40.000Z');
  });
});
