import { describe, expect, it } from 'vitest';
import {
  account,
  attestation,
  batch,
  batchConfirm,
  members,
  operator,
  orchestrator,
  state,
  told,
  valset,
  valsetConfirm,
  without,
  type Row,
} from './state.js';

const kinds = [
  'orphan_valset_confirms',
  'orphan_batch_confirms',
  'members_without_orchestrator',
  'unknown_voters',
  'duplicate_orchestrators',
] as const;

function anomalies(of: Row): Record<string, number | undefined> {
  const found = told(of, 'bridge_anomalies');
  return Object.fromEntries(kinds.map((kind) => [kind, (found as Record<string, number>)[`kind="${kind}"`]]));
}

const none = {
  orphan_valset_confirms: 0,
  orphan_batch_confirms: 0,
  members_without_orchestrator: 0,
  unknown_voters: 0,
  duplicate_orchestrators: 0,
};

describe('anomalies', () => {
  it('are 0 in an empty state', () => {
    expect(anomalies(state({}))).toEqual(none);
  });

  it('are confirms of a valset that is not listed', () => {
    const of = state({
      valsets: [valset('5', {})],
      last_observed_valset: valset('4', {}),
      valset_confirms: ['5', '05', '4', '6', '6'].map((nonce) => valsetConfirm(nonce, '0xaa')),
    });
    expect(anomalies(of)).toEqual({ ...none, orphan_valset_confirms: 3 });
  });

  it('are confirms of a batch that is not live, by nonce and token', () => {
    const of = state({
      batches: [batch('5', '0xT1'), batch('6', '0xt2')],
      batch_confirms: [
        batchConfirm('5', '0xt1', '0xaa'),
        batchConfirm('6', '0xT2', '0xaa'),
        batchConfirm('5', '0xt2', '0xaa'),
        batchConfirm('7', '0xt1', '0xaa'),
      ],
    });
    expect(anomalies(of)).toEqual({ ...none, orphan_batch_confirms: 2 });
  });

  it('are addresses of the newest valset without a row', () => {
    const newest = {
      ...valset('2', {}),
      members: [...members({ '0xaa': 1, '0xbb': 1 }), ...members({ '0xBB': 1, '0xcc': 0 })],
    };
    const of = state({
      valsets: [newest, valset('1', { '0xdd': 1 })],
      orchestrator_addresses: [orchestrator('aaaa', '0xAA')],
    });
    expect(anomalies(of)).toEqual({ ...none, members_without_orchestrator: 2 });
  });

  it('are voters that are no sender, each once', () => {
    const of = state({
      orchestrator_addresses: [{ ...orchestrator('aaaa', '0xaa'), orchestrator: account('eeee') }],
      attestations: [
        attestation('1', [operator('aaaa'), operator('xxxx'), operator('eeee')]),
        attestation('2', [operator('xxxx'), account('XXXX'), account('aaaa')], { claim: null }),
      ],
    });
    expect(anomalies(of)).toEqual({ ...none, unknown_voters: 2 });
  });

  it('are rows that repeat an address or an orchestrator', () => {
    const of = state({
      orchestrator_addresses: [
        orchestrator('aaaa', '0xaa'),
        orchestrator('eeee', '0xbb'),
        orchestrator('cccc', '0xAA'), // the address
        { ...orchestrator('dddd', '0xdd'), orchestrator: operator('EEEE') }, // the orchestrator
        orchestrator('aaaa', '0xbb'), // both, and still one row
      ],
    });
    expect(anomalies(of)).toEqual({ ...none, duplicate_orchestrators: 3 });
  });
});

describe('a kind that cannot be told', () => {
  const row = orchestrator('aaaa', '0xaa');
  const full = state({
    valsets: [valset('1', { '0xaa': 1 })],
    valset_confirms: [valsetConfirm('1', '0xaa')],
    batches: [batch('1', '0xt')],
    batch_confirms: [batchConfirm('1', '0xt', '0xaa')],
    attestations: [attestation('1', [operator('aaaa')])],
    orchestrator_addresses: [row],
  });
  type Kind = (typeof kinds)[number];

  it.each<[string, Row, Kind[]]>([
    ['valsets', { valsets: null }, ['orphan_valset_confirms', 'members_without_orchestrator']],
    ['the members of the newest valset', { valsets: [{ nonce: '1' }] }, ['members_without_orchestrator']],
    ['the members of another valset', { valsets: [valset('2', { '0xaa': 1 }), { nonce: '1' }] }, []],
    ['valset_confirms', { valset_confirms: null }, ['orphan_valset_confirms']],
    ['the signer of a confirm', { valset_confirms: [{ nonce: '1' }] }, []],
    ['batches', { batches: null }, ['orphan_batch_confirms']],
    ['batch_confirms', { batch_confirms: [{ nonce: '1' }] }, ['orphan_batch_confirms']],
    ['attestations', { attestations: null }, ['unknown_voters']],
    ['the votes of any attestation', { attestations: [{ claim: { event_nonce: '1' } }] }, ['unknown_voters']],
    ['a claim', { attestations: [attestation('', [operator('aaaa')])] }, []],
    [
      'orchestrator_addresses',
      { orchestrator_addresses: null },
      ['members_without_orchestrator', 'unknown_voters', 'duplicate_orchestrators'],
    ],
    ['a sender', { orchestrator_addresses: [without(row, 'sender')] }, ['unknown_voters']],
    ['an orchestrator', { orchestrator_addresses: [without(row, 'orchestrator')] }, ['duplicate_orchestrators']],
    [
      'an external address',
      { orchestrator_addresses: [without(row, 'eth_address')] },
      ['members_without_orchestrator', 'duplicate_orchestrators'],
    ],
  ])('is withdrawn alone, for want of %s', (_, broken, withdrawn) => {
    expect(anomalies(full)).toEqual(none);
    const left = Object.entries(none).map(([kind, count]) => [
      kind,
      withdrawn.includes(kind as Kind) ? undefined : count,
    ]);
    expect(anomalies({ ...full, ...broken })).toEqual(Object.fromEntries(left));
  });
});
