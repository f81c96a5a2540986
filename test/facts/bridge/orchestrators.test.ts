import { describe, expect, it } from 'vitest';
import { watchedEntries } from '../../../src/facts/bridge/members.js';
import { omit, type JsonObject } from '../../support/json.js';
import { bridgeFact } from '../derive.js';
import {
  account,
  attestation,
  batch,
  batchConfirm,
  exportedOf,
  operator,
  orchestrator,
  state,
  valset,
  valsetConfirm,
  valueOf,
  valuesOf,
} from './state.js';

const POWER = 'bridge_orchestrator_power_ratio';
const MISSING_VALSET_CONFIRMS = 'bridge_orchestrator_missing_valset_confirms';
const DEADLINE = 'bridge_orchestrator_confirm_deadline_height';
const MISSING_BATCH_CONFIRMS = 'bridge_orchestrator_missing_batch_confirms';
const MISSING_VOTE = 'bridge_orchestrator_missing_vote';
const all = [POWER, MISSING_VALSET_CONFIRMS, DEADLINE, MISSING_BATCH_CONFIRMS, MISSING_VOTE];

const labelsOf = (data: string, address: string): string =>
  `orchestrator="${account(data)}",external_address="${address}"`;
const A = labelsOf('aaaa', '0xaa');
const C = labelsOf('cccc', '0xcc');
const valsetOf = (labels: string): string => `${labels},confirms="valset"`;
const batchOf = (labels: string): string => `${labels},confirms="batch"`;

/** Members 0xaa and 0xcc of the newest validator set 120 have an orchestrator, 0xbb has none, and 0xdd is not a member. */
const bridge = state({
  params: { signed_valsets_window: '50' },
  valsets: [
    valset('100', { '0xaa': 1, '0xcc': 1 }),
    valset('120', { '0xAA': 60, '0xbb': 30, '0xcc': 10 }),
    valset('110', { '0xaa': 1, '0xcc': 1 }),
  ],
  valset_confirms: [
    valsetConfirm('120', '0xAa'),
    valsetConfirm('100', '0xdd'),
    valsetConfirm('99', '0xcc'),
    valsetConfirm('110', '0xcc'),
  ],
  orchestrator_addresses: [
    orchestrator('dddd', '0xdd'),
    orchestrator('aaaa', '0xaA'),
    orchestrator('cccc', '0xCC'),
    orchestrator('zzzz', '0xcc'), // repeats 0xcc: lookups use the first row
  ],
  batches: [batch('1', '0xT1'), batch('1', '0xt2')],
  batch_confirms: [
    batchConfirm('1', '0xt1', '0xAA'),
    batchConfirm('1', '0xt2', '0xaa'),
    batchConfirm('1', '0xt2', '0xcc'),
    batchConfirm('2', '0xt1', '0xcc'), // a batch that is not live
  ],
  last_observed_nonce: '7',
  attestations: [
    attestation('7', [operator('aaaa'), operator('xxxx')], { observed: true }),
    attestation('8', [operator('cccc')]),
    attestation('6', [operator('cccc')], { observed: true }),
  ],
});

describe('the orchestrator metrics', () => {
  it('are exported for members of the newest validator set with an orchestrator', () => {
    // 60 / 100 and 10 / 100: the total includes 0xbb.
    expect(valueOf(bridge, POWER)).toEqual({ [A]: 0.6, [C]: 0.1 });
  });

  it('lack only the power ratio if the validator set has no power', () => {
    const powerless = { ...bridge, valsets: [valset('1', { '0xaa': 0 })] };
    expect(exportedOf(powerless, all)).toEqual([
      MISSING_VALSET_CONFIRMS,
      DEADLINE,
      MISSING_BATCH_CONFIRMS,
      MISSING_VOTE,
    ]);
  });

  it('are first kept for watched orchestrators, which match by any address and prefix', () => {
    const powerOf = (watch: string[]) => valueOf(bridge, POWER, { watch, maxSeries: 1 });
    expect(powerOf([])).toEqual({ [A]: 0.6 });
    expect(powerOf([operator('cccc')])).toEqual({ [C]: 0.1 });
    expect(powerOf(['0xcc'])).toEqual({ [C]: 0.1 });
    expect(powerOf([account('cccc'), account('AAAA')])).toEqual({ [A]: 0.6 });
    expect(powerOf([account('dddd')])).toEqual({ [A]: 0.6 });
  });
});

describe('the entries of watch', () => {
  const activeOf = (document: JsonObject, ...watch: string[]) =>
    bridgeFact(
      document,
      (input) => Object.fromEntries(watchedEntries(input).map(({ address, isActive }) => [address, isActive])),
      { watch },
    );

  it('have a series each, by their address alone, and none without a validator set', () => {
    const watch = [account('aaaa'), '0xaa', operator('cccc'), operator('dddd'), '0xbb'];
    const seriesOf = (document: JsonObject) => valueOf(document, 'bridge_watched_validator_active', { watch });
    expect(seriesOf(bridge)).toEqual(
      Object.fromEntries([
        [`address="${account('aaaa')}"`, 1],
        ['address="0xaa"', 1],
        [`address="${operator('cccc')}"`, 1],
        [`address="${operator('dddd')}"`, 0],
        ['address="0xbb"', 0],
      ]),
    );
    expect(seriesOf({ ...bridge, valsets: [] })).toBeUndefined();
    const rows = [orchestrator('aaaa', '0xaa'), { sender: 7, orchestrator: account('cccc') }];
    expect(
      valueOf({ ...bridge, orchestrator_addresses: rows }, 'bridge_watched_validator_active', {
        watch: ['0xaa', '0xbb'],
      }),
      'the unreadable registration could be that of 0xbb',
    ).toEqual({ 'address="0xaa"': 1 });
  });

  it('are unknown without a validator set, and while members are unknown', () => {
    const entry = account('aaaa');
    expect(activeOf({ ...bridge, valsets: [] }, entry)).toEqual({});
    expect(activeOf({ ...bridge, valsets: [{ nonce: '1', members: 7 }] }, entry)).toBeUndefined();
    expect(activeOf(omit(bridge, 'orchestrator_addresses'), entry)).toBeUndefined();
    const withoutAddress = [omit(orchestrator('aaaa', '0xaa'), 'eth_address')];
    expect(activeOf({ ...bridge, orchestrator_addresses: withoutAddress }, entry)).toBeUndefined();
  });
});

describe('bridge_orchestrator_info', () => {
  const INFO = 'bridge_orchestrator_info';
  /** Name and mark of each exported validator. */
  const namesOf = (options: Parameters<typeof valueOf>[2], document = bridge): string[] =>
    Object.keys(valueOf(document, INFO, options) ?? {}).map((labels) => labels.replace(/^.*?,name=/, 'name='));
  const staking = new Map([
    ['aaaa', 'Alpha'],
    ['cccc', 'Gamma'],
    ['bbbb', 'Not a member'],
  ]);

  it('has the addresses, the name and the mark of each exported validator', () => {
    const options = { watch: ['0xCC'], names: staking };
    expect(valueOf(bridge, INFO, options)).toEqual({
      [`${C},validator="${account('cccc')}",name="Gamma",watched="true"`]: 1,
      [`${A},validator="${account('aaaa')}",name="Alpha",watched="false"`]: 1,
    });
  });

  it.each([operator('aaaa'), account('aaaa'), '0xaa'])('prefers the name configured for %s', (address) => {
    const validators = [{ address, name: 'Ours' }];
    expect(namesOf({ validators, names: staking })).toEqual([
      'name="Ours",watched="false"',
      'name="Gamma",watched="false"',
    ]);
  });

  it('has an empty validator and no name from the staking module without a sender', () => {
    const document = { ...bridge, orchestrator_addresses: [{ orchestrator: account('aaaa'), eth_address: '0xaa' }] };
    expect(valueOf(document, INFO, { names: staking })).toEqual({
      [`${A},validator="",name="",watched="false"`]: 1,
    });
  });
});

describe('bridge_orchestrator_missing_valset_confirms', () => {
  // The deadlines are 150, 160 and 170. 0xaa has not signed 100 and 110, 0xcc has not signed 100 and 120.
  it.each([
    ['140', { [A]: 2, [C]: 2 }, { [valsetOf(A)]: 150, [valsetOf(C)]: 150 }],
    ['150', { [A]: 2, [C]: 2 }, { [valsetOf(A)]: 150, [valsetOf(C)]: 150 }],
    ['151', { [A]: 1, [C]: 1 }, { [valsetOf(A)]: 160, [valsetOf(C)]: 170 }],
    ['161', { [A]: 0, [C]: 1 }, { [valsetOf(C)]: 170 }],
    ['171', { [A]: 0, [C]: 0 }, undefined],
    [undefined, { [A]: 2, [C]: 2 }, { [valsetOf(A)]: 150, [valsetOf(C)]: 150 }],
  ])('counts, at height %s, validator sets whose deadline has not passed', (height, missing, deadline) => {
    expect(valuesOf(bridge, [MISSING_VALSET_CONFIRMS, DEADLINE], height === undefined ? {} : { height })).toEqual({
      [MISSING_VALSET_CONFIRMS]: missing,
      [DEADLINE]: deadline,
    });
  });

  it.each([{ params: null }, { params: {} }, { params: { signed_valsets_window: '' } }])(
    'counts all unsigned validator sets if there is no deadline: %j',
    (fields) => {
      const values = valuesOf({ ...bridge, ...fields }, [MISSING_VALSET_CONFIRMS, DEADLINE], { height: '9999' });
      expect(values).toEqual({ [MISSING_VALSET_CONFIRMS]: { [A]: 2, [C]: 2 }, [DEADLINE]: undefined });
    },
  );

  it('reads only deadlines and signatures of validator sets that a member of the newest one owes', () => {
    const departed = omit(valset('115', { '0xdd': 1 }), 'height');
    const document = {
      ...bridge,
      valsets: [valset('120', { '0xaa': 1, '0xcc': 1 }), departed],
      valset_confirms: [valsetConfirm('120', '0xaa'), omit(valsetConfirm('115', '0xdd'), 'eth_address')],
    };
    expect(valueOf(document, MISSING_VALSET_CONFIRMS)).toEqual({ [A]: 0, [C]: 1 });
  });
});

describe('a validator that left and came back', () => {
  /** 0xcc is in the sets 100, 120 and 130, but not in 110: it was jailed at height 110, and back at 120. */
  const returned = {
    ...bridge,
    params: { signed_valsets_window: '50', signed_batches_window: '40' },
    valsets: [
      valset('100', { '0xaa': 1, '0xcc': 1 }),
      valset('110', { '0xaa': 1 }),
      valset('120', { '0xaa': 1, '0xcc': 1 }),
      valset('130', { '0xaa': 1, '0xcc': 1 }),
    ],
    valset_confirms: [valsetConfirm('120', '0xcc')],
    batches: ['105', '110', '111', '125'].map((block) => batch(block, '0xt', { block })),
    batch_confirms: [],
  };

  it('has to sign only validator sets that are newer than the newest one without it', () => {
    expect(valuesOf({ ...returned, batches: [] }, [MISSING_VALSET_CONFIRMS, DEADLINE])).toEqual({
      [MISSING_VALSET_CONFIRMS]: { [A]: 4, [C]: 1 },
      [DEADLINE]: { [valsetOf(A)]: 150, [valsetOf(C)]: 180 },
    });
  });

  it('has to sign only batches that were created after that, also after their deadline', () => {
    expect(valuesOf(returned, [DEADLINE, MISSING_BATCH_CONFIRMS], { height: '999' })).toEqual({
      [DEADLINE]: { [batchOf(A)]: 145, [batchOf(C)]: 151 },
      [MISSING_BATCH_CONFIRMS]: { [A]: 4, [C]: 4 },
    });
  });

  it('has both deadlines, each as far as it can be read', () => {
    const [ofValsets, ofBatches] = [
      { [valsetOf(A)]: 150, [valsetOf(C)]: 180 },
      { [batchOf(A)]: 145, [batchOf(C)]: 151 },
    ];
    expect(valueOf(returned, DEADLINE)).toEqual({ ...ofValsets, ...ofBatches });
    expect(valueOf({ ...returned, batch_confirms: null }, DEADLINE)).toEqual(ofValsets);
    expect(valueOf({ ...returned, valset_confirms: null }, DEADLINE)).toEqual(ofBatches);
    const windows = { signed_valsets_window: '50', signed_batches_window: {} };
    expect(valueOf({ ...returned, params: windows }, DEADLINE)).toEqual(ofValsets);
    expect(valueOf({ ...returned, params: { signed_valsets_window: '50' } }, DEADLINE)).toEqual(ofValsets);
  });
});

describe('bridge_orchestrator_missing_batch_confirms', () => {
  it('identifies batches by nonce and token', () => {
    expect(valueOf(bridge, MISSING_BATCH_CONFIRMS)).toEqual({ [A]: 0, [C]: 1 });
    expect(valueOf({ ...bridge, batches: [] }, MISSING_BATCH_CONFIRMS)).toEqual({ [A]: 0, [C]: 0 });
  });
});

describe('bridge_orchestrator_missing_vote', () => {
  it('matches votes and senders by the data part of the address', () => {
    expect(valueOf(bridge, MISSING_VOTE)).toEqual({ [A]: 0, [C]: 1 });
  });

  it('counts votes for any claim of the event, observed or not', () => {
    const second = attestation('7', [account('CCCC')], { observed: true });
    const several = { ...bridge, attestations: [...(bridge['attestations'] as JsonObject[]), second] };
    expect(valueOf(several, MISSING_VOTE)).toEqual({ [A]: 0, [C]: 0 });
    const unobserved = { ...several, attestations: [bridge['attestations'], [{ ...second, observed: false }]].flat() };
    expect(valueOf(unobserved as JsonObject, MISSING_VOTE)).toEqual({ [A]: 0, [C]: 0 });
  });

  it.each([
    ['attestation', { attestations: [] }],
    ['observed attestation', { attestations: [attestation('7', [operator('aaaa')])] }],
    ['attestation of the last observed event', { last_observed_nonce: '5' }],
  ])('is absent if the state contains no %s', (_, fields) => {
    expect(valueOf({ ...bridge, ...fields }, MISSING_VOTE)).toBeUndefined();
  });
});

describe('the votes for other claims', () => {
  const DISSENTING = 'bridge_orchestrator_dissenting_vote';
  const lost = attestation('7', [operator('cccc')]);
  const document = (attestations: JsonObject[]) => ({ ...bridge, attestations });
  const observed = attestation('7', [operator('aaaa')], { observed: true });

  it('are dissenting for a claim of the last observed event that lost', () => {
    expect(valuesOf(document([observed, lost]), [DISSENTING, MISSING_VOTE])).toEqual({
      [DISSENTING]: { [A]: 0, [C]: 1 },
      [MISSING_VOTE]: { [A]: 0, [C]: 0 },
    });
    expect(valueOf(document([lost]), DISSENTING)).toBeUndefined();
  });

  it('are 0 without reading senders while nobody dissents', () => {
    const unknownSenders = { orchestrator_addresses: [omit(orchestrator('aaaa', '0xaa'), 'sender')] };
    const values = valueOf({ ...document([observed, attestation('7', [])]), ...unknownSenders }, DISSENTING);
    expect(values).toEqual({ [A]: 0 });
    expect(valueOf({ ...document([observed, lost]), ...unknownSenders }, DISSENTING)).toBeUndefined();
  });
});
