import { describe, expect, it } from 'vitest';
import { type JsonObject } from '../../support/json.js';
import type { SeriesValues } from '../derive.js';
import {
  account,
  attestation,
  batch,
  batchConfirm,
  operator,
  orchestrator,
  state,
  valset,
  valsetConfirm,
  valueOf,
} from './state.js';

const NONE: SeriesValues = {
  'kind="orphan_valset_confirms"': 0,
  'kind="orphan_batch_confirms"': 0,
  'kind="members_without_orchestrator"': 0,
  'kind="unknown_voters"': 0,
  'kind="duplicate_orchestrators"': 0,
};

describe('bridge_anomalies', () => {
  it('is 0 for every kind if the state is empty', () => {
    expect(valueOf(state({}), 'bridge_anomalies')).toEqual(NONE);
  });

  it.each<[string, string, number, JsonObject]>([
    [
      'confirms of validator sets that are not listed',
      'orphan_valset_confirms',
      3,
      {
        valsets: [valset('5', {})],
        last_observed_valset: valset('4', {}),
        valset_confirms: ['5', '05', '4', '6', '6'].map((nonce) => valsetConfirm(nonce, '0xaa')),
      },
    ],
    [
      'confirms of batches that are not live, by nonce and token',
      'orphan_batch_confirms',
      2,
      {
        batches: [batch('5', '0xT1'), batch('6', '0xt2')],
        batch_confirms: [
          ['5', '0xt1'],
          ['6', '0xT2'],
          ['5', '0xt2'],
          ['7', '0xt1'],
        ].map(([nonce = '', token = '']) => batchConfirm(nonce, token, '0xaa')),
      },
    ],
    [
      'member addresses of the newest validator set without an orchestrator',
      'members_without_orchestrator',
      2,
      {
        valsets: [valset('2', { '0xaa': 1, '0xbb': 1, '0xcc': 0 }), valset('1', { '0xdd': 1 })],
        orchestrator_addresses: [orchestrator('aaaa', '0xAA')],
      },
    ],
    [
      'distinct voters that are not the sender of an orchestrator row',
      'unknown_voters',
      2,
      {
        orchestrator_addresses: [{ ...orchestrator('aaaa', '0xaa'), orchestrator: account('eeee') }],
        attestations: [
          attestation('1', [operator('aaaa'), operator('xxxx'), operator('eeee')]),
          attestation('2', [operator('xxxx'), account('XXXX'), account('aaaa')], { claim: null }),
        ],
      },
    ],
    [
      'orchestrator rows that repeat an external address or an orchestrator',
      'duplicate_orchestrators',
      3,
      {
        orchestrator_addresses: [
          orchestrator('aaaa', '0xaa'),
          orchestrator('eeee', '0xbb'),
          orchestrator('cccc', '0xAA'), // repeats the address
          { ...orchestrator('dddd', '0xdd'), orchestrator: operator('EEEE') }, // repeats the orchestrator
          orchestrator('aaaa', '0xbb'), // repeats both and counts once
        ],
      },
    ],
  ])('counts %s', (_, kind, count, fields) => {
    expect(valueOf(state(fields), 'bridge_anomalies')).toEqual({ ...NONE, [`kind="${kind}"`]: count });
  });
});
