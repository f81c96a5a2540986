import { describe, expect, it } from 'vitest';
import { contractItems } from '../../src/items/contract-items.js';
import type { ContractReading } from '../../src/facts/contract/reading.js';
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

  it('is an observation when validators claim that it was executed, with the power of the larger claim', () => {
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
      ['7', 'timed out, but still held by the hub'],
    ];
    expect(rowsOf(executed('5', '0xT', vote(1)), executed('5', '0xt', vote(0)))).toEqual([
      unsigned,
      overdue,
      ['5', 'claimed as executed, not observed yet; 40.00 % of the power claim that it was executed'],
    ]);
    expect(rowsOf(executed('5', '0xT', vote(3))), 'less than a third of the power').toEqual([
      unsigned,
      overdue,
      ['5', 'signed, waits for a relayer; 10.00 % of the power claim that it was executed'],
    ]);
    const signedOnly = [unsigned, overdue, ['5', 'signed, waits for a relayer']];
    expect(rowsOf(executed('5', '0xU', vote(1))), 'of another token').toEqual(signedOnly);
    expect(rowsOf({ ...executed('5', '0xT', vote(1)), claim: { event_nonce: '7' } }), 'no pending claim').toEqual(
      signedOnly,
    );
    expect(rowsOf(executed('7', '0xT', vote(0)))[1], 'also past its timeout').toEqual([
      '7',
      'timed out, but still held by the hub; 40.00 % of the power claim that it was executed',
    ]);
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

describe('the backing of the contract', () => {
  it('is in whole tokens if their decimals are configured, also when it is negative', () => {
    const reading: ContractReading = {
      at: { at: 0, clockOffset: 0 }.at,
      contract: '0xc',
      height: 1,
      blockSeconds: 0,
      lastEventNonce: undefined,
      lastValsetNonce: undefined,
      paused: undefined,
      batchNonces: [],
      unobservedEvents: undefined,
      isValsetUnknown: undefined,
      owner: undefined,
      implementation: undefined,
      powerThreshold: undefined,
      isHubTimeKnown: false,
      hubHeight: undefined,
      balances: [],
      backing: ['0xt', '0xu'].map((contract) => ({
        contract,
        denom: '',
        supply: 0n,
        surplus: -1_500_000n,
      })),
      configuredThreshold: undefined,
    };
    const tokens = [{ contract: '0xt', symbol: 'TEE', decimals: 6 }];
    expect(contractItems(reading, tokens).backing).toEqual([
      { token: '0xt', symbol: 'TEE', amount: '-1500000', wholeAmount: '-1.5' },
      { token: '0xu', symbol: null, amount: '-1500000', wholeAmount: null },
    ]);
  });
});
