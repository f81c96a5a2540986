import { describe, expect, it } from 'vitest';
import { contractItems } from '../../../src/facts/items/contract-items.js';
import type { ContractReading } from '../../../src/facts/contract/reading.js';
import type { BridgeOptions } from '../../support/snapshots.js';
import { batch, idleState, transfer, validators, vote } from './bridge-state.js';
import { asReadable, bridgeItemsOf } from './read-items.js';

/* Why something waits, and what watched validators have voted for and signed. */

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
      ).rows.map(({ nonce, waitsFor, executedPowerRatio }) => [nonce, waitsFor, executedPowerRatio]);
    const [unsigned, overdue] = [
      ['6', 'signatures', null],
      ['7', 'timeout', null],
    ];
    expect(rowsOf(executed('5', '0xT', vote(1)), executed('5', '0xt', vote(0)))).toEqual([
      unsigned,
      overdue,
      ['5', 'observation', 0.4],
    ]);
    expect(rowsOf(executed('5', '0xT', vote(3))), 'less than a third of the power').toEqual([
      unsigned,
      overdue,
      ['5', 'relayer', 0.1],
    ]);
    expect(rowsOf(executed('5', '0xU', vote(1))), 'of another token').toEqual([
      unsigned,
      overdue,
      ['5', 'relayer', null],
    ]);
    expect(rowsOf({ ...executed('5', '0xT', vote(1)), claim: { event_nonce: '7' } }), 'no pending claim').toEqual([
      unsigned,
      overdue,
      ['5', 'relayer', null],
    ]);
    expect(rowsOf(executed('7', '0xT', vote(0)))[1], 'also past its timeout').toEqual(['7', 'timeout', 0.4]);
  });
});

describe('what a transfer waits for', () => {
  const rowOf = (minimum: string) => {
    const state = { ...idleState, unbatched_transfers: [transfer('2'), transfer('4')], batches: [batch('5')] };
    return asReadable(bridgeItemsOf(state, minimumOf(minimum)).transfers).rows;
  };

  it('has lasted at least since a batch has a later transfer', () => {
    expect(rowOf('5').map(({ age }) => age)).toEqual([{ blocks: '20', seconds: 40 }, null]);
  });
});

describe('the duties of a watched validator', () => {
  const dutiesOf = (state: object, height = '2000') => {
    const watch = [validators[0]?.orchestrator ?? ''];
    const [own] = bridgeItemsOf({ ...idleState, ...state }, { height, watch }).validators;
    const { events = null, batches = null, valsets = null } = own?.duties ?? {};
    return { events: events?.squares ?? null, batches: batches?.squares ?? null, valsets: valsets?.squares ?? null };
  };

  const attestation = (nonce: string, first: string, ...votes: string[]) => ({
    observed: false,
    height: first,
    votes,
    claim: { event_nonce: nonce },
  });

  it('are done, missing, or not due while they are young', () => {
    const duties = dutiesOf({
      attestations: [attestation('10', '1990'), attestation('9', '950', vote(0)), attestation('8', '950', vote(1))],
      batches: [batch('6', '600', '1990'), batch('5')],
      batch_confirms: [confirm('5', '0xA1')],
    });
    expect(duties).toEqual({
      events: [
        { nonce: '8', state: 'missing' },
        { nonce: '9', state: 'done' },
        { nonce: '10', state: 'not_due' },
      ],
      batches: [
        { nonce: '5', state: 'done' },
        { nonce: '6', state: 'not_due' },
      ],
      valsets: [{ nonce: '1', state: 'missing' }],
    });
  });

  it('do not begin before the validator was in the set', () => {
    const without = { nonce: '1500', members: idleState.valsets[0]?.members.slice(1), height: '1500' };
    const [first] = idleState.valsets;
    const duties = dutiesOf({
      valsets: [first, without, { ...first, nonce: '1700', height: '1700' }],
      batches: [batch('5')],
    });
    expect(duties.batches, 'the batch waits for it').toEqual([{ nonce: '5', state: 'missing' }]);
    expect(duties.valsets).toEqual([
      { nonce: '1', state: 'not_due' },
      { nonce: '1700', state: 'missing' },
    ]);
  });

  it('are unknown without the lists, and for a validator that is not in the set', () => {
    expect(dutiesOf({ batch_confirms: 'x' }).batches).toBeNull();
    expect(dutiesOf({ valsets: [{ nonce: '1', members: [], height: '1' }] }).events).toBeNull();
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
      { token: '0xt', symbol: 'TEE', surplus: '-1500000', wholeSurplus: '-1.5' },
      { token: '0xu', symbol: null, surplus: '-1500000', wholeSurplus: null },
    ]);
  });
});
