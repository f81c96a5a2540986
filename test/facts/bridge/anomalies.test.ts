import { describe, expect, it } from 'vitest';
import { type JsonObject } from '../../support/json.js';
import type { SeriesValues } from '../derive.js';
import {
  account,
  attestation,
  batch,
  batchConfirm,
  members,
  operator,
  orchestrator,
  state,
  valset,
  valsetConfirm,
  valueOf,
} from './state.js';

const kinds = [
  'orphan_valset_confirms',
  'orphan_batch_confirms',
  'members_without_orchestrator',
  'unknown_voters',
  'duplicate_orchestrators',
] as const;

function anomaliesOf(document: JsonObject): Record<string, number | undefined> {
  const values = valueOf(document, 'bridge_anomalies') as SeriesValues;
  return Object.fromEntries(kinds.map((kind) => [kind, values[`kind="${kind}"`]]));
}

const noAnomalies = {
  orphan_valset_confirms: 0,
  orphan_batch_confirms: 0,
  members_without_orchestrator: 0,
  unknown_voters: 0,
  duplicate_orchestrators: 0,
};

describe('bridge_anomalies', () => {
  it('is 0 for every kind if the state is empty', () => {
    expect(anomaliesOf(state({}))).toEqual(noAnomalies);
  });

  it('counts confirms of validator sets that are not listed', () => {
    const document = state({
      valsets: [valset('5', {})],
      last_observed_valset: valset('4', {}),
      valset_confirms: ['5', '05', '4', '6', '6'].map((nonce) => valsetConfirm(nonce, '0xaa')),
    });
    expect(anomaliesOf(document)).toEqual({ ...noAnomalies, orphan_valset_confirms: 3 });
  });

  it('counts confirms of batches that are not live, which it identifies by nonce and token', () => {
    const document = state({
      batches: [batch('5', '0xT1'), batch('6', '0xt2')],
      batch_confirms: [
        batchConfirm('5', '0xt1', '0xaa'),
        batchConfirm('6', '0xT2', '0xaa'),
        batchConfirm('5', '0xt2', '0xaa'),
        batchConfirm('7', '0xt1', '0xaa'),
      ],
    });
    expect(anomaliesOf(document)).toEqual({ ...noAnomalies, orphan_batch_confirms: 2 });
  });

  it('counts member addresses of the newest validator set without an orchestrator', () => {
    const newest = {
      ...valset('2', {}),
      members: [...members({ '0xaa': 1, '0xbb': 1 }), ...members({ '0xBB': 1, '0xcc': 0 })],
    };
    const document = state({
      valsets: [newest, valset('1', { '0xdd': 1 })],
      orchestrator_addresses: [orchestrator('aaaa', '0xAA')],
    });
    expect(anomaliesOf(document)).toEqual({ ...noAnomalies, members_without_orchestrator: 2 });
  });

  it('counts distinct voters that are not the sender of an orchestrator row', () => {
    const document = state({
      orchestrator_addresses: [{ ...orchestrator('aaaa', '0xaa'), orchestrator: account('eeee') }],
      attestations: [
        attestation('1', [operator('aaaa'), operator('xxxx'), operator('eeee')]),
        attestation('2', [operator('xxxx'), account('XXXX'), account('aaaa')], { claim: null }),
      ],
    });
    expect(anomaliesOf(document)).toEqual({ ...noAnomalies, unknown_voters: 2 });
  });

  it('counts orchestrator rows that repeat an external address or an orchestrator', () => {
    const document = state({
      orchestrator_addresses: [
        orchestrator('aaaa', '0xaa'),
        orchestrator('eeee', '0xbb'),
        orchestrator('cccc', '0xAA'), // repeats the address
        { ...orchestrator('dddd', '0xdd'), orchestrator: operator('EEEE') }, // repeats the orchestrator
        orchestrator('aaaa', '0xbb'), // repeats both and counts once
      ],
    });
    expect(anomaliesOf(document)).toEqual({ ...noAnomalies, duplicate_orchestrators: 3 });
  });
});
