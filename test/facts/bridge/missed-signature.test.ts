import { describe, expect, it } from 'vitest';
import { keptInput } from '../../../src/engine/kept-body.js';
import { missedSignature } from '../../../src/facts/bridge/members.js';
import { matchingRegistrations } from '../../../src/facts/bridge/registrations.js';
import { orNull } from '../../../src/facts/required-fields.js';
import { idleState, members, validators } from '../../items/bridge-state.js';
import { bridgeSnapshot } from '../../support/snapshots.js';

const [alpha] = validators;
const others = members.slice(1);

/** Validator set 100 is to be signed until block 200, and batch 7 until block 160. The first validator leaves the set at a height. */
function reasonAt(leftAt: string, changes: object = {}) {
  const state = {
    ...idleState,
    params: { ...idleState.params, signed_valsets_window: '100', signed_batches_window: '60' },
    valsets: [
      { nonce: '300', members: others, height: leftAt },
      { nonce: '100', members, height: '100' },
    ],
    valset_confirms: others.map(({ external_address }) => ({ nonce: '100', eth_address: external_address })),
    batches: [{ batch_nonce: '7', batch_timeout: '600', transactions: [], token_contract: '0xT', block: '100' }],
    batch_confirms: others.map(({ external_address }) => ({
      nonce: '7',
      token_contract: '0xT',
      eth_signer: external_address,
    })),
    ...changes,
  };
  const input = keptInput(bridgeSnapshot(state, { height: '1000' }));
  const row = input && matchingRegistrations(input, alpha?.orchestrator ?? '')?.[0];
  return input === undefined || row === undefined ? undefined : orNull(() => missedSignature(input, row));
}

describe('the signature that a validator missed before it left the set', () => {
  it('is that of the validator set or batch whose deadline was one or two blocks before', () => {
    for (const height of ['201', '202']) expect(reasonAt(height)).toEqual({ what: 'validator set', nonce: '100' });
    for (const height of ['161', '162']) expect(reasonAt(height)).toEqual({ what: 'batch', nonce: '7' });
  });

  it('is unknown when the validator left at another height, or had signed', () => {
    for (const height of ['160', '163', '200', '203']) expect(reasonAt(height)).toBeNull();
    const signed = members.map(({ external_address }) => external_address);
    expect(
      reasonAt('202', { valset_confirms: signed.map((eth_address) => ({ nonce: '100', eth_address })) }),
    ).toBeNull();
    expect(
      reasonAt('162', {
        batch_confirms: signed.map((eth_signer) => ({ nonce: '7', token_contract: '0xT', eth_signer })),
      }),
    ).toBeNull();
  });

  it('is unknown while the validator is in the set, when it was in none, and without the fields that prove it', () => {
    expect(reasonAt('202', { valsets: [{ nonce: '300', members, height: '202' }] })).toBeNull();
    expect(reasonAt('202', { valsets: [{ nonce: '300', members: others, height: '202' }] })).toBeNull();
    expect(reasonAt('202', { valset_confirms: null })).toBeNull();
    expect(reasonAt('162', { params: { signed_valsets_window: '100' } })).toBeNull();
  });
});
