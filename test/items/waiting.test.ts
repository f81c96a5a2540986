import { describe, expect, it } from 'vitest';
import type { BridgePast } from '../../src/facts/bridge/bridge-input.js';
import { DAY_SECONDS } from '../../src/units.js';
import { START } from '../support/polls.js';
import type { BridgeOptions } from '../support/snapshots.js';
import { batch, idleState, transfer, vote } from './bridge-state.js';
import { asReadable, bridgeItemsOf } from './read-items.js';

/* Why something waits. */

const confirm = (nonce: string, eth_signer: string) => ({ nonce, token_contract: '0xt', eth_signer });
/** 70 % of the power. */
const signed = (nonce: string) => [confirm(nonce, '0xa1'), confirm(nonce, '0xa2')];
/** A batch of two transfers earns 4. */
const minimumOf = (min_batch_fee: string): BridgeOptions => ({
  height: '960',
  tokens: [{ contract: '0xt', symbol: 'TEE', decimals: 1, min_batch_fee }],
});

describe('what a batch waits for', () => {
  const executed = (nonce: string, token_contract: string, ...votes: string[]) => ({
    observed: false,
    height: '950',
    votes,
    claim: { '@type': '/bridge.v1.MsgWithdrawClaim', event_nonce: '8', batch_nonce: nonce, token_contract },
  });

  it('is an observation when validators claim that it was executed', () => {
    const rowsOf = (...claims: object[]) =>
      asReadable(
        bridgeItemsOf(
          {
            ...idleState,
            batches: [batch('5'), batch('6'), batch('7', '510')],
            batch_confirms: signed('5'),
            attestations: [...idleState.attestations, ...claims],
          },
          minimumOf('4'),
        ).batches,
      ).rows.map(({ nonce, waits }) => [nonce, waits]);
    const [unsigned, overdue] = [
      ['6', 'needs signatures of 66.00 % of the power'],
      ['7', 'timed out'],
    ];
    expect(rowsOf(executed('5', '0xT', vote(1)), executed('5', '0xt', vote(0)))).toEqual([
      unsigned,
      overdue,
      ['5', 'claimed as executed, not observed yet'],
    ]);
    expect(rowsOf(executed('5', '0xT', vote(3))), 'less than a third of the power').toEqual([
      unsigned,
      overdue,
      ['5', 'signed, waits for a relayer'],
    ]);
    const signedOnly = [unsigned, overdue, ['5', 'signed, waits for a relayer']];
    expect(rowsOf(executed('5', '0xU', vote(1))), 'of another token').toEqual(signedOnly);
    expect(rowsOf({ ...executed('5', '0xT', vote(1)), claim: { event_nonce: '7' } }), 'no pending claim').toEqual(
      signedOnly,
    );
    expect(rowsOf(executed('7', '0xT', vote(0)))[1], 'also past its timeout').toEqual(['7', 'timed out']);
  });

  it('is probably fees, by what executed batches have paid, where no minimum is configured', () => {
    const days = [{ day: Math.floor(START.at / DAY_SECONDS), batches: 10, lows: [40n, 41n] }];
    const past = {
      at: START.at,
      heights: [],
      watched: [],
      batchNonces: new Map(),
      executed: new Map([['0xt', { nonce: 4n, at: START.at, days }]]),
      relayableSince: new Map(),
    } as unknown as BridgePast;
    const { batches } = bridgeItemsOf({ ...idleState, batches: [batch('5')], batch_confirms: signed('5') }, { past });
    expect(asReadable(batches).rows[0]?.waits).toBe('fees probably too low: executed batches have paid more');
  });
});

describe('what a transfer waits for', () => {
  const rowOf = (minimum: string) => {
    const state = { ...idleState, unbatched_transfers: [transfer('2'), transfer('4')], batches: [batch('5')] };
    return asReadable(bridgeItemsOf(state, minimumOf(minimum)).transfers).rows;
  };

  it('has lasted at least since a batch has a later transfer', () => {
    const queued = rowOf('5').filter(({ batch: nonce }) => nonce === undefined);
    expect(queued.map(({ age }) => age)).toEqual([{ blocks: '20', seconds: 40 }, null]);
  });
});
