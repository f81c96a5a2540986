import { describe, expect, it } from 'vitest';
import { defaultBridgeSettings } from '../../../src/config/endpoint-config.js';
import type { BridgeInput } from '../../../src/facts/bridge/input.js';
import { aboveLimitSince, standstillSince } from '../../../src/facts/bridge/standstill.js';
import { waitingTokens } from '../../../src/facts/bridge/tokens.js';
import { batch, idleState, transfer } from '../items/bridge-state.js';
import { inputOf } from '../../support/snapshots.js';

/* What one document proves about the time for which something has waited. Each transfer pays 2. */

function bridgeInput(state: object, minimum = '6', settings = {}): BridgeInput {
  return inputOf(
    'module_state',
    { state: { ...idleState, ...state } },
    {
      settings: { ...defaultBridgeSettings, ...settings },
      names: { tokens: [{ contract: '0xt', decimals: 6, min_batch_fee: minimum }], chains: {}, validators: [] },
      height: 1000n,
    },
  );
}

/** The hub height since which no batch of the token `0xt` has been built. */
function standstillOf(state: object, minimum?: string): unknown {
  const input = bridgeInput(state, minimum);
  const waiting = waitingTokens(input).find(({ contract }) => contract === '0xt');
  return waiting && standstillSince(input, waiting);
}

const backlogOf = (state: object, backlog_limit: number) => aboveLimitSince(bridgeInput(state, '6', { backlog_limit }));

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
      950n,
    );
    // Before the second batch, two transfers are known, which do not pay.
    expect(standstillOf({ unbatched_transfers, batches: [batchOfOther('950', '12'), batchOfOther('960', '50')] })).toBe(
      960n,
    );
    expect(standstillOf({ unbatched_transfers, batches: [batchOfOther('950', '12')] })).toBeUndefined();
  });

  it('has not lasted since before the last event, with which transfers return from canceled batches', () => {
    const unbatched_transfers = transfers('11', '12', '13');
    expect(standstillOf({ unbatched_transfers, batches: [batchOfOther('800', '14')] })).toBe(900n);
    expect(
      standstillOf({ unbatched_transfers, batches: [batchOfOther('950', '14')], attestations: [] }),
    ).toBeUndefined();
  });

  it('has not lasted since before the newest batch of the token', () => {
    const state = {
      unbatched_transfers: transfers('11', '12', '13'),
      batches: [batchOfOther('950', '14'), batch('1', '600', '970')],
    };
    expect(standstillOf(state)).toBe(970n);
  });

  it('counts the 100 highest fees, like a batch', () => {
    const ids = Array.from({ length: 150 }, (_, index) => String(index + 1));
    const state = { unbatched_transfers: transfers(...ids), batches: [batchOfOther('950', '500')] };
    expect(standstillOf(state, '200')).toBe(950n);
    expect(standstillOf(state, '201')).toBeUndefined();
  });
});

describe('a backlog above its limit', () => {
  it('has lasted since a batch was built that has a later transfer than so many', () => {
    const state = { unbatched_transfers: transfers('11', '12', '13'), batches: [batchOfOther('950', '14')] };
    expect(backlogOf(state, 3)).toBe(950n);
    expect(backlogOf(state, 4)).toBeUndefined();
    expect(backlogOf({ unbatched_transfers: transfers('11', '12', '13', '15') }, 3)).toBeUndefined();
  });
});
